// Which database of the deployment is looked at, where there are several; what a key, a user or an act is, all share.
import { useAsked } from "../api/memory";
import { go } from "../app/route";
import { useWords } from "../words";

export const HOME = "home";

export function Cell({ tab, cell }: { tab: string; cell: string | null }) {
  const { operations: texts } = useWords();
  const { data } = useAsked((client) => client.listCells(), []);
  if (!data || data.items.length < 2) return null;
  return (
    <div className="narrow">
      <label>
        <span>{texts.cell}</span>
        <select
          value={cell ?? HOME}
          onChange={({ target: { value } }) => go(["operations", tab], { cell: value === HOME ? null : value }, { replace: true })}
        >
          {data.items.map(({ name }) => <option key={name} value={name}>{name === HOME ? texts.cellHome : name}</option>)}
        </select>
      </label>
      {tab === "usage" && <small>{texts.cellUse}</small>}
    </div>
  );
}
