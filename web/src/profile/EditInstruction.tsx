// Writes an instruction, or changes one.
import type { FormEvent } from "react";
import { useAct } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";

export interface Written {
  id: string;
  label: string;
  text: string;
  data: Record<string, unknown>;
  version: string | null;
  by: string;
  pinned: boolean;
  category: string;
  when: string;
}

export function EditInstruction({ written, onClose, onChanged }: {
  written: Written | null;
  onClose: () => void;
  onChanged: (text: string, changeId: string) => void;
}) {
  const words = useWords();
  const act = useAct();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const category = String(form.get("category")).trim();
    const { category: _, ...others } = written?.data ?? {};
    const data = { ...others, ...(category && { category }), pinned: form.get("pinned") === "on" };
    const body = { label: String(form.get("label")).trim(), description: String(form.get("text")).trim(), data };
    void act(
      (client) =>
        written
          ? client.correctNode({ path: { node_id: written.id }, body: { ...body, version_id: written.version } })
          : client.addNode({ body: { ...body, type: "Instruction" } }),
      (change) => {
        onClose();
        onChanged(words.profile.saved, change.change_id);
      },
    );
  };
  return (
    <Dialog title={written ? words.profile.editInstruction : words.profile.addInstruction} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{words.profile.instruction}</span>
          <input name="label" defaultValue={written?.label} required maxLength={2000} dir="auto" placeholder={words.profile.instructionExample} />
        </label>
        <label>
          <span>{words.profile.instructionText}</span>
          <textarea name="text" defaultValue={written?.text} rows={5} maxLength={8000} dir="auto" />
        </label>
        <label>
          <span>{words.profile.category}</span>
          <input name="category" defaultValue={written?.category} maxLength={60} dir="auto" />
          <small>{words.profile.categoryHint}</small>
        </label>
        <label className="check">
          <input type="checkbox" name="pinned" defaultChecked={written?.pinned ?? true} />
          <span>{words.profile.alwaysGive}</span>
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.edit.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
