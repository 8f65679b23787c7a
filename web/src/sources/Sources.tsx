// Sources: what came in and what is stored of it, or the one source that the address names.
import type { ScreenProps } from "../app/screens";
import { SourcePage } from "./SourcePage";
import { SourcesPage } from "./SourcesPage";

export function Sources({ rest: [id], query }: ScreenProps) {
  const at = query.get("at") ?? "";
  return id ? <SourcePage key={`${id} ${at}`} sourceId={id} query={query} /> : <SourcesPage query={query} />;
}
