// What the graph's address says: what is selected, which times, what is filtered, what is compared.
export interface Asked {
  /** The selected node, and the end of a path from it. */
  node: string;
  to: string;
  /** Days; empty: at any time, and as known now. */
  as_of: string;
  known_at: string;
  /** Types of nodes and of facts that are hidden, separated by commas. */
  without: string;
  facts: string;
  /** "yes": with what sleep wrote. */
  sleep: string;
  /** What is compared with an earlier moment: "" (nothing), "valid" or "known", and since which day. */
  axis: string;
  since: string;
  view: string;
}
const NAMES = ["node", "to", "as_of", "known_at", "without", "facts", "sleep", "axis", "since", "view"] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readAsked(query: URLSearchParams): Asked {
  const found = Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""])) as unknown as Asked;
  for (const name of ["as_of", "known_at", "since"] as const)
    if (!DAY.test(found[name]) || Number.isNaN(Date.parse(found[name]))) found[name] = "";
  if (found.axis !== "valid" && found.axis !== "known") found.axis = "";
  return found;
}

export const asQuery = (asked: Asked): Record<string, string> => ({ ...asked });
export const listed = (text: string): string[] => text.split(",").filter(Boolean);

export function toggled(text: string, one: string): string {
  const all = listed(text);
  return (all.includes(one) ? all.filter((each) => each !== one) : [...all, one]).join(",");
}
