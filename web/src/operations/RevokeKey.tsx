// Revokes a key, which cannot be taken back.
import type { Key } from "@memsvc/client";
import { useState } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";

export function RevokeKey({ one, onClose, onRevoked }: { one: Key; onClose: () => void; onRevoked: () => void }) {
  const words = useWords();
  const { operations: texts } = words;
  const act = useAct();
  const [busy, setBusy] = useState(false);
  const revoke = async () => {
    setBusy(true);
    await act((client) => client.revokeKey({ path: { key_id: one.key_id } }), onRevoked);
    setBusy(false);
  };
  return (
    <Dialog title={texts.revokeTitle(one.label || one.key_id)} onClose={onClose}>
      <div className="fields">
        <p>{texts.revokeLead}</p>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="button" className="danger" disabled={busy} onClick={() => void revoke()}>{texts.revokeSubmit}</button>
        </footer>
      </div>
    </Dialog>
  );
}
