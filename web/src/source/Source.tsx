// A source in place: the message or part of a document, with what stands around it and the words in question marked.
import { useState } from "react";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import "./source.css";

const STEP = 4;

/** Positions count characters as Python does, not UTF-16 units. */
export function Marked({ text, span }: { text: string; span: readonly [number, number] | null | undefined }) {
  if (!span) return text;
  const letters = Array.from(text);
  const [from, to] = span;
  return (
    <>
      {letters.slice(0, from).join("")}
      <mark>{letters.slice(from, to).join("")}</mark>
      {letters.slice(to).join("")}
    </>
  );
}

export function Source({ passageId, span }: { passageId: string; span?: readonly [number, number] | null }) {
  const words = useWords();
  const times = useTimes();
  const [around, setAround] = useState({ before: 1, after: 1 });
  const { data, error } = useAsked(
    (client) => client.openMemory({ path: { memory_id: passageId }, query: around }),
    [passageId, around],
  );
  if (error) return <p className="source said bad" role="alert">{error}</p>;
  if (!data) return <p className="source waiting" aria-live="polite">{words.common.loading}</p>;
  const messages = data.source?.messages ?? [];
  const at = messages.findIndex((one) => one.passage_id === data.message?.passage_id);
  const sourceId = data.document?.document_id ?? (data.source?.kind === "conversation" ? data.source.source_id : undefined);
  const place = data.document ? [data.document.title, ...data.document.headings] : [data.source?.title || data.source?.identifier];
  return (
    <section className="source" aria-label={words.source.title}>
      <p className="place" dir="auto">{place.filter(Boolean).join(" › ")}</p>
      {messages.length > 0 && at >= around.before && (
        <button type="button" className="link small" onClick={() => setAround({ ...around, before: around.before + STEP })}>
          {words.source.earlier}
        </button>
      )}
      {messages.map((message) => (
        <div className={message.passage_id === passageId ? "said-here" : "said-near"} key={message.passage_id}>
          <p className="meta">
            <b>{message.speaker || message.role}</b> <time dateTime={message.said_at}>{times.minute(message.said_at)}</time>
          </p>
          <p dir="auto"><Marked text={message.text} span={message.passage_id === passageId ? span : null} /></p>
        </div>
      ))}
      {messages.length > 0 && messages.length - 1 - at >= around.after && (
        <button type="button" className="link small" onClick={() => setAround({ ...around, after: around.after + STEP })}>
          {words.source.later}
        </button>
      )}
      {messages.length === 0 && (
        <div className="said-here"><p dir="auto"><Marked text={data.text} span={span} /></p></div>
      )}
      {sourceId && (
        <a href={href(["sources", sourceId], { at: passageId })}>
          {data.document ? words.sources.openHere.document : words.sources.openHere.conversation}
        </a>
      )}
    </section>
  );
}
