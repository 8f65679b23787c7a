// What came in while the user was away: how much of each kind, in which conversations, and what was learnt from it.
import { useState } from "react";
import { href } from "../app/route";
import { Source } from "../source/Source";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Learnt } from "./Learnt";
import type { News } from "./news";

const KINDS = ["message", "document", "fact", "node", "change"] as const;

export function AwayView({ news }: { news: News }) {
  const words = useWords();
  const times = useTimes();
  const { say } = useNotices();
  const [opened, setOpened] = useState("");
  if (news.error) return <p className="said bad" role="alert">{news.error}</p>;
  if (!news.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (news.data.first) return <p className="empty">{words.timeline.first}</p>;
  const { counts, conversations, since } = news.data;
  const some = KINDS.filter((one) => (counts[one] ?? 0) > 0);
  const mark = () => {
    const undo = news.mark();
    say(words.timeline.seen, { action: { label: words.common.undo, act: undo } });
  };
  return (
    <section className="away">
      <div className="bar">
        <p className="lead">{words.timeline.since(times.minute(since))}</p>
        {some.length > 0 && <button type="button" onClick={mark}>{words.timeline.markSeen}</button>}
      </div>
      {some.length === 0 && <p className="empty">{words.timeline.nothingNew}</p>}
      {some.length > 0 && (
        <dl className="figures">
          {some.map((one) => (
            <div key={one}>
              <dt>{words.timeline.news[one]}</dt>
              <dd>{(counts[one] ?? 0).toLocaleString(words.code)}</dd>
            </div>
          ))}
        </dl>
      )}
      {conversations.length > 0 && (
        <>
          <h2>{words.timeline.inConversations}</h2>
          <ul className="days">
            {conversations.map((one) => {
              const open = opened === one.source_id;
              return (
                <li className="entry" key={one.source_id}>
                  <div className="what">
                    <p><a href={href(["sources", one.source_id], { at: one.memory_id })} dir="auto">{one.title}</a> <span className="many">{words.timeline.messages(one.count)}</span></p>
                    {open && <Source passageId={one.memory_id} />}
                  </div>
                  <button type="button" className="quiet" aria-expanded={open} onClick={() => setOpened(open ? "" : one.source_id)}
                    aria-label={`${open ? words.timeline.hide : words.timeline.open}: ${one.title.slice(0, 120)}`}>
                    {open ? words.timeline.hide : words.timeline.open}
                  </button>
                </li>
              );
            })}
          </ul>
        </>
      )}
      {(counts["change"] ?? 0) > 0 && (
        <>
          <h2>{words.timeline.learntSince}</h2>
          <Learnt key={news.data.until} from={since} />
        </>
      )}
    </section>
  );
}
