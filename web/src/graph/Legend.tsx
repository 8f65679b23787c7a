// The types of what is shown, with their colours and shapes; each can be hidden. Types of facts, too.
import { useMemo } from "react";
import { useWords } from "../words";
import { type Asked, listed, toggled } from "./address";
import type { GraphData } from "./data";
import { kindOf, OUTLINES } from "./look";
import { DERIVED } from "../ui/derived";
import { relationOf, typeOf } from "./view";

function counted(all: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
}

export function Swatch({ type }: { type: string }) {
  const { hue, shape } = kindOf(type);
  return (
    <svg className={`swatch type-${hue}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={OUTLINES[shape]} />
    </svg>
  );
}

export function Legend({ data, asked, onShow }: {
  data: GraphData;
  asked: Asked;
  onShow: (changes: Partial<Asked>) => void;
}) {
  const words = useWords();
  const sleep = asked.sleep === "yes";
  const types = useMemo(
    () => counted([...data.nodes.values()].map(typeOf).filter((type) => sleep || !DERIVED.has(type))),
    [data, sleep],
  );
  const kinds = useMemo(() => counted([...data.edges.values()].map((edge) => edge.type)), [data]);
  const slept = useMemo(() => [...data.nodes.values()].some((node) => DERIVED.has(typeOf(node))), [data]);
  const [without, facts] = [listed(asked.without), listed(asked.facts)];
  return (
    <div className="legend">
      <div className="types" role="group" aria-label={words.graph.types}>
        {types.map(([type, n]) => (
          <button type="button" key={type} className="quiet" aria-pressed={!without.includes(type)}
            onClick={() => onShow({ without: toggled(asked.without, type) })}>
            <Swatch type={type} />
            <span dir="auto">{type}</span> <small>{n.toLocaleString(words.code)}</small>
          </button>
        ))}
      </div>
      <details className="kinds">
        <summary>
          {words.graph.kinds}
          {facts.length > 0 && <b>{words.graph.hidden(facts.length)}</b>}
        </summary>
        <div className="sheet">
          <p className="actions">
            <button type="button" className="quiet" onClick={() => onShow({ facts: "" })}>{words.graph.all}</button>
            <button type="button" className="quiet" onClick={() => onShow({ facts: kinds.map(([kind]) => kind).join(",") })}>
              {words.graph.noneOf}
            </button>
          </p>
          {kinds.map(([kind, n]) => (
            <label className="check" key={kind}>
              <input type="checkbox" checked={!facts.includes(kind)} onChange={() => onShow({ facts: toggled(asked.facts, kind) })} />
              <span dir="auto">{relationOf(kind)} <small>{n.toLocaleString(words.code)}</small></span>
            </label>
          ))}
        </div>
      </details>
      {slept && (
        <label className="check">
          <input type="checkbox" checked={sleep} onChange={() => onShow({ sleep: sleep ? "" : "yes" })} />
          <span>{words.derived.show}</span>
        </label>
      )}
    </div>
  );
}
