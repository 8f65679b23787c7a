// What was left out and why, and how the answer was found.
import type { Explanation } from "@memsvc/client";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const INNER = new Set(["candidates"]);

export function Explained({ explanation }: { explanation: Explanation }) {
  const words = useWords();
  const times = useTimes();
  const found = Object.entries(explanation.found).filter(([name, n]) => n > 0 && !INNER.has(name));
  const points = (value: number) => value.toLocaleString(words.code, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return (
    <div className="explained">
      {explanation.cut.length > 0 && (
        <details>
          <summary>{words.ask.leftOut(explanation.cut.length)}</summary>
          <p className="lead">{words.ask.leftOutLead}</p>
          <table>
            <tbody>
              {explanation.cut.map(({ memory, reason }) => (
                <tr key={memory.memory_id}>
                  <td className="value">{points(memory.score)}</td>
                  <td className="reason">{words.ask.reasons[reason] ?? reason}</td>
                  <td dir="auto">
                    <span className="cut">{memory.text}</span>{" "}
                    <small>{[memory.speaker, times.day(memory.said_at)].filter(Boolean).join(", ")}</small>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      <details>
        <summary>{words.ask.how}</summary>
        <dl>
          {explanation.words.length > 0 && (
            <div><dt>{words.ask.words}</dt><dd dir="auto">{explanation.words.join(" · ")}</dd></div>
          )}
          {explanation.names.length > 0 && (
            <div>
              <dt>{words.ask.names}</dt>
              <dd>
                {explanation.names.map((one) => (
                  <a key={one.node_id + one.name} href={href(["things", one.node_id])} dir="auto">{one.label}</a>
                ))}
              </dd>
            </div>
          )}
          <div>
            <dt>{words.ask.foundBy}</dt>
            <dd>{found.map(([name, n]) => `${words.ask.arms[name] ?? name} ${n.toLocaleString(words.code)}`).join(" · ")}</dd>
          </div>
        </dl>
      </details>
    </div>
  );
}
