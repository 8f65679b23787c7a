// Keeps a question with the memories that answer it: as feedback, as a correction that is recalled when the question comes
// again, and as a line for the bench.
import type { Memory } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { save } from "../api/download";
import { useAct, useMemory } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import "./answer.css";

const SHOWN = 20;

/** A line as bench/gold/order has it: the question, and the ids of the messages that answer it. */
function benchLine(question: string, memories: readonly Memory[]): string {
  const evidence = memories.map((one) => one.message_id ?? one.memory_id);
  return `${JSON.stringify({ question, evidence, kind: evidence.length > 1 ? "list" : "detail" })}\n`;
}

export function SaveExample({ question, memories, recallId, onClose }: {
  question: string;
  memories: readonly Memory[];
  recallId: string | null;
  onClose: () => void;
}) {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [right, setRight] = useState("");
  const [file, setFile] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const good = memories.filter((one) => chosen.includes(one.memory_id));
    void act(
      async (client) => {
        if (recallId && good.length > 0)
          await client.giveFeedback({ path: { recall_id: recallId }, body: { used: good.map((one) => one.memory_id) } });
        if (right.trim()) {
          const source = good[0]?.memory_id;
          await client.addCritique({ body: { question, correction: right.trim(), ...(source && { source }) } });
        }
        if (file) save(new Blob([benchLine(question, good)], { type: "application/jsonl" }), "example.questions.jsonl");
      },
      () => {
        onClose();
        say(words.answer.exampleSaved);
      },
    );
  };
  return (
    <Dialog title={words.answer.saveExample} onClose={onClose} wide>
      <form className="fields" onSubmit={submit}>
        <p className="lead">{words.answer.exampleLead}</p>
        <p className="example-question" dir="auto">{question}</p>
        <fieldset className="example-list" aria-label={words.answer.which}>
          {memories.slice(0, SHOWN).map((memory) => (
            <label className="check" key={memory.memory_id}>
              <input type="checkbox" checked={chosen.includes(memory.memory_id)}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, memory.memory_id] : chosen.filter((one) => one !== memory.memory_id))} />
              <span className="text" dir="auto">{memory.text}</span>
            </label>
          ))}
        </fieldset>
        {may("write") && (
          <label>
            <span>{words.answer.right}</span>
            <textarea value={right} onChange={(event) => setRight(event.target.value)} rows={2} maxLength={2000} dir="auto" />
            <small>{words.answer.rightHint}</small>
          </label>
        )}
        <label className="check">
          <input type="checkbox" checked={file} onChange={(event) => setFile(event.target.checked)} />
          <span>{words.answer.file}</span>
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={chosen.length === 0 && !right.trim()}>{words.edit.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
