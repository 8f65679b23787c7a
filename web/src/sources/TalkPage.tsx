// A conversation, read page by page from its beginning, its end, or the message that the address names.
import type { Memsvc, Message, OpenedSource } from "@memsvc/client";
import { Fragment, useEffect, useRef, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { go, href } from "../app/route";
import { Copy } from "../ui/Copy";
import { Forget } from "../ui/Forget";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { readAsCurl, talkAsPython } from "./copies";
import { LongText } from "./LongText";
import { fileOf, placeOf } from "./place";

const STEP = 40;
const BEFORE = 8;
interface Span {
  messages: Message[];
  earlier: boolean;
  later: boolean;
}
interface Read extends Span {
  /** The message in question, and which of its words. */
  here?: { passage: string; words: string | undefined };
}

async function readAt(client: Memsvc, source: string, at: string): Promise<Read> {
  const [memory, found] = await Promise.all([
    client.openMemory({ path: { memory_id: at }, query: { before: 0, after: 0 } }),
    client.openSource({ path: { source_id: source }, query: { around: at, before: BEFORE, after: STEP } }),
  ]);
  const passage = memory.message?.passage_id ?? at;
  const index = found.messages.findIndex((one) => one.passage_id === passage);
  return {
    messages: found.messages, earlier: index >= BEFORE, later: found.messages.length - 1 - index >= STEP,
    here: { passage, words: (memory.message?.parts ?? 1) > 1 ? memory.text : undefined },
  };
}

async function readFirst(client: Memsvc, source: string): Promise<Read> {
  const page = await client.listMessages({ path: { conversation: source }, query: { limit: STEP } });
  return { messages: page.items, earlier: false, later: page.next_cursor !== null };
}

async function readLast(client: Memsvc, source: string): Promise<Read> {
  const found = await client.openSource({ path: { source_id: source }, query: { before: STEP - 1, after: 0 } });
  return { messages: found.messages, earlier: found.messages.length === STEP, later: false };
}

export function TalkPage({ source, at }: { source: OpenedSource; at: string | null }) {
  const words = useWords();
  const { me, may } = useMemory();
  const act = useAct();
  const id = source.source_id;
  const [fromEnd, setFromEnd] = useState(false);
  const first = useAsked((client) => (fromEnd ? readLast(client, id) : at ? readAt(client, id, at) : readFirst(client, id)), [id, at, fromEnd]);
  const [span, setSpan] = useState<Span | null>(null);
  const [forgetting, setForgetting] = useState<{ what: string; kind: "source" | "message"; id: string } | null>(null);
  const here = useRef<HTMLLIElement>(null);
  const title = source.title || source.identifier;
  useEffect(() => setSpan(first.data ?? null), [first.data]);
  useEffect(() => {
    document.title = `${title.slice(0, 100)} · memsvc`;
  }, [title]);
  const shown = span !== null;
  useEffect(() => {
    if (shown) here.current?.scrollIntoView({ block: "center" });
  }, [shown]);
  const turn = (earlier: boolean) => {
    if (!span) return;
    const around = (earlier ? span.messages[0] : span.messages.at(-1))?.passage_id ?? null;
    const query = { around, before: earlier ? STEP : 0, after: earlier ? 0 : STEP };
    void act((client) => client.openSource({ path: { source_id: id }, query }), ({ messages }) => {
      const more = messages.length > STEP;
      if (earlier) setSpan({ ...span, messages: [...messages.slice(0, -1), ...span.messages], earlier: more });
      else setSpan({ ...span, messages: [...span.messages, ...messages.slice(1)], later: more });
    });
  };
  const begin = () => (at ? go(["sources", id]) : setFromEnd(false));
  const marked = first.data?.here;
  const file = fileOf(span?.messages[0]?.metadata["origin"]);
  return (
    <article className="reading">
      <header className="top">
        <p className="kind">
          <a href={href(["sources"])}>{words.sources.title}</a>
          {source.title && <span dir="auto">{source.identifier}</span>}
          {file && <span dir="auto">{file}</span>}
          {words.sources.status[source.status] && <span>{words.sources.status[source.status]}</span>}
        </p>
        <h1 dir="auto">{title}</h1>
        <div className="actions">
          <button type="button" onClick={begin} disabled={!at && !fromEnd}>{words.sources.first}</button>
          <button type="button" onClick={() => setFromEnd(true)} disabled={fromEnd}>{words.sources.last}</button>
          {may("forget") && (
            <button type="button" className="danger" onClick={() => setForgetting({ what: title.slice(0, 200), kind: "source", id })}>
              {words.sources.forget}
            </button>
          )}
          <span className="copies">
            <Copy label={words.ask.copyCurl} text={() => readAsCurl(`/v1/conversations/${id}/messages`, me.user.external_id)} />
            <Copy label={words.ask.copyPython} text={() => talkAsPython(id)} />
          </span>
        </div>
      </header>
      {first.error && <p className="said bad" role="alert">{first.error}</p>}
      {!span && first.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {span?.earlier && <button type="button" className="link" onClick={() => turn(true)}>{words.sources.earlier}</button>}
      <ol className="messages">
        {span?.messages.map((message, index) => {
          const before = span.messages[index - 1];
          const isHere = message.passage_id === marked?.passage;
          return (
            <Fragment key={message.passage_id}>
              {message.session && message.session !== before?.session && <li className="session" dir="auto">{message.session}</li>}
              <li className={isHere ? "said-here" : ""} ref={isHere ? here : null}>
                <MessageShown message={message} source={id} words={isHere ? marked?.words : undefined}
                  onForget={() => setForgetting({ what: words.sources.thisMessage, kind: "message", id: message.passage_id })} />
              </li>
            </Fragment>
          );
        })}
      </ol>
      {span?.later && <button type="button" className="link" onClick={() => turn(false)}>{words.sources.later}</button>}
      {forgetting && (
        <Forget {...forgetting} onClose={() => setForgetting(null)}
          onForgotten={() => (forgetting.kind === "source" || forgetting.id === marked?.passage ? go(["sources"]) : first.again())} />
      )}
    </article>
  );
}

function MessageShown({ message, source, words: marked, onForget }: {
  message: Message;
  source: string;
  words: string | undefined;
  onForget: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const whence = placeOf(message.metadata["origin"], words);
  const isTrace = ["system", "tool", "thinking"].includes(message.role);
  const link = () => `${location.origin}${location.pathname}${href(["sources", source], { at: message.passage_id })}`;
  return (
    <>
      <p className="meta">
        <b dir="auto">{message.speaker || message.role}</b>
        <time dateTime={message.said_at}>{times.minute(message.said_at)}</time>
        {isTrace && <span>{words.sources.trace}</span>}
        {whence && <span className="whence" dir="auto">{whence}</span>}
        <span className="tools">
          <Copy label={words.sources.copyLink} text={link} />
          {may("forget") && <button type="button" className="quiet" onClick={onForget}>{words.sources.forgetMessage}</button>}
        </span>
      </p>
      <LongText text={message.text} marked={marked} />
      {message.caption && <p className="caption" dir="auto">{message.caption}</p>}
    </>
  );
}
