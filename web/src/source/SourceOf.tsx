// What a memory of any kind rests on: its message or document, or the messages behind a fact, a note or a block.
import type { OpenedMemory } from "@memsvc/client";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { Source } from "./Source";
import { useWords } from "../words";

interface Passage {
  id: string;
  span: readonly [number, number] | null;
}

function passagesOf(data: OpenedMemory): Passage[] {
  if (data.kind === "message" || data.kind === "chunk") return [{ id: data.memory_id, span: null }];
  if (data.block) return [...new Set(data.block.evidence.map((one) => one.passage_id))].map((id) => ({ id, span: null }));
  const quotes = (data.fact?.versions ?? data.node?.versions ?? []).flatMap((one) => one.sources);
  return [...new Map(quotes.map((one) => [one.passage_id, { id: one.passage_id, span: one.span }])).values()];
}

export function SourceOf({ memoryId }: { memoryId: string }) {
  const words = useWords();
  const { data, error } = useAsked((client) => client.openMemory({ path: { memory_id: memoryId } }), [memoryId]);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const passages = passagesOf(data);
  const ends = data.fact
    ? [[data.fact.from_node, data.fact.from_label], [data.fact.to_node, data.fact.to_label]]
    : data.node ? [[data.node.node_id, data.node.label]] : [];
  return (
    <div className="rests">
      {passages.map((one) => <Source key={one.id} passageId={one.id} span={one.span} />)}
      {passages.length === 0 && <p className="lead">{words.thing.noSources}</p>}
      {ends.length > 0 && (
        <p className="actions">
          {ends.map(([node, label]) => node && <a key={node} href={href(["things", node])} dir="auto">{label ?? "…"}</a>)}
        </p>
      )}
    </div>
  );
}
