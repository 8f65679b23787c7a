// The items that wait, the present one, and the decisions of this page with what takes them back.
import type { Memsvc } from "@memsvc/client";
import { useMemo, useRef, useState } from "react";
import { type Asked, useAct, useAsked } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { type Aside, useAside } from "./aside";
import { decide, type Edited, type Outcome, type Verdict } from "./decide";
import { type Item, type Kind, KINDS, readKind } from "./kinds";
import { NEWS, tellDecided } from "./waiting";

const PAGE = 50;
/** Of each kind, when all are shown. */
const FEW = 8;
interface Undo {
  keys: string[];
  back: NonNullable<Outcome["undo"]>[];
}
export interface Inbox extends Asked<Item[]> {
  /** What waits and was not put aside. */
  items: Item[];
  more: (() => void) | undefined;
  aside: Aside;
  /** How many of those that were read are put aside. */
  hidden: readonly string[];
  /** Decides one and says so; `left` is called when it leaves the list. False: it failed, and the item stays. */
  settle: (item: Item, verdict: Verdict, edited: Edited, left: () => void) => Promise<boolean>;
  /** Decides several, which are taken back together. */
  several: () => { settle: (item: Item, verdict: Verdict) => Promise<boolean>; done: () => void };
  undo: () => void;
}

export function useInbox(kind: Kind | null, onBack: (key: string) => void): Inbox {
  const words = useWords();
  const act = useAct();
  const { say } = useNotices();
  const aside = useAside();
  const [most, setMost] = useState(PAGE);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const undos = useRef<Undo[]>([]);
  const asked = useAsked(
    async (client) => (await Promise.all((kind ? [kind] : KINDS).map((one) => readKind(client, one, kind ? most : FEW)))).flat(),
    [kind, most],
  );
  useLiveAgain(NEWS, asked.again);
  const there = useMemo(() => (asked.data ?? []).filter((item) => !gone.has(item.key)), [asked.data, gone]);
  const items = there.filter((item) => !aside.has(item.key));
  const leave = (keys: readonly string[]) => setGone((before) => new Set([...before, ...keys]));
  const back = (keys: readonly string[]) => setGone((before) => new Set([...before].filter((key) => !keys.includes(key))));

  const undo = () => {
    const last = undos.current.pop();
    if (!last) return say(words.inbox.nothingToUndo);
    const all = async (client: Memsvc) => {
      for (const one of last.back) await one(client);
    };
    void act(all, () => {
      back(last.keys);
      asked.again();
      tellDecided();
      say(words.common.undone);
      if (last.keys[0]) onBack(last.keys[0]);
    });
  };
  const tell = (text: string, made: Undo) => {
    if (made.back.length === 0) return say(text);
    undos.current.push(made);
    return say(text, { action: { label: words.common.undo, act: undo } });
  };
  const decided = (item: Item, verdict: Verdict, edited: Edited, then: (outcome: Outcome) => void) =>
    act((client) => decide(client, item, verdict, { reason: words.inbox.holdsReason, ...edited }), (outcome) => {
      leave([item.key]);
      then(outcome);
    });
  const settle: Inbox["settle"] = (item, verdict, edited, left) =>
    decided(item, verdict, edited, ({ already, undo: taken }) => {
      left();
      tellDecided();
      if (already) return say(words.inbox.already);
      const alone = verdict === "accept" && item.kind === "contradictions" && item.one.facts.length === 1;
      const text = alone ? words.inbox.confirmed : words.inbox[verdict === "accept" ? "accepted" : "rejected"][item.kind];
      return tell(text, { keys: [item.key], back: taken ? [taken] : [] });
    });
  const several: Inbox["several"] = () => {
    const made: Undo = { keys: [], back: [] };
    let before = 0;
    return {
      settle: (item, verdict) =>
        decided(item, verdict, {}, ({ already, undo: taken }) => {
          if (already) before++;
          else made.keys.push(item.key);
          if (taken) made.back.unshift(taken);
        }),
      done: () => {
        tellDecided();
        tell(words.inbox.bulkDone(made.keys.length, before), made);
      },
    };
  };
  return {
    ...asked,
    items,
    more: kind && (asked.data?.length ?? 0) >= most ? () => setMost(most + PAGE) : undefined,
    aside,
    hidden: there.filter((item) => aside.has(item.key)).map((item) => item.key),
    settle,
    several,
    undo,
  };
}
