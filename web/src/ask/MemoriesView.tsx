// The memories of an answer, best first; more pages in the mode deliberate; then what was left out and how it was found.
import type { Recalled, RecallIn } from "@memsvc/client";
import { useState } from "react";
import { useAct } from "../api/memory";
import { href } from "../app/route";
import { useWords } from "../words";
import { Explained } from "./Explained";
import { MemoryCard } from "./MemoryCard";
import { SaveExample } from "./SaveExample";

export function MemoriesView({ answer, body }: { answer: Recalled; body: RecallIn }) {
  const words = useWords();
  const act = useAct();
  const [pages, setPages] = useState([answer]);
  const [saving, setSaving] = useState(false);
  const last = pages.at(-1) ?? answer;
  const memories = pages.flatMap((page) => page.memories.map((memory) => ({ memory, recallId: page.recall_id })));
  const largest = Math.max(0.01, ...memories.flatMap(({ memory }) => Object.values(memory.factors ?? {}).map(Math.abs)));
  const more = () =>
    act((client) => client.recall({ body: { ...body, cursor: last.next_cursor ?? null } }), (page) => setPages([...pages, page]));
  const share = (value: number) => value.toLocaleString(words.code, { style: "percent", maximumFractionDigits: 0 });
  return (
    <>
      <p className="summary">
        <b>{words.ask.found(memories.length)}</b>
        {answer.explanation && <span>{words.ask.candidates(answer.explanation.found["candidates"] ?? memories.length)}</span>}
        {answer.confidence != null && <span>{words.ask.confidence(share(answer.confidence))}</span>}
        <button type="button" className="link" onClick={() => setSaving(true)}>{words.answer.saveExample}</button>
      </p>
      {memories.length === 0 && <p className="empty">{words.ask.nothing}</p>}
      {memories.length > 0 && answer.relevant === false && <p className="said">{words.ask.unlikely}</p>}
      {answer.degraded.length > 0 && <p className="said">{words.ask.degraded(answer.degraded.join(", "))}</p>}
      {answer.ambiguous?.map((one) => (
        <p className="said" key={one.name}>
          {words.ask.ambiguous(one.name)}{" "}
          {one.meanings.map((meaning) => (
            <a key={meaning.node_id} href={href(["things", meaning.node_id])}>{meaning.label}</a>
          ))}
        </p>
      ))}
      <ol className="memories">
        {memories.map(({ memory, recallId }, index) => (
          <MemoryCard key={memory.memory_id} memory={memory} number={index + 1} largest={largest} recallId={recallId ?? null} />
        ))}
      </ol>
      {last.next_cursor && <p className="further"><button type="button" onClick={more}>{words.ask.more}</button></p>}
      {answer.explanation && <Explained explanation={answer.explanation} />}
      {saving && (
        <SaveExample question={body.query} memories={memories.map(({ memory }) => memory)} recallId={answer.recall_id ?? null} onClose={() => setSaving(false)} />
      )}
    </>
  );
}
