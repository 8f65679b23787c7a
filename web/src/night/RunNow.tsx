// Runs sleep mode now, all of it or chosen tasks; or shows first what it would do.
import type { SleepPreview } from "@memsvc/client";
import { useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";

const MOST = 200;

export function RunNow({ onClose, onAsked }: { onClose: () => void; onAsked: () => void }) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const { data, error } = useAsked((client) => client.listSleepTasks(), []);
  const [left, setLeft] = useState<readonly string[]>([]);
  const [preview, setPreview] = useState<SleepPreview | null>(null);
  const [busy, setBusy] = useState(false);
  const tasks = (data?.items ?? []).filter(({ on }) => on);
  const chosen = tasks.map(({ name }) => name).filter((name) => !left.includes(name));
  const names = left.length === 0 ? [] : chosen; // none named: all that are on
  const look = async () => {
    setBusy(true);
    setPreview(null);
    await act((client) => client.previewSleep({ body: { tasks: names, limit: MOST } }), setPreview);
    setBusy(false);
  };
  const run = async () => {
    setBusy(true);
    await act((client) => client.sleep({ body: { tasks: names } }), () => {
      say(words.night.asked);
      onClose();
      onAsked();
    });
    setBusy(false);
  };
  return (
    <Dialog title={words.night.run} onClose={onClose} wide>
      <div className="fields run-now">
        {error && <p className="said bad" role="alert">{error}</p>}
        <p className="lead">{words.night.runLead}</p>
        <fieldset className="choice columns">
          <legend>{words.night.views.tasks}</legend>
          {tasks.map(({ name }) => (
            <label key={name}>
              <input type="checkbox" checked={!left.includes(name)}
                onChange={(event) => setLeft(event.target.checked ? left.filter((one) => one !== name) : [...left, name])} />
              <span>{words.night.tasks[name]?.name ?? name}</span>
            </label>
          ))}
        </fieldset>
        {tasks.length > 1 && (
          <p>
            <button type="button" className="link" onClick={() => setLeft(left.length ? [] : tasks.map(({ name }) => name))}>
              {left.length ? words.night.all : words.night.none}
            </button>
          </p>
        )}
        {busy && <p className="lead" aria-live="polite">{words.night.looking}</p>}
        {preview && <Would preview={preview} />}
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="button" disabled={busy || chosen.length === 0} onClick={() => void look()}>{words.night.dry}</button>
          <button type="button" className="primary" disabled={busy || chosen.length === 0} onClick={() => void run()}>{words.night.runSubmit}</button>
        </footer>
      </div>
    </Dialog>
  );
}

function Would({ preview }: { preview: SleepPreview }) {
  const words = useWords();
  const points = (value: number) => value.toLocaleString(words.code, { maximumFractionDigits: 2, minimumFractionDigits: 2 });
  const named = preview.items.filter(({ action }) => action !== "rate"); // a rating names an id only; it is counted
  return (
    <section className="would" aria-label={words.night.would} tabIndex={0}>
      <h3>{words.night.would}</h3>
      {preview.tasks.length === 0 && <p>{words.night.wouldNothing}</p>}
      <ul className="looked">
        {preview.tasks.map(({ task, examined, would }) => (
          <li key={task}>
            <b>{words.night.tasks[task]?.name ?? task}</b> <span>{words.night.wouldLook(examined, would)}</span>
          </li>
        ))}
      </ul>
      <ul className="named">
        {named.map((one, index) => (
          <li key={index}>
            <span className="kind">{words.night.actions[one.action] ?? one.action}</span>
            <span dir="auto">{[one.one, one.other].filter(Boolean).join(" → ")}</span>
            <small>{[one.score !== null && one.score !== undefined && points(one.score), one.reason].filter(Boolean).join(" · ")}</small>
          </li>
        ))}
      </ul>
      {!preview.complete && <p className="lead">{words.night.wouldMore}</p>}
    </section>
  );
}
