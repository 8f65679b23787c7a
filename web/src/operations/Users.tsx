// The users of the app: add one, or erase one with everything.
import type { User } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct, useMemory, usePages } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { EraseUser } from "./EraseUser";

const PAGE = 100;

export function Users() {
  const words = useWords();
  const { operations: texts } = words;
  const times = useTimes();
  const { me } = useMemory();
  const { say } = useNotices();
  const [adding, setAdding] = useState(false);
  const [erasing, setErasing] = useState<User | null>(null);
  const { items, more, error, data, again } = usePages((client, cursor) => client.listUsers({ query: { limit: PAGE, cursor } }), []);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <div className="parts">
      <div className="bar">
        <p className="lead">{texts.usersLead}</p>
        <button type="button" className="primary" onClick={() => setAdding(true)}>{texts.addUser}</button>
      </div>
      <ul className="lines">
        {items.map((one) => (
          <li key={one.user_id}>
            <div>
              <strong dir="auto">{one.name}</strong> {one.user_id === me.user.user_id && <span className="state">{texts.you}</span>}
              <p className="meta">
                {one.external_id !== one.name && <span dir="auto">{one.external_id}</span>}
                <span>{one.time_zone}</span>
                <span>{texts.since(times.day(one.created_at))}</span>
                <code>{one.user_id}</code>
              </p>
            </div>
            <button type="button" className="quiet danger" onClick={() => setErasing(one)} aria-label={`${texts.eraseUser} ${one.name}`}>{texts.eraseUser}</button>
          </li>
        ))}
      </ul>
      {more && <p className="further"><button type="button" onClick={more}>{texts.more}</button></p>}
      {adding && (
        <AddUser onClose={() => setAdding(false)} onAdded={(name) => {
          setAdding(false);
          say(texts.added(name));
          again();
        }} />
      )}
      {erasing && <EraseUser one={erasing} onClose={() => setErasing(null)} onErased={again} />}
    </div>
  );
}

function AddUser({ onClose, onAdded }: { onClose: () => void; onAdded: (name: string) => void }) {
  const words = useWords();
  const { operations: texts } = words;
  const act = useAct();
  const { zone } = useMemory();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [name, id, where] = ["name", "id", "zone"].map((field) => String(form.get(field)).trim());
    const body = { name: name ?? "", ...(id && { external_id: id }), ...(where && { time_zone: where }) };
    setBusy(true);
    await act((client) => client.addUser({ body }), (made) => onAdded(made.name));
    setBusy(false);
  };
  return (
    <Dialog title={texts.addUser.replace(" …", "")} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        <label>
          <span>{texts.name}</span>
          <input name="name" required maxLength={200} dir="auto" />
        </label>
        <label>
          <span>{texts.externalId}</span>
          <input name="id" maxLength={200} dir="auto" />
          <small>{texts.externalHint}</small>
        </label>
        <label>
          <span>{texts.zone}</span>
          <input name="zone" list="zones" defaultValue={zone} />
          <datalist id="zones">{Intl.supportedValuesOf("timeZone").map((one) => <option key={one} value={one} />)}</datalist>
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={busy}>{texts.add}</button>
        </footer>
      </form>
    </Dialog>
  );
}
