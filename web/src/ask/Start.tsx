// Before a question: what matters at present, and questions to begin with; or what to do if nothing is stored yet.
import { useAsked, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";
import { MemoryCard } from "./MemoryCard";

const SHOWN = 5;
const EXAMPLES = 4;

export function Start({ onAsk }: { onAsk: (question: string) => void }) {
  const words = useWords();
  const { data, error, again } = useAsked(async (client) => {
    const [top, stats, me] = await Promise.all([client.topOfMind({ query: { limit: SHOWN } }), client.graphStats(), client.getMe()]);
    const others = stats.most_connected.filter((one) => one.node_id !== me.node_id && one.label);
    return { memories: top.memories, names: others.slice(0, EXAMPLES).map((one) => one.label ?? "") };
  }, []);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (data.memories.length === 0) return <Nothing onAgain={again} />;
  return (
    <div className="start">
      {data.names.length > 0 && (
        <p className="examples">
          <span>{words.ask.tryThese}</span>
          {data.names.map((name) => (
            <button type="button" className="link" key={name} onClick={() => onAsk(words.ask.example(name))} dir="auto">
              {words.ask.example(name)}
            </button>
          ))}
        </p>
      )}
      <h2>{words.ask.top}</h2>
      <p className="lead">{words.ask.topLead}</p>
      <ol className="memories">
        {data.memories.map((memory) => <MemoryCard key={memory.memory_id} memory={memory} recallId={null} />)}
      </ol>
    </div>
  );
}

function Nothing({ onAgain }: { onAgain: () => void }) {
  const words = useWords();
  const { may } = useMemory();
  const { empty } = words.ask;
  const file = "memsvc ingest FILE";
  const one = `curl -s ${location.origin}/v1/messages -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"conversation": "first", "text": "The new bike is called Rosalinde."}'`;
  return (
    <section className="nothing">
      <h2>{empty.title}</h2>
      <p>{empty.lead}</p>
      {may("write") && <a className="button primary" href={href(["sources"])}>{words.sources.goTo}</a>}
      <p>{empty.file}</p>
      <div className="sample"><pre>{file}</pre><Copy label={words.common.copy} text={() => file} /></div>
      <p>{empty.one}</p>
      <div className="sample"><pre tabIndex={0}>{one}</pre><Copy label={words.common.copy} text={() => one} /></div>
      <p className="lead">{empty.after}</p>
      <button type="button" onClick={onAgain}>{empty.look}</button>
    </section>
  );
}
