// How much the service is used: requests of keys by day, and what the language model cost.
import type { Spending } from "@memsvc/client";
import { useAsked } from "../api/memory";
import { go } from "../app/route";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Days } from "./Days";
import { useFigures } from "./figures";
import { Table } from "./Table";

const SPANS = ["7", "30", "90", "365"] as const;

export function Usage({ query }: { query: URLSearchParams }) {
  const { operations: texts } = useWords();
  const { number } = useFigures();
  const times = useTimes();
  const span = SPANS.find((one) => one === query.get("days")) ?? "30";
  const days = Number(span);
  const cell = query.get("cell");
  const use = useAsked((client) => client.listKeyUse({ query: { days } }), [days]);
  const keys = useAsked((client) => client.listKeys({ query: { limit: 1000 } }), []);
  const labels = new Map(keys.data?.items.map((one) => [one.key_id, one.label]));
  const found = use.data?.items ?? [];
  const byKey = [...new Set(found.map((one) => one.key_id))]
    .map((id) => ({ id, used: found.filter((one) => one.key_id === id) }))
    .map((one) => ({ ...one, requests: one.used.reduce((sum, day) => sum + day.requests, 0) }))
    .sort((a, b) => b.requests - a.requests);
  return (
    <div className="parts">
      <div className="bar">
        <p className="lead">{texts.usageLead}</p>
        <div className="narrow">
          <label>
            <span>{texts.lastDays}</span>
            <select value={span} onChange={(event) => go(["operations", "usage"], { days: event.target.value, cell }, { replace: true })}>
              {SPANS.map((one) => <option key={one} value={one}>{one}</option>)}
            </select>
          </label>
        </div>
      </div>
      <section>
        <h2>{texts.requests}</h2>
        {use.error && <p className="said bad" role="alert">{use.error}</p>}
        {use.data && found.length === 0 && <p className="lead">{texts.noUse}</p>}
        {found.length > 0 && (
          <>
            <div className="all-days"><Days days={found} label={texts.useTitle} span={days} /></div>
            <Table label={texts.requests} rows={byKey} name={(one) => one.id} columns={[
              { head: texts.key, cell: (one) => <><span dir="auto">{labels.get(one.id)}</span> <code>{one.id}</code></> },
              { head: texts.useTitle, cell: (one) => <Days days={one.used} label={`${texts.useTitle}: ${labels.get(one.id) ?? one.id}`} span={days} /> },
              { head: texts.last, cell: (one) => (one.used[0] ? times.minute(one.used[0].last_at) : "") },
              { head: texts.requests, cell: (one) => number(one.requests), number: true },
            ]} foot={[texts.total, "", "", number(byKey.reduce((sum, one) => sum + one.requests, 0))]} />
          </>
        )}
      </section>
      <Costs days={days} cell={cell} />
    </div>
  );
}

function Costs({ days, cell }: { days: number; cell: string | null }) {
  const { operations: texts } = useWords();
  const { number, day } = useFigures();
  const { data, error } = useAsked((client) => client.listCosts({ query: { days, cell } }), [days, cell]);
  const rows = data?.items ?? [];
  const sum = (of: (one: Spending) => number) => number(rows.reduce((before, one) => before + of(one), 0));
  const seconds = (one: Spending) => Math.round(one.ms / 1_000);
  const money = rows.some((one) => one.cost !== null);
  return (
    <section>
      <h2>{texts.costs}</h2>
      {error && <p className="said bad" role="alert">{error}</p>}
      {data && rows.length === 0 && <p className="lead">{texts.noCosts}</p>}
      {rows.length > 0 && (
        <Table label={texts.costs} rows={rows} name={(one) => one.day + one.task + one.model} columns={[
          { head: texts.day, cell: (one) => day(one.day) },
          { head: texts.task, cell: (one) => one.task },
          { head: texts.model, cell: (one) => one.model },
          { head: texts.calls, cell: (one) => number(one.calls), number: true },
          { head: texts.answered, cell: (one) => number(one.answered), number: true },
          { head: texts.tokensIn, cell: (one) => number(one.tokens_in), number: true },
          { head: texts.tokensOut, cell: (one) => number(one.tokens_out), number: true },
          { head: texts.seconds, cell: (one) => number(seconds(one)), number: true },
          ...(money ? [{ head: texts.cost, cell: (one: Spending) => one.cost ?? "", number: true }] : []),
        ]} foot={[
          texts.total, "", "", sum((one) => one.calls), sum((one) => one.answered), sum((one) => one.tokens_in),
          sum((one) => one.tokens_out), sum(seconds), ...(money ? [sum((one) => Number(one.cost ?? 0))] : []),
        ]} />
      )}
    </section>
  );
}
