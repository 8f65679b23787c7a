// Compares two moments: what was true, or what was known; and lists what differs.
import type { Diff } from "@memsvc/client";
import { useState } from "react";
import type { Asked as Answer } from "../api/memory";
import { DayField } from "../ui/DayField";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Asked } from "./address";
import { type Compared, sentenceOf } from "./compared";

const SHOWN = 30;

export function CompareForm({ asked, today, onShow }: { asked: Asked; today: string; onShow: (changes: Partial<Asked>) => void }) {
  const words = useWords();
  const yearBefore = () => `${Number(today.slice(0, 4)) - 1}${today.slice(4)}`.replace("-02-29", "-02-28");
  return (
    <div className="compare narrow">
      <label>
        <span>{words.graph.compare}</span>
        <select value={asked.axis} onChange={({ target: { value } }) =>
          onShow({ axis: value, since: value ? asked.since || yearBefore() : "" })}>
          <option value="">{words.graph.nothingCompared}</option>
          <option value="valid">{words.graph.axes.valid}</option>
          <option value="known">{words.graph.axes.known}</option>
        </select>
      </label>
      {asked.axis && (
        <label>
          <span>{words.graph.since}</span>
          <DayField value={asked.since} required onDay={(chosen) => chosen && onShow({ since: chosen })} />
        </label>
      )}
      {asked.axis && (
        <span className="marks">
          <b className="mark new">{words.graph.marks.new}</b>
          <b className="mark ended">{words.graph.marks.ended}</b>
          <b className="mark changed">{words.graph.marks.changed}</b>
        </span>
      )}
    </div>
  );
}

export function Differences({ diff, compared, onChoose }: {
  diff: Answer<Diff>;
  compared: Compared | null;
  onChoose: (node: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const [all, setAll] = useState(false);
  if (diff.error) return <p className="said bad" role="alert">{diff.error}</p>;
  if (!diff.data || !compared) return <p className="lead" aria-live="polite">{words.common.loading}</p>;
  const { items } = compared;
  return (
    <section className="differences" aria-label={words.graph.differences}>
      <h3>{words.graph.differs(items.length, times.day(diff.data.since), times.day(diff.data.until))}</h3>
      {items.length === 0 && <p className="lead">{words.graph.same}</p>}
      <ul className="near">
        {items.slice(0, all ? undefined : SHOWN).map((item) => (
          <li key={item.kind + item.subject}>
            <button type="button" className="link" dir="auto" onClick={() => onChoose(item.edge?.from_node ?? item.subject)}>
              {sentenceOf(item)}
            </button>
            <span className="meta">
              <b className={`mark ${compared.marks.get(item.subject) ?? ""}`}>{words.graph.changes[item.change]}</b>
              <span>{times.day(item.at)}</span>
            </span>
          </li>
        ))}
      </ul>
      {!all && items.length > SHOWN && <button type="button" className="link" onClick={() => setAll(true)}>{words.graph.moreDifferences}</button>}
      {diff.data.next_cursor && <p className="lead">{words.graph.onlyNewest}</p>}
    </section>
  );
}
