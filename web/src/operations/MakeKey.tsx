// Makes a key, and shows it: once.
import type { KeyIn, NewKey, User } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct } from "../api/memory";
import { Copy } from "../ui/Copy";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import { Limits, limitsOf } from "./Limits";
import { isScope, type Scope, Scopes } from "./Scopes";

const DAY_S = 86_400;
const MOST_DAYS = 3_650;

export function MakeKey({ users, onClose, onMade }: {
  users: readonly User[];
  onClose: () => void;
  onMade: (made: NewKey) => void;
}) {
  const words = useWords();
  const { operations: texts } = words;
  const act = useAct();
  const [busy, setBusy] = useState(false);
  const [whose, setWhose] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get("days"));
    const body: KeyIn = {
      label: String(form.get("label")),
      scopes: form.getAll("scope").map(String).filter(isScope),
      ...(whose && { user: whose }),
      ...(days > 0 && { expires_in: days * DAY_S }),
      ...limitsOf(form),
    };
    setBusy(true);
    await act((client) => client.makeKey({ body }), onMade);
    setBusy(false);
  };
  const without: readonly Scope[] = whose ? ["enroll", "admin"] : [];
  return (
    <Dialog title={texts.makeKey.replace(" …", "")} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        <label>
          <span>{texts.label}</span>
          <input name="label" maxLength={200} dir="auto" />
        </label>
        <label>
          <span>{texts.forUser}</span>
          <select name="user" value={whose} onChange={(event) => setWhose(event.target.value)}>
            <option value="">{texts.allUsers}</option>
            {users.map((one) => <option key={one.user_id} value={one.user_id}>{one.name}</option>)}
          </select>
        </label>
        <Scopes chosen={["read", "write"]} without={without} />
        <label>
          <span>{texts.days}</span>
          <input name="days" type="number" min={1} max={MOST_DAYS} />
          <small>{texts.daysHint}</small>
        </label>
        <Limits />
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={busy}>{texts.make}</button>
        </footer>
      </form>
    </Dialog>
  );
}

export function NewKeyShown({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const words = useWords();
  const { operations: texts } = words;
  return (
    <Dialog title={texts.keyMade} onClose={onClose}>
      <div className="fields">
        <p>{texts.keyOnce}</p>
        <pre className="secret" tabIndex={0}>{made.secret}</pre>
        <div className="copies"><Copy label={texts.copyKey} text={() => made.secret} /></div>
        <footer>
          <button type="button" className="primary" onClick={onClose}>{words.common.close}</button>
        </footer>
      </div>
    </Dialog>
  );
}
