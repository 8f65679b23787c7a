// One source: a conversation or a document.
import { useAsked } from "../api/memory";
import { useWords } from "../words";
import { DocumentPage } from "./DocumentPage";
import { TalkPage } from "./TalkPage";
import "./reading.css";

export function SourcePage({ sourceId, query }: { sourceId: string; query: URLSearchParams }) {
  const words = useWords();
  const { data, error } = useAsked(
    (client) => client.openSource({ path: { source_id: sourceId }, query: { before: 0, after: 0 } }),
    [sourceId],
  );
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (data.kind === "conversation") return <TalkPage source={data} at={query.get("at")} />;
  if (data.kind === "document") return <DocumentPage documentId={sourceId} at={query.get("at")} query={query} />;
  return <p className="empty">{words.sources.noSource}</p>;
}
