// An answer from memory alone: claims, each with the memories that support it.
import type { AnswerSource, MemoryAnswer } from "@memsvc/client";
import { useState } from "react";
import { useAct } from "../api/memory";
import { Copy } from "../ui/Copy";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { SourceOf } from "../source/SourceOf";
import "./answer.css";

export function AnswerView({ answer }: { answer: MemoryAnswer }) {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const [verdict, setVerdict] = useState<"" | "used" | "irrelevant">("");
  const [opened, setOpened] = useState("");
  const numbers = new Map(answer.sources.map((source, index) => [source.id, index + 1]));
  const share = (value: number) => value.toLocaleString(words.code, { style: "percent", maximumFractionDigits: 0 });
  const quotes = answer.by === "quotes";
  const judge = (given: "used" | "irrelevant") =>
    act(
      (client) => client.giveFeedback({
        path: { recall_id: answer.recall_id ?? "" }, body: { [given]: answer.sources.filter(({ kind }) => kind !== "block").map((one) => one.memory_id) },
      }),
      () => {
        setVerdict(given);
        say(words.ask.noted);
      },
    );
  const show = (id: string) => {
    setOpened(id);
    document.getElementById(`source-${id}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div className="claims">
      <p className="summary">
        <span>{quotes ? words.answer.byQuotes : words.answer.byModel}</span>
        {answer.confidence != null && <span>{words.ask.confidence(share(answer.confidence))}</span>}
      </p>
      {quotes && <p className="said">{answer.degraded.includes("llm") ? words.answer.modelFailed : words.answer.noModel}</p>}
      {answer.degraded.includes("vector") && <p className="said">{words.ask.degraded("vector")}</p>}
      {!answer.found && <p className="empty">{words.answer.notFound}</p>}
      <ol className="claim-list">
        {answer.claims.map((claim, index) => (
          <li key={index} dir="auto">
            {claim.text}{" "}
            {claim.sources.map((id) => numbers.has(id) && (
              <button type="button" key={id} className="cite" aria-label={words.answer.source(numbers.get(id) ?? 0)} onClick={() => show(id)}>{numbers.get(id)}</button>
            ))}
          </li>
        ))}
      </ol>
      {answer.found && (
        <div className="actions">
          {answer.recall_id && (
            <>
              <button type="button" className="quiet" aria-pressed={verdict === "used"} onClick={() => void judge("used")}><Icon name="up" />{words.ask.useful}</button>
              <button type="button" className="quiet" aria-pressed={verdict === "irrelevant"} onClick={() => void judge("irrelevant")}><Icon name="off" />{words.ask.irrelevant}</button>
            </>
          )}
          <Copy label={words.answer.copy} text={() => answer.answer} />
        </div>
      )}
      {answer.sources.length > 0 && (
        <section>
          <h2>{words.answer.sources}</h2>
          <ol className="answer-sources">
            {answer.sources.map((source) => (
              <SourceRow key={source.id} source={source} number={numbers.get(source.id) ?? 0} open={opened === source.id}
                onOpen={() => setOpened(opened === source.id ? "" : source.id)} />
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}

function SourceRow({ source, number, open, onOpen }: { source: AnswerSource; number: number; open: boolean; onOpen: () => void }) {
  const words = useWords();
  const times = useTimes();
  return (
    <li id={`source-${source.id}`} className={open ? "open" : ""}>
      <span className="number">{number}</span>
      <div>
        <p className="meta">
          <span className="kind">{words.kinds[source.kind] ?? source.kind}</span>
          {source.speaker && <span dir="auto">{source.speaker}</span>}
          {source.said && <time dateTime={source.said}>{times.minute(source.said)}</time>}
          {source.validity && <span>{source.validity}</span>}
          {source.conversation && <span dir="auto">{source.conversation}</span>}
        </p>
        <p className="text" dir="auto">{source.text}</p>
        <button type="button" className="quiet" aria-expanded={open} onClick={onOpen}>
          <Icon name="right" />{open ? words.ask.hide : words.ask.open}
        </button>
        {open && <SourceOf memoryId={source.memory_id} />}
      </div>
    </li>
  );
}
