// Messages of the queue that no worker could read: put one back, or drop it.
import type { DeadLetter } from "@memsvc/client";
import { useAct, useAsked } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

export function DeadLetters({ count, cell }: { count: number; cell: string | null }) {
  const { operations: texts } = useWords();
  const times = useTimes();
  const act = useAct();
  const { say } = useNotices();
  const { data, error, again } = useAsked((client) => client.listDeadLetters({ query: { cell } }), [count, cell]);
  const done = (text: string) => () => {
    say(text);
    again();
  };
  const path = ({ message_id }: DeadLetter) => ({ path: { message_id }, query: { cell } });
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return null;
  if (data.items.length === 0) return <p className="lead">{texts.noDead}</p>;
  return (
    <ul className="lines">
      {data.items.map((letter) => (
        <li key={letter.message_id}>
          <div>
            <strong>{letter.actor ?? letter.queue}</strong>
            <p className="meta">
              <time dateTime={letter.rejected_at}>{times.minute(letter.rejected_at)}</time>
              <code>{letter.message_id}</code>
            </p>
            {letter.error && <p className="why" dir="auto">{letter.error}</p>}
          </div>
          <div className="actions">
            <button type="button" onClick={() => void act((client) => client.retryDeadLetter(path(letter)), done(texts.again))}>{texts.retry}</button>
            <button type="button" className="danger" onClick={() => void act((client) => client.dropDeadLetter(path(letter)), done(texts.dropped))}>{texts.drop}</button>
          </div>
        </li>
      ))}
    </ul>
  );
}
