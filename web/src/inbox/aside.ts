// What was put aside: until the tab is closed, and for this user only. Only ids are kept.
import { useCallback, useState } from "react";
import { useMemory } from "../api/memory";

export interface Aside {
  has: (key: string) => boolean;
  put: (key: string) => void;
  take: (keys: readonly string[]) => void;
}

export function useAside(): Aside {
  const { me } = useMemory();
  const name = `memsvc.aside.${me.user.user_id}`;
  const [keys, setKeys] = useState<ReadonlySet<string>>(() => new Set(JSON.parse(sessionStorage.getItem(name) ?? "[]") as string[]));
  const keep = useCallback(
    (change: (keys: Set<string>) => void) =>
      setKeys((before) => {
        const after = new Set(before);
        change(after);
        sessionStorage.setItem(name, JSON.stringify([...after]));
        return after;
      }),
    [name],
  );
  return {
    has: (key) => keys.has(key),
    put: (key) => keep((after) => after.add(key)),
    take: (some) => keep((after) => some.forEach((key) => after.delete(key))),
  };
}
