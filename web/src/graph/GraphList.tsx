// The same as the picture shows, as text: for screen readers, for search in the page, and where WebGL is missing.
import { useMemo, useState } from "react";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Swatch } from "./Legend";
import { nameOf, type Shown, type ShownEdge, typeOf } from "./view";

const PAGE = 100;
const FACTS = 100;

export function GraphList({ shown, onChoose }: {
  shown: Shown;
  onChoose: (node: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const [most, setMost] = useState(PAGE);
  const sorted = useMemo(() => [...shown.nodes].sort((a, b) => b.degree - a.degree), [shown]);
  const facts = useMemo(() => {
    const found = new Map<string, ShownEdge[]>();
    for (const one of shown.edges)
      for (const id of new Set([one.edge.from_node, one.edge.to_node])) found.set(id, [...(found.get(id) ?? []), one]);
    return found;
  }, [shown]);
  return (
    <div className="graph-list">
      <ul>
        {sorted.slice(0, most).map(({ node, degree, mark }) => (
          <li key={node.node_id}>
            <details>
              <summary>
                <Swatch type={typeOf(node)} />
                <span className="label" dir="auto">{nameOf(node, 200)}</span>
                {mark && <b className={`mark ${mark}`}>{words.graph.marks[mark]}</b>}
                <small>{typeOf(node)}</small>
                <small>{words.graph.facts(degree)}</small>
              </summary>
              <ul className="near">
                {(facts.get(node.node_id) ?? []).slice(0, FACTS).map(({ edge, mark: change, over }) => (
                  <li key={edge.version_id} className={over ? "over" : ""}>
                    <span dir="auto">{edge.fact}</span>
                    <span className="meta">
                      {change && <b className={`mark ${change}`}>{words.graph.marks[change]}</b>}
                      <span>{times.span(edge.valid_from, edge.valid_to)}</span>
                    </span>
                  </li>
                ))}
              </ul>
              <p className="links">
                <button type="button" className="link" onClick={() => onChoose(node.node_id)}>{words.graph.inPicture}</button>
                <a href={href(["things", node.node_id])}>{words.graph.open}</a>
              </p>
            </details>
          </li>
        ))}
      </ul>
      {sorted.length > most && (
        <p className="further"><button type="button" onClick={() => setMost(most + PAGE)}>{words.things.more}</button></p>
      )}
    </div>
  );
}
