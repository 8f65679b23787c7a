// What happened when; what is due; and what came in while the user was away.
import type { ScreenProps } from "../app/screens";
import { go } from "../app/route";
import { useWords } from "../words";
import { AgendaView } from "./AgendaView";
import { AwayView } from "./AwayView";
import { useNews } from "./news";
import { WhenView } from "./WhenView";
import "./timeline.css";

const VIEWS = ["when", "agenda", "away"] as const;

export function TimelinePage({ query }: ScreenProps) {
  const words = useWords();
  const view = VIEWS.find((one) => one === query.get("view")) ?? "when";
  const news = useNews();
  const fresh = news.data ? (news.data.counts["message"] ?? 0) + (news.data.counts["document"] ?? 0) : 0;
  return (
    <div className="timeline">
      <h1>{words.timeline.title}</h1>
      <div className="bar views">
        <div className="tabs" role="group" aria-label={words.timeline.views}>
          {VIEWS.map((one) => (
            <button type="button" key={one} aria-pressed={view === one} onClick={() => go(["timeline"], { view: one === "when" ? "" : one })}>
              {words.timeline[one]}
              {one === "away" && fresh > 0 && <span className="fresh">{fresh.toLocaleString(words.code)}</span>}
            </button>
          ))}
        </div>
      </div>
      {view === "when" && <WhenView query={query} />}
      {view === "agenda" && <AgendaView query={query} />}
      {view === "away" && <AwayView news={news} />}
    </div>
  );
}
