// One item: a line, and if it is the present one, what it rests on and what one can do.
import { Fragment } from "react";
import { useMemory } from "../api/memory";
import { Icon } from "../ui/Icon";
import { useWords } from "../words";
import { Body, type Choice } from "./Bodies";
import type { Verdict } from "./decide";
import { headline, type Item, mayEdit, sureness } from "./kinds";

export interface RowActs {
  onOpen: (key: string) => void;
  onDecide: (item: Item, verdict: Verdict) => void;
  onEdit: (item: Item) => void;
  onLater: (item: Item) => void;
}

/** The label of a decision, which for a single disputed fact is about that fact. */
export function useVerdict(item: Item): Record<Verdict, string> {
  const { inbox } = useWords();
  const alone = item.kind === "contradictions" && item.one.facts.length === 1;
  return alone
    ? { accept: inbox.holds, reject: inbox.holdsNot }
    : { accept: inbox.accept[item.kind], reject: inbox.reject[item.kind] };
}

export function Row({ item, open, busy, selected, onSelect, choice, acts }: {
  item: Item;
  open: boolean;
  busy: boolean;
  /** Undefined: this kind is not selected in bulk. */
  selected: boolean | undefined;
  onSelect: () => void;
  choice: Choice;
  acts: RowActs;
}) {
  const words = useWords();
  const { may } = useMemory();
  const verdicts = useVerdict(item);
  const line = headline(item, words);
  const sure = sureness(item);
  return (
    <li className={open ? "item open" : "item"} aria-busy={busy}>
      <div className="line">
        {selected !== undefined && (
          <input type="checkbox" checked={selected} onChange={onSelect} aria-label={words.inbox.select(line.slice(0, 200))} />
        )}
        <button type="button" className="head" aria-expanded={open} data-key={item.key} onClick={() => acts.onOpen(item.key)}>
          <Icon name="right" />
          <span className="kind">{words.inbox.kinds[item.kind]}</span>
          <span className="headline" dir="auto">{line}</span>
          {sure !== null && (
            <span className="value">
              {words.inbox.likely(sure.toLocaleString(words.code, { style: "percent", maximumFractionDigits: 0 }))}
            </span>
          )}
        </button>
      </div>
      {open && (
        <div className="opened">
          <Body item={item} {...choice} />
          {may("write") && (
            <div className="actions">
              {(["accept", "reject"] as const).map((verdict) => (
                <Fragment key={verdict}>
                  <button type="button" className={verdict === "accept" ? "primary" : ""} disabled={busy}
                    aria-keyshortcuts={verdict[0]} onClick={() => acts.onDecide(item, verdict)}>
                    {verdicts[verdict]} <kbd aria-hidden="true">{verdict[0]}</kbd>
                  </button>
                  {verdict === "accept" && mayEdit(item) && (
                    <button type="button" disabled={busy} aria-keyshortcuts="e" onClick={() => acts.onEdit(item)}>
                      {words.inbox.edit} <kbd aria-hidden="true">e</kbd>
                    </button>
                  )}
                </Fragment>
              ))}
              <button type="button" className="quiet" aria-keyshortcuts="l" onClick={() => acts.onLater(item)}>
                {words.inbox.later} <kbd aria-hidden="true">l</kbd>
              </button>
            </div>
          )}
        </div>
      )}
    </li>
  );
}
