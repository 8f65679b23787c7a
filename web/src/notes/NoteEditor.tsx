// Writes a note, or changes one. If it was changed elsewhere meanwhile, nothing is overwritten without asking.
import { MemsvcError, type Memsvc } from "@memsvc/client";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useAsked } from "../api/memory";
import { go, href } from "../app/route";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { same } from "./inline";
import { KINDS, kindOf, tagsOf } from "./kinds";
import { LinkedText } from "./LinkedText";
import { linkNames, linksOf, targetsOf } from "./links";
import { Markdown, type Target } from "./Markdown";

const MOST_TEXT = 8_000;
interface Draft {
  title: string;
  text: string;
  kind: string;
  tags: string;
}
interface Base extends Draft {
  version: string;
  data: Record<string, unknown>;
}

async function read(client: Memsvc, noteId: string) {
  const [note, node] = await Promise.all([
    client.getNote({ path: { note_id: noteId } }), client.describeNode({ path: { node_id: noteId }, query: { facts: 1 } }),
  ]);
  const base: Base = {
    title: note.title, text: note.text, kind: note.kind, tags: note.tags.join(", "), version: note.version_id, data: node.data,
  };
  return { base, targets: targetsOf(note.note_id, await linksOf(client, note.note_id)) };
}

export function NoteEditor({ noteId, title }: { noteId: string | null; title: string }) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const now = useAsked(noteId ? (client) => read(client, noteId) : undefined, [noteId]);
  useLiveAgain(["GRAPH_UPDATE"], now.again);
  const [base, setBase] = useState<Base | null>(null);
  const [draft, setDraft] = useState<Draft | null>(noteId ? null : { title, text: "", kind: "fact", tags: "" });
  const [picked, setPicked] = useState<ReadonlyMap<string, Target>>(new Map());
  const [preview, setPreview] = useState(false);
  const [busy, setBusy] = useState(false);
  const theirs = now.data?.base;
  useEffect(() => {
    if (!theirs || base) return;
    setBase(theirs);
    setDraft(theirs);
  }, [theirs, base]);
  const targets = useMemo(() => new Map([...(now.data?.targets ?? []), ...picked]), [now.data, picked]);
  if (now.error && !draft) return <p className="said bad" role="alert">{now.error}</p>;
  if (!draft) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const conflict = base && theirs && theirs.version !== base.version ? theirs : null;
  const set = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });
  const take = (given: Base) => {
    setBase(given);
    setDraft(given);
  };
  const save = async () => {
    setBusy(true);
    const { title: label, text: description } = draft;
    const kind = kindOf(draft.kind) || "fact";
    const tags = tagsOf(draft.tags);
    await act(
      async (client) => {
        if (!noteId || !base) {
          const made = await client.createNote({ body: { title: label, text: description, kind, tags } });
          return { id: made.note_id, linked: await linkNames(client, made.note_id, description, "", picked), changeId: null };
        }
        const same = label === base.title && description === base.text && kind === base.kind && draft.tags === base.tags;
        let changeId: string | null = null;
        if (!same)
          try {
            const body = { label, description, data: { ...base.data, kind, tags }, version_id: base.version };
            changeId = (await client.correctNode({ path: { node_id: noteId }, body })).change_id;
          } catch (error) {
            if (!(error instanceof MemsvcError && error.code === "version_superseded")) throw error;
            now.again(); // what is new is shown beside what was written here
            return null;
          }
        return { id: noteId, linked: await linkNames(client, noteId, description, base.text, picked), changeId };
      },
      (done) => {
        if (!done) return;
        const { id, linked, changeId } = done;
        const undo = () =>
          act(async (client) => {
            await linked.undo(client);
            await client.undoChange({ path: { change_id: changeId ?? "" } });
          }, () => say(words.common.undone));
        go(["notes", id]);
        const text = [words.notes.saved, linked.unclear.length > 0 && words.notes.unclear(linked.unclear.join(", "))].filter(Boolean).join(" ");
        say(text, changeId ? { action: { label: words.common.undo, act: () => void undo() } } : {});
      },
    );
    setBusy(false);
  };
  return (
    <form className="editor" onSubmit={(event: FormEvent) => {
      event.preventDefault();
      if (draft.title.trim() && !busy && !conflict) void save();
    }} onKeyDown={(event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
    }}>
      <h1>{noteId ? words.notes.change : words.notes.write}</h1>
      {conflict && (
        <div className="said bad" role="alert">
          <p>{words.notes.conflict}</p>
          <details>
            <summary>{words.notes.showTheirs}</summary>
            <p dir="auto"><b>{conflict.title}</b></p>
            <Markdown text={conflict.text} targets={targets} />
          </details>
          <p className="actions">
            <button type="button" onClick={() => take(conflict)}>{words.notes.takeTheirs}</button>
            <button type="button" onClick={() => setBase(conflict)}>{words.notes.keepMine}</button>
          </p>
        </div>
      )}
      <label>
        <span>{words.notes.noteTitle}</span>
        <input value={draft.title} onChange={(event) => set({ title: event.target.value })} required maxLength={200} dir="auto" name="title" autoFocus={!draft.title} />
      </label>
      <div className="narrow">
        <label>
          <span>{words.notes.kind}</span>
          <select value={draft.kind} onChange={(event) => set({ kind: event.target.value })}>
            {KINDS.map((one) => <option key={one} value={one}>{words.notes.kinds[one]}</option>)}
          </select>
        </label>
        <label className="tags-field">
          <span>{words.notes.tags}</span>
          <input value={draft.tags} onChange={(event) => set({ tags: event.target.value })} placeholder={words.ask.commas} maxLength={5000} dir="auto" />
        </label>
        <span className="tabs" role="group" aria-label={words.notes.text}>
          <button type="button" aria-pressed={!preview} onClick={() => setPreview(false)}>{words.notes.writing}</button>
          <button type="button" aria-pressed={preview} onClick={() => setPreview(true)}>{words.notes.preview}</button>
        </span>
      </div>
      {preview ? (
        <div className="previewed">{draft.text ? <Markdown text={draft.text} targets={targets} /> : <p className="lead">{words.notes.noText}</p>}</div>
      ) : (
        <LinkedText value={draft.text} label={words.notes.text} max={MOST_TEXT} onChange={(text) => set({ text })}
          onPick={(name, target) => setPicked(new Map([...picked, [same(name), target]]))} />
      )}
      <p className="lead small">{words.notes.hint}{draft.text.length > MOST_TEXT * 0.8 && ` ${words.notes.room((MOST_TEXT - draft.text.length).toLocaleString(words.code))}`}</p>
      <footer className="actions">
        <button type="submit" className="primary" disabled={busy || !draft.title.trim() || Boolean(conflict)}>{words.edit.save}</button>
        <a className="button" href={href(noteId ? ["notes", noteId] : ["notes"])}>{words.common.cancel}</a>
      </footer>
    </form>
  );
}
