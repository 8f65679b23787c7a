// All people and things, by name, description or type.
import { useDeferredValue, useEffect, useState } from "react";
import { MOST_NAME_CHARS, useAsked, usePages } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { go, href } from "../app/route";
import { DERIVED } from "../ui/derived";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import "./things.css";

const PAGE = 100;
const LEAST = 20;
/** Types of what memsvc writes itself: summaries and what follows from them, lessons, plans, files. */

export function ThingsPage({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const type = query.get("type") ?? "";
  const [typed, setTyped] = useState((query.get("q") ?? "").slice(0, MOST_NAME_CHARS));
  const all = query.get("all") === "yes";
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
  const shown = found.items.filter((node) => all || type || !DERIVED.has(node.type ?? ""));
  const { more } = found;
  const few = shown.length < LEAST;
  useEffect(() => {
    if (few) more?.(); // a page may hold nothing but what is hidden
  }, [few, found.items.length]);
  const show = (changes: { q?: string; type?: string; all?: string }, replace = false) =>
    go(["things"], { q: name, type, all: all ? "yes" : "", ...changes }, { replace });
  useEffect(() => {
    if (name !== (query.get("q") ?? "")) show({}, true);
  }, [name, type, query]);
  const types = Object.entries(stats.data?.types ?? {}).sort(([, a], [, b]) => b - a);
  const groups = [
    [words.derived.own, types.filter(([one]) => !DERIVED.has(one))],
    [words.derived.written, types.filter(([one]) => DERIVED.has(one))],
  ] as const;
  const count = (all ? types : groups[0][1]).reduce((sum, [, n]) => sum + n, 0);
  return (
    <div className="things">
      <h1>{words.things.title}</h1>
      <form className="question" role="search" onSubmit={(event) => event.preventDefault()}>
        <div className="line">
          <input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} maxLength={MOST_NAME_CHARS}
            placeholder={words.things.search} aria-label={words.things.search} />
          <select aria-label={words.things.type} value={type} onChange={(event) => show({ type: event.target.value })}>
            <option value="">{words.things.anyType}{stats.data ? ` (${count.toLocaleString(words.code)})` : ""}</option>
            {groups.map(([label, some]) => some.length > 0 && (
              <optgroup key={label} label={label}>
                {some.map(([one, n]) => <option key={one} value={one}>{`${one} (${n.toLocaleString(words.code)})`}</option>)}
              </optgroup>
            ))}
          </select>
        </div>
        {!type && groups[1][1].length > 0 && (
          <label className="check small">
            <input type="checkbox" checked={all} onChange={() => show({ all: all ? "" : "yes" })} />
            <span>{words.derived.show}</span>
          </label>
        )}
      </form>
      {found.error && <p className="said bad" role="alert">{found.error}</p>}
      {!found.data && found.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {found.data && !more && shown.length === 0 && <p className="empty">{name || type ? words.things.none : words.things.noneAtAll}</p>}
      <ul className="rows">
        {shown.map((node) => (
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
      {more && <p className="further"><button type="button" onClick={more}>{words.things.more}</button></p>}
    </div>
  );
}
