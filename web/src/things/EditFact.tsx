// Corrects a fact: its words were wrong from the start, it began on another day, or something else is true since a day.
import type { MatchedNode, Memsvc, ShownFact } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { NodePicker } from "./NodePicker";
import type { Changed } from "./ThingPage";

type What = "wrong" | "began" | "since";
const WHATS: readonly What[] = ["wrong", "began", "since"];

/** It began later: it was not so before. It began earlier: it was so before, too. */
function beginOn(client: Memsvc, fact: ShownFact, day: string, first: string) {
  const earlier = fact.valid_from !== null && day < first;
  return client.writeChanges({
    body: {
      operations: [
        earlier
          ? {
              op: "edge", type: fact.type, key: fact.key, fact: fact.fact, data: fact.data, from_node: fact.from_node,
              to_node: fact.to_node, valid_from: day, valid_to: fact.valid_from,
            }
          : { op: "retract", edge_id: fact.edge_id, valid_from: fact.valid_from, valid_to: day },
      ],
    },
  });
}

export function EditFact({ fact, about, onClose, onChanged }: {
  fact: ShownFact;
  about: string;
  onClose: () => void;
  onChanged: Changed;
}) {
  const words = useWords();
  const times = useTimes();
  const act = useAct();
  const [what, setWhat] = useState<What>("wrong");
  const since = what === "since";
  const first = fact.valid_from ? times.field(new Date(fact.valid_from)) : "";
  const [other, setOther] = useState<MatchedNode | null>(null);
  const there = fact.from_node === about ? fact.to_node : fact.from_node;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const sentence = String(form.get("sentence") ?? "");
    const day = String(form.get("day") ?? "");
    const ends = (node: string) => (node === there && other ? other.node_id : node);
    void act(
      (client) =>
        what === "began"
          ? beginOn(client, fact, day, first)
          : since
          ? client.writeChanges({
              body: {
                operations: [
                  { op: "close", edge_id: fact.edge_id, ended_at: day },
                  {
                    op: "edge", type: fact.type, key: fact.key, fact: sentence, data: fact.data, valid_from: day,
                    from_node: ends(fact.from_node), to_node: ends(fact.to_node),
                  },
                ],
              },
            })
          : client.correctFact({ path: { edge_id: fact.edge_id }, body: { fact: sentence, version_id: fact.version_id } }),
      (change) => {
        onClose();
        onChanged(since ? words.thing.changed : words.thing.corrected, change.change_id);
      },
    );
  };
  return (
    <Dialog title={words.edit.factTitle} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <fieldset className="choice">
          <legend>{words.edit.what}</legend>
          {WHATS.map((one) => (
            <label key={one}>
              <input type="radio" name="what" checked={what === one} onChange={() => setWhat(one)} />
              <span>{words.edit[one]}</span>
            </label>
          ))}
        </fieldset>
        {what !== "began" && (
          <label>
            <span>{words.edit.sentence}</span>
            <textarea name="sentence" defaultValue={fact.fact} required rows={2} maxLength={10000} dir="auto" />
          </label>
        )}
        {what === "began" && (
          <label>
            <span>{words.edit.day}</span>
            <input type="date" name="day" required defaultValue={first} />
          </label>
        )}
        {since && (
          <>
            <label>
              <span>{words.edit.day}</span>
              <input type="date" name="day" required defaultValue={times.field(new Date())} />
            </label>
            <div className="field">
              <span>{words.edit.other} {other && <b dir="auto">{other.label}</b>}</span>
              <NodePicker label={words.merge.choose} without={[fact.from_node, fact.to_node]} chosen={other} onChoose={setOther} />
              <small>{words.edit.otherHint}</small>
            </div>
          </>
        )}
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.edit.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
