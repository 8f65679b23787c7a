// The question and what narrows it. Filters apply at once; the question when it is sent.
import { DayField } from "../ui/DayField";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useWords } from "../words";
import { countFilters, KINDS, LIMITS, MODES, type Question } from "./question";

export function AskForm({ question, today, busy, onAsk }: {
  question: Question;
  today: string;
  busy: boolean;
  onAsk: (changed: Partial<Question>) => void;
}) {
  const words = useWords();
  const [typed, setTyped] = useState(question.q);
  const field = useRef<HTMLInputElement>(null);
  const filters = countFilters(question);
  useEffect(() => {
    if (!question.q) field.current?.focus();
  }, [question.q]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim()) onAsk({ q: typed.trim() });
  };
  const text = (name: "speakers" | "conversations" | "types", label: string) => (
    <label>
      <span>{label}</span>
      <input
        key={question[name]}
        defaultValue={question[name]}
        placeholder={words.ask.commas}
        maxLength={2000}
        onBlur={(event) => event.target.value !== question[name] && onAsk({ [name]: event.target.value })}
        onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), event.currentTarget.blur())}
      />
    </label>
  );
  const day = (name: "as_of" | "known_at" | "said_from" | "said_to", label: string, max?: string) => (
    <label title={name === "known_at" ? words.ask.knownHint : undefined}>
      <span>{label}</span>
      <DayField value={question[name]} max={max} onDay={(chosen) => onAsk({ [name]: chosen })} />
    </label>
  );
  const check = (name: "facts" | "traces" | "archived", label: string) => (
    <label className="check">
      <input type="checkbox" checked={question[name] === "yes"}
        onChange={(event) => onAsk({ [name]: event.target.checked ? "yes" : name === "facts" ? "no" : "" })} />
      <span>{label}</span>
    </label>
  );
  return (
    <form className="question" role="search" onSubmit={submit}>
      <div className="line">
        <input ref={field} type="search" value={typed} onChange={(event) => setTyped(event.target.value)}
          placeholder={words.ask.placeholder} aria-label={words.ask.question} maxLength={10000} enterKeyHint="search" />
        <button type="submit" className="primary" disabled={busy}>{words.ask.submit}</button>
      </div>
      <div className="narrow">
        {question.view !== "answer" && (
          <label>
            <span>{words.ask.mode}</span>
            <select value={question.mode} onChange={(event) => onAsk({ mode: event.target.value })}>
              {MODES.map((mode) => <option key={mode} value={mode}>{words.ask.modes[mode]}</option>)}
            </select>
          </label>
        )}
        {day("as_of", words.ask.asOf)}
        {day("known_at", words.ask.knownAt, today)}
        <details className="filters" open={filters > 0 ? true : undefined}>
          <summary>{words.ask.options}{filters > 0 && <b> {filters}</b>}</summary>
          <div className="sheet">
            <label>
              <span>{words.ask.limit}</span>
              <select value={question.limit} onChange={(event) => onAsk({ limit: event.target.value })}>
                {LIMITS.map((limit) => <option key={limit}>{limit}</option>)}
              </select>
            </label>
            <label>
              <span>{words.ask.kinds}</span>
              <select value={question.kind} onChange={(event) => onAsk({ kind: event.target.value })}>
                <option value="">{words.ask.anyKind}</option>
                {KINDS.map((kind) => <option key={kind} value={kind}>{words.kinds[kind]}</option>)}
              </select>
            </label>
            {day("said_from", words.ask.saidFrom)}
            {day("said_to", words.ask.saidTo)}
            {text("speakers", words.ask.speakers)}
            {text("conversations", words.ask.conversations)}
            {text("types", words.ask.types)}
            <div className="checks">
              {check("facts", words.ask.facts)}
              {check("traces", words.ask.traces)}
              {check("archived", words.ask.archived)}
            </div>
          </div>
        </details>
      </div>
    </form>
  );
}
