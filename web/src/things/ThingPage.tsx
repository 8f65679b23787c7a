// A person or thing: its card and names, its facts on a strip of time, its history, and what one can do about it.
import { useCallback, useEffect, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { go } from "../app/route";
import { DayField } from "../ui/DayField";
import { useNotices } from "../ui/notices";
import { endOfDay, useTimes } from "../ui/times";
import { useWords } from "../words";
import { Card, type Doing } from "./Card";
import { EditThing } from "./EditThing";
import { Facts } from "./Facts";
import { Forget } from "../ui/Forget";
import { History } from "./History";
import { Merge } from "./Merge";
import { Split } from "./Split";
import { Told } from "./Told";
import "./thing.css";
import "./strip.css";

const VIEWS = ["facts", "history", "told"] as const;
/** Tells that something changed, and how to take it back. */
export type Changed = (text: string, changeId?: string) => void;

export function ThingPage({ nodeId, query }: { nodeId: string; query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const today = times.field(new Date());
  const view = VIEWS.find((one) => one === query.get("view")) ?? "facts";
  const asOf = query.get("as_of") ?? "";
  const known = query.get("known_at") ?? "";
  const knownAt = endOfDay(known, today);
  const [doing, setDoing] = useState<Doing>("");
  const [version, setVersion] = useState(0);
  const { data, error, again } = useAsked(
    (client) =>
      client.describeNode({
        path: { node_id: nodeId },
        query: { facts: 1, ...(asOf && { as_of: asOf }), ...(knownAt && { known_at: knownAt }) },
      }),
    [nodeId, asOf, knownAt],
  );
  useEffect(() => {
    if (data) document.title = `${data.label ?? ""} · memsvc`;
  }, [data]);
  const refresh = useCallback(() => {
    again();
    setVersion((before) => before + 1);
  }, [again]);
  const changed = useCallback<Changed>(
    (text, changeId) => {
      refresh();
      const undo = () =>
        act((client) => client.undoChange({ path: { change_id: changeId ?? "" } }), () => {
          say(words.common.undone);
          refresh();
        });
      say(text, changeId ? { action: { label: words.common.undo, act: undo } } : {});
    },
    [act, refresh, say, words],
  );
  const show = (changes: Record<string, string>) =>
    go(["things", nodeId], { view: query.get("view"), as_of: asOf, known_at: known, ...changes }, { replace: true });
  const day = (name: "as_of" | "known_at", label: string, value: string, max?: string) => (
    <label title={name === "known_at" ? words.ask.knownHint : undefined}>
      <span>{label}</span>
      <DayField value={value} max={max} onDay={(chosen) => show({ [name]: chosen })} />
    </label>
  );
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const name = data.label ?? words.kinds["node"] ?? "";
  const close = () => setDoing("");
  return (
    <article className="thing">
      <Card thing={data} name={name} onDo={setDoing} onChanged={changed} onPinned={refresh} />
      <div className="bar">
        <div className="tabs" role="group" aria-label={words.thing.facets}>
          {VIEWS.map((one) => (
            <button type="button" key={one} aria-pressed={view === one} onClick={() => show({ view: one === "facts" ? "" : one })}>
              {one === "told" ? words.told.view : words.thing[one]}
            </button>
          ))}
        </div>
        {view !== "history" && (
          <div className="narrow">
            {day("as_of", words.thing.asOf, asOf)}
            {day("known_at", words.thing.knownAt, known, today)}
            {(asOf || known) && (
              <button type="button" className="quiet" onClick={() => show({ as_of: "", known_at: "" })}>{words.thing.allTime}</button>
            )}
          </div>
        )}
      </div>
      {view === "facts" && (
        <Facts nodeId={data.node_id} asOf={asOf} knownAt={knownAt} version={version} onChanged={changed} onPinned={refresh} />
      )}
      {view === "told" && <Told name={name} asOf={asOf} known={known} knownAt={knownAt} />}
      {view === "history" && (
        <History nodeId={data.node_id} version={version} onChanged={changed} writes={may("write")} />
      )}
      {doing === "edit" && <EditThing thing={data} onClose={close} onChanged={changed} />}
      {doing === "merge" && <Merge nodeId={data.node_id} name={name} onClose={close} onChanged={changed} />}
      {doing === "split" && <Split thing={data} name={name} onClose={close} onChanged={changed} />}
      {doing === "forget" && (
        <Forget what={name} kind="node" id={data.node_id} onClose={close} onForgotten={() => go(["things"])} />
      )}
    </article>
  );
}
