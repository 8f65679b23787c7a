// Forgets something for good: first what would go, then the receipt.
import type { api_controllers_erasures_Preview as Preview, Memsvc, Receipt } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "./Dialog";
import { useTimes } from "./times";
import { useWords } from "../words";

const LOOK_AGAIN_MS = 1_000;

/** A conversation and a document are each a source. */
export type Forgotten = "node" | "fact" | "source" | "message";
/** What erases a block of the profile, which goes by its name and place. */
type Forgetting = (client: Memsvc, preview: boolean) => Promise<Receipt | Preview>;

function forget(client: Memsvc, kind: Forgotten, id: string, preview: boolean) {
  const query = { preview };
  if (kind === "node") return client.forgetNode({ path: { node_id: id }, query });
  if (kind === "fact") return client.forgetFact({ path: { edge_id: id }, query });
  if (kind === "source") return client.forgetSource({ path: { source_id: id }, query });
  return client.forgetMessage({ path: { passage_id: id }, query });
}

export function Forget({ what, kind, id, how, onClose, onForgotten }: {
  what: string;
  id: string;
  onClose: () => void;
  onForgotten: () => void;
} & ({ kind: Forgotten; how?: never } | { kind: "block"; how: Forgetting })) {
  const words = useWords();
  const act = useAct();
  const forgotten: Forgetting = (client, preview) => (kind === "block" ? how(client, preview) : forget(client, kind, id, preview));
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const [busy, setBusy] = useState(false);
  const preview = useAsked((client) => forgotten(client, true), [kind, id]);
  const submit = async () => {
    setBusy(true);
    await act((client) => forgotten(client, false), (made) => setReceipt(made as Receipt));
    setBusy(false);
  };
  useEffect(() => {
    if (receipt?.state !== "pending") return;
    const look = setTimeout(
      () => void act((client) => client.getErasure({ path: { erasure_id: receipt.erasure_id } }), setReceipt),
      LOOK_AGAIN_MS,
    );
    return () => clearTimeout(look);
  });
  const close = receipt ? () => { onClose(); onForgotten(); } : onClose;
  return (
    <Dialog title={receipt ? words.forget.receipt : words.forget.title(what)} onClose={close}>
      <div className="fields">
        {!receipt && <p>{words.forget.lead}</p>}
        {receipt && <ReceiptShown receipt={receipt} />}
        {preview.error && <p className="said bad" role="alert">{preview.error}</p>}
        {(receipt ?? preview.data) && <Counts counts={(receipt ?? preview.data)?.counts ?? {}} title={receipt ? words.forget.done : words.forget.would} />}
        <footer>
          {receipt ? (
            <button type="button" className="primary" onClick={close}>{words.common.close}</button>
          ) : (
            <>
              <button type="button" onClick={close}>{words.common.cancel}</button>
              <button type="button" className="danger" disabled={busy || !preview.data} onClick={submit}>
                {busy ? words.forget.busy : words.forget.submit}
              </button>
            </>
          )}
        </footer>
      </div>
    </Dialog>
  );
}

function Counts({ counts, title }: { counts: Record<string, number>; title: string }) {
  const words = useWords();
  return (
    <div className="counts">
      <h3>{title}</h3>
      <dl>
        {Object.entries(counts).map(([table, n]) => (
          <div key={table}>
            <dt>{words.forget.tables[table] ?? table}</dt>
            <dd>{n.toLocaleString(words.code)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function ReceiptShown({ receipt }: { receipt: Receipt }) {
  const words = useWords();
  const times = useTimes();
  const checked = receipt.verified === null ? words.forget.pending : receipt.verified ? words.forget.clean : words.forget.left;
  return (
    <dl className="receipt">
      <div><dt>{words.forget.number}</dt><dd>{receipt.erasure_id}</dd></div>
      {receipt.finished_at && <div><dt>{words.forget.when}</dt><dd>{times.minute(receipt.finished_at)}</dd></div>}
      <div><dt>{words.forget.verified}</dt><dd>{checked}</dd></div>
    </dl>
  );
}
