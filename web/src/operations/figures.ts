// Numbers, sizes and ages in the page's language; and reading something again every few seconds.
import { useEffect, useRef } from "react";
import { useWords } from "../words";

const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", Infinity]] as const;
const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
const THOUSAND = 1_000;

export interface Figures {
  number: (n: number) => string;
  /** Seconds as "3 min". */
  age: (seconds: number) => string;
  bytes: (n: number) => string;
  /** A day (UTC) of a table of days. */
  day: (day: string) => string;
}

export function useFigures(): Figures {
  const { code } = useWords();
  const unit = (value: number, name: string, digits = 0) =>
    new Intl.NumberFormat(code, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
  const days = new Intl.DateTimeFormat(code === "en" ? "en-GB" : code, {
    timeZone: "UTC", day: "numeric", month: "short", year: "numeric",
  });
  return {
    number: (n) => n.toLocaleString(code),
    age: (seconds) => {
      let value = seconds;
      for (const [name, most] of STEPS) {
        if (value < most) return unit(value, name, value < 1 ? 1 : 0);
        value /= most;
      }
      return "";
    },
    bytes: (n) => {
      const step = n < 1 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(n) / 3));
      return unit(n / THOUSAND ** step, SIZES[step] ?? "byte", step > 1 ? 1 : 0);
    },
    day: (day) => days.format(new Date(`${day}T00:00:00Z`)),
  };
}

/** Calls a function every few seconds while the page can be seen. */
export function useEvery(seconds: number, again: () => void): void {
  const latest = useRef(again);
  useEffect(() => {
    latest.current = again;
  });
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && latest.current(), seconds * THOUSAND);
    return () => clearInterval(timer);
  }, [seconds]);
}
