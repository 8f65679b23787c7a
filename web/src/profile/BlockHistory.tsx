// What a block has said, version by version; any of them can be restored.
import type { Block } from "@memsvc/client";
import { useAct, useMemory, usePages } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { placeOf } from "./place";

const PAGE = 20;

export function BlockHistory({ block, onChanged }: { block: Block; onChanged: () => void }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const place = placeOf(block);
  const path = { name: block.name };
  const found = usePages(
    (client, cursor) => client.blockHistory({ path, query: { ...place, limit: PAGE, cursor } }), [block.block_id, block.version],
  );
  const restore = (text: string, expected_version: number, done: (now: Block) => void) =>
    act((client) => client.writeBlock({ path, body: { ...place, text, expected_version } }), (now) => {
      onChanged();
      done(now);
    });
  if (found.error) return <p className="said bad" role="alert">{found.error}</p>;
  if (!found.data && found.loading) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <ol className="versions" aria-label={words.thing.history}>
      {found.items.map((one) => (
        <li key={one.version}>
          <p className="meta">
            <b>{words.profile.version(one.version)}</b>
            <time dateTime={one.recorded_from}>{times.minute(one.recorded_from)}</time>
            <span>{words.thing.by(one.asserted_by)}</span>
            <span>{words.profile.tiers[one.kind]}</span>
            {one.version === block.version ? (
              <span>{words.profile.current}</span>
            ) : (
              may("write") && one.text !== block.text && (
                <button type="button" className="link" onClick={() => void restore(one.text, block.version, (now) =>
                  say(words.profile.restored(one.version), {
                    action: {
                      label: words.common.undo,
                      act: () => void restore(block.text, now.version, () => say(words.common.undone)),
                    },
                  }))}>
                  {words.profile.restore}
                </button>
              )
            )}
          </p>
          <p className="text" dir="auto">{one.text || words.profile.emptyBlock}</p>
        </li>
      ))}
      {found.more && <li><button type="button" onClick={found.more}>{words.history.more}</button></li>}
    </ol>
  );
}
