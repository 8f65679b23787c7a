// The points of a memory as bars, one for each factor, largest first. What counts against it is hollow.
import { useState } from "react";
import { useWords } from "../words";

const SHOWN = 4;
const LEAST = 0.005;

export function Factors({ factors, score, largest, number }: {
  factors: Record<string, number>;
  score: number;
  largest: number;
  number: number;
}) {
  const words = useWords();
  const [all, setAll] = useState(false);
  const counting = Object.entries(factors)
    .filter(([, points]) => Math.abs(points) >= LEAST)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const points = (value: number, sign: "always" | "negative") =>
    value.toLocaleString(words.code, { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: sign });
  return (
    <div className="factors">
      <p className="score">
        <b>{points(score, "negative")}</b> {words.ask.points}
      </p>
      <ul aria-label={words.ask.pointsOf(number)}>
        {(all ? counting : counting.slice(0, SHOWN)).map(([name, value]) => (
          <li key={name}>
            <span className="label">{words.factors[name] ?? name}</span>
            <span className="track">
              <span
                className={value < 0 ? "part against" : "part"}
                style={{ inlineSize: `${Math.max(1, (Math.abs(value) / largest) * 100)}%` }}
              />
            </span>
            <span className="value">{points(value, "always")}</span>
          </li>
        ))}
      </ul>
      {counting.length > SHOWN && (
        <button type="button" className="link small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? words.ask.fewer : words.ask.moreFactors(counting.length - SHOWN)}
        </button>
      )}
    </div>
  );
}
