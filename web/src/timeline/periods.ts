// Days, weeks, months and years as days of the calendar, 2026-03-14. The API reads them on the user's clock.

export const ZOOMS = ["day", "week", "month", "year"] as const;
export type Zoom = (typeof ZOOMS)[number];
export const KINDS = ["message", "document", "event", "began", "ended", "change"] as const;
export type Kind = (typeof KINDS)[number];
/** Changes are about memory, not about the world, and a single import makes thousands: shown when asked for. */
export const USUAL: readonly Kind[] = KINDS.filter((one) => one !== "change");

const dateOf = (day: string): Date => new Date(`${day}T00:00:00Z`);
const written = (date: Date): string => date.toISOString().slice(0, 10);

/** The day of an address: 2026, 2026-03 and 2026-03-14 all name one. Empty: it is none. */
export function dayOf(given: string): string {
  const found = /^([1-8]\d{3})(?:-(\d\d))?(?:-(\d\d))?$/.exec(given);
  if (!found) return "";
  const date = dateOf(`${found[1]}-${found[2] ?? "01"}-${found[3] ?? "01"}`);
  return Number.isNaN(date.getTime()) ? "" : written(date);
}

export function startOf(zoom: Zoom, day: string): string {
  const date = dateOf(day);
  if (zoom === "year") date.setUTCMonth(0, 1);
  if (zoom === "month") date.setUTCDate(1);
  if (zoom === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return written(date);
}

/** The beginning of the period that comes n periods after the one that begins on a day. */
export function moved(zoom: Zoom, start: string, n: number): string {
  const date = dateOf(start);
  if (zoom === "year") date.setUTCFullYear(date.getUTCFullYear() + n);
  if (zoom === "month") date.setUTCMonth(date.getUTCMonth() + n);
  if (zoom === "week") date.setUTCDate(date.getUTCDate() + 7 * n);
  if (zoom === "day") date.setUTCDate(date.getUTCDate() + n);
  return written(date);
}

/** 1 for Monday to 7 for Sunday. */
export const weekdayOf = (day: string): number => ((dateOf(day).getUTCDay() + 6) % 7) + 1;

/** What a period consists of: months of a year, days of the others. */
export const PARTS = { year: "month", month: "day", week: "day", day: null } as const;

/** The beginnings of the periods from one to another one, both included. */
export function periods(zoom: Zoom, first: string, last: string): string[] {
  const found: string[] = [];
  for (let day = first; day <= last && found.length < 2_000; day = moved(zoom, day, 1)) found.push(day);
  return found;
}

/** As the address has it: 2026, 2026-03, 2026-03-14. */
export const addressOf = (zoom: Zoom, start: string): string =>
  start.slice(0, { year: 4, month: 7, week: 10, day: 10 }[zoom]);

export interface Count {
  begins: string;
  counts: Record<string, number>;
}
export const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, n) => sum + n, 0);
/** Counts by the first day of their period. */
export const byDay = (items: readonly Count[]): Map<string, number> =>
  new Map(items.map((one) => [one.begins.slice(0, 10), total(one.counts)]));
