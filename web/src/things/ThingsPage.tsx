// All people and things, by name, description or type.
import { useDeferredValue, useEffect, useState } from "react";
import { MOST_NAME_CHARS, useAsked, usePages } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { go, href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import "./things.css";

const PAGE = 50;

export function ThingsPage({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const type = query.get("type") ?? "";
  const [typed, setTyped] = useState((query.get("q") ?? "").slice(0, MOST_NAME_CHARS));
  const name = useDeferredValue(typed.trim());
  const stats = useAsked((client) => client.graphStats(), []);
  const found = usePages(
    (client, cursor) => client.searchNodes({ query: { q: name, limit: PAGE, ...(type && { type }), cursor } }),
    [name, type],
  );
  useLiveAgain(["GRAPH_UPDATE"], () => {
    found.again();
    stats.again();
  });
  useEffect(() => {
    if (name !== (query.get("q") ?? "")) go(["things"], { q: name, type }, { replace: true });
  }, [name, type, query]);
  const types = Object.entries(stats.data?.types ?? {}).sort(([, a], [, b]) => b - a);
  return (
    <div className="things">
      <h1>{words.things.title}</h1>
      <form className="question" role="search" onSubmit={(event) => event.preventDefault()}>
        <div className="line">
          <input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} maxLength={MOST_NAME_CHARS}
            placeholder={words.things.search} aria-label={words.things.search} />
          <select aria-label={words.things.type} value={type} onChange={(event) => go(["things"], { q: name, type: event.target.value })}>
            <option value="">{words.things.anyType}{stats.data ? ` (${stats.data.nodes.toLocaleString(words.code)})` : ""}</option>
            {types.map(([one, n]) => <option key={one} value={one}>{`${one} (${n.toLocaleString(words.code)})`}</option>)}
          </select>
        </div>
      </form>
      {found.error && <p className="said bad" role="alert">{found.error}</p>}
      {!found.data && found.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {found.data && found.items.length === 0 && <p className="empty">{name || type ? words.things.none : words.things.noneAtAll}</p>}
      <ul className="rows">
        {found.items.map((node) => (
          <li key={node.node_id}>
            <a href={href(["things", node.node_id])}>
              <span className="label" dir="auto">{node.label ?? node.name}</span>
              <span className="kind">{node.type}</span>
              <span className="description" dir="auto">{node.description}</span>
              <span className="seen">{node.last_seen && words.things.lastSeen(times.day(node.last_seen))}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
    </div>
  );
}
