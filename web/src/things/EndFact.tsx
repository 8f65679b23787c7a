// Says when a fact ended.
import type { ShownFact } from "@memsvc/client";
import type { FormEvent } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Changed } from "./ThingPage";

export function EndFact({ fact, onClose, onChanged }: { fact: ShownFact; onClose: () => void; onChanged: Changed }) {
  const words = useWords();
  const times = useTimes();
  const act = useAct();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = { ended_at: String(new FormData(event.currentTarget).get("day")), version_id: fact.version_id };
    void act((client) => client.correctFact({ path: { edge_id: fact.edge_id }, body }), (change) => {
      onClose();
      onChanged(words.thing.endedNow, change.change_id);
    });
  };
  return (
    <Dialog title={words.edit.endTitle} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <p dir="auto">{fact.fact}</p>
        <label>
          <span>{words.edit.endLead}</span>
          <input type="date" name="day" required defaultValue={times.field(new Date())} />
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.edit.end}</button>
        </footer>
      </form>
    </Dialog>
  );
}
