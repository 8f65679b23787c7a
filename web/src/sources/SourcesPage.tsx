// The way in for files and texts, what became of them, and all that is stored.
import { useCallback } from "react";
import { useLiveAgain } from "../api/live";
import { useAsked, useMemory } from "../api/memory";
import { go } from "../app/route";
import { useWords } from "../words";
import { Conversations } from "./Conversations";
import { Documents } from "./Documents";
import { Drop } from "./Drop";
import { Feeds } from "./Feeds";
import { Received } from "./Received";
import "./sources.css";

const VIEWS = ["conversations", "documents", "feeds"] as const;
type View = (typeof VIEWS)[number];

export function SourcesPage({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const { may } = useMemory();
  const view = VIEWS.find((one) => one === query.get("view")) ?? "conversations";
  const stats = useAsked((client) => client.graphStats(), []);
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], stats.again);
  const show = useCallback((chosen: View) => go(["sources"], { view: chosen === "conversations" ? "" : chosen }, { replace: true }), []);
  return (
    <div className="sources">
      <header>
        <h1>{words.sources.title}</h1>
        {stats.data && <p className="lead known" aria-live="polite">{words.sources.known(stats.data.nodes, stats.data.facts)}</p>}
      </header>
      {may("write") ? <Drop /> : <p className="lead">{words.common.readOnly}</p>}
      <Received />
      <section aria-label={words.sources.facets}>
        <div className="bar">
          <div className="tabs" role="group" aria-label={words.sources.facets}>
            {VIEWS.map((one) => (
              <button type="button" key={one} aria-pressed={view === one} onClick={() => show(one)}>{words.sources.views[one]}</button>
            ))}
          </div>
        </div>
        {view === "conversations" && <Conversations />}
        {view === "documents" && <Documents />}
        {view === "feeds" && <Feeds />}
      </section>
    </div>
  );
}
