// Splits a thing that is really two, by the conversations and files that mention it.
import type { graph_shown_ShownNode as ShownNode, Memsvc, Quote } from "@memsvc/client";
import { type FormEvent, useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import type { Changed } from "./ThingPage";

const FACTS = 500;
interface Mention {
  id: string;
  title: string;
  quotes: string[];
}

/** What mentions the thing, by its names, descriptions and facts of any time. */
async function mentionsOf(client: Memsvc, thing: ShownNode): Promise<Mention[]> {
  const { items } = await client.listFacts({ query: { about: [thing.node_id], as_of: "always", limit: FACTS } });
  const quotes: Quote[] = [...items, ...thing.versions, ...thing.aliases].flatMap((one) => one.sources);
  const ids = [...new Set(quotes.map((quote) => quote.source_id))];
  const sources = await Promise.all(
    ids.map((id) => client.openSource({ path: { source_id: id }, query: { before: 0, after: 0 } }).catch(() => null)),
  );
  return ids.map((id, nth) => ({
    id,
    title: (sources[nth]?.title || sources[nth]?.identifier) ?? id,
    quotes: [...new Set(quotes.filter((quote) => quote.source_id === id).map((quote) => quote.quote))],
  }));
}

export function Split({ thing, name, onClose, onChanged }: {
  thing: ShownNode;
  name: string;
  onClose: () => void;
  onChanged: Changed;
}) {
  const words = useWords();
  const act = useAct();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { data, error } = useAsked((client) => mentionsOf(client, thing), [thing.node_id]);
  const all = chosen.length > 0 && chosen.length === data?.length;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act((client) => client.splitNode({ path: { node_id: thing.node_id }, body: { sources: [...chosen] } }), (made) => {
      onClose();
      onChanged(words.split.done, made.change_id);
    });
  };
  const toggle = (id: string) => setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <Dialog title={words.split.title(name)} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <p>{data && data.length < 2 ? words.split.one : words.split.lead}</p>
        {error && <p className="said bad" role="alert">{error}</p>}
        {!data && !error && <p className="lead" aria-live="polite">{words.common.loading}</p>}
        {data && data.length > 1 && (
          <ul className="mentions" tabIndex={0}>
            {data.map((one) => (
              <li key={one.id}>
                <label className="check">
                  <input type="checkbox" checked={chosen.includes(one.id)} onChange={() => toggle(one.id)} />
                  <span>
                    <b dir="auto">{one.title}</b>
                    {one.quotes.slice(0, 2).map((quote) => <q key={quote} dir="auto">{quote}</q>)}
                  </span>
                </label>
              </li>
            ))}
          </ul>
        )}
        {all && <p className="said">{words.split.all}</p>}
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary" disabled={chosen.length === 0 || all}>{words.split.submit}</button>
        </footer>
      </form>
    </Dialog>
  );
}
