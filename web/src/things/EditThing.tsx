// Corrects what a thing is called, what type it has, and how it is described.
import type { graph_shown_ShownNode as ShownNode } from "@memsvc/client";
import type { FormEvent } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import type { Changed } from "./ThingPage";

export function EditThing({ thing, onClose, onChanged }: { thing: ShownNode; onClose: () => void; onChanged: Changed }) {
  const words = useWords();
  const act = useAct();
  const ontology = useAsked((client) => client.getOntology(), []);
  const types = (ontology.data?.node_types ?? []).filter((one) => one.status === "core" || one.status === "approved");
  const version = thing.versions.find((one) => one.label === thing.label && one.recorded_to === null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = { label: String(form.get("label")), type: String(form.get("type")), description: String(form.get("description")) };
    const body = {
      ...(given.label !== thing.label && { label: given.label }),
      ...(given.type !== thing.type && { type: given.type }),
      ...(given.description !== thing.description && { description: given.description }),
      ...(version && { version_id: version.version_id }),
    };
    void act((client) => client.correctNode({ path: { node_id: thing.node_id }, body }), (change) => {
      onClose();
      onChanged(words.thing.corrected, change.change_id);
    });
  };
  return (
    <Dialog title={words.edit.title} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{words.edit.label}</span>
          <input name="label" defaultValue={thing.label ?? ""} required maxLength={2000} dir="auto" />
        </label>
        <label>
          <span>{words.edit.type}</span>
          <select name="type" defaultValue={thing.type ?? ""} key={types.length}>
            {!types.some((one) => one.name === thing.type) && <option>{thing.type}</option>}
            {types.map((one) => <option key={one.name}>{one.name}</option>)}
          </select>
        </label>
        <label>
          <span>{words.edit.description}</span>
          <textarea name="description" defaultValue={thing.description} rows={4} maxLength={10000} dir="auto" />
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.edit.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
