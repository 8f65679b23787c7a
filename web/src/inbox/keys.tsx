// One key for each decision: never while somebody types, or while a dialog is open.
import { useEffect, useRef } from "react";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";

const MOVES = ["j", "k", "ArrowDown", "ArrowUp"];
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

/** Calls what belongs to a key. Keys with Ctrl, Alt or Meta are the browser's. */
export function useKeys(act: (key: string) => boolean): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      if (event.repeat && !MOVES.includes(event.key)) return; // a held key decides once
      if (event.target instanceof HTMLElement && event.target.matches(TYPING)) return;
      if (document.querySelector("dialog[open]")) return;
      const radio = event.target instanceof HTMLElement && event.target.matches("[type=radio]");
      if (radio && event.key.startsWith("Arrow")) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { inbox } = useWords();
  const names: [string[], string][] = [
    [["j", "↓"], inbox.keyNames.j], [["k", "↑"], inbox.keyNames.k], [["a"], inbox.keyNames.a], [["e"], inbox.keyNames.e],
    [["r"], inbox.keyNames.r], [["l"], inbox.keyNames.l], [["u"], inbox.keyNames.u], [["x"], inbox.keyNames.x],
    [["1", "9"], inbox.keyNames.digits], [["?"], inbox.keyNames["?"]],
  ];
  return (
    <Dialog title={inbox.keysTitle} onClose={onClose}>
      <dl className="told keys">
        {names.map(([keys, text]) => (
          <div key={text}>
            <dt>{keys.map((key, nth) => <span key={key}>{nth > 0 && (key === "9" ? " – " : " ")}<kbd>{key}</kbd></span>)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
