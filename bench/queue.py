"""``python -m bench.queue``: how fast jobs are asked for, taken and settled, and what a killed worker costs.

Jobs are asked for as the application's role, in the transaction that stores what they are about. They are run by real
``memsvc worker`` processes without an embedding model, so what is measured is the way of a job and not its work. Times
of drains are the database's (``jobs.finished_at``); nobody looks on while a drain is measured. ``bench.queue_servers``
then compares PostgreSQL with Redis and RabbitMQ in the same sitting.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from uuid import UUID, uuid4

import psycopg
from sqlalchemy import text

from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.queue.jobs import announce_jobs

USERS, JOBS, CLIENTS, WARM_UP = 60, 6_000, 8, 200
SINGLE, PAUSE_S = 300, 0.1
KILLS, HELD = 5, 20
BUSY, LATE = 2_000, 10
PATIENCE_S = 120.0
BARS = {
    "enqueue.jobs_per_s": ">= 500",
    "drain.jobs_per_s": ">= 300",
    "latency.p50_ms": "<= 50",
    "recovery.max_s": "<= 30",
    "fairness.ratio": "<= 0.1",
}

ASK = text("""
WITH source AS (
  INSERT INTO memsvc.sources (user_id, kind, identifier) VALUES (:user_id, 'conversation', :identifier)
  RETURNING source_id
)
SELECT memsvc.ask_job(:user_id, 'process', s.source_id) FROM source AS s
""")
PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
HANDS = "SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'consumed'"
DRAINED = """
SELECT count(*), extract(epoch FROM max(finished_at) - min(finished_at))::float FROM memsvc.jobs
WHERE job_id = ANY (%s) AND state = 'done'
"""
FINISHED = "SELECT job_id, extract(epoch FROM finished_at)::float FROM memsvc.jobs WHERE job_id = ANY (%s)"


async def ask(db: Database, owner: Owner) -> tuple[UUID, float]:
    """A new source and its job in one transaction; the job's id, and the clock when the commit was sent."""
    async with db.transaction(owner.user_id) as connection:
        values = {"user_id": owner.user_id, "identifier": str(uuid4())}
        job_id: UUID = (await connection.execute(ASK, values)).scalar_one()
        return job_id, time.time()


async def ask_many(db: Database, owners: Sequence[Owner], count: int, label: str) -> tuple[list[UUID], float]:
    """So many jobs of these users in turn, by eight clients at once; their ids, and the seconds that it took."""
    waiting = iter(range(count))
    made: list[UUID] = []
    with progress(label, count) as done:

        async def client() -> None:
            for number in waiting:
                made.append((await ask(db, owners[number % len(owners)]))[0])
                done(1)

        start = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        return made, time.perf_counter() - start


# Workers ------------------------------------------------------------------------------------------------------------


@contextmanager
def worker(bench: Bench, command: str = "worker", **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process, or another command with these variables, while the block runs.

    It is ended by SIGKILL where it does not end by itself.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")}
    environment |= {
        "MEMSVC_DATA_DIR": str(bench.settings.data_dir),
        "MEMSVC_DATABASE_URL": bench.admin_url,
        "MEMSVC_EMBEDDING_MODEL": "",
        "MEMSVC_EXTRACTOR": "none",
        "MEMSVC_LOG_LEVEL": "warning",
        **more,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "memsvc.cli", *command.split()],
        env=environment, cwd=bench.settings.data_dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(condition: Callable[[], bool], what: str, pause: float = 0.05) -> None:
    """Return when the condition holds.

    Raises:
        ConfigurationError: it did not within two minutes; the figures would mean nothing.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise ConfigurationError(f"In vain: {what}.")
        time.sleep(pause)


def number(admin: psycopg.Connection, query: str, *values: object) -> float:
    """The first value of a row."""
    row = admin.execute(query.encode(), values or None).fetchone()
    return float(row[0]) if row and row[0] is not None else 0.0


def drained(admin: psycopg.Connection, jobs: Sequence[UUID], label: str) -> tuple[int, float]:
    """Wait until nothing is pending; how many of these jobs are done, and the seconds from the first to the last."""
    with progress(label, len(jobs)) as done:
        left = [float(len(jobs))]

        def empty() -> bool:
            now = min(left[0], number(admin, PENDING))
            done(int(left[0] - now))
            left[0] = now
            return now == 0

        wait_until(empty, "all jobs are done", pause=0.5)
    [(count, seconds)] = admin.execute(DRAINED, [list(jobs)]).fetchall()
    if count != len(jobs):
        raise ConfigurationError(f"{len(jobs) - count} jobs were not done.")
    return count, seconds


# What is measured ---------------------------------------------------------------------------------------------------


async def enqueue_and_drain(
    bench: Bench, db: Database, owners: Sequence[Owner], admin: psycopg.Connection, outcome: Outcome
) -> None:
    """Ask for jobs while nobody works, then let one worker do them all."""
    await ask_many(db, owners, WARM_UP, "warm-up")
    jobs, seconds = await ask_many(db, owners, JOBS, "enqueue")
    outcome.figures["enqueue.jobs_per_s"] = len(jobs) / seconds
    admin.execute("VACUUM (ANALYZE) memsvc.jobs")
    with worker(bench):
        count, seconds = await asyncio.to_thread(drained, admin, jobs, "drain")
    outcome.figures["drain.jobs_per_s"] = (count - 1) / seconds


async def latency(
    bench: Bench, db: Database, owners: Sequence[Owner], admin: psycopg.Connection, outcome: Outcome
) -> None:
    """From the commit of a single job, while a worker has nothing to do, to its end."""
    with worker(bench):
        outcome.figures |= waits(admin, await ask_singly(db, owners, admin))


async def ask_singly(
    db: Database, owners: Sequence[Owner], admin: psycopg.Connection, count: int = SINGLE
) -> dict[UUID, float]:
    """Ask for single jobs while a worker has nothing else to do; each job's id and the clock when it was asked for."""
    sent: dict[UUID, float] = {}
    with progress("single jobs", count) as done:
        job_id, _ = await ask(db, owners[0])
        ready = f"SELECT (state = 'done')::integer FROM memsvc.jobs WHERE job_id = '{job_id}'"
        await asyncio.to_thread(wait_until, lambda: number(admin, ready) == 1, "the worker works")
        for i in range(count):
            await asyncio.sleep(PAUSE_S * random.uniform(0.5, 1.5))
            job_id, sent_at = await ask(db, owners[i % len(owners)])
            announce_jobs(db)
            sent[job_id] = sent_at
            done(1)
        await asyncio.to_thread(drained, admin, list(sent), "the last ones")
    return sent


def waits(admin: psycopg.Connection, sent: Mapping[UUID, float], prefix: str = "") -> dict[str, float]:
    """Percentiles of the time from the commit of jobs to their ends."""
    times = [(end - sent[job_id]) * 1_000 for job_id, end in admin.execute(FINISHED, [list(sent)])]
    return {f"{prefix}latency.p{share}_ms": percentile(times, share / 100) for share in (50, 95, 99)}


async def recovery(
    bench: Bench, db: Database, owners: Sequence[Owner], admin: psycopg.Connection, outcome: Outcome
) -> None:
    """Kill a worker with jobs in its hands; seconds until another one has done them all."""
    times: list[float] = []
    with progress("kills", KILLS) as done, bench.admin() as holder:
        for _ in range(KILLS):
            jobs, _seconds = await ask_many(db, owners, HELD, "held jobs")
            holder.execute("BEGIN")
            holder.execute("SELECT FROM memsvc.sources FOR NO KEY UPDATE")  # nobody can finish a job
            with ExitStack() as second:
                with worker(bench) as first:
                    await asyncio.to_thread(wait_until, lambda: number(admin, f"SELECT count(*) FROM ({HANDS})") > 3,
                                            "a worker takes jobs")  # fmt: skip
                    mine = [row[0] for row in admin.execute(HANDS)]
                    second.enter_context(worker(bench))
                    await asyncio.sleep(random.uniform(3, 7))  # at any time of its heartbeat
                    first.kill()
                    killed = time.time()
                holder.execute("COMMIT")
                await asyncio.to_thread(drained, admin, jobs, "recovery")
            ends = [end for _, end in admin.execute(FINISHED, [mine])]
            times.append(max(ends) - killed)
            done(1)
    outcome.figures["recovery.p50_s"] = percentile(times, 0.5)
    outcome.figures["recovery.max_s"] = max(times)


async def fairness(
    bench: Bench, db: Database, owners: Sequence[Owner], admin: psycopg.Connection, outcome: Outcome
) -> None:
    """Ten users ask for one job each while another's two thousand are being done."""
    jobs, _seconds = await ask_many(db, owners[:1], BUSY, "one busy user")
    with worker(bench):
        await asyncio.to_thread(wait_until, lambda: number(admin, PENDING) < BUSY * 0.95, "the drain has begun", 0.02)
        late = dict([await ask(db, owner) for owner in owners[1 : LATE + 1]])
        _, whole = await asyncio.to_thread(drained, admin, [*jobs, *late], "drain of one busy user")
    waits = [end - late[job_id] for job_id, end in admin.execute(FINISHED, [list(late)])]
    outcome.figures["fairness.worst_wait_s"] = max(waits)
    outcome.figures["fairness.whole_drain_s"] = whole
    outcome.figures["fairness.ratio"] = max(waits) / whole


async def measure(bench: Bench, outcome: Outcome) -> None:
    """The whole bench."""
    db = bench.connect(pool_size=CLIENTS)
    try:
        with bench.admin() as admin:
            owners = [await new_user(db, f"user {i}") for i in range(USERS)]
            for part in (enqueue_and_drain, latency, fairness, recovery):
                await part(bench, db, owners, admin, outcome)
    finally:
        await db.close()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["own", "servers"], help="only PostgreSQL's queue, or only the comparison")
    parser.add_argument("--jobs", type=int, default=3_000, help="jobs of each drain of the comparison")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the comparison")
    chosen = parser.parse_args()

    def bench_queue() -> None:
        outcome = Outcome("queue", bars=dict(BARS))
        outcome.configuration |= {
            "users": USERS,
            "jobs": JOBS,
            "clients": CLIENTS,
            "single_jobs": SINGLE,
            "kills": KILLS,
            "fairness": f"{BUSY} jobs of one user, then {LATE} users with one each",
            "worker": "one process of 'memsvc worker', 4 threads, no embedding model",
        }
        with database() as bench:
            if chosen.part != "servers":
                asyncio.run(measure(bench, outcome))
                figures_table("queue", outcome, ("",))
                report(outcome, bench)
            if chosen.part != "own":
                from bench.queue_servers import compare  # noqa: PLC0415 - it uses this module

                report(asyncio.run(compare(bench, chosen.jobs, chosen.rounds)), bench)

    run(bench_queue)


if __name__ == "__main__":
    main()
