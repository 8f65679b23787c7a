// One fact: its sentence, its bar on the strip; opened, its quotes with their sources and what one can do about it.
import type { ShownFact } from "@memsvc/client";
import { useId, useState } from "react";
import { useAct, useMemory } from "../api/memory";
import { href } from "../app/route";
import { Source } from "../source/Source";
import { Icon } from "../ui/Icon";
import { usePin } from "../ui/pin";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { EditFact } from "./EditFact";
import { EndFact } from "./EndFact";
import { Forget } from "../ui/Forget";
import { type Axis, barOf, hasTime } from "./span";
import type { Changed } from "./ThingPage";

export function FactRow({ fact, about, axis, onChanged, onPinned }: {
  fact: ShownFact;
  about: string;
  axis: Axis;
  onChanged: Changed;
  onPinned: () => void;
}) {
  const words = useWords();
  const times = useTimes();
  const id = useId();
  const [opened, setOpened] = useState(false);
  const bar = hasTime(fact) ? barOf(axis, fact) : null;
  const { valid_from: from, valid_to: to } = fact;
  const when = times.span(from, to) || words.thing.untold;
  const over = to !== null && Date.parse(to) <= Date.now();
  return (
    <li className={over ? "fact over" : "fact"}>
      <button type="button" className="head" aria-expanded={opened} aria-controls={id} onClick={() => setOpened(!opened)}>
        <span className="sentence">
          <Icon name="right" />
          <span dir="auto">{fact.fact}</span>
          {fact.pinned && <small className="pinned"><Icon name="pin" /><span className="hidden">{words.pinning.pinned}</span></small>}
          {fact.contested && <em>{words.thing.contested}</em>}
        </span>
        <span className="strip">
          {bar && (
            <span
              className={["part", from ? "" : "early", to ? "" : "on"].join(" ")}
              style={{ insetInlineStart: `${bar.left}%`, inlineSize: `${bar.width}%` }}
            />
          )}
        </span>
        <span className="when">{bar ? when : words.thing.sources(fact.sources_total)}</span>
      </button>
      {opened && <Opened id={id} fact={fact} about={about} when={when} onChanged={onChanged} onPinned={onPinned} />}
    </li>
  );
}

function Opened({ id, fact, about, when, onChanged, onPinned }: {
  id: string;
  fact: ShownFact;
  about: string;
  when: string;
  onChanged: Changed;
  onPinned: () => void;
}) {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const [doing, setDoing] = useState<"" | "edit" | "end" | "forget">("");
  const [source, setSource] = useState("");
  const path = { edge_id: fact.edge_id };
  const retract = () =>
    act((client) => client.retractFact({ path, body: {} }), (change) => onChanged(words.thing.retracted, change.change_id));
  const pin = usePin(onPinned);
  const others = [
    [fact.from_node, fact.from_label], [fact.to_node, fact.to_label],
  ].filter(([node]) => node !== about);
  const sure = fact.certainty.toLocaleString(words.code, { style: "percent", maximumFractionDigits: 0 });
  const close = () => setDoing("");
  return (
    <div className="opened" id={id}>
      <p className="meta">
        <span>{fact.type}</span>
        {others.map(([node, label]) => node && <a key={node} href={href(["things", node])} dir="auto">{label ?? "…"}</a>)}
        <span>{when}</span>
        <span>{words.thing.sure(sure)}</span>
        <span>{words.thing.by(fact.asserted_by)}</span>
      </p>
      {fact.sources.length === 0 && <p className="lead">{words.thing.noSources}</p>}
      <ul className="quotes">
        {fact.sources.map((quote) => {
          const open = source === quote.passage_id;
          return (
            <li key={quote.passage_id + quote.stance}>
              <q dir="auto">{quote.quote}</q>
              {quote.stance !== "supports" && <em>{words.thing.stances[quote.stance]}</em>}
              <button type="button" className="link" aria-expanded={open} onClick={() => setSource(open ? "" : quote.passage_id)}>
                {open ? words.thing.hideSource : words.thing.openSource}
              </button>
              {open && <Source passageId={quote.passage_id} span={quote.span} />}
            </li>
          );
        })}
        {fact.sources_total > fact.sources.length && (
          <li className="lead">{words.thing.moreSources(fact.sources_total - fact.sources.length)}</li>
        )}
      </ul>
      <div className="actions">
        {may("write") && (
          <>
            <button type="button" className="quiet" onClick={() => setDoing("edit")}>{words.thing.factEdit}</button>
            <button type="button" className="quiet" onClick={() => setDoing("end")}>{words.thing.factEnd}</button>
            <button type="button" className="quiet" onClick={retract}>{words.thing.factRetract}</button>
            <button type="button" className="quiet" aria-pressed={fact.pinned} onClick={() => pin(fact.version_id, !fact.pinned)}>
              {fact.pinned ? words.pinning.unpin : words.thing.pin}
            </button>
          </>
        )}
        {may("forget") && (
          <button type="button" className="quiet danger" onClick={() => setDoing("forget")}>{words.thing.factForget}</button>
        )}
      </div>
      {doing === "edit" && <EditFact fact={fact} about={about} onClose={close} onChanged={onChanged} />}
      {doing === "end" && <EndFact fact={fact} onClose={close} onChanged={onChanged} />}
      {doing === "forget" && (
        <Forget what={fact.fact} kind="fact" id={fact.edge_id} onClose={close} onForgotten={() => onChanged(words.forget.done)} />
      )}
    </div>
  );
}
