// Two nodes that may be the same, side by side: what they share and in what they differ, with quotes.
import type { graph_shown_ShownNode as ShownNode, Pair, ShownFact, Side } from "@memsvc/client";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Evidence } from "./Evidence";

const FACTS = 6;
const plain = (name: string) => name.trim().toLowerCase();

/** The fact as seen from a node, so that the same one about another node is alike. */
function seenFrom(fact: ShownFact, node: string): string {
  const out = fact.from_node === node;
  return `${fact.type} ${out ? "to" : "from"} ${out ? fact.to_node : fact.from_node}`;
}

export function PairBody({ pair }: { pair: Pair }) {
  const words = useWords();
  const ids = [pair.a.canonical_id, pair.b.canonical_id];
  const { data, error } = useAsked(
    (client) => Promise.all(ids.map((id) => client.describeNode({ path: { node_id: id }, query: { facts: 50 } }))),
    [ids.join(" ")],
  );
  if (error) return <p className="said bad" role="alert">{error}</p>;
  const [one, two] = data ?? [];
  const sides = [
    { side: pair.a, node: one, other: pair.b, otherNode: two },
    { side: pair.b, node: two, other: pair.a, otherNode: one },
  ];
  const names = pair.a.names.filter((name) => pair.b.names.some((other) => plain(other) === plain(name)));
  const sources = pair.a.sources.filter((source) => pair.b.sources.includes(source));
  const facts = one && two ? one.facts.filter((fact) => shared(fact, one, two)) : [];
  const both = [
    ...names.slice(0, 3).map((name) => `${words.inbox.sharedNames} “${name}”`),
    ...(facts.length > 0 ? [words.inbox.sharedFacts(facts.length)] : []),
    ...(sources.length > 0 ? [words.inbox.sharedSources(sources.length)] : []),
  ];
  const differ = [
    ...(pair.a.type !== pair.b.type ? [`${pair.a.type ?? "?"} / ${pair.b.type ?? "?"}`] : []),
    ...(names.length === 0 ? [[pair.a, pair.b].map((side) => side.names[0] ?? words.inbox.unnamed).join(" / ")] : []),
  ];
  return (
    <>
      <div className="sides">
        {sides.map((given) => <Card key={given.side.node_id} {...given} />)}
      </div>
      <dl className="told">
        <div><dt>{words.inbox.shared}</dt><dd dir="auto">{both.join(" · ") || words.inbox.sharesNothing}</dd></div>
        {differ.length > 0 && <div><dt>{words.inbox.differs}</dt><dd dir="auto">{differ.join(" · ")}</dd></div>}
      </dl>
      <Evidence evidence={pair.evidence} />
    </>
  );
}

const shared = (fact: ShownFact, node: ShownNode, other: ShownNode) =>
  other.facts.some((its) => seenFrom(its, other.node_id) === seenFrom(fact, node.node_id));

function Card({ side, node, other, otherNode }: {
  side: Side;
  node: ShownNode | undefined;
  other: Side;
  otherNode: ShownNode | undefined;
}) {
  const words = useWords();
  const times = useTimes();
  const [label = words.inbox.unnamed, ...names] = side.names;
  return (
    <article className="side">
      <h3><a href={href(["things", side.canonical_id])} dir="auto">{label}</a></h3>
      <p className="meta">
        <span className={side.type === other.type ? "" : "differs"}>{side.type}</span>
        {side.sources.length > 0 && <span>{words.inbox.mentionedIn(side.sources.length)}</span>}
        {node?.last_seen && <span>{words.things.lastSeen(times.day(node.last_seen))}</span>}
      </p>
      {names.length > 0 && <p className="small" dir="auto">{names.slice(0, 6).join(" · ")}</p>}
      {node?.description && <p className="cut" dir="auto">{node.description}</p>}
      {node && node.facts.length === 0 && <p className="lead small">{words.inbox.noFacts}</p>}
      <ul className="facts-of">
        {node?.facts.slice(0, FACTS).map((fact) => {
          const both = otherNode && shared(fact, node, otherNode);
          const [quote] = fact.sources;
          return (
            <li key={fact.version_id} className={both ? "both" : ""}>
              <span dir="auto">{fact.fact}</span> <small>{times.span(fact.valid_from, fact.valid_to)}</small>
              {both && <em>{words.inbox.shared}</em>}
              {quote && <q className="cut" dir="auto">{quote.quote}</q>}
            </li>
          );
        })}
      </ul>
      {node && node.facts.length > FACTS && <p className="lead small">{words.inbox.moreFacts(node.facts.length - FACTS)}</p>}
    </article>
  );
}
