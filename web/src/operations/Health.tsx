// The service at this moment: what needs a hand, how long work waits, components and the database.
import type { Operations } from "@memsvc/client";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { useWords } from "../words";
import { type Figures, useEvery, useFigures } from "./figures";

const EVERY_S = 10;
const LARGEST = 8;

export function Health({ cell }: { cell: string | null }) {
  const words = useWords();
  const figures = useFigures();
  const { data, error, again } = useAsked((client) => client.getOperations({ query: { cell } }), [cell]);
  useEvery(EVERY_S, again);
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const { operations: texts } = words;
  const { backlog, database } = data;
  return (
    <section className="health" aria-label={texts.tabs.health}>
      <Troubles data={data} cell={cell} />
      <div className="columns">
        <List title={texts.now} entries={[
          [texts.waiting, figures.number(backlog.pending)],
          [texts.running, figures.number(backlog.running)],
          [texts.retrying, figures.number(backlog.retrying)],
          [texts.failed, figures.number(backlog.failed)],
          [texts.dead, figures.number(backlog.dead_letters)],
          [texts.workers, figures.number(backlog.workers)],
        ]} />
        <List title={texts.lags} entries={[
          [texts.vectorLag, figures.age(backlog.embedding_lag_seconds)],
          [texts.factLag, figures.age(backlog.extraction_lag_seconds)],
          [texts.oldest, figures.age(backlog.oldest_pending_seconds)],
          [texts.deltas, figures.number(backlog.unfolded_deltas)],
        ]} />
        <List title={texts.database} entries={[
          [texts.size, figures.bytes(database.bytes)],
          [texts.connections, texts.of(figures.number(database.connections), figures.number(database.connections_max))],
          [texts.transaction, figures.age(database.oldest_transaction_seconds)],
          [texts.revision, data.revision ?? texts.none],
        ]} />
        <List title={texts.components} entries={data.components.map(({ name, value }) => [texts.names[name] ?? name, value ?? texts.none])} />
        <List title={texts.versions} entries={[
          ["memsvc", data.version], ["Python", data.python], ...Object.entries(data.extensions),
        ]} />
        <List title={texts.largest} entries={largest(data, figures, texts.rows)} />
      </div>
      <p className="small lead">{texts.metrics}</p>
    </section>
  );
}

function largest({ database }: Operations, figures: Figures, rows: (n: string) => string): [string, string][] {
  const tables = [...database.tables].sort((a, b) => b.live - a.live).slice(0, LARGEST);
  return tables.map(({ name, live }) => [name, rows(figures.number(live))]);
}

function Troubles({ data, cell }: { data: Operations; cell: string | null }) {
  const { operations: texts } = useWords();
  const { failed, dead_letters: dead, workers } = data.backlog;
  const jobs = <a href={href(["operations", "jobs"], { state: failed ? "failed" : "", cell })}>{texts.seeJobs}</a>;
  const bad = [
    !data.current && texts.outdated,
    workers === 0 && texts.noWorker,
    failed > 0 && <>{texts.failing(failed)} {jobs}</>,
    dead > 0 && <>{texts.lettersWait(dead)} {jobs}</>,
  ].filter(Boolean);
  if (bad.length === 0) return <p className="said">{texts.good}</p>;
  return <div className="troubles">{bad.map((one, index) => <p className="said bad" key={index}>{one}</p>)}</div>;
}

function List({ title, entries }: { title: string; entries: readonly (readonly [string, string])[] }) {
  return (
    <section className="counts">
      <h2>{title}</h2>
      <dl>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
