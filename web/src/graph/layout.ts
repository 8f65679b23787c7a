// Where nodes are: in the beginning by their ids, then as the worker arranges them. Nodes keep their places when others
// come, and a new one begins beside a neighbour.
import defaults from "graphology-layout-forceatlas2/defaults.js";
import { useEffect, useRef, useState } from "react";
import address from "./layout.worker.ts?worker&url";
import type { Base } from "./view";

export interface Order {
  number: number;
  /** Ten numbers for each node, three for each edge, as graphology-layout-forceatlas2 wants them. */
  nodes: Float32Array;
  edges: Float32Array;
  settings: object;
  rounds: number;
}
export interface Step {
  number: number;
  /** x and y of each node. */
  places: Float32Array;
  done: boolean;
}
export type Place = { x: number; y: number };
const PER_NODE = 10;
const PER_EDGE = 3;
const FIRST_SPREAD = 100;
const BESIDE = 6;
/** How strongly a fact pulls its ends together. */
const PULL = 0.35;

/** A number from 0 to 1 that is always the same for a text. */
export function chanceOf(text: string): number {
  let hash = 2_166_136_261;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 4_294_967_296;
}

/** The page's policy lets scripts make no address of a script but this one. */
function trusted(url: string): string {
  const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => { createScriptURL: (url: string) => string } } }).trustedTypes;
  if (!types) return url;
  const only = (asked: string) => {
    if (asked !== address) throw new TypeError("This is no script of the page.");
    return asked;
  };
  policy ??= types.createPolicy("memsvc-worker", { createScriptURL: only });
  return policy.createScriptURL(url);
}
let policy: { createScriptURL: (url: string) => string } | undefined;

/** Gives each node without a place one: beside a neighbour, or by its id. Returns which nodes are new. */
function placeNew(base: Base, places: Map<string, Place>): Set<string> {
  const added = new Set(base.nodes.map((node) => node.node_id).filter((id) => !places.has(id)));
  const neighbours = new Map<string, string>();
  for (const { from_node: from, to_node: to } of base.edges) {
    if (added.has(from) && !added.has(to)) neighbours.set(from, to);
    if (added.has(to) && !added.has(from)) neighbours.set(to, from);
  }
  for (const id of added) {
    const angle = chanceOf(id) * 2 * Math.PI;
    const near = places.get(neighbours.get(id) ?? "");
    const radius = near ? BESIDE : FIRST_SPREAD * Math.sqrt(chanceOf(`${id} far`));
    places.set(id, { x: (near?.x ?? 0) + radius * Math.cos(angle), y: (near?.y ?? 0) + radius * Math.sin(angle) });
  }
  return added;
}

function orderOf(base: Base, places: Map<string, Place>, free: Set<string>, number: number): Order {
  const index = new Map(base.nodes.map((node, n) => [node.node_id, n]));
  const nodes = new Float32Array(base.nodes.length * PER_NODE);
  const whole = free.size === base.nodes.length;
  base.nodes.forEach(({ node_id: id }, n) => {
    const place = places.get(id);
    nodes.set([place?.x ?? 0, place?.y ?? 0, 0, 0, 0, 0, 1 + (base.degrees.get(id) ?? 0), 1, 1, whole || free.has(id) ? 0 : 1], n * PER_NODE);
  });
  const edges = new Float32Array(base.edges.length * PER_EDGE);
  base.edges.forEach((edge, n) => {
    const [from, to] = [index.get(edge.from_node) ?? 0, index.get(edge.to_node) ?? 0];
    edges.set([from * PER_NODE, to * PER_NODE, PULL], n * PER_EDGE);
  });
  const rounds = whole ? Math.round(Math.min(500, Math.max(80, 400_000 / (base.nodes.length + 1)))) : 60;
  const settings = {
    ...defaults, strongGravityMode: true, gravity: 0.3, scalingRatio: 12, slowDown: 1 + Math.log(base.nodes.length + 1),
    barnesHutOptimize: base.nodes.length > 1_000, barnesHutTheta: 0.8,
  };
  return { number, nodes, edges, settings, rounds };
}

export interface Layout {
  places: ReadonlyMap<string, Place>;
  /** Goes up whenever places have changed. */
  version: number;
  /** The worker is still arranging. */
  busy: boolean;
}

export function useLayout(base: Base): Layout {
  const places = useRef(new Map<string, Place>());
  const worker = useRef<Worker>(null);
  const last = useRef(0);
  const arranging = useRef(false); // all of it, for the first time
  const [state, setState] = useState({ version: 0, busy: false });
  useEffect(() => () => {
    worker.current?.terminate();
    worker.current = null;
  }, []);
  useEffect(() => {
    const added = placeNew(base, places.current);
    if (!added.size) return;
    arranging.current ||= added.size > base.nodes.length / 2;
    const number = ++last.current;
    const order = orderOf(base, places.current, arranging.current ? new Set(base.nodes.map((node) => node.node_id)) : added, number);
    worker.current ??= new Worker(trusted(address), { type: "module" });
    worker.current.onmessage = ({ data }: MessageEvent<Step>) => {
      if (data.number !== last.current) return;
      base.nodes.forEach((node, n) => {
        places.current.set(node.node_id, { x: data.places[2 * n] ?? 0, y: data.places[2 * n + 1] ?? 0 });
      });
      if (data.done) arranging.current = false;
      setState(({ version }) => ({ version: version + 1, busy: !data.done }));
    };
    worker.current.postMessage(order, [order.nodes.buffer, order.edges.buffer]);
    setState(({ version }) => ({ version: version + 1, busy: true }));
  }, [base]);
  return { places: places.current, ...state };
}
