// Changes what is proposed, and accepts it: a fact, the words of an instruction, or the description of a type.
import type { EditIn, Review } from "@memsvc/client";
import type { FormEvent } from "react";
import { useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Edited } from "./decide";
import type { Item } from "./kinds";

interface Given {
  onClose: () => void;
  onEdited: (edited: Edited) => void;
}

export function Edit({ item, ...given }: { item: Item } & Given) {
  if (item.kind === "reviews") return <EditReview review={item.one} {...given} />;
  if (item.kind === "lessons") return <EditText label="editLesson" text={item.one.lesson} most={1_000} {...given} />;
  if (item.kind === "types") return <EditText label="editType" text={item.one.description} most={2_000} {...given} />;
  return null;
}

function Buttons({ onClose }: { onClose: () => void }) {
  const words = useWords();
  return (
    <footer>
      <button type="button" onClick={onClose}>{words.common.cancel}</button>
      <button type="submit" className="primary">{words.inbox.saveAccept}</button>
    </footer>
  );
}

function EditText({ label, text, most, onClose, onEdited }: { label: "editLesson" | "editType"; text: string; most: number } & Given) {
  const words = useWords();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onEdited({ text: String(new FormData(event.currentTarget).get("text")) });
  };
  return (
    <Dialog title={words.inbox.editReview} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{words.inbox[label]}</span>
          <textarea name="text" defaultValue={text} required rows={5} maxLength={most} dir="auto" />
        </label>
        <Buttons onClose={onClose} />
      </form>
    </Dialog>
  );
}

function EditReview({ review: { proposal, text, span, speaker }, onClose, onEdited }: { review: Review } & Given) {
  const words = useWords();
  const times = useTimes();
  const ontology = useAsked((client) => client.getOntology(), []);
  const types = (ontology.data?.edge_types ?? []).filter((one) => one.status === "core" || one.status === "approved");
  const day = (moment: string | null | undefined) => (moment ? times.field(new Date(moment)) : "");
  const before = {
    subject: proposal.subject.name, type: proposal.type, object: proposal.object.name, sentence: proposal.sentence,
    since: day(proposal.since), until: day(proposal.until),
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const names = Object.keys(before) as (keyof typeof before)[];
    const changed = names.filter((name) => String(form.get(name)) !== before[name]);
    const value = (name: string) => String(form.get(name)) || null;
    const review = Object.fromEntries(changed.map((name) => [name, value(name)])) as EditIn;
    onEdited(changed.length > 0 ? { review } : {});
  };
  const field = (name: "subject" | "object") => (
    <label>
      <span>{words.inbox[name]}</span>
      <input name={name} defaultValue={before[name]} required maxLength={200} dir="auto" />
    </label>
  );
  const date = (name: "since" | "until") => (
    <label>
      <span>{words.inbox[name]}</span>
      <input type="date" name={name} defaultValue={before[name]} />
    </label>
  );
  return (
    <Dialog title={words.inbox.editReview} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <p className="lead">
          {words.inbox.said(speaker)}: <q dir="auto">{span ? Array.from(text).slice(...span).join("") : proposal.quote}</q>
        </p>
        <label>
          <span>{words.edit.sentence}</span>
          <textarea name="sentence" defaultValue={before.sentence} required rows={2} maxLength={1_000} dir="auto" />
        </label>
        {field("subject")}
        <label>
          <span>{words.inbox.relation}</span>
          <select name="type" defaultValue={before.type} key={types.length}>
            {!types.some((one) => one.name === before.type) && <option>{before.type}</option>}
            {types.map((one) => <option key={one.name}>{one.name}</option>)}
          </select>
        </label>
        {field("object")}
        <div className="two">{date("since")}{date("until")}</div>
        <Buttons onClose={onClose} />
      </form>
    </Dialog>
  );
}
