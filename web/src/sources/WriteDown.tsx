// Writes down a text as a message of a conversation, or as a note.
import { type FormEvent, useState } from "react";
import { useAct, useMemory } from "../api/memory";
import { go } from "../app/route";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";

export function WriteDown({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const { down } = words.sources;
  const { me } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [asNote, setAsNote] = useState(false);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = String(form.get("text"));
    const said = String(form.get("said_at") ?? "");
    setBusy(true);
    const conversation = String(form.get("conversation") ?? "").trim() || down.default;
    const done = asNote
      ? await act((client) => client.createNote({ body: { title: String(form.get("name")), text } }), () => say(down.done))
      : await act(
          (client) =>
            client.addMessages({ body: { conversation, text, speaker: me.label.slice(0, 200), ...(said && { said_at: said }) } }),
          (told) => {
            const { conversation_id: id, passage_id: at } = told.messages[0] ?? {};
            if (id && at) say(down.done, { action: { label: words.sources.open, act: () => go(["sources", id], { at }) } });
            else say(words.sources.paused, { bad: true });
          },
        );
    setBusy(false);
    if (done) onClose();
  };
  return (
    <Dialog title={down.title} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        <fieldset className="choice">
          <legend>{down.as}</legend>
          {[false, true].map((one) => (
            <label key={String(one)}>
              <input type="radio" name="as" checked={asNote === one} onChange={() => setAsNote(one)} />
              <span>{one ? down.note : down.message}</span>
            </label>
          ))}
        </fieldset>
        {asNote && (
          <label>
            <span>{down.name}</span>
            <input name="name" required maxLength={200} dir="auto" />
          </label>
        )}
        <label>
          <span>{down.text}</span>
          <textarea name="text" rows={7} required={!asNote} dir="auto" />
        </label>
        {!asNote && (
          <>
            <label>
              <span>{down.conversation}</span>
              <input name="conversation" defaultValue={down.default} maxLength={400} dir="auto" />
            </label>
            <label>
              <span>{down.when}</span>
              <input type="datetime-local" name="said_at" />
              <small>{down.whenHint}</small>
            </label>
          </>
        )}
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={busy}>{down.submit}</button>
        </footer>
      </form>
    </Dialog>
  );
}
