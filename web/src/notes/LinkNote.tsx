// Links a note to another note, a person or a thing, and says how they are related.
import type { MatchedNode } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct } from "../api/memory";
import { NodePicker } from "../things/NodePicker";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { RELATIONS, type Relation } from "./kinds";

export function LinkNote({ noteId, onClose, onLinked }: { noteId: string; onClose: () => void; onLinked: () => void }) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const [chosen, setChosen] = useState<MatchedNode | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!chosen) return;
    const form = new FormData(event.currentTarget);
    const body = {
      from_node: noteId, to_node: chosen.node_id, relation: String(form.get("relation")) as Relation, reason: String(form.get("reason")).trim(),
    };
    void act((client) => client.createLink({ body }), (link) => {
      onClose();
      onLinked();
      const undo = () =>
        act((client) => client.closeLink({ body: { link_id: link.link_id } }), () => {
          say(words.common.undone);
          onLinked();
        });
      say(words.notes.linkedNow, { action: { label: words.common.undo, act: () => void undo() } });
    });
  };
  return (
    <Dialog title={words.notes.linkTitle} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{words.notes.relation}</span>
          <select name="relation">
            {RELATIONS.map((one) => <option key={one} value={one}>{words.notes.relations[one]}</option>)}
          </select>
        </label>
        <div className="field">
          <span>{words.notes.linkTo}</span>
          <NodePicker label={words.notes.linkFind} without={[noteId]} chosen={chosen} onChoose={setChosen} />
        </div>
        {chosen && <p className="narrow">{words.notes.chosen(chosen.label ?? chosen.name)}</p>}
        <label>
          <span>{words.notes.reason}</span>
          <input name="reason" maxLength={8000} dir="auto" />
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={!chosen}>{words.notes.linkSubmit}</button>
        </footer>
      </form>
    </Dialog>
  );
}
