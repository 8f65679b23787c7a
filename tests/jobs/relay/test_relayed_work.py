"""Jobs are done by workers that take them from a real Redis or RabbitMQ, and each is done."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobs.actors import QUEUES, declare_actors
from memsvc.db.engine import Database, role_url
from memsvc.errors import EmbedderAnswerError
from memsvc.queue import execution as run
from memsvc.queue.broker import NotUnderstoodError
from memsvc.queue.execution import Step, Steps
from memsvc.queue.targets import Target, target
from memsvc.queue.worker import JobRunner, QueueWorker, prefetch_of
from memsvc.settings import Settings
from tests.acceptance.killpoints import MEMSVC
from tests.jobs.relay.conftest import Server, ask, process, relaying, until

pytestmark = pytest.mark.slow
AWAY_S = float(os.environ.get("MEMSVC_TEST_AWAY_S", "3"))
"""How long a server that was killed is away."""


@asynccontextmanager
async def working(server: Server, db: Database, steps: Steps, threads: int = 4) -> AsyncIterator[None]:
    """A worker in this process that takes jobs from a server."""
    broker = target(server.url, prefetch=prefetch_of(steps, QUEUES), hopeless=(NotUnderstoodError,)).broker
    runner = JobRunner(db, steps, broker)
    declare_actors(broker, runner)
    worker = QueueWorker(broker, runner, threads)
    worker.start()
    try:
        yield
    finally:
        await worker.stop()


@pytest.fixture
async def workers_db(admin_url: str, settings: Settings) -> AsyncIterator[Database]:
    """As a worker with four threads has it."""
    opened = Database(role_url(admin_url, "memsvc_app", settings.secret("app_password")), settings, pool_size=9)
    yield opened
    await opened.close()


def noting(done: list[str], seconds: float = 0) -> Step:
    """A step that takes so long and notes whose subject it was called for."""

    async def step(_db: Database, _user_id: UUID, subject_id: UUID) -> bool:
        await asyncio.sleep(seconds)
        done.append(str(subject_id))
        return False

    return step


def states(watcher: psycopg.Connection) -> dict[str, int]:
    """How many jobs of sources are in each state; at night others come in between."""
    query = "SELECT state, count(*) FROM memsvc.jobs WHERE kind = 'process' GROUP BY state"
    return dict(watcher.execute(query).fetchall())


async def test_jobs_go_through_the_server_and_are_done_once(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, workers_db: Database
) -> None:
    await ask(database, 40, 40, 20)
    await ask(database, 1, kind="tidy")
    done: list[str] = []
    steps: Steps = {"process": [noting(done)], "tidy": [noting([])]}
    async with relaying(database, server), working(server, workers_db, steps):
        await until(lambda: states(watcher) == {"done": 100})
        await until(lambda: not watcher.execute("SELECT FROM memsvc.jobs WHERE state = 'pending'").fetchone())
    subjects = [str(row[0]) for row in watcher.execute("SELECT subject_id FROM memsvc.jobs WHERE kind = 'process'")]
    assert sorted(done) == sorted(subjects)
    assert reader.waiting("models") == reader.waiting("upkeep") == 0


async def test_a_job_that_fails_goes_through_the_server_again(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, workers_db: Database
) -> None:
    [[job]] = await ask(database, 1)
    tries = 0

    async def fails_once(_db: Database, _user_id: UUID, _subject_id: UUID) -> bool:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise EmbedderAnswerError
        return False

    async with relaying(database, server), working(server, workers_db, {"process": [fails_once]}):
        await until(lambda: states(watcher) == {"pending": 1} and tries == 1)
        await until(lambda: watcher.execute("SELECT 1 FROM memsvc.jobs WHERE attempts = 1").fetchone())
        watcher.execute("UPDATE memsvc.jobs SET run_after = now() WHERE job_id = %s", [job])  # its wait is over
        await until(lambda: states(watcher) == {"done": 1})
    assert tries == 2


async def test_a_job_that_somebody_else_has_comes_back(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, workers_db: Database
) -> None:
    [[job]] = await ask(database, 1)
    done: list[str] = []
    async with relaying(database, server), working(server, workers_db, {"process": [noting(done)]}):
        async with workers_db.holding(f"memsvc.work {job}"):
            await asyncio.sleep(3)
            assert states(watcher) == {"pending": 1}
        await until(lambda: states(watcher) == {"done": 1}, seconds=10)
    assert len(done) == 1


async def test_a_worker_that_stops_does_not_count_as_one_that_died(
    database: Database,
    watcher: psycopg.Connection,
    server: Server,
    reader: Target,
    workers_db: Database,
    *,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waits until the database knows that the job was broken off, also where that takes a while."""
    await ask(database, 1)
    begun, end = asyncio.Event(), run._end_start

    async def endless(*_: Any) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return False

    async def end_slowly(*given: Any) -> None:
        await asyncio.sleep(3)
        await end(*given)

    monkeypatch.setattr("memsvc.queue.worker.GRACE_S", 0.2)
    monkeypatch.setattr(run, "_end_start", end_slowly)
    async with relaying(database, server):
        async with working(server, workers_db, {"process": [endless]}):
            async with asyncio.timeout(20):
                await begun.wait()
            assert watcher.execute("SELECT starts FROM memsvc.jobs WHERE kind = 'process'").fetchall() == [(1,)]
        assert watcher.execute("SELECT state, starts FROM memsvc.jobs WHERE kind = 'process'").fetchall() == [
            ("pending", 0)
        ]


async def test_killed_workers_lose_no_job(
    database: Database,
    watcher: psycopg.Connection,
    server: Server,
    reader: Target,
    relay_environment: dict[str, str],
) -> None:
    await ask(database, 300, 300, 300)
    environment = {**relay_environment, "MEMSVC_EMBEDDING_MODEL": ""}
    worker = [str(MEMSVC), "worker"]
    async with relaying(database, server):
        for moment in (50, 250):
            with process(worker, environment) as killed:
                await until(lambda moment=moment: states(watcher).get("done", 0) >= moment)  # type: ignore[misc]
                killed.kill()
        assert states(watcher).get("pending")
        with process(worker, environment):
            await until(lambda: states(watcher) == {"done": 900}, seconds=30)


async def test_a_server_that_dies_and_comes_back_loses_and_doubles_no_job(
    database: Database, watcher: psycopg.Connection, server: Server, reader: Target, workers_db: Database
) -> None:
    await ask(database, 100, 100, 100)
    done: list[str] = []
    async with relaying(database, server), working(server, workers_db, {"process": [noting(done, 0.02)]}):
        for moment in (30, 150):
            await until(lambda moment=moment: len(done) >= moment)  # type: ignore[misc]
            await asyncio.to_thread(server.kill)
            await asyncio.sleep(AWAY_S)
            await asyncio.to_thread(server.start)
        await until(lambda: states(watcher) == {"done": 300})
    subjects = [str(row[0]) for row in watcher.execute("SELECT subject_id FROM memsvc.jobs WHERE kind = 'process'")]
    assert sorted(done) == sorted(subjects)


async def test_a_job_that_kills_its_workers_ends_and_others_go_on(
    database: Database,
    watcher: psycopg.Connection,
    server: Server,
    reader: Target,
    relay_environment: dict[str, str],
) -> None:
    [[deadly], [_]] = await ask(database, 1, 1)
    [subject] = watcher.execute("SELECT subject_id FROM memsvc.jobs WHERE job_id = %s", [deadly]).fetchone() or ()
    environment = {**relay_environment, "DEADLY": str(subject)}
    deaths = 0
    async with relaying(database, server):
        while "pending" in states(watcher) and deaths <= 5:
            with process([sys.executable, "-m", "tests.fakes.deadly_worker"], environment) as started:
                await until(lambda it=started: it.poll() is not None or "pending" not in states(watcher))  # type: ignore[misc]
                deaths += started.poll() == 9
    assert states(watcher) == {"failed": 1, "done": 1}
    job = watcher.execute("SELECT error_code, error FROM memsvc.jobs WHERE job_id = %s", [deadly]).fetchone()
    assert job is not None
    assert (job[0], deaths) == ("worker_died", 5)
    assert "5 times" in job[1]
