// What is due in the days ahead: plans that people told, tasks, events, facts that change, birthdays.
import type { AgendaItem } from "@memsvc/client";
import { useState } from "react";
import { useMemory, usePages } from "../api/memory";
import { useLiveAgain } from "../api/live";
import { go, href } from "../app/route";
import { readAsCurl } from "../sources/copies";
import { Source } from "../source/Source";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { useClock } from "./clock";
import { moved } from "./periods";

const AHEAD = ["7", "30", "90", "365"] as const;
const PAGE = 100;

export function AgendaView({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const times = useTimes();
  const clock = useClock();
  const { me } = useMemory();
  const ahead = AHEAD.find((one) => one === query.get("days")) ?? "30";
  const today = times.field(new Date());
  const span = { from: today, to: moved("day", today, Number(ahead)) };
  const found = usePages(
    async (client, cursor) => {
      const page = await client.readAgenda({ query: { ...span, cursor, limit: PAGE } });
      return { ...page, items: page.items.map((item) => ({ ...item, truncated: page.truncated })) };
    },
    [span.from, span.to],
  );
  useLiveAgain(["GRAPH_UPDATE", "SOURCE_UPDATE"], found.again);
  const days = new Map<string, AgendaItem[]>();
  for (const one of found.items) {
    const begins = one.begins.slice(0, 10);
    const day = begins < today ? today : begins;
    days.set(day, [...(days.get(day) ?? []), one]);
  }
  return (
    <section className="agenda">
      <div className="bar">
        <div className="narrow">
          <label>
            <span>{words.timeline.next}</span>
            <select value={ahead} onChange={(event) => go(["timeline"], { view: "agenda", days: event.target.value })}>
              {AHEAD.map((one) => <option key={one} value={one}>{words.timeline.days(Number(one))}</option>)}
            </select>
          </label>
        </div>
        <div className="copies">
          <Copy label={words.ask.copyCurl} text={() => readAsCurl("/v1/agenda", me.user.external_id, span)} />
        </div>
      </div>
      {found.error && <p className="said bad" role="alert">{found.error}</p>}
      {!found.data && found.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {found.items.some((one) => one.truncated) && <p className="said">{words.timeline.truncated}</p>}
      {found.data && found.items.length === 0 && (
        <p className="empty">{words.timeline.noAgenda} {words.timeline.noAgendaLead}</p>
      )}
      <div className="days">
        {[...days].map(([day, items]) => (
          <section key={day} aria-label={clock.weekday(day)}>
            <h3><time dateTime={day}>{clock.weekday(day)}</time></h3>
            <ul>{items.map((one) => <Due key={`${one.id} ${one.begins}`} item={one} />)}</ul>
          </section>
        ))}
      </div>
      {found.more && <p className="further"><button type="button" onClick={found.more}>{words.things.more}</button></p>}
    </section>
  );
}

function Due({ item }: { item: AgendaItem }) {
  const words = useWords();
  const times = useTimes();
  const clock = useClock();
  const [opened, setOpened] = useState(false);
  const ofNode = item.kind === "task" || item.kind === "event" || item.kind === "yearly";
  const says = item.kind === "message" ? "" : (words.timeline.says[item.says ?? ""] ?? item.says);
  return (
    <li className={item.past ? "entry past" : "entry"}>
      <span className="at">{item.timed ? clock.hour(item.begins) : words.timeline.allDay}</span>
      <span className="kind">{says || words.timeline.due[item.kind]}</span>
      <div className="what">
        <p>
          {ofNode ? <a href={href(["things", item.memory_id])} dir="auto">{item.what}</a> : <span className="told-so" dir="auto">{item.what}</span>}
          {item.state && <span className="many" dir="auto">{item.state}</span>}
        </p>
        {item.said_at && (
          <p className="excerpt" dir="auto">
            {[words.timeline.saidOn(item.speaker ?? "", times.day(item.said_at)), item.remark].filter(Boolean).join(" · ")}
          </p>
        )}
        {opened && <Source passageId={item.memory_id} />}
      </div>
      {!ofNode && (
        <button type="button" className="quiet" aria-expanded={opened} onClick={() => setOpened(!opened)}
          aria-label={`${opened ? words.timeline.hide : words.timeline.open}: ${item.what.slice(0, 120)}`}>
          {opened ? words.timeline.hide : words.timeline.open}
        </button>
      )}
    </li>
  );
}
