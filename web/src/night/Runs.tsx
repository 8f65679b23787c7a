// What ran, why, what it did and what it cost; a run can be undone.
import type { Run } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useMemory, usePages } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const PAGE = 50;
const LOOK_AGAIN_MS = 3_000;

export function Runs() {
  const words = useWords();
  const found = usePages((client, cursor) => client.listSleepRuns({ query: { limit: PAGE, cursor } }), []);
  const [undoing, setUndoing] = useState<Run | null>(null);
  useLiveAgain(["SLEEP_FINISHED"], found.again);
  const open = found.items.some((run) => run.state === "open");
  const { again } = found;
  useEffect(() => {
    if (!open) return;
    const look = setInterval(again, LOOK_AGAIN_MS);
    return () => clearInterval(look);
  }, [open, again]);
  if (found.error && !found.data) return <p className="said bad" role="alert">{found.error}</p>;
  if (!found.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (found.items.length === 0) return <p className="empty">{words.night.noRuns}</p>;
  return (
    <div className="runs">
      {open && <p className="said" role="status">{words.night.openRuns}</p>}
      <ul className="list">
        {found.items.map((run) => <RunRow key={run.run_id} run={run} onUndo={() => setUndoing(run)} />)}
      </ul>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
      {undoing && <UndoRun run={undoing} onClose={() => setUndoing(null)} onUndone={found.again} />}
    </div>
  );
}

function RunRow({ run, onUndo }: { run: Run; onUndo: () => void }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const number = (n: number, digits = 0) => n.toLocaleString(words.code, { maximumFractionDigits: digits });
  const counts = Object.entries(run.counts).filter(([, n]) => n > 0);
  const state = run.undone_at ? "undone" : run.error_code ? "failed" : run.state === "open" ? "open" : run.within_budget ? "done" : "budget";
  const tokens = run.tokens_in + run.tokens_out;
  const undoable = run.state !== "open" && !run.undone_at && run.applied > 0 && may("write");
  return (
    <li className="run">
      <p className="what">
        <b>{words.night.tasks[run.task]?.name ?? run.task}</b>{" "}
        <span className={`state ${state}`}>{words.night.states[state]}{run.error_code && `: ${run.error_code}`}</span>
      </p>
      <p className="did">
        {counts.length > 0
          ? counts.map(([kind, n]) => words.night.kinds[kind]?.(n) ?? `${number(n)} ${kind.replaceAll("_", " ")}`).join(", ")
          : words.night.noChanges}
      </p>
      <p className="meta">
        <time dateTime={run.started_at}>{times.minute(run.started_at)}</time>
        <span>{words.night.causes[run.cause]}</span>
        <span>{words.night.examined(run.examined)}</span>
        <span>{words.night.seconds(number(run.seconds, 1))}</span>
        {run.model_calls > 0 && <span>{words.night.calls(run.model_calls, number(tokens))}</span>}
      </p>
      <span className="act">
        {undoable && <button type="button" className="quiet" onClick={onUndo}>{words.night.undo}</button>}
      </span>
    </li>
  );
}

function UndoRun({ run, onClose, onUndone }: { run: Run; onClose: () => void; onUndone: () => void }) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const [busy, setBusy] = useState(false);
  const [left, setLeft] = useState<readonly string[] | null>(null);
  const undo = async () => {
    setBusy(true);
    const worked = await act((client) => client.undoSleepRun({ path: { run_id: run.run_id } }), (undone) => {
      onUndone();
      say(words.night.undone(undone.changes + undone.other));
      if (undone.left.length > 0) setLeft(undone.left.map((one) => one.what));
      else onClose();
    });
    setBusy(false);
    if (!worked) onClose();
  };
  return (
    <Dialog title={words.night.undoTitle(words.night.tasks[run.task]?.name ?? run.task)} onClose={onClose}>
      <div className="fields">
        {left ? (
          <>
            <p>{words.night.stays}</p>
            <ul className="stays">{left.map((what, index) => <li key={index} dir="auto">{what}</li>)}</ul>
          </>
        ) : (
          <p>{words.night.undoLead}</p>
        )}
        <footer>
          <button type="button" onClick={onClose}>{left ? words.common.close : words.common.cancel}</button>
          {!left && <button type="button" className="primary" disabled={busy} onClick={() => void undo()}>{words.night.undoSubmit}</button>}
        </footer>
      </div>
    </Dialog>
  );
}
