// What sleep mode tells of the period in few lines; each line opens its sources.
import type { Summary } from "@memsvc/client";
import { useState } from "react";
import { useAsked } from "../api/memory";
import { Source } from "../source/Source";
import { useWords } from "../words";
import type { Zoom } from "./periods";

export function Told({ zoom, span }: { zoom: Zoom; span: { from: string; to: string } }) {
  const words = useWords();
  // At the edges, periods of the neighbours touch the span: only what begins inside counts.
  const { data } = useAsked(
    (client) => client.listSummaries({ query: { level: zoom, ...span, limit: 5 } }),
    [zoom, span.from, span.to],
  );
  const inside = (data?.items ?? []).filter((one) => {
    const begins = Date.parse(one.period_start);
    return begins > Date.parse(span.from) - 86_400_000 && begins < Date.parse(span.to) - 43_200_000;
  });
  if (inside.length === 0) return null;
  return (
    <section className="told" aria-label={words.timeline.summary}>
      <h3>{words.timeline.summary}</h3>
      {inside.map((one) => <SummaryText key={one.node_id} summary={one} />)}
    </section>
  );
}

function SummaryText({ summary }: { summary: Summary }) {
  const words = useWords();
  const [opened, setOpened] = useState(-1);
  const lines = summary.text.split("\n");
  return (
    <ul>
      {lines.map((line, index) => {
        const source = summary.sources[index]?.[0];
        const open = opened === index;
        return (
          <li key={index}>
            <span dir="auto">{line}</span>{" "}
            {source && (
              <button type="button" className="link" aria-expanded={open} onClick={() => setOpened(open ? -1 : index)}
                aria-label={open ? words.thing.hideSource : words.thing.openSource}>
                {words.source.title}
              </button>
            )}
            {open && source && <Source passageId={source} />}
          </li>
        );
      })}
      {summary.by && <li className="lead">{words.timeline.by(summary.by)}</li>}
    </ul>
  );
}
