// Days and hours as words, in the user's zone and the page's language.
import { useMemo } from "react";
import { useMemory } from "../api/memory";
import { useWords } from "../words";
import type { Zoom } from "./periods";

export interface Clock {
  /** A day of the calendar, 2026-03-14, with its weekday. */
  weekday: (day: string) => string;
  hour: (moment: string) => string;
  /** Of a moment that is no midnight on the user's clock. */
  hourIfTold: (moment: string) => string;
  period: (zoom: Zoom, start: string) => string;
  /** Short, for a part of a longer period: "Mar" of a year, "14" of a month. */
  part: (zoom: Zoom, start: string) => string;
}

export function useClock(): Clock {
  const { zone } = useMemory();
  const words = useWords();
  return useMemo(() => {
    const language = words.code === "en" ? "en-GB" : words.code;
    const calendar = (options: Intl.DateTimeFormatOptions) => {
      const format = new Intl.DateTimeFormat(language, { timeZone: "UTC", ...options });
      return (day: string) => format.format(new Date(`${day}T00:00:00Z`));
    };
    const long = calendar({ day: "numeric", month: "long", year: "numeric" });
    const month = calendar({ month: "long", year: "numeric" });
    const hours = new Intl.DateTimeFormat(language, { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const hour = (moment: string) => hours.format(new Date(moment));
    return {
      weekday: calendar({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
      hour,
      hourIfTold: (moment) => {
        const told = hour(moment);
        return told === "00:00" ? "" : told;
      },
      period: (zoom, start) => {
        if (zoom === "year") return start.slice(0, 4);
        if (zoom === "month") return month(start);
        return zoom === "week" ? words.timeline.week(long(start)) : long(start);
      },
      part: (zoom, start) => {
        if (zoom === "year") return calendar({ month: "short" })(start);
        return zoom === "week" ? calendar({ weekday: "short", day: "numeric" })(start) : String(Number(start.slice(8)));
      },
    };
  }, [zone, words]);
}
