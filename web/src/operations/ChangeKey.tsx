// Changes what a key may do and how much; both can be taken back.
import type { Key } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import type { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import { Limits, limitsOf } from "./Limits";
import { isScope, Scopes } from "./Scopes";

export function ChangeKey({ one, act, onClose, onChanged }: {
  one: Key;
  /** That of the page behind, which outlives this dialog. */
  act: ReturnType<typeof useAct>;
  onClose: () => void;
  onChanged: (text: string, undo: () => Promise<boolean>) => void;
}) {
  const words = useWords();
  const { operations: texts } = words;
  const [busy, setBusy] = useState(false);
  const path = { key_id: one.key_id };
  const write = (scopes: readonly string[], limits: ReturnType<typeof limitsOf>) =>
    act(async (client) => {
      await client.limitKey({ path, body: limits });
      await client.setKeyScopes({ path, body: { scopes: scopes.filter(isScope) } });
    });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const before = { requests_per_minute: one.requests_per_minute, messages_per_day: one.messages_per_day };
    setBusy(true);
    if (await write(form.getAll("scope").map(String), limitsOf(form))) onChanged(texts.changedKey, () => write(one.scopes, before));
    setBusy(false);
  };
  return (
    <Dialog title={texts.changeTitle(one.label || one.key_id)} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        <Scopes chosen={one.scopes} without={one.user_id ? ["enroll", "admin"] : []} />
        <Limits minute={one.requests_per_minute} day={one.messages_per_day} />
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={busy}>{texts.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
