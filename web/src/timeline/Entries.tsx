// What happened in a period, day by day, the latest first.
import type { TimelineEntry } from "@memsvc/client";
import { usePages } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { useWords } from "../words";
import { useClock } from "./clock";
import { Entry } from "./Entry";
import type { Filter } from "./Parts";

const PAGE = 60;

export function Entries({ span, filter, onLatest }: {
  span: { from: string; to: string };
  filter: Filter;
  onLatest: (() => void) | undefined;
}) {
  const words = useWords();
  const clock = useClock();
  const found = usePages(
    (client, cursor) => client.readTimeline({ query: { ...span, ...filter, cursor, limit: PAGE } }),
    [span.from, span.to, filter.kind.join(), filter.node],
  );
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], found.again);
  if (found.error) return <p className="said bad" role="alert">{found.error}</p>;
  if (!found.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (found.items.length === 0)
    return (
      <p className="empty">
        {words.timeline.nothing}{" "}
        {onLatest && <button type="button" className="link" onClick={onLatest}>{words.timeline.latest}</button>}
      </p>
    );
  const days = new Map<string, TimelineEntry[]>();
  for (const one of found.items) {
    const day = one.at.slice(0, 10); // the API writes the user's clock
    days.set(day, [...(days.get(day) ?? []), one]);
  }
  return (
    <div className={found.loading ? "days busy" : "days"}>
      {[...days].map(([day, entries]) => (
        <section key={day} aria-label={clock.weekday(day)}>
          <h3><time dateTime={day}>{clock.weekday(day)}</time></h3>
          <ul>
            {entries.map((one) => (
              <Entry key={`${one.kind} ${one.memory_id ?? one.source_id ?? ""} ${one.at}`} entry={one} day={day} />
            ))}
          </ul>
        </section>
      ))}
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.timeline.more}</button></p>}
    </div>
  );
}
