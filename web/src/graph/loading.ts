// Reads the graph page by page and keeps it up to date by the socket.
import type { GraphEdge, GraphNode } from "@memsvc/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { type LiveMessage, useConnected, useLive } from "../api/live";
import { told, useMemory } from "../api/memory";
import { useWords } from "../words";
import { type GraphData, NOTHING, type Part, saysTooLittle, type Update, updated, withMore } from "./data";

const PAGE = 2_000;
/** More facts than this are not read, so that the page stays quick. */
export const MOST_READ = 100_000;
const SETTLE_MS = 800;
const WAIT_FOR_SOCKET_MS = 1_500;

export interface Loaded {
  data: GraphData;
  /** The service's time, because the clock of this machine may be wrong. */
  now: number;
  /** False: the graph has more facts than are read. */
  whole: boolean;
}
export interface Loading extends Loaded {
  error: string;
  busy: boolean;
  /** Whether the graph was read at least once. */
  ready: boolean;
  /** How many facts were read so far, while it is busy. */
  read: number;
  /** How often the graph was read. */
  loads: number;
  again: () => void;
  add: (more: Part) => void;
}

/** The time of the service, by the header of an answer. */
async function serviceTime(): Promise<number> {
  try {
    const told = Date.parse((await fetch("/", { cache: "no-store" })).headers.get("Date") ?? "");
    return Number.isNaN(told) ? Date.now() : told;
  } catch {
    return Date.now();
  }
}

/** True once the socket is open, or does not open soon: what happens while the graph is read must not be missed. */
function useListening(): boolean {
  const connected = useConnected();
  const [listening, setListening] = useState(connected);
  useEffect(() => {
    if (connected) setListening(true);
    const late = setTimeout(() => setListening(true), WAIT_FOR_SOCKET_MS);
    return () => clearTimeout(late);
  }, [connected]);
  return listening;
}

/** The graph as known at a moment; null: now, and as it changes. */
export function useGraph(knownAt: string | null): Loading {
  const { client, ended } = useMemory();
  const words = useWords();
  const listening = useListening();
  const [times, setTimes] = useState(0);
  const [loaded, setLoaded] = useState<Loaded>({ data: NOTHING, now: Date.now(), whole: true });
  const [state, setState] = useState({ error: "", busy: true, ready: false, read: 0, loads: 0 });
  const waiting = useRef<Update[] | null>(null);
  const added = useRef<Part[]>([]); // while the graph is read
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (!listening) return;
    let current = true;
    waiting.current = [];
    added.current = [];
    setState((before) => ({ ...before, error: "", busy: true, read: 0 }));
    const read = async () => {
      const clock = serviceTime();
      const nodes = new Map<string, GraphNode>();
      const edges = new Map<string, GraphEdge>();
      let cursor: string | null = null;
      do {
        const page: Part & { next_cursor: string | null } = await client.pageGraph({
          query: { limit: PAGE, as_of: "always", ...(knownAt && { known_at: knownAt }), cursor },
        });
        if (!current) return;
        for (const node of page.nodes) nodes.set(node.node_id, node);
        for (const edge of page.edges) edges.set(edge.version_id, edge);
        cursor = page.next_cursor;
        if (cursor) setState((before) => ({ ...before, read: edges.size }));
      } while (cursor && edges.size < MOST_READ);
      const now = await clock;
      if (!current) return;
      const missed = knownAt ? [] : (waiting.current ?? []);
      waiting.current = null;
      const whole = added.current.reduce<GraphData>(withMore, { nodes, edges });
      const data = missed.reduce((before, update) => updated(before, update, now), whole);
      setLoaded({ data, now, whole: !cursor });
      setState(({ loads }) => ({ error: "", busy: false, ready: true, read: 0, loads: loads + 1 }));
    };
    read().catch((error: unknown) => {
      if (!current) return;
      waiting.current = null;
      if (error instanceof Error && "code" in error && error.code === "unauthenticated") ended();
      else setState((before) => ({ ...before, error: told(error, words), busy: false }));
    });
    return () => {
      current = false;
    };
    // The words are only for errors.
  }, [client, knownAt, times, listening]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  const soon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(again, SETTLE_MS);
  };
  useLive((message: LiveMessage) => {
    if (knownAt) return;
    if (message.type === "MISSED") again();
    if (message.type !== "GRAPH_UPDATE") return;
    const update = message as unknown as Update;
    if (waiting.current) waiting.current.push(update);
    else setLoaded((before) => ({ ...before, data: updated(before.data, update, before.now) }));
    if (saysTooLittle(update)) soon();
  });
  const add = useCallback((more: Part) => {
    added.current.push(more);
    setLoaded((before) => ({ ...before, data: withMore(before.data, more) }));
  }, []);
  return { ...loaded, ...state, again, add };
}
