// Days as numbers, for sliders, and the moments at which they end in the user's time zone.
const DAY = 86_400_000;

export const numberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY);
export const dayOf = (number: number): string => new Date(number * DAY).toISOString().slice(0, 10);

/** The same day some months later; the last one of the month if it is shorter. */
export function monthsLater(number: number, months: number): number {
  const at = new Date(number * DAY);
  const day = at.getUTCDate();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  at.setUTCDate(Math.min(day, last));
  return Math.round(at.getTime() / DAY);
}

/** The last second of a day in a time zone, as milliseconds since 1970. */
export function endOfDayIn(day: string, zone: string): number {
  const wanted = Date.parse(`${day}T23:59:59Z`);
  const clock = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", second: "2-digit",
  });
  const shown = (at: number) => Date.parse(`${clock.format(at).replace(", ", "T")}Z`);
  const first = wanted - (shown(wanted) - wanted);
  return first - (shown(first) - wanted); // the offset may differ on both sides of a change of clocks
}

/** The last second of a day as the API takes it, in the user's time zone. */
export const momentOf = (day: string): string => `${day}T23:59:59`;
