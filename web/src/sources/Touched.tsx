// Which agents worked with a document, and whether what they saw is still current.
import { usePages } from "../api/memory";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

export function Touched({ documentId }: { documentId: string }) {
  const words = useWords();
  const times = useTimes();
  const { seen } = words.sources;
  const list = usePages((client, cursor) => client.documentStaleness({ path: { document_id: documentId }, query: { cursor, limit: 20 } }), [documentId]);
  if (list.items.length === 0) return null;
  return (
    <section className="touched" aria-labelledby="touched">
      <h2 id="touched">{seen.title}</h2>
      <ul>
        {list.items.map((one) => (
          <li key={one.turn_id}>
            <span className="meta">
              <b dir="auto">{one.agent}</b>
              <time dateTime={one.at}>{times.minute(one.at)}</time>
              <span>{one.wrote ? seen.wrote : seen.read}</span>
              {one.staleness !== null && <span>{one.staleness > 0 ? seen.behind(one.staleness) : seen.fresh}</span>}
            </span>
            <span dir="auto">{one.conversation}</span>
          </li>
        ))}
      </ul>
      {list.more && <button type="button" className="quiet" onClick={list.more}>{words.sources.more}</button>}
    </section>
  );
}
