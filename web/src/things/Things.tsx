// People and things: all of them, or the one that the address names.
import type { ScreenProps } from "../app/screens";
import { ThingPage } from "./ThingPage";
import { ThingsPage } from "./ThingsPage";

export function Things({ rest: [id], query }: ScreenProps) {
  return id ? <ThingPage key={id} nodeId={id} query={query} /> : <ThingsPage query={query} />;
}
