// What forgetting has archived; each can be taken out again.
import { useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAct, useAsked, useMemory, usePages } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const PAGE = 50;

export function Archived() {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const archive = useAsked((client) => client.getArchive(), []);
  const found = usePages((client, cursor) => client.listArchived({ query: { limit: PAGE, cursor } }), []);
  const [busy, setBusy] = useState("");
  const again = () => {
    archive.again();
    found.again();
  };
  useLiveAgain(["SLEEP_FINISHED"], again);
  const error = archive.error || found.error;
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!archive.data || !found.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const { messages, facts, cards, turns, forgetting, last_at } = archive.data;
  const all = messages + facts + cards + turns;
  const restore = async (id: string) => {
    setBusy(id);
    await act((client) => client.restoreMemories({ body: { memory_ids: [id] } }), ({ restored }) => {
      say(words.night.restored(restored));
      again();
    });
    setBusy("");
  };
  return (
    <div className="archive">
      <p className="lead">{words.night.archiveLead}</p>
      <p>
        <b>{all > 0 ? words.night.counted.archived(all) : words.night.noArchive}</b>{" "}
        <span className="lead">{[last_at && words.night.lastArchived(times.minute(last_at)), forgetting ? words.night.forgets : words.night.forgetsNot].filter(Boolean).join(" · ")}</span>
      </p>
      <ul className="list">
        {found.items.map((one) => (
          <li key={one.memory_id} className="run">
            <p className="what text" dir="auto">{one.text}</p>
            <p className="meta">
              <span>{words.kinds[one.kind] ?? one.kind}</span>
              {one.speaker && <span dir="auto">{one.speaker}</span>}
              <time dateTime={one.said_at}>{times.day(one.said_at)}</time>
              <span>{words.night.archivedOn(times.day(one.archived_at))}</span>
            </p>
            <span className="act">
              {may("write") && one.kind !== "turn" && (
                <button type="button" className="quiet" disabled={busy === one.memory_id} onClick={() => void restore(one.memory_id)}>{words.night.restore}</button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
    </div>
  );
}
