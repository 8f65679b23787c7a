// A document: its versions, and its text from the beginning or around the part that the address names.
import type { DocumentChunk, ReadDocument } from "@memsvc/client";
import { useEffect, useRef, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { go, href } from "../app/route";
import { Copy } from "../ui/Copy";
import { Forget } from "../ui/Forget";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { documentAsPython, readAsCurl } from "./copies";
import { LongText } from "./LongText";
import { placeOf } from "./place";
import { Touched } from "./Touched";

const STEP = 40;
const BEFORE = 4;
interface Span {
  chunks: DocumentChunk[];
  earlier: boolean;
  /** Where the next page begins: a cursor, or the last part that is shown. */
  later: { cursor: string } | { after: string } | null;
}

export function DocumentPage({ documentId, at, query }: { documentId: string; at: string | null; query: URLSearchParams }) {
  const words = useWords();
  const { sources } = words;
  const times = useTimes();
  const { me, may } = useMemory();
  const act = useAct();
  const asked = Number(query.get("version")) || undefined;
  const path = { document_id: documentId };
  const first = useAsked(async (client) => {
    const version = asked ? { version: asked } : {};
    if (!at) return { read: await client.getDocument({ path, query: { limit: STEP, ...version } }) };
    const [read, memory] = await Promise.all([
      client.getDocument({ path, query: { limit: 1 } }),
      client.openMemory({ path: { memory_id: at }, query: { before: BEFORE, after: STEP } }),
    ]);
    return { read, memory };
  }, [documentId, at, asked]);
  const [span, setSpan] = useState<Span | null>(null);
  const [forgetting, setForgetting] = useState(false);
  const here = useRef<HTMLLIElement>(null);
  const { read, memory } = first.data ?? {};
  useEffect(() => {
    if (memory) {
      const chunks = memory.chunks ?? [];
      const index = chunks.findIndex((one) => one.passage_id === at);
      const last = chunks.at(-1);
      setSpan({ chunks, earlier: index >= BEFORE, later: last && chunks.length - 1 - index >= STEP ? { after: last.passage_id } : null });
    } else if (read) setSpan({ chunks: read.chunks, earlier: false, later: read.next_cursor ? { cursor: read.next_cursor } : null });
    if (read) document.title = `${read.document.title.slice(0, 100)} · memsvc`;
  }, [read, memory, at]);
  const shown = span !== null;
  useEffect(() => {
    if (shown) here.current?.scrollIntoView({ block: "center" });
  }, [shown]);
  if (first.error) return <p className="said bad" role="alert">{first.error}</p>;
  if (!read || !span) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const { document: paper } = read;
  const version = memory?.document?.version ?? read.version;
  const earlier = () => {
    const around = span.chunks[0]?.passage_id ?? "";
    void act((client) => client.openMemory({ path: { memory_id: around }, query: { before: STEP, after: 0 } }), ({ chunks = [] }) =>
      setSpan({ ...span, chunks: [...chunks.slice(0, -1), ...span.chunks], earlier: chunks.length > STEP }),
    );
  };
  const later = () => {
    const next = span.later;
    if (next && "cursor" in next)
      void act((client) => client.getDocument({ path, query: { limit: STEP, version: read.version, cursor: next.cursor } }), (page: ReadDocument) =>
        setSpan({ ...span, chunks: [...span.chunks, ...page.chunks], later: page.next_cursor ? { cursor: page.next_cursor } : null }),
      );
    else if (next)
      void act((client) => client.openMemory({ path: { memory_id: next.after }, query: { before: 0, after: STEP } }), ({ chunks = [] }) => {
        const last = chunks.length > STEP ? chunks.at(-1) : undefined;
        setSpan({ ...span, chunks: [...span.chunks, ...chunks.slice(1)], later: last ? { after: last.passage_id } : null });
      });
  };
  const address = [paper.metadata["url"], paper.path].find((one): one is string => typeof one === "string" && /^https?:\/\//.test(one));
  return (
    <article className="reading">
      <header className="top">
        <p className="kind">
          <a href={href(["sources"], { view: "documents" })}>{sources.views.documents}</a>
          <span>{paper.format}</span>
          {paper.pages !== null && <span>{sources.pages(paper.pages)}</span>}
          {paper.gone && <em>{sources.gone}</em>}
          {sources.status[paper.status] && <span>{sources.status[paper.status]}</span>}
        </p>
        <h1 dir="auto">{paper.title}</h1>
        <p className="lead" dir="auto">{address ? <a href={address} target="_blank" rel="noreferrer">{address}</a> : paper.path !== paper.title && paper.path}</p>
        <div className="actions">
          {read.versions.length > 1 && (
            <label className="inline">
              <span>{sources.oneVersion}</span>
              <select value={version} onChange={(event) => go(["sources", documentId], { version: event.target.value })}>
                {read.versions.map((one) => (
                  <option key={one.version} value={one.version}>{sources.versionOf(one.version, times.day(one.recorded_from))}</option>
                ))}
              </select>
            </label>
          )}
          {at && <button type="button" onClick={() => go(["sources", documentId], { version: String(version) })}>{sources.first}</button>}
          {may("forget") && <button type="button" className="danger" onClick={() => setForgetting(true)}>{sources.forget}</button>}
          <span className="copies">
            <Copy label={words.ask.copyCurl} text={() => readAsCurl(`/v1/documents/${documentId}`, me.user.external_id)} />
            <Copy label={words.ask.copyPython} text={() => documentAsPython(documentId)} />
          </span>
        </div>
      </header>
      {span.earlier && <button type="button" className="link" onClick={earlier}>{sources.earlier}</button>}
      <ol className="chunks">
        {span.chunks.map((chunk, index) => (
          <Chunk key={chunk.passage_id} chunk={chunk} before={span.chunks[index - 1]} isHere={chunk.passage_id === at} into={here} />
        ))}
      </ol>
      {span.later && <button type="button" className="link" onClick={later}>{sources.later}</button>}
      <Touched documentId={documentId} />
      {forgetting && (
        <Forget what={paper.title.slice(0, 200)} kind="source" id={documentId} onClose={() => setForgetting(false)}
          onForgotten={() => go(["sources"], { view: "documents" })} />
      )}
    </article>
  );
}

function Chunk({ chunk, before, isHere, into }: {
  chunk: DocumentChunk;
  before: DocumentChunk | undefined;
  isHere: boolean;
  into: React.RefObject<HTMLLIElement | null>;
}) {
  const words = useWords();
  const headings = chunk.headings.join(" › ");
  const where = placeOf(chunk.origin, words);
  return (
    <li className={isHere ? "said-here" : ""} ref={isHere ? into : null}>
      {headings && headings !== before?.headings.join(" › ") && <h2 dir="auto">{headings}</h2>}
      {where && <p className="where" dir="auto">{where}</p>}
      <LongText text={chunk.text} />
    </li>
  );
}
