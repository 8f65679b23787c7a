// What was sent together: its state, what is in it, and what can be done with it.
import type { Ingest, IngestFile, IngestShown } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { ItemRow } from "./ItemRow";
import { WhoAmI } from "./WhoAmI";

const MOST_SHOWN = 12;
export const isActive = ({ state }: Ingest) => state === "pending" || state === "running";
/** It was looked at and not stored; whether it can still be, its files say. */
export const isSeen = ({ state, dry_run, refused, files }: Ingest) => state === "completed" && dry_run && refused < files;
const waits = (item: IngestFile) => item.is_kept || (item.part > 0 && (item.outcome === "previewed" || item.outcome === "owner_required"));

/** Whether somebody must say who the user is, and among whom. */
export function question(shown: IngestShown | undefined): { must: boolean; among: IngestFile[] } {
  const among = (shown?.items ?? []).filter(
    ({ outcome, preview }) =>
      (outcome === "previewed" || outcome === "owner_required") && preview && preview.owner.length === 0 &&
      preview.speakers.some((one) => one.speaker && one.role === "other"),
  );
  return { must: among.some((item) => item.outcome === "owner_required" || item.preview?.must_ask), among };
}

export function IngestCard({ ingest, names, onChanged, onAsks }: {
  ingest: Ingest;
  /** Who the user said to be before. */
  names: readonly string[];
  onChanged: () => void;
  onAsks: (id: string) => void;
}) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [open, setOpen] = useState(false);
  const path = { ingest_id: ingest.ingest_id };
  const { data } = useAsked(
    (client) => client.getIngest({ path }),
    [ingest.ingest_id, ingest.state, ingest.dry_run, ingest.done, ingest.stored, ingest.finished_at],
  );
  const active = isActive(ingest);
  const items = data?.items ?? [];
  const kept = !active && items.some(waits);
  const { must, among } = question(data);
  const asks = kept && among.length > 0;
  useEffect(() => {
    if (asks) onAsks(ingest.ingest_id);
  }, [asks, ingest.ingest_id, onAsks]);
  const end = (text: string) =>
    act((client) => client.endIngest({ path }), () => {
      say(text);
      onChanged();
    });
  const goOn = (answer: { me?: string[]; not_me?: boolean }) =>
    act((client) => client.continueIngest({ path, body: answer }), onChanged);
  const refused = ingest.state === "completed" && ingest.refused > 0 && ingest.refused === ingest.files;
  const state = kept && must ? "asks" : kept ? "ready" : refused ? "refused" : isSeen(ingest) ? "seen" : ingest.state;
  const name = words.sources.names(items[0]?.name ?? "…", Math.max(0, ingest.files - 1));
  const share = ingest.messages ? Math.min(100, (100 * ingest.stored) / ingest.messages) : 0;
  if (!data) return <li className="ingest"><p className="state">{words.common.loading}</p></li>;
  const shown = open ? items : items.slice(0, MOST_SHOWN);
  const endLabel = active ? words.common.cancel : kept ? words.sources.discard : words.sources.remove;
  return (
    <li className="ingest" aria-busy={active}>
      <div className="head">
        <p className="whole">
          <b className="name" dir="auto">{name}</b>
          <span className={state === "failed" || refused ? "state bad" : kept ? "state mine" : "state"}>{words.sources.states[state]}</span>
          <time className="state" dateTime={ingest.created_at}>{times.minute(ingest.created_at)}</time>
        </p>
        {may("write") && (
          <span className="actions">
            <button type="button" className="quiet" aria-label={`${endLabel}: ${name}`}
              onClick={() => void end(active ? words.sources.cancelled : kept ? words.sources.discarded : words.sources.removed)}>
              {kept || active ? endLabel : <Icon name="close" />}
            </button>
          </span>
        )}
      </div>
      {active && ingest.messages > 0 && !ingest.dry_run && (
        <>
          <div className="track" role="progressbar" aria-valuenow={Math.round(share)} aria-valuemin={0} aria-valuemax={100} aria-label={name}>
            <span className="part" style={{ inlineSize: `${share}%` }} />
          </div>
          <p className="state">{words.sources.progress(ingest.stored, ingest.messages)}</p>
        </>
      )}
      {ingest.state === "failed" && <p className="said bad">{words.sources.failedWhy(ingest.error_code ?? "")}</p>}
      <ul className="items">
        {shown.map((item) => <ItemRow key={`${item.number} ${item.part}`} item={item} alone={items.length === 1} />)}
      </ul>
      {items.length > shown.length && (
        <button type="button" className="link small" onClick={() => setOpen(true)}>{words.sources.names("…", items.length - shown.length)}</button>
      )}
      {kept && may("write") && (asks ? (
        <WhoAmI items={among} must={must} names={names} onAnswer={(answer) => void goOn(answer)} />
      ) : (
        <div className="actions"><button type="button" className="primary" onClick={() => void goOn({})}>
          {ingest.state === "failed" || ingest.state === "cancelled" ? words.sources.goOn : words.sources.store}
        </button></div>
      ))}
    </li>
  );
}
