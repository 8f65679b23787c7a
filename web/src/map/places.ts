// All places that a user's people and things have or had, and the facts that lead there. The day is chosen on this side,
// so moving it asks nothing.
import { isTie } from "../ui/derived";
import type { Near, ShownFact } from "@memsvc/client";
import { type Asked, useAsked } from "../api/memory";

const MOST_PLACES = 1_000;
const AT_ONCE = 50;
const MOST_FACTS = 1_000;
const FACTS_OF = 300;

export interface Place extends Near {
  facts: ShownFact[];
}
export interface Places {
  items: Place[];
  truncated: boolean;
}

export function usePlaces(): Asked<Places> {
  return useAsked(async (client) => {
    // The nearest to a point, however far away: all of them.
    const near = await client.nearby({ query: { lat: 0, lon: 0, k: MOST_PLACES, as_of: "always" } });
    const nodes = [...new Set(near.items.map((one) => one.node_id))].slice(0, FACTS_OF);
    const facts = new Map<string, Map<string, ShownFact>>();
    for (let n = 0; n < nodes.length; n += AT_ONCE) {
      const about = nodes.slice(n, n + AT_ONCE);
      const page = await client.listFacts({ query: { about, as_of: "always", limit: MOST_FACTS } });
      for (const fact of page.items)
        for (const node of [fact.from_node, fact.to_node])
          if (about.includes(node) && !isTie(fact, node)) facts.set(node, (facts.get(node) ?? new Map()).set(fact.version_id, fact));
    }
    const items = near.items.map((one) => ({ ...one, facts: [...(facts.get(one.node_id)?.values() ?? [])] }));
    return { items, truncated: near.truncated };
  }, []);
}

interface Spanned {
  valid_from: string | null;
  valid_to: string | null;
}

/** Whether something holds on a day of the user's calendar; no day: at some time. */
export function holdsOn(day: string, { valid_from: from, valid_to: to }: Spanned, dayOf: (moment: Date) => string): boolean {
  if (!day) return true;
  return (!from || dayOf(new Date(from)) <= day) && (!to || dayOf(new Date(Date.parse(to) - 1)) >= day);
}

/** People whom facts lead to the place. */
export function peopleOf(place: Place, facts: readonly ShownFact[]): string[] {
  const names = facts.map((one) =>
    one.to_node === place.node_id && one.from_type === "Person" ? one.from_label
    : one.from_node === place.node_id && one.to_type === "Person" ? one.to_label : null);
  return [...new Set(names.filter((one): one is string => Boolean(one)))];
}

/** The first and the last moment that anything tells, in milliseconds. */
export function timesOf(items: readonly Place[]): number[] {
  return items
    .flatMap((one) => [one, ...one.facts])
    .flatMap((one) => [one.valid_from, one.valid_to])
    .filter((one) => one !== null)
    .map(Date.parse);
}
