// Files on their way, and what became of those that arrived. What was looked at waits here for a yes.
import type { Ingest, Memsvc } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useMemory, usePages } from "../api/memory";
import { useWords } from "../words";
import { Empty } from "./Empty";
import { IngestCard, isActive, isSeen } from "./IngestCard";
import { Uploading } from "./Uploading";
import { useUploads } from "./uploads";
import "./received.css";

const PAGE = 50;
const MOST_PAGES = 4;
/** Besides those that wait for somebody. */
const FIRST_SHOWN = 3;
const POLL_MS = 2_500;

/** Those that a person sent; the runs of feeds are shown with their feeds. */
async function sent(client: Memsvc, cursor: string | null) {
  const items: Ingest[] = [];
  let next = cursor;
  for (let page = 0; page < MOST_PAGES; page++) {
    const found = await client.listIngests({ query: { cursor: next, limit: PAGE } });
    items.push(...found.items.filter((one) => one.feed_id === null));
    next = found.next_cursor;
    if (!next || items.length >= FIRST_SHOWN) break;
  }
  return { items, next_cursor: next };
}

const isReady = (one: Ingest) => isSeen(one) && one.owner_required === 0;
const matters = (one: Ingest) => isActive(one) || isSeen(one) || one.owner_required > 0;

export function Received() {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const [uploads] = useUploads();
  const [all, setAll] = useState(false);
  const list = usePages(sent, []);
  const { again } = list;
  useLiveAgain(["INGEST_UPDATE"], again);
  const active = list.items.some(isActive);
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(again, POLL_MS); // also where the socket is down
    return () => clearInterval(timer);
  }, [active, again]);
  useEffect(() => again(), [uploads.length, again]);
  const [asking, setAsking] = useState<ReadonlySet<string>>(new Set());
  const ready = list.items.filter((one) => isReady(one) && !asking.has(one.ingest_id));
  const storeAll = async () => {
    for (const { ingest_id } of ready)
      await act((client) => client.continueIngest({ path: { ingest_id }, body: {} }));
    again();
  };
  const asks = (id: string) => setAsking((before) => (before.has(id) ? before : new Set([...before, id])));
  if (list.error) return <p className="said bad" role="alert">{list.error}</p>;
  if (!list.data) return null;
  if (list.items.length === 0 && uploads.length === 0) return may("write") ? <Empty /> : null;
  const names = [...new Set(list.items.flatMap((one) => one.choices.me ?? []))];
  const rest = list.items.filter((one) => !matters(one));
  const shown = [...list.items.filter(matters), ...(all ? rest : rest.slice(0, FIRST_SHOWN))];
  const further = shown.length < list.items.length ? () => setAll(true) : list.more;
  return (
    <section className="received" aria-labelledby="received">
      <div className="bar">
        <h2 id="received">{words.sources.received}</h2>
        {may("write") && ready.length > 1 && (
          <button type="button" onClick={() => void storeAll()}>{words.sources.storeAll(ready.length)}</button>
        )}
      </div>
      <ul>
        {uploads.map((upload) => <Uploading key={upload.id} upload={upload} />)}
        {shown.map((ingest) => <IngestCard key={ingest.ingest_id} ingest={ingest} names={names} onChanged={again} onAsks={asks} />)}
      </ul>
      {further && <p className="further"><button type="button" className="quiet" onClick={further}>{words.sources.older}</button></p>}
    </section>
  );
}
