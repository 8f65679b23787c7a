// Requests of the last days as small bars; each day can be read, also by screen readers.
import type { KeyDay } from "@memsvc/client";
import { useWords } from "../words";
import { useFigures } from "./figures";

const HEIGHT = 28;
const STEP = 6;
const DAY_MS = 86_400_000;

export function Days({ days, label, span = 30 }: { days: readonly Pick<KeyDay, "day" | "requests">[]; label: string; span?: number }) {
  const { operations: texts } = useWords();
  const { number, day } = useFigures();
  const counted = new Map<string, number>();
  for (const one of days) counted.set(one.day, (counted.get(one.day) ?? 0) + one.requests);
  const most = Math.max(1, ...counted.values());
  const shown = Array.from({ length: span }, (_, back) => new Date(Date.now() - (span - 1 - back) * DAY_MS).toISOString().slice(0, 10));
  const spoken = [...counted].slice(0, 3).map(([on, n]) => texts.used(number(n), day(on))).join(", ");
  return (
    <svg className="days" viewBox={`0 0 ${span * STEP} ${HEIGHT}`} role="img" aria-label={`${label}. ${spoken}`} preserveAspectRatio="none">
      <path className="ground" d={`M0 ${HEIGHT - 0.5}H${span * STEP}`} />
      {shown.map((on, index) => {
        const n = counted.get(on) ?? 0;
        const height = n && Math.max(2, (n / most) * (HEIGHT - 2));
        return (
          <rect key={on} x={index * STEP} y={HEIGHT - height} width={STEP - 2} height={height}>
            <title>{texts.used(number(n), day(on))}</title>
          </rect>
        );
      })}
    </svg>
  );
}
