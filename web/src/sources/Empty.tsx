// Before anything came in: how to get one's own data out of other programs.
import { useAsked } from "../api/memory";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";

const VAULT = "memsvc vault add FOLDER";

export function Empty() {
  const words = useWords();
  const { empty } = words.sources;
  const { data } = useAsked(async (client) => {
    const query = { limit: 1 };
    const [talks, documents] = await Promise.all([client.listConversations({ query }), client.listDocuments({ query })]);
    return talks.items.length + documents.items.length;
  }, []);
  if (data !== 0) return null;
  return (
    <section className="ways" aria-labelledby="ways">
      <h2 id="ways">{empty.title}</h2>
      <p className="lead">{empty.lead}</p>
      <dl>
        {empty.ways.map(([name, how]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{how}</dd>
          </div>
        ))}
      </dl>
      <p className="lead">{empty.vault}</p>
      <div className="command"><pre>{VAULT}</pre><Copy label={words.common.copy} text={() => VAULT} /></div>
    </section>
  );
}
