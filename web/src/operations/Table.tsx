// A table that becomes a list of entries where the screen is narrow.
import type { ReactNode } from "react";

export interface Column<T> {
  head: string;
  cell: (row: T) => ReactNode;
  /** A number: it stands at the end of its column. */
  number?: boolean;
}

export function Table<T>({ label, columns, rows, name, foot }: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  name: (row: T) => string;
  /** A last row, such as a total, one cell for each column. */
  foot?: readonly ReactNode[];
}) {
  const side = (number?: boolean) => (number ? "number" : "");
  return (
    <table className="ledger" aria-label={label}>
      <thead>
        <tr>{columns.map(({ head, number }) => <th key={head} scope="col" className={side(number)}>{head}</th>)}</tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={name(row)}>
            {columns.map(({ head, cell, number }) => <td key={head} data-head={head} className={side(number)}><span>{cell(row)}</span></td>)}
          </tr>
        ))}
      </tbody>
      {foot && (
        <tfoot>
          <tr>
            {foot.map((cell, index) => (
              <td key={columns[index]?.head} data-head={columns[index]?.head} className={side(columns[index]?.number)}><span>{cell}</span></td>
            ))}
          </tr>
        </tfoot>
      )}
    </table>
  );
}
