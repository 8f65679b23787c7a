// What every screen works with: the client of the signed-in user, reading with it, and changing with it.
import { type Me, type Memsvc, MemsvcError } from "@memsvc/client";
import { createContext, type DependencyList, use, useCallback, useEffect, useRef, useState } from "react";
import { useWords, type Words } from "../words";
import { useNotices } from "../ui/notices";

export interface Memory {
  client: Memsvc;
  me: Me;
  /** The user's time zone. */
  zone: string;
  /** Whether the key has a scope; "admin": whether it manages the users and keys of its app. */
  may: (scope: string) => boolean;
  /** Ends the session because the service no longer accepts it. */
  ended: () => void;
}
export const MemoryContext = createContext<Memory | null>(null);

export function useMemory(): Memory {
  const found = use(MemoryContext);
  if (!found) throw new Error("Nobody is signed in.");
  return found;
}

export interface Asked<T> {
  data: T | undefined;
  error: string;
  loading: boolean;
  again: () => void;
}

export function told(error: unknown, words: Words): string {
  if (!(error instanceof MemsvcError)) return `${words.common.error} ${String(error)}`;
  if (error.code === "unreachable") return words.common.unreachable;
  const message = error.message.slice(error.message.indexOf(": ") + 2);
  return [message, error.hint].filter(Boolean).join(" ");
}

/** The longest name that is looked for. */
export const MOST_NAME_CHARS = 200;
/** What could not be read because nobody answered is asked again by itself. */
const RETRY_MS = 3_000;
const isUnreachable = (error: unknown) => error instanceof MemsvcError && error.code === "unreachable";
export const hasEnded = (error: unknown) => error instanceof MemsvcError && error.code === "unauthenticated";

/** Reads something when the values it depends on change. Undefined instead of a function: nothing to read. */
export function useAsked<T>(ask: ((client: Memsvc) => Promise<T>) | undefined, on: DependencyList): Asked<T> {
  const { client, ended } = useMemory();
  const words = useWords();
  const [times, setTimes] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, "again">>({ data: undefined, error: "", loading: Boolean(ask) });
  const trying = useRef(false);
  useEffect(() => {
    let current = true;
    let retry: ReturnType<typeof setTimeout> | undefined;
    if (!ask) {
      setState({ data: undefined, error: "", loading: false });
      return;
    }
    const again = trying.current;
    trying.current = false;
    setState((before) => ({ ...before, error: again ? before.error : "", loading: true }));
    ask(client).then(
      (data) => current && setState({ data, error: "", loading: false }),
      (error: unknown) => {
        if (!current) return;
        if (hasEnded(error)) {
          ended();
          return;
        }
        setState({ data: undefined, error: told(error, words), loading: false });
        if (!isUnreachable(error)) return;
        retry = setTimeout(() => {
          trying.current = true;
          setTimes((before) => before + 1);
        }, RETRY_MS);
      },
    );
    return () => {
      current = false;
      clearTimeout(retry);
    };
    // What is asked depends on these values alone; the functions are made anew with each drawing.
  }, [client, times, ...on]);
  return { ...state, again: useCallback(() => setTimes((before) => before + 1), []) };
}

/** A list that comes in pages; `more` reads the next one, and is undefined at the end. */
export interface Paged<T> extends Asked<{ items: T[] }> {
  items: readonly T[];
  more: (() => void) | undefined;
}

/** Reads a list page by page, from the beginning when the values it depends on change. */
export function usePages<T>(
  ask: (client: Memsvc, cursor: string | null) => Promise<{ items: T[]; next_cursor: string | null }>,
  on: DependencyList,
): Paged<T> {
  const act = useAct();
  const first = useAsked((client) => ask(client, null), on);
  const [rest, setRest] = useState<{ items: T[]; cursor: string | null } | null>(null);
  useEffect(() => setRest(null), [first.data]);
  const cursor = rest ? rest.cursor : (first.data?.next_cursor ?? null);
  const items = [...(first.data?.items ?? []), ...(rest?.items ?? [])];
  const next = (page: { items: T[]; next_cursor: string | null }) =>
    setRest({ items: [...(rest?.items ?? []), ...page.items], cursor: page.next_cursor });
  return { ...first, items, more: cursor ? () => void act((client) => ask(client, cursor), next) : undefined };
}

/** Changes something and says so. True: it worked. */
export function useAct(): <T>(act: (client: Memsvc) => Promise<T>, done?: (result: T) => void) => Promise<boolean> {
  const { client, ended } = useMemory();
  const words = useWords();
  const { say } = useNotices();
  return async (act, done) => {
    try {
      const result = await act(client);
      done?.(result);
      return true;
    } catch (error) {
      if (hasEnded(error)) ended();
      else say(told(error, words), { bad: true });
      return false;
    }
  };
}
