// All notes, by words, meaning, kind or tag.
import { useDeferredValue, useEffect, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useMemory, usePages } from "../api/memory";
import { go, href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { KINDS, kindOf } from "./kinds";

const PAGE = 50;

export function NotesPage({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const kind = kindOf(query.get("kind"));
  const tag = query.get("tag") ?? "";
  const [typed, setTyped] = useState(query.get("q") ?? "");
  const q = useDeferredValue(typed.trim());
  const found = usePages(
    (client, cursor) =>
      client.listNotes({ query: { limit: PAGE, cursor, ...(q && { q }), ...(kind && { kind }), ...(tag && { tag }) } }),
    [q, kind, tag],
  );
  useLiveAgain(["GRAPH_UPDATE"], found.again);
  useEffect(() => {
    if (q !== (query.get("q") ?? "")) go(["notes"], { q, kind, tag }, { replace: true });
  }, [q, kind, tag, query]);
  const narrowed = Boolean(q || kind || tag);
  return (
    <div className="things notes">
      <div className="bar">
        <h1>{words.notes.title}</h1>
        {may("write") && <a className="button primary" href={href(["notes", "new"])}>{words.notes.write}</a>}
      </div>
      <form className="question" role="search" onSubmit={(event) => event.preventDefault()}>
        <div className="line">
          <input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} maxLength={1000}
            placeholder={words.notes.search} aria-label={words.notes.search} />
          <select aria-label={words.notes.kind} value={kind} onChange={(event) => go(["notes"], { q, tag, kind: event.target.value })}>
            <option value="">{words.notes.anyKind}</option>
            {KINDS.map((one) => <option key={one} value={one}>{words.notes.kinds[one]}</option>)}
          </select>
        </div>
        {tag && (
          <p className="narrow">
            <span className="tag" dir="auto">#{tag}</span>
            <button type="button" className="quiet" onClick={() => go(["notes"], { q, kind })}>{words.notes.anyTag}</button>
          </p>
        )}
      </form>
      {found.error && <p className="said bad" role="alert">{found.error}</p>}
      {!found.data && found.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {found.data && found.items.length === 0 && <p className="empty">{narrowed ? words.notes.none : words.notes.noneAtAll}</p>}
      <ul className="rows">
        {found.items.map((note) => (
          <li key={note.note_id}>
            <a href={href(["notes", note.note_id])}>
              <span className="label" dir="auto">{note.title}</span>
              <span className="kind">{words.notes.kinds[note.kind] ?? note.kind}</span>
              <span className="description" dir="auto">
                {note.tags.length > 0 && <span className="tags">{note.tags.map((one) => `#${one}`).join(" ")} </span>}
                {note.text}
              </span>
              <span className="seen">{times.day(note.recorded_from)}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
    </div>
  );
}
