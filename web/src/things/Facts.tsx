// The facts on a strip of time: those with a time above, those without one below.
import type { FactsPage, ShownFact } from "@memsvc/client";
import { useEffect, useMemo, useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { isTie } from "../ui/derived";
import { useWords } from "../words";
import { FactRow } from "./FactRow";
import { axisOf, hasTime, share } from "./span";
import type { Changed } from "./ThingPage";

const PAGE = 200;

export function Facts({ nodeId, asOf, knownAt, version, onChanged, onPinned }: {
  nodeId: string;
  asOf: string;
  knownAt: string | null;
  version: number;
  onChanged: Changed;
  onPinned: () => void;
}) {
  const words = useWords();
  const act = useAct();
  const query = { about: [nodeId], as_of: asOf || "always", limit: PAGE, ...(knownAt && { known_at: knownAt }) };
  const { data, error, loading } = useAsked((client) => client.listFacts({ query }), [nodeId, asOf, knownAt, version]);
  const [more, setMore] = useState<FactsPage[]>([]);
  useEffect(() => setMore([]), [data]);
  const pages = data ? [data, ...more] : [];
  const facts = useMemo(() => pages.flatMap((page) => page.items).filter((fact) => !isTie(fact, nodeId)), [data, more, nodeId]);
  const axis = useMemo(() => axisOf(facts, Date.now(), words.code), [facts, words.code]);
  const begin = (fact: ShownFact) => Date.parse(fact.valid_from ?? fact.valid_to ?? "");
  const dated = facts.filter(hasTime).sort((a, b) => begin(b) - begin(a));
  const undated = facts.filter((fact) => !hasTime(fact));
  const cursor = pages.at(-1)?.next_cursor;
  const next = () => act((client) => client.listFacts({ query: { ...query, cursor: cursor ?? null } }), (page) => setMore([...more, page]));
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (facts.length === 0) return <p className="empty">{words.thing.noFacts}</p>;
  const rows = (some: ShownFact[]) => some.map((fact) => (
    <FactRow key={fact.version_id} fact={fact} about={nodeId} axis={axis} onChanged={onChanged} onPinned={onPinned} />
  ));
  const now = share(axis, asOf ? Date.parse(asOf) : Date.now());
  return (
    <section className={loading ? "facts busy" : "facts"} aria-label={words.thing.strip}>
      {dated.length > 0 && (
        <>
          <div className="axis" aria-hidden="true">
            <span className="title">{words.thing.dated}</span>
            <span className="strip">
              {axis.ticks.map((tick) => (
                <span key={tick.at} className={tick.major ? "tick major" : "tick"} style={{ insetInlineStart: `${share(axis, tick.at)}%` }}>
                  {tick.label}
                </span>
              ))}
            </span>
          </div>
          <ul className="fact-rows" style={{ "--now": `${now}%` } as React.CSSProperties}>{rows(dated)}</ul>
        </>
      )}
      {undated.length > 0 && (
        <>
          <h2 className="title">{words.thing.undated}</h2>
          <ul className="fact-rows">{rows(undated)}</ul>
        </>
      )}
      {cursor && <p className="further"><button type="button" onClick={next}>{words.thing.more}</button></p>}
    </section>
  );
}
