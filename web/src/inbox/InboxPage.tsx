// The inbox: what waits for a decision, one key each.
import { useEffect, useRef, useState } from "react";
import { useMemory } from "../api/memory";
import { go, href } from "../app/route";
import type { ScreenProps } from "../app/screens";
import { useWords } from "../words";
import { Bulk } from "./Bulk";
import type { Edited, Verdict } from "./decide";
import { Edit } from "./Edit";
import { KeysDialog, useKeys } from "./keys";
import { isKind, type Item, type Kind, KINDS, mayBulk, mayEdit } from "./kinds";
import { Row, type RowActs } from "./Row";
import { useInbox } from "./useInbox";
import { useWaiting } from "./waiting";
import "./inbox.css";

type Doing = { what: "edit"; item: Item } | { what: "bulk"; verdict: Verdict } | { what: "keys" } | null;

export function InboxPage({ query }: ScreenProps) {
  const given = query.get("kind");
  const kind = isKind(given) ? given : null;
  return <Listed key={kind} kind={kind} />;
}

function Listed({ kind }: { kind: Kind | null }) {
  const words = useWords();
  const { may } = useMemory();
  const counts = useWaiting().data;
  const [current, setCurrent] = useState<string | null>(null);
  const [folded, setFolded] = useState(false);
  const [busy, setBusy] = useState("");
  const [doing, setDoing] = useState<Doing>(null);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<{ key: string; version: string } | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const focus = useRef(false);
  const last = useRef(0);
  const moveTo = (key: string | null, focused = true) => {
    focus.current = focused;
    setFolded(false);
    setCurrent(key);
  };
  const inbox = useInbox(kind, moveTo);
  const { items } = inbox;
  const writes = may("write");
  const bulk = kind !== null && mayBulk(kind) && writes;
  const found = items.findIndex((item) => item.key === current);
  const at = found >= 0 ? found : Math.max(0, Math.min(last.current, items.length - 1)); // it went: the one in its place
  const present = items[at];
  useEffect(() => {
    last.current = at;
  });
  useEffect(() => {
    if (!focus.current || !present) return;
    focus.current = false;
    list.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(present.key)}"]`)?.focus();
  });
  const chosenOf = (item: Item) => {
    if (item.kind !== "contradictions") return "";
    const best = item.one.facts.toSorted((a, b) => b.certainty - a.certainty)[0]?.version_id ?? "";
    return chosen?.key === item.key ? chosen.version : best;
  };
  const follow = (item: Item) => {
    const here = items.findIndex((one) => one.key === item.key);
    return (items[here + 1] ?? items[here - 1])?.key ?? null;
  };
  const settle = async (item: Item, verdict: Verdict, edited: Edited = {}) => {
    if (busy) return;
    setBusy(item.key);
    const next = follow(item);
    await inbox.settle(item, verdict, { chosen: chosenOf(item), ...edited }, () => moveTo(next));
    setBusy("");
  };
  const later = (item: Item) => {
    moveTo(follow(item));
    inbox.aside.put(item.key);
  };
  const acts: RowActs = {
    onOpen: (key) => (key === present?.key ? setFolded(!folded) : moveTo(key)),
    onDecide: (item, verdict) => void settle(item, verdict),
    onEdit: (item) => setDoing({ what: "edit", item }),
    onLater: later,
  };
  const pick = (key: string) =>
    setPicked((before) => (before.has(key) ? new Set([...before].filter((one) => one !== key)) : new Set([...before, key])));
  useKeys((key) => {
    if (key === "?") setDoing({ what: "keys" });
    else if (key === "u" && writes) inbox.undo();
    else if (!present) return false;
    else if (key === "j" || key === "ArrowDown") moveTo(items[Math.min(at + (current === null ? 0 : 1), items.length - 1)]?.key ?? null);
    else if (key === "k" || key === "ArrowUp") moveTo(items[Math.max(at - 1, 0)]?.key ?? null);
    else if (!writes) return false;
    else if (key === "a") void settle(present, "accept");
    else if (key === "r") void settle(present, "reject");
    else if (key === "l") later(present);
    else if (key === "e" && mayEdit(present)) setDoing({ what: "edit", item: present });
    else if (key === "x" && bulk) pick(present.key);
    else if (/^[1-9]$/.test(key) && present.kind === "contradictions") {
      const version = present.one.facts[Number(key) - 1]?.version_id;
      if (version) setChosen({ key: present.key, version });
    } else return false;
    return true;
  });
  const selected = items.filter((item) => picked.has(item.key));
  const tabs: (Kind | null)[] = [null, ...KINDS.filter((one) => one === kind || (counts?.[one] ?? 0) > 0)];
  const title = (one: Kind | null) => (one ? words.inbox.tabs[one] : words.inbox.all);
  const total = counts?.total ?? 0;
  return (
    <div className="inbox">
      <header>
        <div className="bar">
          <h1>{words.inbox.title}</h1>
          <button type="button" className="quiet" aria-keyshortcuts="?" onClick={() => setDoing({ what: "keys" })}>
            {words.inbox.keys} <kbd aria-hidden="true">?</kbd>
          </button>
        </div>
        <p className="lead">{words.inbox.lead}{!writes && ` ${words.common.readOnly}`}</p>
      </header>
      {(total > 0 || kind) && (
        <div className="sorts" role="group" aria-label={words.inbox.kindsLabel}>
          {tabs.map((one) => (
            <button type="button" className="quiet" key={one} aria-pressed={one === kind} onClick={() => go(["inbox"], { kind: one })}>
              {title(one)} <small>{(one ? (counts?.[one] ?? 0) : total).toLocaleString(words.code)}</small>
            </button>
          ))}
        </div>
      )}
      {bulk && items.length > 1 && (
        <div className="bulk" role="group" aria-label={words.inbox.selected(selected.length)}>
          <button type="button" className="quiet" onClick={() => setPicked(new Set(selected.length > 0 ? [] : items.map((item) => item.key)))}>
            {selected.length > 0 ? words.inbox.clear : words.inbox.selectAll}
          </button>
          {selected.length > 0 && (
            <>
              <span role="status">{words.inbox.selected(selected.length)}</span>
              <button type="button" onClick={() => setDoing({ what: "bulk", verdict: "accept" })}>{words.inbox.bulkAccept}</button>
              <button type="button" onClick={() => setDoing({ what: "bulk", verdict: "reject" })}>{words.inbox.bulkReject}</button>
            </>
          )}
        </div>
      )}
      {inbox.error && <p className="said bad" role="alert">{inbox.error}</p>}
      {!inbox.data && inbox.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {inbox.data && items.length === 0 && (
        <p className="empty">
          {kind ? words.inbox.nothingOfKind : words.inbox.nothing} {words.inbox.fills}{" "}
          {!kind && <a href={href(["ask"])}>{words.inbox.goAsk}</a>}
        </p>
      )}
      <ul className={kind ? "items alone" : "items"} ref={list}>
        {items.map((item) => (
          <Row key={item.key} item={item} open={item === present && !folded} busy={busy === item.key}
            selected={bulk ? picked.has(item.key) : undefined} onSelect={() => pick(item.key)} acts={acts}
            choice={{ chosen: chosenOf(item), onChoose: (version) => setChosen({ key: item.key, version }) }} />
        ))}
      </ul>
      {inbox.more && <p className="further"><button type="button" onClick={inbox.more}>{words.inbox.more}</button></p>}
      {!kind && counts && items.length > 0 && (
        <p className="further links">
          {KINDS.filter((one) => counts[one] > items.filter((item) => item.kind === one).length).map((one) => (
            <a key={one} href={href(["inbox"], { kind: one })}>{words.inbox.tabs[one]}: {words.inbox.moreOfKind(counts[one])}</a>
          ))}
        </p>
      )}
      {inbox.hidden.length > 0 && (
        <p className="lead">
          {words.inbox.asideCount(inbox.hidden.length)}{" "}
          <button type="button" className="link" onClick={() => inbox.aside.take(inbox.hidden)}>{words.inbox.showAside}</button>
        </p>
      )}
      {doing?.what === "keys" && <KeysDialog onClose={() => setDoing(null)} />}
      {doing?.what === "edit" && (
        <Edit item={doing.item} onClose={() => setDoing(null)} onEdited={(edited) => {
          setDoing(null);
          void settle(doing.item, "accept", edited);
        }} />
      )}
      {doing?.what === "bulk" && <BulkOf inbox={inbox} items={selected} verdict={doing.verdict} onClose={() => setDoing(null)} />}
    </div>
  );
}

function BulkOf({ inbox, items, verdict, onClose }: {
  inbox: ReturnType<typeof useInbox>;
  items: readonly Item[];
  verdict: Verdict;
  onClose: () => void;
}) {
  const [fixed] = useState(items);
  const [run] = useState(inbox.several);
  return (
    <Bulk items={fixed} verdict={verdict} onClose={onClose} onDecide={(item) => run.settle(item, verdict)} onDone={() => {
      onClose();
      run.done();
    }} />
  );
}
