// All time as a strip, a period of it in short, and what happened in it, day by day. The address says which period.
import { useMemo } from "react";
import { useAsked, useMemory } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { go, href } from "../app/route";
import { readAsCurl } from "../sources/copies";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { useClock } from "./clock";
import { Density } from "./Density";
import { Entries } from "./Entries";
import { Filters } from "./Filters";
import { Parts } from "./Parts";
import { addressOf, byDay, dayOf, KINDS, moved, startOf, USUAL, ZOOMS } from "./periods";
import { Told } from "./Told";

export function WhenView({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const clock = useClock();
  const { me } = useMemory();
  const zoom = ZOOMS.find((one) => one === query.get("zoom")) ?? "month";
  const named = query.get("kinds")?.split(",") ?? USUAL;
  const kinds = useMemo(() => KINDS.filter((one) => named.includes(one)), [query]);
  const node = query.get("node") ?? "";
  const filter = { kind: kinds, ...(node && { node }) };
  const all = useAsked((client) => client.countTimeline({ query: { step: "month", ...filter } }), [kinds.join(), node]);
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], all.again);
  const months = useMemo(() => byDay(all.data?.items ?? []), [all.data]);
  const today = times.field(new Date());
  // Without a day in the address: today's period, or the latest one before it that has anything.
  const latest = [...months.keys()].sort().filter((month) => month <= today).at(-1) ?? [...months.keys()][0] ?? today;
  const recent = latest.slice(0, 7) === today.slice(0, 7) ? today : moved("day", moved("month", startOf("month", latest), 1), -1);
  const start = startOf(zoom, dayOf(query.get("at") ?? "") || (zoom === "month" || zoom === "year" ? latest : recent));
  const end = moved(zoom, start, 1);
  const show = (changes: Record<string, string>) =>
    go(["timeline"], {
      at: query.get("at"), zoom: query.get("zoom"), kinds: query.get("kinds"), node, ...changes,
    });
  const to = (day: string, closer = zoom) =>
    show({ at: addressOf(closer, startOf(closer, day)), zoom: closer === "month" ? "" : closer });
  const span = { from: start, to: end };
  if (all.error) return <p className="said bad" role="alert">{all.error}</p>;
  if (!all.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  if (months.size === 0 && !node && kinds.length >= USUAL.length)
    return <p className="empty">{words.timeline.empty} <a href={href(["ask"])}>{words.timeline.howto}</a></p>;
  return (
    <>
      <Filters kinds={kinds} node={node} onShow={show} />
      <Density months={months} zoom={zoom} start={start} today={today} onMove={to} />
      <div className="bar period">
        <div className="actions">
          <button type="button" onClick={() => to(moved(zoom, start, -1))}>{words.timeline.earlier}</button>
          <button type="button" onClick={() => to(moved(zoom, start, 1))}>{words.timeline.later}</button>
          <button type="button" className="quiet" onClick={() => to(today)}>{words.timeline.today}</button>
        </div>
        <div className="zooms" role="group" aria-label={words.timeline.zoom}>
          {ZOOMS.map((one) => (
            <button type="button" className="quiet" key={one} aria-pressed={zoom === one} onClick={() => to(start, one)}>
              {words.timeline.zooms[one]}
            </button>
          ))}
        </div>
      </div>
      <h2 className="now" aria-live="polite">{clock.period(zoom, start)}</h2>
      <Parts zoom={zoom} start={start} filter={filter} today={today} onOpen={to} />
      <Told zoom={zoom} span={span} />
      <Entries span={span} filter={filter} onLatest={months.size > 0 ? () => show({ at: "", zoom: "" }) : undefined} />
      <div className="copies">
        <Copy label={words.ask.copyLink} text={() => location.href} />
        <Copy label={words.ask.copyCurl} text={() => readAsCurl("/v1/timeline", me.user.external_id, { ...span, ...filter })} />
      </div>
    </>
  );
}
