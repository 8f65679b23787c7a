// What memsvc came to know about a thing, change by change, newest first; each change can be taken back.
import type { read_Event as Event } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAct, useAsked } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { useTimes } from "../ui/times";
import { useWords, type Words } from "../words";
import type { Changed } from "./ThingPage";

const PAGE = 100;

interface Step {
  changeId: string | null;
  at: string;
  by: string;
  events: Event[];
}

/** What an entry of a change says, in words. */
function says(content: Record<string, unknown>, words: Words): string {
  const text = (name: string) => (typeof content[name] === "string" ? content[name] : "");
  if (text("fact")) return text("fact");
  if (text("alias")) return text("alias");
  if (text("label")) return [text("label"), text("description")].filter(Boolean).join(": ");
  return text("reason") ? words.history.merge(text("reason")) : "";
}

function stepsOf(events: readonly Event[]): Step[] {
  const steps: Step[] = [];
  for (const event of events) {
    const last = steps.at(-1);
    if (last && last.at === event.at && last.changeId === event.change_id) last.events.push(event);
    else steps.push({ changeId: event.change_id, at: event.at, by: event.changed_by ?? event.asserted_by, events: [event] });
  }
  return steps;
}

export function History({ nodeId, version, onChanged, writes }: {
  nodeId: string;
  version: number;
  onChanged: Changed;
  writes: boolean;
}) {
  const words = useWords();
  const times = useTimes();
  const act = useAct();
  const { data, error } = useAsked((client) => client.nodeHistory({ path: { node_id: nodeId }, query: { limit: PAGE } }), [nodeId, version]);
  const [more, setMore] = useState<{ items: Event[]; cursor: string | null } | null>(null);
  const [undoing, setUndoing] = useState("");
  useEffect(() => setMore(null), [data]);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const steps = stepsOf([...data.items, ...(more?.items ?? [])]);
  const cursor = more ? more.cursor : data.next_cursor;
  const next = () =>
    act((client) => client.nodeHistory({ path: { node_id: nodeId }, query: { limit: PAGE, cursor } }), (page) =>
      setMore({ items: [...(more?.items ?? []), ...page.items], cursor: page.next_cursor }),
    );
  if (steps.length === 0) return <p className="empty">{words.history.none}</p>;
  return (
    <section className="history">
      <ol>
        {steps.map((step) => (
          <li key={`${step.at}${step.changeId}`}>
            <p className="meta">
              <time dateTime={step.at}>{times.minute(step.at)}</time>
              <span>{words.thing.by(step.by)}</span>
              {writes && step.changeId && (
                <button type="button" className="link" onClick={() => setUndoing(step.changeId ?? "")}>{words.history.undo}</button>
              )}
            </p>
            <ul>
              {step.events.map((event) => (
                <li key={event.id + event.event} className={event.event}>
                  <span className="kind">{words.history.kinds[event.kind]} {words.history[event.event]}</span>
                  <span>
                    <span className="said-then" dir="auto">{says(event.content, words)}</span> <small>{times.span(event.valid_from, event.valid_to)}</small>
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {cursor && <p className="further"><button type="button" onClick={next}>{words.history.more}</button></p>}
      {undoing && <Undo changeId={undoing} onClose={() => setUndoing("")} onChanged={onChanged} />}
    </section>
  );
}

function Undo({ changeId, onClose, onChanged }: { changeId: string; onClose: () => void; onChanged: Changed }) {
  const words = useWords();
  const act = useAct();
  const path = { change_id: changeId };
  const { data, error } = useAsked((client) => client.describeChange({ path, query: { limit: PAGE } }), [changeId]);
  const undo = () =>
    act((client) => client.undoChange({ path }), (change) => {
      onClose();
      onChanged(words.common.undone, change.change_id);
    });
  return (
    <Dialog title={words.history.undoTitle} onClose={onClose}>
      <div className="fields">
        {error && <p className="said bad" role="alert">{error}</p>}
        {data && <p>{words.history.undoLead(data.items.length)}</p>}
        <ul className="undoing">
          {data?.items.map((item, index) => (
            <li key={item.id + String(index)}>
              <span className="kind">{words.history.kinds[item.kind]} {item.written ? words.history.written : words.history.closed}</span>
              <span dir="auto">{says(item.content, words)}</span>
            </li>
          ))}
        </ul>
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="button" className="primary" disabled={!data} onClick={undo}>{words.history.confirm}</button>
        </footer>
      </div>
    </Dialog>
  );
}
