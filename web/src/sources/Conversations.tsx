// All conversations, the newest first.
import { useLiveAgain } from "../api/live";
import { usePages } from "../api/memory";
import { href } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

const PAGE = 50;

export function Conversations() {
  const words = useWords();
  const times = useTimes();
  const list = usePages((client, cursor) => client.listConversations({ query: { cursor, limit: PAGE } }), []);
  useLiveAgain(["SOURCE_UPDATE"], list.again);
  if (list.error) return <p className="said bad" role="alert">{list.error}</p>;
  if (!list.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (list.items.length === 0) return <p className="empty">{words.sources.noConversations}</p>;
  const days = (first: string | null, last: string | null) =>
    [...new Set([first, last].filter((one) => one !== null).map(times.day))].join(" – ");
  return (
    <>
      <ul className="listed">
        {list.items.map((one) => (
          <li key={one.conversation_id}>
            <a href={href(["sources", one.conversation_id])}>
              <span className="label" dir="auto">{one.title || one.identifier}</span>
              <span className="size">{words.sources.messages(one.messages)}</span>
              <span className="more">{words.sources.status[one.status]}</span>
              <span className="day">{days(one.first_said_at, one.last_said_at)}</span>
            </a>
          </li>
        ))}
      </ul>
      {list.more && <p className="further"><button type="button" onClick={list.more}>{words.sources.more}</button></p>}
    </>
  );
}
