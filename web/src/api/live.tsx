// What happens to the memory while the page is open: one socket for all screens, which comes back by itself and misses
// nothing, because it goes on from the last message that it saw.
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from "react";
import { useMemory } from "./memory";

/** A message of /ws (docs/live.md). MISSED is the page's own: something may have been left out, so read anew. */
export interface LiveMessage {
  type:
    | "READY" | "GRAPH_UPDATE" | "NODE_FOCUS" | "PROFILE_UPDATE" | "SOURCE_UPDATE" | "INGEST_UPDATE"
    | "SLEEP_FINISHED" | "PING" | "ERROR" | "MISSED";
  cursor?: string;
  [field: string]: unknown;
}
type Listener = (message: LiveMessage) => void;
interface Live {
  /** Whether the socket is open. */
  connected: boolean;
  /** Returns what ends listening. */
  listen: (listener: Listener) => () => void;
}
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const SETTLE_MS = 400;
const CURSOR_ERRORS = new Set([4400, 4410]);
const LiveContext = createContext<Live>({ connected: false, listen: () => () => undefined });
export const useConnected = (): boolean => use(LiveContext).connected;

export function LiveProvider({ children }: { children: ReactNode }) {
  const { client } = useMemory();
  const [connected, setConnected] = useState(false);
  const listeners = useRef(new Set<Listener>());
  useEffect(() => {
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    let wait = FIRST_WAIT_MS;
    let cursor = "now";
    const tell = (message: LiveMessage) => listeners.current.forEach((listener) => listener(message));
    const later = () => {
      setConnected(false);
      if (over) return;
      timer = setTimeout(() => void open(), wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    };
    const open = async () => {
      try {
        const { ticket } = await client.makeTicket();
        if (over) return;
        const address = `${location.origin.replace(/^http/, "ws")}/ws?${new URLSearchParams({ ticket, cursor }).toString()}`;
        socket = new WebSocket(address);
      } catch {
        later();
        return;
      }
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data)) as LiveMessage;
        if (message.type === "READY") {
          wait = FIRST_WAIT_MS;
          setConnected(true);
        }
        cursor = message.cursor ?? cursor;
        if (message.type !== "PING") tell(message);
      };
      socket.onclose = ({ code }) => {
        if (CURSOR_ERRORS.has(code)) {
          cursor = "now";
          tell({ type: "MISSED" });
        }
        later();
      };
    };
    void open();
    return () => {
      over = true;
      clearTimeout(timer);
      socket?.close();
    };
  }, [client]);
  const live = useMemo<Live>(
    () => ({
      connected,
      listen: (listener) => {
        listeners.current.add(listener);
        return () => void listeners.current.delete(listener);
      },
    }),
    [connected],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Calls a function for each message. */
export function useLive(listener: Listener): void {
  const { listen } = use(LiveContext);
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => listen((message) => latest.current(message)), [listen]);
}

/** Reads something anew, once things have settled, after messages of these types. */
export function useLiveAgain(types: readonly LiveMessage["type"][], again: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive(({ type }) => {
    if (type !== "MISSED" && !types.includes(type)) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(again, SETTLE_MS);
  });
}
