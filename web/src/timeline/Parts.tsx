// The months of a year, or the days of a month or week, with how much each has. Each opens.
import { useMemo } from "react";
import { useAsked } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { useWords } from "../words";
import { useClock } from "./clock";
import { byDay, type Kind, moved, PARTS, periods, weekdayOf, type Zoom } from "./periods";

export interface Filter {
  kind: Kind[];
  node?: string;
}

export function Parts({ zoom, start, filter, today, onOpen }: {
  zoom: Zoom;
  start: string;
  filter: Filter;
  today: string;
  onOpen: (day: string, zoom: Zoom) => void;
}) {
  const words = useWords();
  const clock = useClock();
  const step = PARTS[zoom];
  const end = moved(zoom, start, 1);
  const { data, again } = useAsked(
    step ? (client) => client.countTimeline({ query: { step, from: start, to: end, ...filter } }) : undefined,
    [step, start, filter.kind.join(), filter.node],
  );
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], again);
  const counts = useMemo(() => byDay(data?.items ?? []), [data]);
  if (!step) return null;
  const days = periods(step, start, moved("day", end, -1));
  const largest = Math.max(1, ...counts.values());
  return (
    <ul className={`parts of-${zoom}`} aria-label={words.timeline.inside} style={{ "--first": weekdayOf(start) } as React.CSSProperties}>
      {days.map((day) => {
        const n = counts.get(day) ?? 0;
        const [short, long] = [clock.part(zoom, day), clock.period(step, day)];
        const current = today >= day && today < moved(step, day, 1);
        return (
          <li key={day}>
            <button type="button" disabled={n === 0} className={current ? "today" : ""} onClick={() => onOpen(day, step)}
              aria-label={`${` ${long} `.includes(` ${short} `) ? "" : `${short}, `}${long}: ${words.timeline.count(n)}`} aria-current={current ? "date" : undefined}>
              <span className="column">
                <span className="bar-of" style={{ blockSize: n ? `${Math.max(8, Math.sqrt(n / largest) * 100)}%` : 0 }} />
              </span>
              <span className="label">{short}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
