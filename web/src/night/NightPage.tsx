// The night: what sleep mode brought, what it ran, which tasks it has, and what it archived.
import { useState } from "react";
import type { ScreenProps } from "../app/screens";
import { useMemory } from "../api/memory";
import { go } from "../app/route";
import { useWords } from "../words";
import { Archived } from "./Archived";
import { Report } from "./Report";
import { RunNow } from "./RunNow";
import { Runs } from "./Runs";
import { Tasks } from "./Tasks";
import "./night.css";

const VIEWS = ["report", "runs", "tasks", "archive"] as const;

export function NightPage({ query }: ScreenProps) {
  const words = useWords();
  const { may } = useMemory();
  const [running, setRunning] = useState(false);
  const [asked, setAsked] = useState(0); // runs asked for here, so that the list is read anew
  const view = VIEWS.find((one) => one === query.get("view")) ?? "report";
  const show = (chosen: (typeof VIEWS)[number]) => go(["night"], { view: chosen === "report" ? "" : chosen });
  return (
    <div className="night">
      <div className="bar">
        <h1>{words.night.title}</h1>
        {may("write") && <button type="button" className="primary" onClick={() => setRunning(true)}>{words.night.run}</button>}
      </div>
      <p className="lead">{words.night.lead}</p>
      <div className="bar views">
        <div className="tabs" role="group" aria-label={words.thing.facets}>
          {VIEWS.map((one) => (
            <button type="button" key={one} aria-pressed={view === one} onClick={() => show(one)}>{words.night.views[one]}</button>
          ))}
        </div>
      </div>
      {view === "report" && <Report date={query.get("date") ?? ""} />}
      {view === "runs" && <Runs key={asked} />}
      {view === "tasks" && <Tasks />}
      {view === "archive" && <Archived />}
      {running && <RunNow onClose={() => setRunning(false)} onAsked={() => {
        setAsked(asked + 1);
        show("runs");
      }} />}
    </div>
  );
}
