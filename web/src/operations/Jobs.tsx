// Background work: what waits by kind, why it failed, the jobs of all users with a second try, and dead letters.
import type { JobOfUser, KindNow } from "@memsvc/client";
import { useAct, useAsked, usePages } from "../api/memory";
import { go } from "../app/route";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { DeadLetters } from "./DeadLetters";
import { useEvery, useFigures } from "./figures";
import { Table } from "./Table";

const EVERY_S = 10;
const PAGE = 50;
const STATES = ["pending", "failed", "done", "cancelled"] as const;

export function Jobs({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const { operations: texts } = words;
  const cell = query.get("cell");
  const now = useAsked((client) => client.getOperations({ query: { cell } }), [cell]);
  useEvery(EVERY_S, now.again);
  return (
    <div className="parts">
      {now.error && <p className="said bad" role="alert">{now.error}</p>}
      {now.data && <ByKind kinds={now.data.work.kinds} />}
      {now.data && now.data.work.errors.length > 0 && <Errors errors={now.data.work.errors} />}
      <AllJobs state={STATES.find((one) => one === query.get("state"))} cell={cell} />
      <section>
        <h2>{texts.deadTitle}</h2>
        <p className="lead">{texts.deadLead}</p>
        <DeadLetters count={now.data?.backlog.dead_letters ?? 0} cell={cell} />
      </section>
    </div>
  );
}

function ByKind({ kinds }: { kinds: readonly KindNow[] }) {
  const { operations: texts } = useWords();
  const { number, age } = useFigures();
  // Dead letters without a job have a list of their own.
  const busy = kinds.filter((one) => one.kind !== "?").filter((one) => one.waiting || one.running || one.retrying || one.failed || one.dead || one.done_last_minute);
  return (
    <section>
      <h2>{texts.kindsTitle}</h2>
      {busy.length === 0 ? <p className="lead">{texts.noWork}</p> : (
        <Table label={texts.kindsTitle} rows={busy} name={(one) => one.queue + one.kind} columns={[
          { head: texts.kind, cell: (one) => one.kind },
          { head: texts.waiting, cell: (one) => number(one.waiting), number: true },
          { head: texts.running, cell: (one) => number(one.running), number: true },
          { head: texts.retrying, cell: (one) => number(one.retrying), number: true },
          { head: texts.failed, cell: (one) => number(one.failed), number: true },
          { head: texts.doneLastMinute, cell: (one) => number(one.done_last_minute), number: true },
          { head: texts.oldest, cell: (one) => (one.oldest_seconds == null ? "" : age(one.oldest_seconds)), number: true },
        ]} />
      )}
    </section>
  );
}

function Errors({ errors }: { errors: readonly { error_code: string; retrying: number; failed_last_hour: number; last_seconds: number | null }[] }) {
  const { operations: texts } = useWords();
  const { number, age } = useFigures();
  return (
    <section>
      <h2>{texts.errorsTitle}</h2>
      <Table label={texts.errorsTitle} rows={errors} name={(one) => one.error_code} columns={[
        { head: texts.errorCode, cell: (one) => one.error_code },
        { head: texts.retrying, cell: (one) => number(one.retrying), number: true },
        { head: texts.failed, cell: (one) => number(one.failed_last_hour), number: true },
        { head: texts.last, cell: (one) => (one.last_seconds == null ? "" : texts.ago(age(one.last_seconds))), number: true },
      ]} />
    </section>
  );
}

function AllJobs({ state, cell }: { state: (typeof STATES)[number] | undefined; cell: string | null }) {
  const words = useWords();
  const { operations: texts } = words;
  const times = useTimes();
  const act = useAct();
  const { say } = useNotices();
  const { items, more, error, data, again } = usePages(
    (client, cursor) => client.listAllJobs({ query: { limit: PAGE, ...(state && { state }), cursor, cell } }),
    [state, cell],
  );
  const users = useAsked((client) => client.listUsers({ query: { limit: 1000 } }), []);
  const nameOf = new Map(users.data?.items.map((one) => [one.user_id, one.name]));
  const retry = (job: JobOfUser) =>
    act((client) => client.retryAnyJob({ path: { job_id: job.job_id }, query: { cell } }), () => {
      say(texts.retried);
      again();
    });
  return (
    <section>
      <div className="bar">
        <h2>{texts.jobsTitle}</h2>
        <div className="narrow">
          <label>
            <span>{texts.state}</span>
            <select value={state ?? ""} onChange={(event) => go(["operations", "jobs"], { state: event.target.value, cell }, { replace: true })}>
              <option value="">{texts.anyState}</option>
              {STATES.map((one) => <option key={one} value={one}>{texts.states[one]}</option>)}
            </select>
          </label>
        </div>
      </div>
      {error && <p className="said bad" role="alert">{error}</p>}
      {data && items.length === 0 && <p className="lead">{texts.noJobs}</p>}
      <ul className="lines">
        {items.map((job) => (
          <li key={job.job_id}>
            <div>
              <strong>{job.kind}</strong> <span className={job.state === "failed" ? "state bad" : "state"}>{texts.states[job.state]}</span>
              <p className="meta">
                <time dateTime={job.created_at}>{times.minute(job.created_at)}</time>
                <span dir="auto">{nameOf.get(job.user_id) ?? job.user_id}</span>
                {job.attempts > 0 && <span>{texts.attempts(job.attempts)}</span>}
              </p>
              {job.error && job.state !== "done" && <p className="why"><code>{job.error_code}</code> <span dir="auto">{job.error}</span></p>}
            </div>
            {(job.state === "failed" || job.state === "cancelled") && (
              <button type="button" onClick={() => void retry(job)} aria-label={`${texts.retry}: ${job.kind}`}>{texts.retry}</button>
            )}
          </li>
        ))}
      </ul>
      {more && <p className="further"><button type="button" onClick={more}>{texts.more}</button></p>}
    </section>
  );
}
