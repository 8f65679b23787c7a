// What of the graph is drawn: filters first, then at most 5,000 nodes and 20,000 facts, then one moment of time.
import type { GraphEdge, GraphNode } from "@memsvc/client";
import { DERIVED } from "../ui/derived";
import { endOf, type GraphData, holdsAt } from "./data";

export const MOST_NODES = 5_000;
export const MOST_EDGES = 20_000;
export const UNTYPED = "—";
export const typeOf = (node: GraphNode): string => node.type ?? UNTYPED;

/** How something differs from an earlier moment. */
export type Mark = "new" | "ended" | "changed";
export interface Filters {
  without: ReadonlySet<string>;
  withoutFacts: ReadonlySet<string>;
  sleep: boolean;
  /** Shown whatever the filters and the limits say. */
  keep: ReadonlySet<string>;
}
export interface Base {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** How many there are before the limits. */
  allNodes: number;
  allEdges: number;
  /** Facts of each node among those that are left. */
  degrees: ReadonlyMap<string, number>;
}
export interface ShownNode {
  node: GraphNode;
  degree: number;
  mark: Mark | null;
}
export interface ShownEdge {
  edge: GraphEdge;
  mark: Mark | null;
  /** It is over at the moment that is shown. */
  over: boolean;
}
export interface Shown {
  nodes: readonly ShownNode[];
  edges: readonly ShownEdge[];
}

function degreesOf(edges: Iterable<GraphEdge>): Map<string, number> {
  const degrees = new Map<string, number>();
  for (const { from_node: from, to_node: to } of edges) {
    degrees.set(from, (degrees.get(from) ?? 0) + 1);
    if (to !== from) degrees.set(to, (degrees.get(to) ?? 0) + 1);
  }
  return degrees;
}

/** Filters, and keeps what is most important: by importance, and by how many facts there are. */
export function baseOf(data: GraphData, { without, withoutFacts, sleep, keep }: Filters): Base {
  const passes = (node: GraphNode) =>
    keep.has(node.node_id) || ((sleep || !DERIVED.has(node.type ?? "")) && !without.has(typeOf(node)));
  let nodes = [...data.nodes.values()].filter(passes);
  const left = new Set(nodes.map((node) => node.node_id));
  const between = (within: ReadonlySet<string>) => (edge: GraphEdge) =>
    within.has(edge.from_node) && within.has(edge.to_node);
  let edges = [...data.edges.values()].filter((edge) => !withoutFacts.has(edge.type) && left.has(edge.from_node) && left.has(edge.to_node));
  const [allNodes, allEdges] = [nodes.length, edges.length];
  let degrees = degreesOf(edges);
  if (allNodes > MOST_NODES) {
    const salience = (node: GraphNode) =>
      keep.has(node.node_id) ? Infinity : (node.importance ?? 0) + 2 * Math.log2(1 + (degrees.get(node.node_id) ?? 0));
    const ranked = nodes.map((node) => [salience(node), node] as const).sort(([a], [b]) => b - a);
    nodes = ranked.slice(0, MOST_NODES).map(([, node]) => node);
    edges = edges.filter(between(new Set(nodes.map((node) => node.node_id))));
  }
  if (edges.length > MOST_EDGES) {
    const weight = (edge: GraphEdge) =>
      keep.has(edge.from_node) || keep.has(edge.to_node) ? Infinity : edge.weight * edge.confidence;
    edges = edges.map((edge) => [weight(edge), edge] as const).sort(([a], [b]) => b - a).slice(0, MOST_EDGES).map(([, edge]) => edge);
  }
  if (edges.length < allEdges) degrees = degreesOf(edges);
  return { nodes, edges, allNodes, allEdges, degrees };
}

/** What holds at a moment (null: at any time). Nodes all of whose facts hold at other times are left out. */
export function shownOf(base: Base, moment: number | null, now: number, marks: ReadonlyMap<string, Mark> | null, keep: ReadonlySet<string>): Shown {
  const at = moment ?? now;
  const edges: ShownEdge[] = [];
  for (const edge of base.edges) {
    const mark = marks?.get(edge.edge_id) ?? null;
    if (moment === null || mark || holdsAt(edge, moment)) edges.push({ edge, mark, over: endOf(edge) <= at });
  }
  const degrees = moment === null && !marks ? base.degrees : degreesOf(edges.map(({ edge }) => edge));
  const nodes: ShownNode[] = [];
  for (const node of base.nodes) {
    const id = node.node_id;
    const degree = degrees.get(id) ?? 0;
    if (degree === 0 && (base.degrees.get(id) ?? 0) > 0 && !keep.has(id)) continue;
    nodes.push({ node, degree, mark: marks?.get(id) ?? null });
  }
  return { nodes, edges };
}

/** A text for one line: no line breaks, control characters or changes of the writing direction; cut if it is long. */
export function oneLine(text: string, most = 40): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\s]+/gu, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}
export const nameOf = (node: GraphNode, most?: number): string => oneLine(node.label ?? "", most) || `… ${node.node_id.slice(-6)}`;
export const relationOf = (type: string): string => oneLine(type.replaceAll("_", " ")).toLowerCase();
