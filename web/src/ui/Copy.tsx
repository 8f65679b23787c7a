// A button that copies a text, and says so on itself.
import { useEffect, useState } from "react";
import { useWords } from "../words";
import { Icon } from "./Icon";
import { useNotices } from "./notices";

export function Copy({ label, text }: { label: string; text: () => string }) {
  const words = useWords();
  const { say } = useNotices();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const over = setTimeout(() => setDone(false), 1_600);
    return () => clearTimeout(over);
  }, [done]);
  const copy = () =>
    navigator.clipboard
      ? navigator.clipboard.writeText(text()).then(() => setDone(true), () => say(words.common.copyFailed, { bad: true }))
      : say(words.common.copyFailed, { bad: true });
  return (
    <button type="button" className="quiet" onClick={copy}>
      <Icon name={done ? "check" : "copy"} />
      <span aria-live="polite">{done ? words.common.copied : label}</span>
    </button>
  );
}
