// Links of a note: those in the graph, and those that its text names in [[ ]].
import type { Memsvc, ShownFact } from "@memsvc/client";
import type { Target, Targets } from "./Markdown";
import { namesIn, same } from "./inline";
import { relationOf } from "./kinds";

const MOST = 200;
const NEAR = 20;

/** The links and facts of a note that hold, in both directions. */
export async function linksOf(client: Memsvc, noteId: string): Promise<ShownFact[]> {
  const { items } = await client.listFacts({ query: { about: [noteId], side: "both", limit: MOST } });
  return items.filter((fact) => fact.valid_to === null);
}

export function targetsOf(noteId: string, links: readonly ShownFact[]): Targets {
  const found = new Map<string, Target>();
  for (const link of links)
    if (link.from_node === noteId && link.to_label) found.set(same(link.to_label), { id: link.to_node, type: link.to_type });
  return found;
}

/** The one thing of this name; null: there is none, or there are several. */
async function called(client: Memsvc, name: string): Promise<Target | null> {
  const { items } = await client.searchNodes({ query: { q: name, limit: NEAR } });
  const labelled = items.filter((node) => node.label && same(node.label) === same(name));
  const exact = labelled.length ? labelled : items.filter((node) => node.match === "exact");
  const [only] = exact;
  return only && exact.length === 1 ? { id: only.node_id, type: only.type } : null;
}

export interface Linked {
  /** Names that lead nowhere, or to several things. */
  unclear: string[];
  /** Takes back what was linked and unlinked. */
  undo: (client: Memsvc) => Promise<void>;
}

/** Links a note to what its text names, and unlinks what the text before named and this one does not. */
export async function linkNames(client: Memsvc, noteId: string, text: string, before: string, picked: Targets): Promise<Linked> {
  const links = await linksOf(client, noteId);
  const linked = targetsOf(noteId, links);
  const names = namesIn(text);
  const unclear: string[] = [];
  const made: string[] = [];
  for (const name of names) {
    if (linked.has(same(name))) continue;
    const target = picked.get(same(name)) ?? (await called(client, name));
    if (!target) unclear.push(name);
    else if (target.id !== noteId && !links.some((link) => link.from_node === noteId && link.to_node === target.id)) {
      const link = await client.createLink({ body: { from_node: noteId, to_node: target.id, relation: "relates_to" } });
      made.push(link.link_id);
    }
  }
  const kept = new Set(names.map(same));
  const dropped = new Set(namesIn(before).map(same).filter((name) => !kept.has(name)));
  const ended = links.filter(
    (link) => link.from_node === noteId && relationOf(link.type) === "relates_to" && dropped.has(same(link.to_label ?? "")),
  );
  for (const link of ended) await client.closeLink({ body: { link_id: link.edge_id } });
  return {
    unclear,
    undo: async (again) => {
      for (const link of made) await again.closeLink({ body: { link_id: link } });
      for (const link of ended)
        await again.createLink({ body: { from_node: noteId, to_node: link.to_node, relation: "relates_to" } });
    },
  };
}
