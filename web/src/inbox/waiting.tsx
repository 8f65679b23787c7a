// How much waits: beside the title in the navigation, and on the page. Decisions without a message of their own, such as
// rejections, are told here.
import type { Waiting } from "@memsvc/client";
import { useEffect } from "react";
import { type Asked, useAsked } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { useWords } from "../words";

const decided = new EventTarget();
export const NEWS = ["GRAPH_UPDATE", "SLEEP_FINISHED", "INGEST_UPDATE"] as const;
export const tellDecided = (): boolean => decided.dispatchEvent(new Event("decided"));

export function useWaiting(): Asked<Waiting> {
  const asked = useAsked((client) => client.countWaiting(), []);
  const { again } = asked;
  useLiveAgain(NEWS, again);
  useEffect(() => {
    decided.addEventListener("decided", again);
    return () => decided.removeEventListener("decided", again);
  }, [again]);
  return asked;
}

export function InboxMark() {
  const words = useWords();
  const total = useWaiting().data?.total ?? 0;
  if (!total) return null;
  return (
    <span className="count">
      <span aria-hidden="true">{total > 999 ? "999+" : total.toLocaleString(words.code)}</span>
      <span className="hidden">{words.inbox.waiting(total)}</span>
    </span>
  );
}
