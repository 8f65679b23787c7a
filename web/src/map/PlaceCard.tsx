// What is at a place on the day: its facts, since when it is there, and moving or ending it.
import { type FormEvent, useState } from "react";
import { useAct, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Place } from "./places";

const SHOWN = 8;

export function PlaceCard({ place, day, onMove, onChanged, onClose }: {
  place: Place;
  day: string;
  onMove: () => void;
  onChanged: () => void;
  onClose: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const [ending, setEnding] = useState(false);
  const name = place.label ?? place.type ?? "…";
  const degrees = (value: number) => value.toLocaleString(words.code, { maximumFractionDigits: 4 });
  return (
    <article className="place-card">
      <header>
        <h2 dir="auto">{name}</h2>
        <button type="button" className="icon" aria-label={words.common.close} onClick={onClose}><Icon name="close" /></button>
      </header>
      <p className="meta">
        <span className="kind">{place.type}</span>
        <span>{degrees(place.latitude)}, {degrees(place.longitude)}</span>
        <span>{times.span(place.valid_from, place.valid_to)}</span>
      </p>
      <h3>{words.map.facts}</h3>
      {place.facts.length === 0 && <p className="lead">{words.map.noFacts}</p>}
      <ul className="here">
        {place.facts.slice(0, SHOWN).map((fact) => (
          <li key={fact.version_id}>
            <a href={href(["things", fact.from_node === place.node_id ? fact.to_node : fact.from_node])} dir="auto">{fact.fact}</a>
            <span className="when">{times.span(fact.valid_from, fact.valid_to)}</span>
          </li>
        ))}
      </ul>
      {place.facts.length > SHOWN && <p className="lead">{words.map.moreFacts(place.facts.length - SHOWN)}</p>}
      <div className="actions">
        <a className="button" href={href(["things", place.node_id], { as_of: day })}>{words.map.open}</a>
        {may("write") && (
          <>
            <button type="button" className="quiet" onClick={onMove}>{words.map.move}</button>
            <button type="button" className="quiet" onClick={() => setEnding(true)}>{words.map.end}</button>
          </>
        )}
      </div>
      {ending && <EndPlace place={place} name={name} onClose={() => setEnding(false)} onChanged={onChanged} />}
    </article>
  );
}

function EndPlace({ place, name, onClose, onChanged }: {
  place: Place;
  name: string;
  onClose: () => void;
  onChanged: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const act = useAct();
  const { say } = useNotices();
  const undo = (changeId: string) =>
    void act((client) => client.undoChange({ path: { change_id: changeId } }), () => {
      say(words.common.undone);
      onChanged();
    });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const day = String(new FormData(event.currentTarget).get("day"));
    void act(
      (client) => client.endLocation({ path: { node_id: place.stored_id }, query: { ended_at: day } }),
      (change) => {
        onClose();
        onChanged();
        say(words.map.ended, { action: { label: words.common.undo, act: () => undo(change.change_id) } });
      },
    );
  };
  return (
    <Dialog title={words.map.endTitle(name)} onClose={onClose}>
      <form className="fields" onSubmit={submit}>
        <label>
          <span>{words.map.endLead}</span>
          <input type="date" name="day" required defaultValue={times.field(new Date())} />
        </label>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="submit" className="primary">{words.map.save}</button>
        </footer>
      </form>
    </Dialog>
  );
}
