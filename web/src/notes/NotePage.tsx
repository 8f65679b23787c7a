// A note: its text, what it links to and what links to it, what is near, and its history.
import { useCallback, useEffect, useMemo, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useAsked, useMemory } from "../api/memory";
import { go, href } from "../app/route";
import { Forget } from "../ui/Forget";
import { History } from "../things/History";
import { Copy } from "../ui/Copy";
import { useNotices } from "../ui/notices";
import { usePin } from "../ui/pin";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Linked } from "./Linked";
import { LinkNote } from "./LinkNote";
import { linksOf, targetsOf } from "./links";
import { Markdown } from "./Markdown";
import "../things/thing.css";

export function NotePage({ noteId, query }: { noteId: string; query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const pin = usePin();
  const { say } = useNotices();
  const [doing, setDoing] = useState<"" | "link" | "forget">("");
  const [version, setVersion] = useState(0);
  const history = query.get("view") === "history";
  const { data, error, again } = useAsked(
    async (client) => {
      const note = await client.getNote({ path: { note_id: noteId } });
      const [links, near] = await Promise.all([
        linksOf(client, note.note_id),
        client.getLinkedNotes({ path: { note_id: noteId }, query: { radius: 3, limit: 20 } }),
      ]);
      return { note, links, near: near.items };
    },
    [noteId],
  );
  const refresh = useCallback(() => {
    again();
    setVersion((before) => before + 1);
  }, [again]);
  useLiveAgain(["GRAPH_UPDATE"], refresh);
  const targets = useMemo(() => targetsOf(data?.note.note_id ?? "", data?.links ?? []), [data]);
  useEffect(() => {
    if (data) document.title = `${data.note.title} · memsvc`;
  }, [data]);
  if (error && !data) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const { note, links, near } = data;
  const changed = (text: string, changeId?: string) => {
    refresh();
    const undo = () =>
      act((client) => client.undoChange({ path: { change_id: changeId ?? "" } }), () => {
        say(words.common.undone);
        refresh();
      });
    say(text, changeId ? { action: { label: words.common.undo, act: undo } } : {});
  };
  return (
    <article className="note">
      <header className="card">
        <p className="meta">
          <a href={href(["notes"])}>{words.notes.title}</a>
          <span>{words.notes.kinds[note.kind] ?? note.kind}</span>
          <time dateTime={note.recorded_from}>{times.minute(note.recorded_from)}</time>
          <span>{words.thing.by(note.asserted_by)}</span>
        </p>
        <h1 dir="auto">{note.title}</h1>
        {note.tags.length > 0 && (
          <p className="tags">
            {note.tags.map((tag) => <a key={tag} href={href(["notes"], { tag })} dir="auto">#{tag}</a>)}
          </p>
        )}
        <div className="actions">
          {may("write") && (
            <>
              <a className="button" href={href(["notes", noteId, "edit"])}>{words.notes.edit}</a>
              <button type="button" onClick={() => setDoing("link")}>{words.notes.link}</button>
              <button type="button" onClick={() => pin(note.note_id)}>{words.thing.pin}</button>
            </>
          )}
          <Copy label={words.notes.copyText} text={() => note.text} />
          {may("forget") && <button type="button" className="quiet danger" onClick={() => setDoing("forget")}>{words.thing.forget}</button>}
        </div>
      </header>
      <div className="bar">
        <div className="tabs" role="group" aria-label={words.thing.facets}>
          {([["", words.notes.note], ["history", words.thing.history]] as const).map(([view, label]) => (
            <button type="button" key={view} aria-pressed={history === (view !== "")} onClick={() => go(["notes", noteId], { view }, { replace: true })}>
              {label}
            </button>
          ))}
        </div>
      </div>
      {history ? (
        <History nodeId={note.note_id} version={version} onChanged={changed} writes={may("write")} />
      ) : (
        <div className="sides">
          <section aria-label={words.notes.text}>
            {note.text ? <Markdown text={note.text} targets={targets} /> : <p className="lead">{words.notes.noText}</p>}
          </section>
          <Linked noteId={note.note_id} links={links} near={near} onChanged={refresh} />
        </div>
      )}
      {doing === "link" && <LinkNote noteId={note.note_id} onClose={() => setDoing("")} onLinked={refresh} />}
      {doing === "forget" && (
        <Forget what={note.title} kind="node" id={note.note_id} onClose={() => setDoing("")} onForgotten={() => go(["notes"])} />
      )}
    </article>
  );
}
