// The profile: what an assistant keeps in mind, its instructions, what it gets of them, and the switch of memory as a whole.
import type { ScreenProps } from "../app/screens";
import { go } from "../app/route";
import { useWords } from "../words";
import { AsGiven } from "./AsGiven";
import { Blocks } from "./Blocks";
import { Instructions } from "./Instructions";
import { Keeping } from "./Keeping";
import { PauseSaid } from "./PauseSaid";
import "./profile.css";

const VIEWS = ["blocks", "instructions", "given", "keeping"] as const;

export function ProfilePage({ query }: ScreenProps) {
  const words = useWords();
  const view = VIEWS.find((one) => one === query.get("view")) ?? "blocks";
  return (
    <div className="profile">
      <h1>{words.profile.title}</h1>
      <p className="lead">{words.profile.lead}</p>
      <PauseSaid />
      <div className="bar">
        <div className="tabs" role="group" aria-label={words.thing.facets}>
          {VIEWS.map((one) => (
            <button type="button" key={one} aria-pressed={view === one} onClick={() => go(["profile"], { view: one === "blocks" ? "" : one })}>
              {words.profile.views[one]}
            </button>
          ))}
        </div>
      </div>
      {view === "blocks" && <Blocks open={query.get("block") ?? ""} />}
      {view === "instructions" && <Instructions />}
      {view === "given" && <AsGiven about={query.get("q") ?? ""} />}
      {view === "keeping" && <Keeping />}
    </div>
  );
}
