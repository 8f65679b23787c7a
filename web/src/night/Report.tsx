// The report of a night: what it brought, in sections; those without content are left out.
import type { SleepReport } from "@memsvc/client";
import type { ReactNode } from "react";
import { useLiveAgain } from "../api/live";
import { useAsked } from "../api/memory";
import { go, href } from "../app/route";
import { SCREENS } from "../app/screens";
import { DayField } from "../ui/DayField";
import { Copy } from "../ui/Copy";
import { Icon } from "../ui/Icon";
import { useTimes } from "../ui/times";
import { useWords, type Words } from "../words";
import { Entry } from "./Entry";

const DAY_MS = 86_400_000;

export function Report({ date }: { date: string }) {
  const words = useWords();
  const times = useTimes();
  const { data, error, again } = useAsked(
    (client) => client.readSleepReport({ query: date ? { date, format: "json" } : { format: "json" } }), [date],
  );
  useLiveAgain(["SLEEP_FINISHED", "GRAPH_UPDATE"], again);
  const today = times.field(new Date());
  const shown = data?.date ?? date;
  const turn = (days: number) =>
    go(["night"], { date: new Date(Date.parse(`${shown}T12:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10) });
  if (error && !data) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <article className="report">
      <header>
        <div className="bar">
          <h2>{words.night.morning(times.day(`${data.date}T12:00:00Z`))}</h2>
          <div className="narrow turning">
            <button type="button" className="icon" aria-label={words.night.before} onClick={() => turn(-1)}><Icon name="left" /></button>
            <DayField aria-label={words.night.date} value={shown} max={today} onDay={(chosen) => go(["night"], { date: chosen })} />
            <button type="button" className="icon" aria-label={words.night.after} disabled={shown >= today} onClick={() => turn(1)}><Icon name="right" /></button>
          </div>
        </div>
        <p className="brought">{brought(data, words)}</p>
        {data.until && <p className="lead small">{data.since ? words.night.between(times.minute(data.since), times.minute(data.until)) : words.night.upTo(times.minute(data.until))}</p>}
      </header>
      <Waiting report={data} />
      <Sections report={data} />
      <footer><Copy label={words.night.copy} text={() => plain(data, words)} /></footer>
    </article>
  );
}

function brought(report: SleepReport, words: Words): string {
  if (report.until === null) return words.night.never;
  const { counted } = words.night;
  const told = [
    report.learnt && counted.learnt(report.learnt), report.ended && counted.ended(report.ended),
    report.summarised && counted.summarised(report.summarised), report.merged && counted.merged(report.merged),
    report.archived && counted.archived(report.archived),
  ].filter((one) => one !== 0);
  if (told.length === 0) return words.night.nothing;
  return `${new Intl.ListFormat(words.code, { type: "conjunction" }).format(told)}.`;
}

function plain(report: SleepReport, words: Words): string {
  const lines = [brought(report, words), ...report.facts.map((one) => `- ${one.fact}`), ...report.summaries.map((one) => `- ${one.text}`)];
  return `${lines.join("\n")}\n`;
}

function Waiting({ report }: { report: SleepReport }) {
  const words = useWords();
  const waits: [keyof Words["night"]["waits"], number][] = [
    ["facts", report.facts_to_review], ["duplicates", report.duplicates_to_review],
    ["lessons", report.lessons_to_review], ["proposals", report.proposals_to_review],
  ];
  const some = waits.filter(([, n]) => n > 0);
  const inbox = SCREENS.some(({ path }) => path === "inbox");
  if (some.length === 0) return null;
  return (
    <p className="said waits">
      <span>{words.night.waitsTitle} {some.map(([kind, n]) => words.night.waits[kind](n)).join(", ")}</span>
      {inbox && <a href={href(["inbox"])}>{words.night.decide}</a>}
    </p>
  );
}

function Sections({ report }: { report: SleepReport }) {
  const words = useWords();
  const times = useTimes();
  const section = (name: keyof Words["night"]["sections"], items: ReactNode[], all = items.length) =>
    (items.length > 0 || all > 0) && (
      <section>
        <h3>{words.night.sections[name]}</h3>
        <ul>
          {items}
          {all > items.length && <li className="lead">{items.length ? words.night.more(all - items.length) : words.night.unnamed(all)}</li>}
        </ul>
      </section>
    );
  const of = (task: string, kind: string, n: number) => `${words.night.tasks[task]?.name ?? task}: ${words.night.kinds[kind]?.(n) ?? `${n.toLocaleString(words.code)} ${kind.replaceAll("_", " ")}`}`;
  return (
    <>
      {section("due", report.due.map((item) => (
        <li key={item.id + item.begins}>
          <time dateTime={item.begins}>{item.timed ? times.minute(item.begins) : times.day(item.begins)}</time> <span dir="auto">{item.what}</span>
        </li>
      )))}
      {section("learnt", report.facts.map((one) => <Entry key={one.id} id={one.id} text={one.fact} />), report.learnt)}
      {section("ended", report.changes_of_mind.map((one) => (
        <Entry key={one.id} id={one.id} text={one.fact} over
          remark={[one.ended_at ? words.thing.until(times.day(one.ended_at)) : words.night.neverSo, one.now && words.night.now(one.now.fact)].filter(Boolean).join(". ")} />
      )), report.ended)}
      {section("summarised", report.summaries.map((one) => <Entry key={one.passage_id} id={one.passage_id} text={one.text} />), report.summarised)}
      {section("merged", report.merges.map((one) => (
        <li key={one.node_id}>
          <span dir="auto">{one.label === one.canonical_label ? words.night.sameName(one.label) : words.night.sameAs(one.label, one.canonical_label)}</span>{" "}
          <a href={href(["things", one.canonical_id])}>{words.night.look}</a>
        </li>
      )), report.merged)}
      {report.archived > 0 && section("archived", [
        <li key="n">{words.night.counted.archived(report.archived)} <a href={href(["night"], { view: "archive" })}>{words.night.look}</a></li>,
      ])}
      {section("other", report.other.map((one) => <li key={one.task + one.kind}>{of(one.task, one.kind, one.number)}</li>))}
      {section("failed", report.failed.map((one) => (
        <li key={one.run_id} className="bad">
          {words.night.tasks[one.task]?.name ?? one.task}: {one.error_code ? words.night.failed(one.error_code) : words.night.usedUp}
        </li>
      )))}
    </>
  );
}
