// How the service is doing, and what its administrator looks after, in parts.
import type { ReactNode } from "react";
import { useEffect } from "react";
import { go } from "../app/route";
import type { ScreenProps } from "../app/screens";
import { useWords } from "../words";
import { Audit } from "./Audit";
import { Cell } from "./Cell";
import { Erasures } from "./Erasures";
import { Health } from "./Health";
import { Jobs } from "./Jobs";
import { Keys } from "./Keys";
import { Models } from "./Models";
import { Transfer } from "./Transfer";
import { Usage } from "./Usage";
import { Users } from "./Users";
import "./operations.css";

const TABS = ["health", "jobs", "models", "keys", "users", "erasures", "transfer", "usage", "audit"] as const;
type Tab = (typeof TABS)[number];
/** What each database of a deployment has of its own. */
const OF_A_CELL: readonly Tab[] = ["health", "jobs", "models", "usage"];

export function OperationsPage({ rest: [named], query }: ScreenProps) {
  const words = useWords();
  const tab = TABS.find((one) => one === named) ?? "health";
  const cell = query.get("cell");
  useEffect(() => {
    document.title = `${words.operations.tabs[tab]} · memsvc`;
  });
  const parts: Record<Tab, () => ReactNode> = {
    health: () => <Health cell={cell} />,
    jobs: () => <Jobs query={query} />,
    models: () => <Models cell={cell} />,
    keys: () => <Keys query={query} />,
    users: () => <Users />,
    erasures: () => <Erasures />,
    transfer: () => <Transfer />,
    usage: () => <Usage query={query} />,
    audit: () => <Audit query={query} />,
  };
  return (
    <div className="operations">
      <h1>{words.operations.title}</h1>
      <div className="tabs" role="group" aria-label={words.operations.parts}>
        {TABS.map((one) => (
          <button type="button" key={one} aria-pressed={tab === one} onClick={() => go(["operations", one], { cell })}>
            {words.operations.tabs[one]}
          </button>
        ))}
      </div>
      {OF_A_CELL.includes(tab) && <Cell tab={tab} cell={cell} />}
      {parts[tab]()}
    </div>
  );
}
