// What waits for a decision, of ten kinds, in one form: how each is read from the API, and what it says in a line.
import type { Contradiction, Critique, EdgeType, Memsvc, NodeType, Pair, Proposed, Review, Waiting } from "@memsvc/client";
import type { Words } from "../words";

/** In the order in which they are shown: what is wrong first, then what is many. */
export const KINDS = [
  "contradictions", "outdated", "duplicates", "splits", "aliases", "links", "lessons", "types", "core", "reviews",
] as const;
export type Kind = (typeof KINDS)[number];
type Known<K extends Kind, T> = { kind: K; key: string; one: T };
export type Item =
  | Known<"contradictions", Contradiction>
  | Known<"duplicates", Pair>
  | Known<"splits" | "aliases" | "links" | "core" | "outdated", Proposed>
  | Known<"lessons", Critique>
  | Known<"types", NodeType | EdgeType>
  | Known<"reviews", Review>;
export type Counts = Pick<Waiting, Kind>;

const PROPOSED = { splits: "split", aliases: "alias", links: "link", core: "core", outdated: "outdated" } as const;
const MOST = 1_000;
export const isKind = (text: string | null): text is Kind => KINDS.some((one) => one === text);
export const isEdgeType = (one: NodeType | EdgeType): one is EdgeType => "functional" in one;

/** What waits of one kind, the first of them. */
export async function readKind(client: Memsvc, kind: Kind, most: number): Promise<Item[]> {
  const limit = Math.min(most, MOST);
  switch (kind) {
    case "contradictions": {
      const { items } = await client.listContradictions({ query: { limit } });
      return items.map((one) => ({ kind, key: `${kind} ${one.facts.map((fact) => fact.version_id).join(" ")}`, one }));
    }
    case "duplicates": {
      const { items } = await client.listDuplicates({ query: { limit } });
      return items.map((one) => ({ kind, key: `${kind} ${one.a.node_id} ${one.b.node_id}`, one }));
    }
    case "lessons": {
      const { items } = await client.listLessons({ query: { state: "proposed", limit } });
      return items.map((one) => ({ kind, key: `${kind} ${one.critique_id}`, one }));
    }
    case "types": {
      const { node_types, edge_types } = await client.getOntology({ query: { status: "proposed" } });
      return [...node_types, ...edge_types].map((one) => ({ kind, key: `${kind} ${one.name}`, one }));
    }
    case "reviews": {
      const { items } = await client.listReviews({ query: { limit } });
      return items.map((one) => ({ kind, key: `${kind} ${one.review_id}`, one }));
    }
    default: {
      const { items } = await client.listProposals({ query: { kind: PROPOSED[kind], limit } });
      return items.map((one) => ({ kind, key: `${kind} ${one.proposal_id}`, one }));
    }
  }
}

/** What an item says, in a line. */
export function headline(item: Item, words: Words): string {
  const name = (given: string | null | undefined) => given || words.inbox.unnamed;
  switch (item.kind) {
    case "contradictions": return item.one.facts.map((fact) => fact.fact).join(" / ");
    case "duplicates": return words.inbox.duplicateIs(name(item.one.a.names[0]), name(item.one.b.names[0]));
    case "splits": return words.inbox.splitIs(name(item.one.label));
    case "aliases": return words.inbox.aliasIs(name(item.one.text), name(item.one.label));
    case "links": return words.inbox.linkIs(name(item.one.label), name(item.one.other_label));
    case "core": return name(item.one.text);
    case "outdated": return words.inbox.outdatedIs(name(item.one.text));
    case "lessons": return item.one.lesson;
    case "types": return words.inbox.typeIs(item.one.name, isEdgeType(item.one));
    case "reviews": return item.one.proposal.sentence;
  }
}

/** How sure the finder was, 0 to 1; null: it did not say. */
export function sureness(item: Item): number | null {
  if (item.kind === "reviews") return item.one.proposal.confidence ?? 1;
  return "score" in item.one ? item.one.score : null;
}

export const mayEdit = (item: Item): boolean => ["reviews", "lessons", "types"].includes(item.kind);
/** Contradictions need a choice, so each is decided by itself. */
export const mayBulk = (kind: Kind): boolean => kind !== "contradictions";
