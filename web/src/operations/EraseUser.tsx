// Erases a user for good: what would go, the name typed to confirm, the receipt.
import type { Receipt, User } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import { useFigures } from "./figures";

const LOOK_AGAIN_MS = 1_000;

export function EraseUser({ one, onClose, onErased }: { one: User; onClose: () => void; onErased: () => void }) {
  const words = useWords();
  const { operations: texts, forget } = words;
  const act = useAct();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const path = { user: one.user_id };
  const preview = useAsked((client) => client.forgetUser({ path, query: { preview: true } }), [one.user_id]);
  const erase = async () => {
    setBusy(true);
    await act((client) => client.forgetUser({ path }), (made) => {
      setReceipt(made as Receipt);
      onErased();
    });
    setBusy(false);
  };
  useEffect(() => {
    if (receipt?.state !== "pending") return;
    const look = setTimeout(() => void act((client) => client.getUserErasure({ path }), setReceipt), LOOK_AGAIN_MS);
    return () => clearTimeout(look);
  });
  return (
    <Dialog title={receipt ? forget.receipt : texts.eraseTitle(one.name)} onClose={onClose}>
      <div className="fields erasing">
        {!receipt && <p>{texts.eraseLead}</p>}
        {receipt && <p className="said" role="status">{told(receipt, texts)} <code>{receipt.erasure_id}</code></p>}
        {preview.error && <p className="said bad" role="alert">{preview.error}</p>}
        {(receipt ?? preview.data) && (
          <Counts counts={(receipt ?? preview.data)?.counts ?? {}} title={receipt ? forget.done : forget.would} />
        )}
        {!receipt && (
          <label>
            <span dir="auto">{texts.typeName(one.name)}</span>
            <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" dir="auto" />
          </label>
        )}
        <footer>
          {receipt ? <button type="button" className="primary" onClick={onClose}>{words.common.close}</button> : (
            <>
              <button type="button" onClick={onClose}>{words.common.cancel}</button>
              <button type="button" className="danger" disabled={busy || typed.trim() !== one.name.trim()} onClick={() => void erase()}>
                {busy ? forget.busy : texts.eraseSubmit}
              </button>
            </>
          )}
        </footer>
      </div>
    </Dialog>
  );
}

export function told(receipt: Receipt, texts: { pendingErasure: string; clean: string; left: string }): string {
  if (receipt.state === "pending" || receipt.verified === null) return texts.pendingErasure;
  return receipt.verified ? texts.clean : texts.left;
}

export function Counts({ counts, title }: { counts: Record<string, number>; title: string }) {
  const { forget, operations } = useWords();
  const { number } = useFigures();
  const all = Object.entries(counts);
  const known = all.filter(([table, n]) => n > 0 && forget.tables[table]);
  return (
    <div className="counts">
      <h3>{title}</h3>
      <dl tabIndex={0} aria-label={title}>
        {known.map(([table, n]) => (
          <div key={table}>
            <dt>{forget.tables[table]}</dt>
            <dd>{number(n)}</dd>
          </div>
        ))}
        <div>
          <dt>{operations.others}</dt>
          <dd>{number(all.reduce((sum, [table, n]) => (forget.tables[table] ? sum : sum + n), 0))}</dd>
        </div>
      </dl>
    </div>
  );
}
