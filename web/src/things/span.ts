// Where facts lie on a strip of time.
import type { ShownFact } from "@memsvc/client";

export interface Axis {
  from: number;
  to: number;
  ticks: { at: number; label: string; major: boolean }[];
}
const DAY = 86_400_000;
const STEPS_MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
const MOST_TICKS = 9;

export const hasTime = (fact: ShownFact): boolean => Boolean(fact.valid_from ?? fact.valid_to);

/** An axis that holds all the facts' times and today, with at most nine ticks at round months. */
export function axisOf(facts: readonly ShownFact[], now: number, language: string): Axis {
  const told = facts.flatMap((fact) => [fact.valid_from, fact.valid_to]).filter((one) => one !== null).map(Date.parse);
  const first = Math.min(now - 60 * DAY, ...told);
  const last = Math.max(now, ...told);
  const room = (last - first) * 0.03;
  const from = first - room;
  const to = last + room;
  const months = (to - from) / (30.44 * DAY);
  const step = STEPS_MONTHS.find((one) => months / one <= MOST_TICKS) ?? 1200;
  const begin = new Date(from);
  const ticks: Axis["ticks"] = [];
  const month = new Intl.DateTimeFormat(language, { month: "short", timeZone: "UTC" });
  const firstYear = begin.getUTCFullYear() - (begin.getUTCFullYear() % Math.max(1, step / 12));
  for (let n = 0; ; n++) {
    const at = new Date(0);
    at.setUTCFullYear(firstYear, n * step, 1);
    if (at.getTime() > to || n > 2_000) break;
    if (at.getTime() < from) continue;
    const major = at.getUTCMonth() === 0;
    ticks.push({ at: at.getTime(), label: major ? String(at.getUTCFullYear()) : month.format(at), major });
  }
  return { from, to, ticks };
}

/** A share of the strip, 0 to 100. */
export const share = (axis: Axis, at: number): number => ((at - axis.from) / (axis.to - axis.from)) * 100;

export function barOf(axis: Axis, fact: ShownFact): { left: number; width: number } {
  const left = fact.valid_from === null ? 0 : share(axis, Date.parse(fact.valid_from));
  const right = fact.valid_to === null ? 100 : share(axis, Date.parse(fact.valid_to));
  return { left, width: Math.max(0, right - left) };
}
