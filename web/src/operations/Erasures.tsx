// What was erased, with its receipts: from this user's memory, and whole users.
import type { Act, Receipt } from "@memsvc/client";
import { useState } from "react";
import { useAct, usePages } from "../api/memory";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { told } from "./EraseUser";
import { useFigures } from "./figures";

const PAGE = 20;

export function Erasures() {
  const { operations: texts } = useWords();
  const mine = usePages((client, cursor) => client.listErasures({ query: { limit: PAGE, cursor } }), []);
  const users = usePages((client, cursor) => client.listActs({ query: { action: "user.erase", limit: PAGE, cursor } }), []);
  return (
    <div className="parts">
      <p className="lead">{texts.erasuresLead}</p>
      <section>
        <h2>{texts.mine}</h2>
        {mine.error && <p className="said bad" role="alert">{mine.error}</p>}
        {mine.data && mine.items.length === 0 && <p className="lead">{texts.noErasures}</p>}
        <ul className="lines">{mine.items.map((one) => <Erased key={one.erasure_id} first={one} />)}</ul>
        {mine.more && <p className="further"><button type="button" onClick={mine.more}>{texts.more}</button></p>}
      </section>
      <section>
        <h2>{texts.users}</h2>
        {users.error && <p className="said bad" role="alert">{users.error}</p>}
        {users.data && users.items.length === 0 && <p className="lead">{texts.noUsersErased}</p>}
        <ul className="lines">{users.items.map((one) => <ErasedUser key={one.audit_id} one={one} />)}</ul>
        {users.more && <p className="further"><button type="button" onClick={users.more}>{texts.more}</button></p>}
      </section>
    </div>
  );
}

function Erased({ first }: { first: Receipt }) {
  const act = useAct();
  const [receipt, setReceipt] = useState(first);
  const path = { erasure_id: receipt.erasure_id };
  return <Line receipt={receipt} onCheck={() => void act((client) => client.getErasure({ path }), setReceipt)} />;
}

function ErasedUser({ one }: { one: Act }) {
  const { operations: texts } = useWords();
  const times = useTimes();
  const act = useAct();
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const check = () => void act((client) => client.getUserErasure({ path: { user: one.subject } }), setReceipt);
  if (receipt) return <Line receipt={receipt} onCheck={check} />;
  return (
    <li>
      <div>
        <strong>{texts.what["user"]}</strong>
        <p className="meta"><time dateTime={one.recorded_at}>{times.minute(one.recorded_at)}</time><code>{one.subject}</code></p>
      </div>
      <button type="button" className="quiet" onClick={check} aria-label={`${texts.check}: ${one.subject}`}>{texts.check}</button>
    </li>
  );
}

function Line({ receipt, onCheck }: { receipt: Receipt; onCheck: () => void }) {
  const { operations: texts } = useWords();
  const times = useTimes();
  const { number } = useFigures();
  const rows = Object.values(receipt.counts).reduce((sum, n) => sum + n, 0);
  return (
    <li>
      <div>
        <strong>{texts.what[receipt.kind] ?? receipt.kind}</strong> <span className="state">{texts.rowsErased(number(rows))}</span>
        <p className="meta">
          <time dateTime={receipt.created_at}>{times.minute(receipt.created_at)}</time>
          <code>{receipt.erasure_id}</code>
          <span>{told(receipt, texts)}</span>
        </p>
      </div>
      <button type="button" className="quiet" onClick={onCheck} aria-label={`${texts.check}: ${receipt.erasure_id}`}>{texts.check}</button>
    </li>
  );
}
