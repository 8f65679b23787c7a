// What differs between two moments, as marks on the picture.
import type { Difference, GraphEdge, GraphNode } from "@memsvc/client";
import type { GraphData, Part } from "./data";
import { DERIVED } from "../ui/derived";
import type { Mark } from "./view";

const MARKS: Record<Difference["change"], Mark> = {
  added: "new", began: "new", ended: "ended", retracted: "ended", passed: "ended", corrected: "changed", changed: "changed",
};
export interface Compared {
  /** By node_id and edge_id. */
  marks: ReadonlyMap<string, Mark>;
  /** What is no longer in the graph, so that it can be drawn nevertheless. */
  gone: Part;
  items: readonly Difference[];
}

export const latest = (item: Difference) => item.after[0] ?? item.between[0] ?? item.before[0];
export const sentenceOf = (item: Difference): string =>
  String(item.edge ? (latest(item)?.content["fact"] ?? item.edge.type) : (item.label ?? latest(item)?.content["label"] ?? ""));

export function comparedOf(found: readonly Difference[], data: GraphData, sleep: boolean): Compared {
  const ofSleep = (item: Difference) => {
    const types = item.edge
      ? [item.edge.from_node, item.edge.to_node].map((id) => data.nodes.get(id)?.type)
      : [latest(item)?.content["type"]];
    return types.some((type) => typeof type === "string" && DERIVED.has(type));
  };
  const items = sleep ? found : found.filter((item) => !ofSleep(item));
  const there = new Set([...data.edges.values()].map((edge) => edge.edge_id));
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const bare = (id: string, label: string | null, type: unknown): GraphNode => ({
    node_id: id, type: typeof type === "string" ? type : null, label, description: "", data: {}, importance: null, hop: 0,
  });
  for (const item of items) {
    const said = latest(item);
    if (!item.edge) {
      if (!data.nodes.has(item.subject)) nodes.push(bare(item.subject, item.label ?? String(said?.content["label"] ?? ""), said?.content["type"]));
    } else if (!there.has(item.subject) && said) {
      const { from_node, from_label, to_node, to_label, type } = item.edge;
      if (!data.nodes.has(from_node)) nodes.push(bare(from_node, from_label, null));
      if (!data.nodes.has(to_node)) nodes.push(bare(to_node, to_label, null));
      edges.push({
        version_id: said.id, edge_id: item.subject, from_node, to_node, type, fact: sentenceOf(item), weight: 1, confidence: 1,
        valid_from: said.valid_from, valid_to: said.valid_to,
      });
    }
  }
  return { marks: new Map(items.map((item) => [item.subject, MARKS[item.change]])), gone: { nodes, edges }, items };
}
