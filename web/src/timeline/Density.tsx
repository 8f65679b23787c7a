// How much there is over all time, as bars. One control: a click or the arrow keys choose the period.
import { useMemo } from "react";
import { useWords } from "../words";
import { useClock } from "./clock";
import { moved, periods, startOf, type Zoom } from "./periods";

const MOST_MONTHS = 180;
const MOST_YEARS = 200;
const LABELS = 10;

export function Density({ months, zoom, start, today, onMove }: {
  months: ReadonlyMap<string, number>;
  zoom: Zoom;
  start: string;
  today: string;
  onMove: (day: string, zoom?: Zoom) => void;
}) {
  const words = useWords();
  const clock = useClock();
  const { unit, bars } = useMemo(() => barsOf(months, start, today), [months, start, today]);
  const largest = Math.max(1, ...bars.map(([, n]) => n));
  const first = bars[0]?.[0] ?? start;
  const last = bars.at(-1)?.[0] ?? start;
  const closest = startOf(unit, start);
  const now = Math.max(0, bars.findIndex(([day]) => day === closest));
  const end = moved(zoom, start, 1);
  const edge = (day: string) => startOf(zoom, day);
  const pressed = (event: React.KeyboardEvent) => {
    const back = getComputedStyle(event.currentTarget).direction === "rtl" ? 1 : -1;
    const to: Record<string, () => string> = {
      ArrowLeft: () => moved(zoom, start, back), ArrowRight: () => moved(zoom, start, -back),
      ArrowDown: () => moved(zoom, start, -1), ArrowUp: () => moved(zoom, start, 1),
      PageDown: () => moved("year", start, -1), PageUp: () => moved("year", start, 1),
      Home: () => first, End: () => moved("day", moved(unit, last, 1), -1),
    };
    const day = to[event.key]?.();
    if (!day) return;
    event.preventDefault();
    onMove(edge(day));
  };
  const clicked = (event: React.MouseEvent<HTMLElement>) => {
    const bar = (event.target as HTMLElement).closest<HTMLElement>("[data-day]")?.dataset["day"];
    if (bar) onMove(bar, unit === "year" || zoom === "year" ? "year" : "month");
  };
  const every = Math.ceil(bars.length / LABELS / (unit === "month" ? 12 : 1));
  const labelled = (day: string) =>
    unit === "month" ? day.slice(5, 7) === "01" && Number(day.slice(0, 4)) % every === 0 : Number(day.slice(0, 4)) % every === 0;
  return (
    <div className="density" role="slider" tabIndex={0} aria-label={words.timeline.strip} aria-valuemin={0} aria-orientation="horizontal"
      aria-valuemax={Math.max(0, bars.length - 1)} aria-valuenow={now} aria-valuetext={clock.period(zoom, start)}
      onKeyDown={pressed} onClick={clicked}>
      {bars.map(([day, n], index) => {
        const inside = moved(unit, day, 1) > start && day < end;
        return (
          <span key={day} className={inside ? "slot chosen" : "slot"} data-day={day}
            title={`${clock.period(unit, day)}: ${words.timeline.count(n)}`}>
            <span className="bar-of" style={{ blockSize: n ? `${Math.max(6, Math.sqrt(n / largest) * 100)}%` : 0 }} />
            {labelled(day) && index < bars.length * 0.97 && <span className="year">{day.slice(0, 4)}</span>}
          </span>
        );
      })}
    </div>
  );
}

/** Months, or years if there are too many, from the first to the last that has anything, with the chosen one and today's. */
function barsOf(months: ReadonlyMap<string, number>, start: string, today: string) {
  const days = [...months.keys(), startOf("month", start), startOf("month", today)].sort();
  const first = days[0] ?? start;
  const last = days.at(-1) ?? start;
  const all = periods("month", first, last);
  if (all.length < 12) all.unshift(...periods("month", moved("month", first, all.length - 12), moved("month", first, -1)));
  if (all.length <= MOST_MONTHS)
    return { unit: "month" as const, bars: all.map((day): [string, number] => [day, months.get(day) ?? 0]) };
  const years = new Map<string, number>();
  for (const [day, n] of months) years.set(startOf("year", day), (years.get(startOf("year", day)) ?? 0) + n);
  const wanted = periods("year", startOf("year", first), last).slice(-MOST_YEARS);
  return { unit: "year" as const, bars: wanted.map((day): [string, number] => [day, years.get(day) ?? 0]) };
}
