// The graph: what is connected with what, at any moment of its two times, as it changes.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useConnected, useLive, useLiveAgain } from "../api/live";
import { useAsked, useMemory } from "../api/memory";
import { go, href } from "../app/route";
import type { ScreenProps } from "../app/screens";
import { NodePicker } from "../things/NodePicker";
import { useNotices } from "../ui/notices";
import { endOfDay, useTimes } from "../ui/times";
import { useWords } from "../words";
import { type Asked, asQuery, listed, readAsked } from "./address";
import { comparedOf } from "./compared";
import { CompareForm, Differences } from "./Comparing";
import { boundsOfKnowledge, boundsOfTruth, withMore } from "./data";
import { dayOf, endOfDayIn, momentOf, numberOf } from "./days";
import { ExportMenu } from "./ExportMenu";
import { GraphList } from "./GraphList";
import { useLayout } from "./layout";
import { Legend } from "./Legend";
import { MOST_READ, useGraph } from "./loading";
import { NodeCard } from "./NodeCard";
import { hasWebGL } from "./renderer";
import { useEmphasis, useSelected } from "./selecting";
import { type Picture, Stage } from "./Stage";
import { TimeSlider } from "./TimeSlider";
import { baseOf, nameOf, shownOf } from "./view";
import "./graph.css";
import "./card.css";

export function GraphPage({ query }: ScreenProps) {
  const words = useWords();
  const times = useTimes();
  const { zone } = useMemory();
  const { say } = useNotices();
  const connected = useConnected();
  const asked = readAsked(query);
  const [picturable] = useState(hasWebGL);
  const [failure, setFailure] = useState("");
  const [follow, setFollow] = useState(true);
  const [focus, setFocus] = useState<{ nodes: readonly string[]; number: number } | null>(null);
  const [slid, setSlid] = useState<string | null>(null); // where the slider is while it moves
  const picture = useRef<Picture>(null);
  const [clock, setClock] = useState(() => times.field(new Date()));
  const knownAt = endOfDay(asked.known_at, clock);
  const graph = useGraph(knownAt);
  const { data, now, add } = graph;
  const today = times.field(new Date(now));
  useEffect(() => setClock(today), [today]);
  useEffect(() => setSlid(null), [asked.as_of]);
  useEffect(() => {
    if (connected) setFailure("");
  }, [connected]);

  const show = useCallback((changes: Partial<Asked>) => {
    // Sliders rest a moment before they tell, so the address may have changed since this was drawn.
    const current = readAsked(new URLSearchParams(location.hash.split("?")[1] ?? ""));
    go(["graph"], asQuery({ ...current, ...changes }), { replace: !changes.node });
  }, []);
  const goTo = useCallback((...nodes: string[]) => setFocus((before) => ({ nodes, number: (before?.number ?? 0) + 1 })), []);
  const find = (node: string) => {
    show({ node, to: "", view: "" });
    goTo(node);
  };
  useEffect(() => {
    if (asked.node && !asked.to && graph.ready) goTo(asked.node); // an address that names a node begins there
  }, [graph.ready]);
  useLive((message) => {
    if (message.type === "ERROR") setFailure(String(message["message"] ?? ""));
    if (message.type !== "NODE_FOCUS" || !follow || knownAt) return;
    const node = message["node"] as Parameters<typeof nameOf>[0];
    add({ nodes: [node], edges: [] });
    goTo(node.node_id);
    say(words.graph.askedAbout(nameOf(node)), { action: { label: words.graph.select, act: () => find(node.node_id) } });
  });

  const paths = useSelected(asked, knownAt, graph.loads, add);
  useEffect(() => {
    const along = paths.data?.paths.flatMap((path) => path.nodes.map((node) => node.node_id)) ?? [];
    if (along.length) goTo(...along);
  }, [paths.data, graph.ready, goTo]);
  const diff = useAsked(
    asked.axis && asked.since
      ? (client) => client.diffGraph({
          query: {
            axis: asked.axis === "known" ? "known" : "valid", from: asked.since, kind: ["node", "edge"], limit: 1_000,
            ...(asked.axis === "known" ? knownAt && { to: knownAt } : asked.as_of && { to: momentOf(asked.as_of) }),
            ...(asked.axis === "valid" && knownAt && { known_at: knownAt }),
          },
        })
      : undefined,
    [asked.axis, asked.since, asked.as_of, knownAt],
  );
  useLiveAgain(["GRAPH_UPDATE"], diff.again);
  const sleep = asked.sleep === "yes";
  const compared = useMemo(() => (diff.data ? comparedOf(diff.data.items, data, sleep) : null), [diff.data, data, sleep]);
  const keep = useMemo(
    () => new Set([asked.node, asked.to, ...(focus?.nodes ?? []), ...(paths.data?.paths ?? []).flatMap((path) => path.nodes.map((node) => node.node_id))]),
    [asked.node, asked.to, focus, paths.data],
  );
  const base = useMemo(
    () => baseOf(compared ? withMore(data, compared.gone) : data, {
      without: new Set(listed(asked.without)), withoutFacts: new Set(listed(asked.facts)), sleep, keep,
    }),
    [data, compared, asked.without, asked.facts, sleep, keep],
  );
  const layout = useLayout(base);
  const asOf = slid ?? asked.as_of;
  const shown = useMemo(() => {
    const moment = asOf ? endOfDayIn(asOf, zone) : asked.axis ? now : null;
    return shownOf(base, moment, now, compared?.marks ?? null, keep);
  }, [base, asOf, zone, now, compared, asked.axis, keep]);
  const emphasis = useEmphasis(asked, shown, paths.data);
  const truth = useMemo(() => boundsOfTruth(data, now), [data, now]);
  const [firstKnown, setFirstKnown] = useState(Infinity); // it does not move while one looks at the past
  useEffect(() => setFirstKnown((before) => Math.min(before, boundsOfKnowledge(data, now).from)), [data, now]);
  const selected = asked.node ? data.nodes.get(asked.node) : undefined;
  const list = asked.view === "list" || !picturable;
  const dayBefore = (at: number) => dayOf(numberOf(times.field(new Date(at))) - 1);
  const thinned = base.allNodes > base.nodes.length || base.allEdges > base.edges.length;
  const empty = graph.ready && data.edges.size === 0 && data.nodes.size < 2 && !knownAt; // a new user's own node is there
  const number = (n: number) => n.toLocaleString(words.code);
  return (
    <div className="graph">
      <div className="bar">
        <h1>{words.graph.title}</h1>
        {!empty && (
          <div className="tools">
            <NodePicker key={asked.node} label={words.graph.search} without={[]} chosen={null} onChoose={(node) => find(node.node_id)} />
            <div className="tabs" role="group" aria-label={words.ask.views}>
              <button type="button" aria-pressed={!list} disabled={!picturable} onClick={() => show({ view: "" })}>{words.graph.picture}</button>
              <button type="button" aria-pressed={list} onClick={() => show({ view: "list" })}>{words.graph.list}</button>
            </div>
            <ExportMenu shown={shown} asked={asked} knownAt={knownAt} picture={picture} />
          </div>
        )}
      </div>
      {graph.error && (
        <p className="said bad" role="alert">
          {graph.error} <button type="button" className="link" onClick={graph.again}>{words.common.retry}</button>
        </p>
      )}
      {failure && <p className="said bad" role="alert">{failure}</p>}
      {!picturable && <p className="said">{words.graph.noWebGL}</p>}
      {empty ? (
        <div className="empty">
          <h2>{words.graph.empty}</h2>
          <p>{words.graph.emptyLead}</p>
          <p><a className="button" href={href(["ask"])}>{words.common.home}</a></p>
        </div>
      ) : (
        <>
          <Legend data={data} asked={asked} onShow={show} />
          <div className={selected || asked.axis ? "board with-side" : "board"} aria-busy={graph.busy}>
            {list ? (
              <GraphList shown={shown} onChoose={find} />
            ) : (
              <Stage shown={shown} layout={layout} emphasis={emphasis} focus={focus}
                onSelect={(node) => (node || asked.node) && show({ node, to: "" })} picture={picture} />
            )}
            {(selected || asked.axis) && (
              <aside>
                {selected && (
                  <NodeCard key={asked.node} node={selected} shown={shown} nodes={data.nodes} asked={asked} knownAt={knownAt} paths={paths}
                    onShow={show} onFocus={goTo} />
                )}
                {asked.axis && <Differences diff={diff} compared={compared} onChoose={find} />}
              </aside>
            )}
          </div>
          <p className="counts" role="status">
            {graph.ready && <span>{words.graph.counts(shown.nodes.length, shown.edges.length)}</span>}
            {thinned && (
              <span>{words.graph.thinned(number(base.nodes.length), number(base.allNodes), number(base.edges.length), number(base.allEdges))}</span>
            )}
            {!graph.whole && <span>{words.graph.notWhole(number(MOST_READ))}</span>}
            {graph.busy && <span>{graph.read ? words.graph.reading(number(graph.read)) : words.common.loading}</span>}
            {!graph.busy && layout.busy && !list && <span>{words.graph.arranging}</span>}
            {graph.ready && shown.nodes.length === 0 && <span>{words.graph.nothing}</span>}
          </p>
          <div className="times">
            <TimeSlider label={words.graph.trueOn} none={words.thing.allTime} day={asOf} waits={false}
              from={dayBefore(truth.from)} to={times.field(new Date(truth.to))}
              onSlide={setSlid} onSettle={(day) => show({ as_of: day })} />
            <TimeSlider label={words.graph.knownOn} none={words.graph.nowKnown} day={asked.known_at} waits={graph.busy}
              from={dayBefore(Math.min(firstKnown, now))} to={today} onSlide={() => undefined}
              onSettle={(day) => show({ known_at: day >= today ? "" : day })} />
            <div className="under">
              <CompareForm asked={asked} today={asOf || today} onShow={show} />
              <label className="check">
                <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.target.checked)} />
                <span>{words.graph.follow}</span>
              </label>
            </div>
          </div>
        </>
      )}
    </div>
  );
}
