// A field for a note's text. After [[ it offers notes, people and things by name, chosen by keyboard or pointer.
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { useAsked } from "../api/memory";
import { useWords } from "../words";
import type { Target } from "./Markdown";

const SHOWN = 6;
const OPENED = /\[\[([^[\]\n]{0,100})$/;

export function LinkedText({ value, onChange, onPick, label, max }: {
  value: string;
  onChange: (text: string) => void;
  onPick: (name: string, target: Target) => void;
  label: string;
  max: number;
}) {
  const words = useWords();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [typing, setTyping] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const caret = useRef<number | null>(null);
  const name = useDeferredValue(typing?.trim() ?? "");
  const { data } = useAsked(name ? (client) => client.searchNodes({ query: { q: name, limit: SHOWN } }) : undefined, [name]);
  const found = typing?.trim() ? (data?.items ?? []).filter((node) => node.label && !/[[\]\n]/.test(node.label)) : [];
  const open = typing !== null && found.length > 0;
  const listed = found.map((node) => node.node_id).join();
  useEffect(() => setAt(0), [listed]);
  useEffect(() => {
    if (caret.current === null || !field.current) return;
    field.current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const look = () => {
    const box = field.current;
    if (!box || box.selectionStart !== box.selectionEnd) return setTyping(null);
    setTyping(OPENED.exec(box.value.slice(Math.max(0, box.selectionStart - 120), box.selectionStart))?.[1] ?? null);
  };
  const choose = (index: number) => {
    const node = found[index];
    const box = field.current;
    if (!node?.label || !box) return;
    const begin = box.value.lastIndexOf("[[", box.selectionStart - 1);
    const rest = box.value.slice(box.selectionStart).replace(/^\]{1,2}/, "");
    const head = `${box.value.slice(0, begin)}[[${node.label}]]`;
    caret.current = head.length;
    onPick(node.label, { id: node.node_id, type: node.type });
    onChange(head + rest);
    setTyping(null);
    box.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    if (!open) return;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) setAt((at + move + found.length) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(at);
    else if (event.key === "Escape") setTyping(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="linked-text">
      <textarea ref={field} value={value} rows={14} maxLength={max} dir="auto" aria-label={label}
        aria-autocomplete="list" aria-controls={open ? `${id}list` : undefined}
        aria-activedescendant={open ? `${id}${at}` : undefined}
        onChange={(event) => {
          onChange(event.target.value);
          look();
        }}
        onKeyDown={pressed} onKeyUp={(event) => event.key !== "Escape" && look()} onClick={look} onBlur={() => setTyping(null)} />
      {open && (
        <ul id={`${id}list`} role="listbox" aria-label={words.notes.offers}>
          {found.map((node, index) => (
            <li key={node.node_id} id={`${id}${index}`} role="option" aria-selected={index === at}
              onPointerDown={(event) => {
                event.preventDefault();
                choose(index);
              }}>
              <span className="label" dir="auto">{node.label}</span>
              <small>{node.type}</small>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
