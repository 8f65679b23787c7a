// The day that the map shows: a slider over all that is told, and a field.
import { useWords } from "../words";
import { DayField } from "../ui/DayField";
import { useTimes } from "../ui/times";

const DAY = 86_400_000;
const LEAST_DAYS = 365;
/** Days since 1970 of a day of the calendar, and back. */
const numberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY);
const dayOf = (number: number): string => new Date(number * DAY).toISOString().slice(0, 10);

export function DayChoice({ day, today, told, onShow }: {
  day: string;
  today: string;
  told: readonly number[];
  onShow: (day: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const now = numberOf(today);
  const first = Math.min(now - LEAST_DAYS, ...told.map((at) => Math.floor(at / DAY) - 30));
  const last = Math.max(now, ...told.map((at) => Math.ceil(at / DAY)));
  const shown = day ? numberOf(day) : now;
  const begin = times.day(`${dayOf(first)}T12:00:00Z`);
  const end = last === now ? words.map.now : times.day(`${dayOf(last)}T12:00:00Z`);
  return (
    <div className="day-choice">
      <div className="narrow">
        <label>
          <span>{words.map.on}</span>
          <DayField value={day} onDay={(chosen) => onShow(chosen || "always")} />
        </label>
        <span className="actions">
          <button type="button" className="quiet" aria-pressed={day === today} onClick={() => onShow("")}>{words.map.now}</button>
          <button type="button" className="quiet" aria-pressed={!day} onClick={() => onShow("always")}>{words.map.always}</button>
        </span>
      </div>
      <div className="range">
        <input type="range" min={first} max={last} value={Math.min(last, Math.max(first, shown))} aria-label={words.map.time}
          aria-valuetext={day ? times.day(`${day}T12:00:00Z`) : words.map.always}
          onChange={(event) => onShow(dayOf(Number(event.target.value)))} />
        <span aria-hidden="true">{begin}</span>
        <span aria-hidden="true">{end}</span>
      </div>
    </div>
  );
}
