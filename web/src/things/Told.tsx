// What an assistant is told when somebody asks about a thing: the block of its context, as a model gets it.
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";

const BUDGET = 1_000;
/** Characters of a name that are asked for. */
const MOST = 300;

export function Told({ name, asOf, known, knownAt }: { name: string; asOf: string; known: string; knownAt: string | null }) {
  const words = useWords();
  const query = name.slice(0, MOST);
  const body = { query, budget_tokens: BUDGET, ...(asOf && { as_of: asOf }), ...(knownAt && { known_at: knownAt }) };
  const { data, error, loading } = useAsked((client) => client.buildContext({ body }), [JSON.stringify(body)]);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const number = (n: number) => n.toLocaleString(words.code);
  const ask = href(["ask"], { q: query, view: "context", as_of: asOf, known_at: known });
  return (
    <section className={loading ? "told-block busy" : "told-block"} aria-label={words.told.view}>
      <div className="bar">
        <p className="lead">
          {words.told.lead(query.length < name.length ? `${query}…` : query)} {words.ask.tokens(number(data.tokens), number(data.budget_tokens))}
        </p>
        <div className="copies">
          <a href={ask} className="small">{words.told.change}</a>
          <Copy label={words.ask.copyBlock} text={() => data.text} />
        </div>
      </div>
      {data.text ? <pre tabIndex={0} dir="auto">{data.text}</pre> : <p className="empty">{words.told.nothing}</p>}
    </section>
  );
}
