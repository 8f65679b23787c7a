// Several of one kind at once: first what would happen, with the items to look through; then one after the other.
import { useState } from "react";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import type { Verdict } from "./decide";
import { headline, type Item } from "./kinds";

export function Bulk({ items, verdict, onClose, onDecide, onDone }: {
  items: readonly Item[];
  verdict: Verdict;
  onClose: () => void;
  /** Decides one; false: it failed, and the others are left. */
  onDecide: (item: Item) => Promise<boolean>;
  onDone: () => void;
}) {
  const words = useWords();
  const [at, setAt] = useState<number | null>(null);
  const accepting = verdict === "accept";
  const kind = items[0]?.kind;
  const submit = async () => {
    for (const [nth, item] of items.entries()) {
      setAt(nth + 1);
      if (!(await onDecide(item))) break;
    }
    onDone();
  };
  return (
    <Dialog title={words.inbox.bulkTitle(accepting, items.length)} onClose={at === null ? onClose : () => undefined}>
      <div className="fields">
        {kind && kind !== "contradictions" && (
          <p>{accepting ? words.inbox.effects[kind](items.length) : words.inbox.rejects(items.length)}</p>
        )}
        <p className="lead">{words.inbox.bulkLook}</p>
        <ul className="undoing" tabIndex={0}>
          {items.map((item) => <li key={item.key} dir="auto">{headline(item, words)}</li>)}
        </ul>
        <footer>
          <span role="status">{at !== null && words.inbox.bulkBusy(at, items.length)}</span>
          <button type="button" disabled={at !== null} onClick={onClose}>{words.common.cancel}</button>
          <button type="button" className={accepting ? "primary" : "danger"} disabled={at !== null} onClick={() => void submit()}>
            {words.inbox.bulkSubmit(accepting, items.length)}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
