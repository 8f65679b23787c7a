// One memory: what it says, whence and why, the points of each factor, and what one thinks of it.
import type { Memory } from "@memsvc/client";
import { useState } from "react";
import { useAct, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Source } from "../source/Source";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { usePin } from "../ui/pin";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Factors } from "./Factors";
import { whyOf } from "./why";

export function MemoryCard({ memory, number, largest, recallId }: {
  memory: Memory;
  number?: number;
  /** The largest points in the answer, by which bars are drawn; left out: no bars, and a short text. */
  largest?: number;
  recallId: string | null;
}) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [verdict, setVerdict] = useState<"" | "used" | "irrelevant">("");
  const [opened, setOpened] = useState(false);
  const judge = (given: "used" | "irrelevant") =>
    act(
      (client) => client.giveFeedback({ path: { recall_id: recallId ?? "" }, body: { [given]: [memory.memory_id] } }),
      () => {
        setVerdict(given);
        say(words.ask.noted);
      },
    );
  const pin = usePin();
  const { fact } = memory;
  const ends = fact ? [[fact.from_node, fact.from_label], [fact.to_node, fact.to_label]] : [];
  return (
    <li className={largest === undefined ? "memory brief" : "memory"}>
      <div className="body">
        <p className="meta">
          {number !== undefined && <span className="number">{number}</span>}
          <span className="kind">{words.kinds[memory.kind ?? "message"]}</span>
          {memory.speaker && <span>{memory.speaker}</span>}
          <time dateTime={memory.said_at}>{times.minute(memory.said_at)}</time>
          {memory.conversation && <span className="whence">{memory.conversation}</span>}
        </p>
        <p className="text" dir="auto">{memory.text}</p>
        {memory.caption && <p className="caption" dir="auto">{memory.caption}</p>}
        <p className="why" dir="auto">{[whyOf(memory, words, times), memory.remark].filter(Boolean).join(" · ")}</p>
        <div className="actions">
          {recallId && (
            <>
              <button type="button" className="quiet" aria-pressed={verdict === "used"} onClick={() => judge("used")}>
                <Icon name="up" />{words.ask.useful}
              </button>
              <button type="button" className="quiet" aria-pressed={verdict === "irrelevant"} onClick={() => judge("irrelevant")}>
                <Icon name="off" />{words.ask.irrelevant}
              </button>
            </>
          )}
          {memory.passage_id && (
            <button type="button" className="quiet" aria-expanded={opened} onClick={() => setOpened(!opened)}>
              <Icon name="right" />{opened ? words.ask.hide : words.ask.open}
            </button>
          )}
          {may("write") && <button type="button" className="quiet" onClick={() => pin(memory.memory_id)}><Icon name="pin" />{words.ask.pin}</button>}
          {ends.map(([id, label]) => id && (
            <a key={id} className="to" href={href(["things", id])} dir="auto">{label ?? "…"}</a>
          ))}
        </div>
        {opened && memory.passage_id && <Source passageId={memory.passage_id} />}
      </div>
      {largest !== undefined && (
        <Factors factors={memory.factors ?? {}} score={memory.score} largest={largest} number={number ?? 0} />
      )}
    </li>
  );
}
