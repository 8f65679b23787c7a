// Asks which of the speakers the user is, before a chat is stored: whose words count as the user's depends on it.
import type { IngestFile } from "@memsvc/client";
import { useState } from "react";
import { useWords } from "../words";

const MOST_SHOWN = 30;

export function WhoAmI({ items, must, names, onAnswer }: {
  items: readonly IngestFile[];
  must: boolean;
  /** What was answered before: chosen at once where such a name speaks. */
  names: readonly string[];
  onAnswer: (answer: { me?: string[]; not_me?: boolean }) => void;
}) {
  const words = useWords();
  const counted = new Map<string, number>();
  for (const { preview } of items)
    for (const { speaker, messages } of preview?.speakers ?? [])
      if (speaker) counted.set(speaker, (counted.get(speaker) ?? 0) + messages);
  const people = [...counted].sort(([, a], [, b]) => b - a).slice(0, MOST_SHOWN);
  const [chosen, setChosen] = useState<readonly string[]>(() => people.map(([name]) => name).filter((name) => names.includes(name)));
  const [nobody, setNobody] = useState(false);
  const turn = (name: string, on: boolean) => {
    setNobody(false);
    setChosen(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  };
  return (
    <form
      className="who"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(chosen.length ? { me: [...chosen] } : nobody ? { not_me: true } : {});
      }}
    >
      <fieldset className="choice">
        <legend>{words.sources.who}</legend>
        <div className="people">
          {people.map(([name, messages]) => (
            <label key={name}>
              <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => turn(name, event.target.checked)} />
              <span><b dir="auto">{name}</b> <small>{words.sources.speakerCount(messages)}</small></span>
            </label>
          ))}
          <label>
            <input type="checkbox" checked={nobody} onChange={(event) => {
              setNobody(event.target.checked);
              if (event.target.checked) setChosen([]);
            }} />
            <span>{words.sources.nobody}</span>
          </label>
        </div>
      </fieldset>
      <p className="lead small">{words.sources.whoHint}</p>
      <div className="actions">
        <button type="submit" className="primary" disabled={must && !nobody && chosen.length === 0}>{words.sources.store}</button>
      </div>
    </form>
  );
}
