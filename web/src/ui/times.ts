// Times in the user's zone and the page's language.
import { useMemo } from "react";
import { useMemory } from "../api/memory";
import { useWords } from "../words";

export interface Times {
  day: (moment: string) => string;
  minute: (moment: string) => string;
  /** The day as a field of a form has it, 2026-03-14. */
  field: (moment: Date) => string;
  /** The days on which something held; empty if neither end is told. An end at midnight is the day before. */
  span: (from: string | null, to: string | null) => string;
}

export function useTimes(): Times {
  const { zone } = useMemory();
  const words = useWords();
  return useMemo(() => {
    const { code, thing } = words;
    const language = code === "en" ? "en-GB" : code;
    const day = new Intl.DateTimeFormat(language, { timeZone: zone, day: "numeric", month: "short", year: "numeric" });
    const minute = new Intl.DateTimeFormat(language, {
      timeZone: zone, day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
    });
    const field = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
    const shown = (at: number) => day.format(new Date(at));
    return {
      day: (moment) => day.format(new Date(moment)),
      minute: (moment) => minute.format(new Date(moment)),
      field: (moment) => field.format(moment),
      span: (from, to) => {
        const [first, last] = [from && shown(Date.parse(from)), to && shown(Date.parse(to) - 1)];
        if (first && last) return first === last ? first : thing.span(first, last);
        return first ? thing.since(first) : last ? thing.until(last) : "";
      },
    };
  }, [zone, words]);
}

/** A field's day as a moment for known_at: all that was known by its end. Today and later is now. */
export function endOfDay(day: string, today: string): string | null {
  return day && day < today ? `${day}T23:59:59` : null;
}
