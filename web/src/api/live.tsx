// What happens to the memory while the page is open: one socket for all screens, which comes back by itself and misses
// nothing, because it goes on from the last message that it saw.
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from "react";
import { hasEnded, useMemory } from "./memory";

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
/** The service says PING after 20 quiet seconds; a socket that says nothing for longer is dead, though it looks open. */
const SILENT_MS = 50_000;
const SETTLE_MS = 400;
/** While things change all the time, they are read anew at least this often. */
const UNSETTLED_MS = 2_000;
const CURSOR_ERRORS = new Set([4400, 4410]);
const LiveContext = createContext<Live>({ connected: false, listen: () => () => undefined });
export const useConnected = (): boolean => use(LiveContext).connected;

export function LiveProvider({ children }: { children: ReactNode }) {
  const { client, ended } = useMemory();
  const [connected, setConnected] = useState(false);
  const listeners = useRef(new Set<Listener>());
  useEffect(() => {
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let silence: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    let wait = FIRST_WAIT_MS;
    let cursor = "now";
    const tell = (message: LiveMessage) => listeners.current.forEach((listener) => listener(message));
    const leave = () => {
      clearTimeout(timer);
      clearTimeout(silence);
      if (!socket) return;
      socket.onmessage = socket.onclose = null; // it may take long to close, and must not be heard again
      socket.close();
      socket = undefined;
    };
    const later = () => {
      leave();
      setConnected(false);
      if (over) return;
      timer = setTimeout(() => void open(), wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(later, SILENT_MS);
    };
    const open = async () => {
      timer = undefined;
      try {
        const { ticket } = await client.makeTicket();
        if (over) return;
        const address = `${location.origin.replace(/^http/, "ws")}/ws?${new URLSearchParams({ ticket, cursor }).toString()}`;
        socket = new WebSocket(address);
      } catch (error) {
        if (over) return;
        if (hasEnded(error)) ended();
        else later();
        return;
      }
      heard();
      socket.onmessage = ({ data }) => {
        heard();
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
    const now = () => {
      if (timer === undefined) return; // it is open, or about to be
      clearTimeout(timer);
      wait = FIRST_WAIT_MS;
      void open();
    };
    window.addEventListener("online", now);
    void open();
    return () => {
      over = true;
      window.removeEventListener("online", now);
      leave();
    };
  }, [client, ended]);
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
  const latest = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive(({ type }) => {
    if (type !== "MISSED" && !types.includes(type)) return;
    const now = performance.now();
    if (timer.current === undefined) latest.current = now + UNSETTLED_MS;
    clearTimeout(timer.current);
    const read = () => {
      timer.current = undefined;
      again();
    };
    timer.current = setTimeout(read, Math.min(SETTLE_MS, Math.max(0, latest.current - now)));
  });
}
