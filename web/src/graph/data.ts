// The graph as the page has it: all facts at any time, as known at one moment, and what an update does to them.
import type { GraphEdge, GraphNode } from "@memsvc/client";

export interface GraphData {
  /** By node_id. */
  nodes: ReadonlyMap<string, GraphNode>;
  /** By version_id: a fact may have several versions, one for each span of time. */
  edges: ReadonlyMap<string, GraphEdge>;
}
export interface Part {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}
/** GRAPH_UPDATE of docs/live.md. */
export interface Update extends Part {
  gone_nodes: readonly string[];
  gone_edges: readonly string[];
  complete: boolean;
}
export const NOTHING: GraphData = { nodes: new Map(), edges: new Map() };

export const startOf = (edge: GraphEdge): number => (edge.valid_from === null ? -Infinity : Date.parse(edge.valid_from));
export const endOf = (edge: GraphEdge): number => (edge.valid_to === null ? Infinity : Date.parse(edge.valid_to));
export const holdsAt = (edge: GraphEdge, moment: number): boolean => startOf(edge) <= moment && moment < endOf(edge);

/** Adds what is not there yet. */
export function withMore({ nodes, edges }: GraphData, more: Part): GraphData {
  const missing = more.nodes.filter((node) => !nodes.has(node.node_id));
  const facts = more.edges.filter((edge) => !edges.has(edge.version_id));
  if (!missing.length && !facts.length) return { nodes, edges };
  return {
    nodes: new Map([...nodes, ...missing.map((node) => [node.node_id, node] as const)]),
    edges: new Map([...edges, ...facts.map((edge) => [edge.version_id, edge] as const)]),
  };
}

/** Applies an update. Updates tell what holds now, so versions that were over before stay as they are. */
export function updated(data: GraphData, update: Update, now: number): GraphData {
  const nodes = new Map(data.nodes);
  const edges = new Map(data.edges);
  for (const node of update.nodes) nodes.set(node.node_id, node);
  for (const id of update.gone_nodes) nodes.delete(id);
  const touched = new Set([...update.gone_edges, ...update.edges.map((edge) => edge.edge_id)]);
  if (touched.size)
    for (const [id, edge] of data.edges) if (touched.has(edge.edge_id) && endOf(edge) > now) edges.delete(id);
  for (const edge of update.edges) edges.set(edge.version_id, edge);
  for (const [id, edge] of edges) if (!nodes.has(edge.from_node) || !nodes.has(edge.to_node)) edges.delete(id);
  return { nodes, edges };
}

/** Whether the page must read the graph again to know all that an update means. */
export const saysTooLittle = (update: Update): boolean =>
  !update.complete || update.gone_edges.length > 0 || update.gone_nodes.length > 0;

/** When something was recorded: ids of version 7 begin with the milliseconds since 1970. */
function recordedAt(id: string): number {
  return id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : Number.NaN;
}

export interface Bounds {
  from: number;
  to: number;
}

/** From the first to the last time that facts tell, and at least until now. */
export function boundsOfTruth(data: GraphData, now: number): Bounds {
  let [from, to] = [now, now];
  for (const edge of data.edges.values())
    for (const at of [startOf(edge), endOf(edge)])
      if (Number.isFinite(at)) [from, to] = [Math.min(from, at), Math.max(to, at)];
  return { from, to };
}

/** From the first time that anything was recorded until now. */
export function boundsOfKnowledge(data: GraphData, now: number): Bounds {
  let from = now;
  for (const id of [...data.nodes.keys(), ...data.edges.keys()]) {
    const at = recordedAt(id);
    if (at < from) from = at;
  }
  return { from, to: now };
}
