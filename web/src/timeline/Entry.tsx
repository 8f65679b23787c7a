// One entry of a day: a conversation, a document, an event, a fact, or the changes of the day. It opens in place.
import type { TimelineEntry } from "@memsvc/client";
import { useId, useState } from "react";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { Source } from "../source/Source";
import { useWords } from "../words";
import { useClock } from "./clock";
import { Learnt } from "./Learnt";
import { type Kind, moved } from "./periods";

const PARTS_SHOWN = 4;

export function Entry({ entry, day }: { entry: TimelineEntry; day: string }) {
  const words = useWords();
  const clock = useClock();
  const id = useId();
  const [opened, setOpened] = useState(false);
  const kind: Kind = entry.kind;
  const opens = kind !== "event";
  const from = kind === "message" || kind === "change" ? clock.hour(entry.since) : clock.hourIfTold(entry.at);
  const to = kind === "message" || kind === "change" ? clock.hour(entry.at) : from;
  const leads = entry.node_id ? href(["things", entry.node_id])
    : entry.source_id ? href(["sources", entry.source_id], { at: entry.memory_id }) : "";
  const title = kind === "change" ? words.timeline.changes(entry.count) : entry.title;
  return (
    <li className={`entry ${kind}`}>
      <span className="at">{from === to ? from : `${from} – ${to}`}</span>
      <span className="kind">{kind === "document" ? words.timeline.stored : words.timeline.one[kind]}</span>
      <div className="what">
        <p>
          {leads ? <a href={leads} dir="auto">{title}</a> : <b dir="auto">{title}</b>}
          {kind === "message" && <span className="many">{words.timeline.messages(entry.count)}</span>}
        </p>
        {!opened && entry.text && (
          <p className="excerpt" dir="auto">
            {entry.speaker && <b>{entry.speaker}: </b>}{entry.text}
          </p>
        )}
        {opened && <div id={id}><Opened entry={entry} day={day} /></div>}
      </div>
      {opens && (
        <button type="button" className="quiet" aria-expanded={opened} aria-controls={opened ? id : undefined}
          aria-label={`${opened ? words.timeline.hide : words.timeline.open}: ${title.slice(0, 120)}`} onClick={() => setOpened(!opened)}>
          {opened ? words.timeline.hide : words.timeline.open}
        </button>
      )}
    </li>
  );
}

function Opened({ entry, day }: { entry: TimelineEntry; day: string }) {
  if (entry.kind === "message" && entry.memory_id) return <Source passageId={entry.memory_id} />;
  if (entry.kind === "document" && entry.source_id) return <DocumentText documentId={entry.source_id} />;
  if (entry.kind === "change") return <Learnt from={day} to={moved("day", day, 1)} />;
  return entry.edge_id ? <Quotes edgeId={entry.edge_id} /> : null;
}

function DocumentText({ documentId }: { documentId: string }) {
  const words = useWords();
  const { data, error } = useAsked(
    (client) => client.getDocument({ path: { document_id: documentId }, query: { limit: PARTS_SHOWN } }),
    [documentId],
  );
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <section className="source" aria-label={words.source.title}>
      <p className="place" dir="auto">{data.document.path}</p>
      {data.chunks.map((one) => <p dir="auto" key={one.passage_id}>{one.text}</p>)}
      {data.next_cursor && <p aria-hidden="true">…</p>}
    </section>
  );
}

/** The messages that say so. */
function Quotes({ edgeId }: { edgeId: string }) {
  const words = useWords();
  const { data, error } = useAsked((client) => client.describeFact({ path: { edge_id: edgeId } }), [edgeId]);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const passages = [...new Set(data.versions.flatMap((one) => one.sources.map((quote) => quote.passage_id)))].slice(0, PARTS_SHOWN);
  if (passages.length === 0) return <p className="lead">{words.thing.noSources}</p>;
  return passages.map((one) => <Source passageId={one} key={one} />);
}
