// What came in since the user last marked it as seen. The moment is the service's, so a wrong clock here does no harm.
import type { TimelineNews } from "@memsvc/client";
import { useCallback, useState } from "react";
import { type Asked, useAsked, useMemory } from "../api/memory";
import { useLiveAgain } from "../api/live";

/** first: nothing was ever marked as seen on this device. */
export interface News extends Asked<TimelineNews & { first: boolean }> {
  /** Marks all as seen, and returns what takes it back. */
  mark: () => () => void;
}
const MINUTE = 60_000;

export function useNews(): News {
  const { me } = useMemory();
  const kept = `memsvc.seen.${me.user.user_id}`;
  const [since, setSince] = useState(() => localStorage.getItem(kept) ?? "");
  const asked = useAsked(
    async (client) => {
      const from = since || localStorage.getItem(kept);
      const found = await client.readNews({ query: { since: from ?? new Date(Date.now() - MINUTE).toISOString() } });
      if (from) return { ...found, first: false };
      localStorage.setItem(kept, found.until);
      return { ...found, since: found.until, counts: {}, conversations: [], first: true };
    },
    [since],
  );
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], asked.again);
  const until = asked.data?.until;
  const mark = useCallback(() => {
    const before = since || localStorage.getItem(kept) || "";
    const keep = (moment: string) => {
      localStorage.setItem(kept, moment);
      setSince(moment);
    };
    if (until) keep(until);
    return () => keep(before || (until ?? ""));
  }, [kept, since, until]);
  return { ...asked, mark };
}
