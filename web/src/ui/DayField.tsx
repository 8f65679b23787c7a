// A day that takes effect while it is typed: only once its year is complete, because "2026" begins as the year 2.
import { useEffect, useState } from "react";

const FIRST = "1000";

export function DayField({ value, onDay, ...more }: {
  value: string;
  /** Called with a day, or with nothing when the field is cleared. */
  onDay: (day: string) => void;
  id?: string;
  max?: string | undefined;
  required?: boolean;
  "aria-label"?: string;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const type = (day: string, unfinished: boolean) => {
    setTyped(day);
    const whole = day >= FIRST && (!more.max || day <= more.max);
    if (day !== value && (whole || (day === "" && !unfinished))) onDay(day);
  };
  return (
    <input {...more} type="date" className={typed ? "" : "unset"} value={typed}
      onChange={({ target }) => type(target.value, target.validity.badInput)} />
  );
}
