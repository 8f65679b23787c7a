// A modal dialog: the browser's own, which keeps the focus inside and gives it back.
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../words";
import { Icon } from "./Icon";

/** Where one begins to write; without such a field, the browser focuses the first button. */
const FIRST = "[data-autofocus], form :is(input:not([type=radio], [type=checkbox]), textarea, select)";

export function Dialog({ title, onClose, children, wide }: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const words = useWords();
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = box.current;
    if (!opened?.open) opened?.showModal();
    opened?.querySelector<HTMLElement>(FIRST)?.focus();
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={box}
      className={wide ? "wide" : ""}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === box.current && onClose()}
    >
      <div className="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="icon" aria-label={words.common.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
