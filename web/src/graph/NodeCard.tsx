// What is selected: names, description, the facts that are shown, and a path to something else.
import type { GraphNode, Paths } from "@memsvc/client";
import { useState } from "react";
import { type Asked as Answer, useAsked } from "../api/memory";
import { href } from "../app/route";
import { NodePicker } from "../things/NodePicker";
import { Icon } from "../ui/Icon";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Asked } from "./address";
import { momentOf } from "./days";
import { Swatch } from "./Legend";
import { nameOf, type Shown, type ShownEdge, typeOf } from "./view";

const FACTS = 12;

export function NodeCard({ node, shown, nodes, asked, knownAt, paths, onShow, onFocus }: {
  node: GraphNode;
  shown: Shown;
  nodes: ReadonlyMap<string, GraphNode>;
  asked: Asked;
  knownAt: string | null;
  paths: Answer<Paths>;
  onShow: (changes: Partial<Asked>) => void;
  onFocus: (node: string) => void;
}) {
  const words = useWords();
  const [all, setAll] = useState(false);
  const id = node.node_id;
  const { data } = useAsked(
    (client) => client.describeNode({
      path: { node_id: id },
      query: { facts: 1, ...(asked.as_of && { as_of: momentOf(asked.as_of) }), ...(knownAt && { known_at: knownAt }) },
    }),
    [id, asked.as_of, knownAt],
  );
  const facts = shown.edges.filter(({ edge }) => edge.from_node === id || edge.to_node === id);
  const names = [...new Set((data?.aliases ?? []).map((one) => one.alias))].filter((one) => one !== data?.label);
  const description = data?.description ?? node.description;
  return (
    <section className="node-card" aria-label={words.graph.selected}>
      <header>
        <p className="kind"><Swatch type={typeOf(node)} /> {typeOf(node)}</p>
        <button type="button" className="icon" aria-label={words.common.close} onClick={() => onShow({ node: "", to: "" })}>
          <Icon name="close" />
        </button>
      </header>
      <h2 dir="auto">{node.label ?? nameOf(node)}</h2>
      {names.length > 0 && <p className="aka" dir="auto">{words.thing.names}: {names.join(" · ")}</p>}
      {description && <p className="about" dir="auto">{description}</p>}
      <p className="links">
        <a href={href(["things", id], { as_of: asked.as_of, known_at: asked.known_at })}>{words.graph.open}</a>
        <a href={href(["ask"], { q: words.ask.example(node.label ?? "") })}>{words.thing.ask}</a>
        <button type="button" className="link" onClick={() => onFocus(id)}>{words.graph.center}</button>
      </p>
      <h3>{words.graph.path}</h3>
      <NodePicker key={id + asked.to} label={words.graph.pathTo} without={[id]} chosen={null} onChoose={(other) => onShow({ to: other.node_id })} />
      {asked.to && <Found paths={paths} onShow={onShow} />}
      <h3>{words.graph.facts(facts.length)}</h3>
      {facts.length === 0 && <p className="lead">{words.graph.noFacts}</p>}
      <ul className="near">
        {facts.slice(0, all ? undefined : FACTS).map((one) => (
          <Fact key={one.edge.version_id} one={one} about={id} nodes={nodes} onChoose={(other) => onShow({ node: other, to: "" })} />
        ))}
      </ul>
      {!all && facts.length > FACTS && (
        <button type="button" className="link" onClick={() => setAll(true)}>{words.thing.more}</button>
      )}
    </section>
  );
}

function Fact({ one: { edge, mark, over }, about, nodes, onChoose }: {
  one: ShownEdge;
  about: string;
  nodes: ReadonlyMap<string, GraphNode>;
  onChoose: (node: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const other = edge.from_node === about ? edge.to_node : edge.from_node;
  const node = nodes.get(other);
  const when = times.span(edge.valid_from, edge.valid_to);
  return (
    <li className={over ? "over" : ""}>
      <span dir="auto">{edge.fact}</span>
      <span className="meta">
        {mark && <b className={`mark ${mark}`}>{words.graph.marks[mark]}</b>}
        {when && <span>{when}</span>}
        {node && other !== about && (
          <button type="button" className="link" dir="auto" onClick={() => onChoose(other)}>{nameOf(node)}</button>
        )}
      </span>
    </li>
  );
}

function Found({ paths: { data, error, loading }, onShow }: { paths: Answer<Paths>; onShow: (changes: Partial<Asked>) => void }) {
  const words = useWords();
  const end = <button type="button" className="link" onClick={() => onShow({ to: "" })}>{words.graph.noPath}</button>;
  if (error) return <p className="said bad" role="alert">{error} {end}</p>;
  if (!data) return loading && <p className="lead" aria-live="polite">{words.common.loading}</p>;
  const [first] = data.paths;
  return (
    <div className="path" role="status">
      {!first && <p>{data.complete ? words.graph.unconnected : words.graph.gaveUp}</p>}
      {first && <p>{words.graph.steps(first.edges.length, data.paths.length)}</p>}
      {data.paths.map((path) => (
        <ol key={path.edges.map((edge) => edge.version_id).join()}>
          {path.edges.map((edge) => <li key={edge.version_id} dir="auto">{edge.fact}</li>)}
        </ol>
      ))}
      {end}
    </div>
  );
}
