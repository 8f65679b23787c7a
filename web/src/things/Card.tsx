// The head of a person or thing: type, name, description, further names, what was merged into it, and actions.
import type { graph_shown_ShownNode as ShownNode } from "@memsvc/client";
import { useAct, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Icon } from "../ui/Icon";
import { usePin } from "../ui/pin";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Changed } from "./ThingPage";

export type Doing = "" | "edit" | "merge" | "split" | "forget";

export function Card({ thing, name, onDo, onChanged, onPinned }: {
  thing: ShownNode;
  name: string;
  onDo: (doing: Doing) => void;
  onChanged: Changed;
  onPinned: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const { me, may } = useMemory();
  const act = useAct();
  const names = [...new Set(thing.aliases.map((one) => one.alias))].filter((one) => one !== thing.label);
  const pin = usePin(onPinned);
  const unmerge = (nodeId: string) =>
    act((client) => client.unmergeNode({ path: { node_id: nodeId } }), (change) => onChanged(words.thing.unmerged, change.change_id));
  return (
    <header className="card">
      <p className="meta">
        <span className="kind">{thing.type}</span>
        {thing.pinned && <span className="pinned"><Icon name="pin" />{words.pinning.pinned}</span>}
        {!thing.holds && <span>{words.thing.ended}</span>}
        {thing.importance != null && <span>{words.thing.importance} {thing.importance.toLocaleString(words.code)}</span>}
        {thing.first_seen && thing.last_seen && (
          <span>{words.thing.seen(times.day(thing.first_seen), times.day(thing.last_seen))}</span>
        )}
      </p>
      <h1 dir="auto">{name}</h1>
      {thing.node_id === me.node_id && <p className="lead">{words.thing.you}</p>}
      {thing.description && <p className="text" dir="auto">{thing.description}</p>}
      {names.length > 0 && (
        <p className="names">
          <span>{words.thing.names}</span>
          {names.map((one) => <span className="name" dir="auto" key={one}>{one}</span>)}
        </p>
      )}
      {thing.same.length > 0 && (
        <ul className="same">
          {thing.same.map((one) => (
            <li key={one.merge_id}>
              <span>{words.thing.mergedFrom}: <a href={href(["things", one.node_id])}>{one.reason || one.node_id.slice(-6)}</a></span>
              {may("write") && (
                <button type="button" className="link" onClick={() => unmerge(one.node_id)}>{words.thing.unmerge}</button>
              )}
            </li>
          ))}
        </ul>
      )}
      <div className="actions">
        <a className="button" href={href(["ask"], { q: words.ask.example(name) })}>{words.thing.ask}</a>
        {may("write") && (
          <>
            <button type="button" onClick={() => onDo("edit")}>{words.thing.edit}</button>
            <button type="button" onClick={() => onDo("merge")}>{words.thing.merge}</button>
            <button type="button" onClick={() => onDo("split")}>{words.split.open}</button>
            <button type="button" onClick={() => pin(thing.node_id, !thing.pinned)}>
              {thing.pinned ? words.pinning.unpin : words.thing.pin}
            </button>
          </>
        )}
        {may("forget") && thing.node_id !== me.node_id && (
          <button type="button" className="danger" onClick={() => onDo("forget")}>{words.thing.forget}</button>
        )}
      </div>
      {!may("write") && <p className="lead">{words.common.readOnly}</p>}
    </header>
  );
}
