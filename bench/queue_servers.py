"""The second half of ``bench.queue``: jobs carried by PostgreSQL alone, by Redis and by RabbitMQ, on one machine.

Each server carries the same jobs to 1, 2 and 4 worker processes. Workers and relay are ready before all jobs become due
at one moment, so their start is not measured. The database's load is what its processes used of the CPUs, its
transactions and the WAL it wrote while the jobs were done. What an idle worker costs it is measured apart.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from bench.harness import Bench, Outcome, table
from bench.metrics import percentile
from bench.queue import CLIENTS, USERS, ask_many, ask_singly, drained, waits, worker
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.server import embedded
from tests.servers import Rabbit, Redis

SINGLE, WORKERS, WAITING = 100, (1, 2, 4), 1_000
READY_S, IDLE_S = 6.0, 15.0
DUE_S = 3.0
"""All jobs become due so long after the statement that makes them due."""
LATER = "UPDATE memsvc.jobs SET run_after = now() + interval '9 minutes' WHERE state = 'pending'"
DUE = """
WITH moment AS (SELECT clock_timestamp() + make_interval(secs => %s) AS at),
due AS (UPDATE memsvc.jobs SET run_after = m.at FROM moment AS m WHERE state = 'pending')
SELECT extract(epoch FROM m.at)::float FROM moment AS m
"""
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity WHERE usename = 'memsvc_app' AND datname = current_database()
"""
LAST = "SELECT extract(epoch FROM max(finished_at))::float FROM memsvc.jobs WHERE job_id = ANY (%s)"
WORK = """
SELECT d.xact_commit, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint
FROM pg_stat_database AS d WHERE d.datname = current_database()
"""
TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def carried_by(server: str, folder: Path) -> Iterator[Mapping[str, str]]:
    """A server that carries jobs, while the block runs; variables that name it."""
    if server == "postgresql":
        yield {}
        return
    with (Redis if server == "redis" else Rabbit)(folder / server) as running:
        yield {"MEMSVC_QUEUE_URL": running.url}


@contextmanager
def working(bench: Bench, variables: Mapping[str, str], workers: int) -> Iterator[None]:
    """So many worker processes, and a relay if another server carries the jobs."""
    with ExitStack() as stack:
        for _ in range(workers):
            stack.enter_context(worker(bench, **variables))
        if variables:
            stack.enter_context(worker(bench, f"relay --waiting {WAITING}", **variables))
        yield


def cpu_seconds(bench: Bench) -> float:
    """CPU time that the embedded server's processes have used, those that ended included; 0 for a server elsewhere."""
    used = 0.0
    for pid in embedded._processes(bench.settings.data_dir):  # noqa: SLF001 - nobody else finds them
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        used += sum(map(int, fields[11:15])) / TICKS
    return used


def load(bench: Bench, admin: psycopg.Connection) -> tuple[float, float, float]:
    """CPU seconds, transactions and bytes of WAL of the database until now."""
    admin.execute("SELECT pg_stat_force_next_flush()")
    [(commits, wal)] = admin.execute(WORK).fetchall()
    return cpu_seconds(bench), float(commits), float(wal)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where jobs are asked for, and who looks at the database."""

    bench: Bench
    db: Database
    owners: Sequence[Owner]
    admin: psycopg.Connection


async def idle(stage: Stage, variables: Mapping[str, str]) -> dict[str, float]:
    """What one idle worker costs the database in a second; a relay, if there is one, is not counted as a worker."""
    workers = WORKERS[-1]
    with working(stage.bench, variables, workers):
        await asyncio.sleep(READY_S * (1 + workers / 2))
        before = load(stage.bench, stage.admin)
        await asyncio.sleep(IDLE_S)
        cpu, commits, _ = (end - start for start, end in zip(before, load(stage.bench, stage.admin), strict=True))
        [(connections,)] = stage.admin.execute(CONNECTIONS).fetchall()
    return {
        "idle.database_cpu_ms_per_s": 1_000 * cpu / IDLE_S / workers,
        "idle.transactions_per_s": commits / IDLE_S / workers,
        "idle.connections": connections / workers,
    }


async def drain(stage: Stage, variables: Mapping[str, str], workers: int, count: int) -> dict[str, float]:
    """Ask for jobs, let workers get ready, make all jobs due; speed, and the database's load for one job."""
    bench, admin = stage.bench, stage.admin
    jobs, _ = await ask_many(stage.db, stage.owners, count, f"{workers} workers")
    admin.execute(LATER)
    admin.execute("VACUUM (ANALYZE) memsvc.jobs")
    admin.execute("VACUUM (ANALYZE) memsvc.dramatiq_queue")
    admin.execute("CHECKPOINT")
    with working(bench, variables, workers):
        await asyncio.sleep(READY_S * (1 + workers / 2))
        [(due_at,)] = admin.execute(DUE, [DUE_S]).fetchall()
        await asyncio.sleep(max(0.0, due_at - time.time() - 0.2))
        before = load(bench, admin)
        await asyncio.to_thread(drained, admin, jobs, f"drain by {workers}")
        after = load(bench, admin)
        [(last,)] = admin.execute(LAST, [jobs]).fetchall()
    cpu, commits, wal = (end - start for start, end in zip(before, after, strict=True))
    return {
        "jobs_per_s": len(jobs) / (last - due_at),
        "database_cpu_ms": 1_000 * cpu / len(jobs),
        "transactions": commits / len(jobs),
        "wal_bytes": wal / len(jobs),
    }


async def compare(bench: Bench, jobs: int, rounds: int) -> Outcome:
    """Measure all servers, in turns, so that a busy moment of the machine meets each of them."""
    outcome = Outcome("queue", data_set="servers")
    db = bench.connect(pool_size=CLIENTS)
    found: dict[str, list[float]] = {}
    with TemporaryDirectory(prefix="memsvc-bench-servers-") as folder, bench.admin() as admin:
        try:
            owners = [await new_user(db, f"another user {i}") for i in range(USERS)]
            stage = Stage(bench, db, owners, admin)
            for number in range(rounds):
                for server in ("postgresql", "redis", "rabbitmq"):
                    with carried_by(server, Path(folder) / str(number)) as variables:
                        for workers in WORKERS:
                            measured = await drain(stage, variables, workers, jobs)
                            for name, value in measured.items():
                                found.setdefault(f"{server}.{workers}.{name}", []).append(value)
                        with working(bench, variables, 1):
                            sent = await ask_singly(db, owners, admin, SINGLE)
                        for name, value in (waits(admin, sent) | await idle(stage, variables)).items():
                            found.setdefault(f"{server}.{name}", []).append(value)
        finally:
            await db.close()
    outcome.figures |= {name: percentile(values, 0.5) for name, values in found.items()}
    outcome.configuration["load_at_end"] = f"{os.getloadavg()[2]:.1f}"
    outcome.configuration["servers"] = (
        f"{jobs} jobs drained {rounds} times by {', '.join(map(str, WORKERS))} processes, {SINGLE} single jobs; "
        "medians; database load for one job; Redis with appendfsync always, RabbitMQ with durable queues, a relay with "
        f"--waiting {WAITING}"
    )
    rows = [["server, workers", "jobs/s", "database CPU", "transactions", "WAL"]]
    for server in ("postgresql", "redis", "rabbitmq"):
        for workers in WORKERS:
            figures = [outcome.figures[f"{server}.{workers}.{name}"] for name in
                       ("jobs_per_s", "database_cpu_ms", "transactions", "wal_bytes")]  # fmt: skip
            rows.append([
                f"{server}, {workers}", f"{figures[0]:,.0f}", f"{figures[1]:.2f} ms", f"{figures[2]:.2f}",
                f"{figures[3]:,.0f} B",
            ])  # fmt: skip
    table("the same jobs by each server", rows)
    rows = [["server", "latency p50", "p95", "idle worker: CPU", "transactions", "connections"]]
    for server in ("postgresql", "redis", "rabbitmq"):
        figures = [outcome.figures[f"{server}.{name}"] for name in
                   ("latency.p50_ms", "latency.p95_ms", "idle.database_cpu_ms_per_s", "idle.transactions_per_s",
                    "idle.connections")]  # fmt: skip
        rows.append([
            server, f"{figures[0]:.1f} ms", f"{figures[1]:.1f} ms", f"{figures[2]:.1f} ms/s", f"{figures[3]:.1f}/s",
            f"{figures[4]:.1f}",
        ])  # fmt: skip
    table("one job alone, and an idle worker", rows)
    return outcome
