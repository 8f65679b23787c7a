"""Workers, connections, servers that die and clocks that jump: jobs stay the truth."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from jobs import worker
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue import broker
from memsvc.queue.jobs import retry_job
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered
from tests.fakes.embedders import SlowEmbedder, WordsEmbedder, resident
from tests.fakes.embedding_server import EmbeddingServer
from tests.jobs.queueing.posting import (
    DEADLY_WORKER,
    PENDING,
    QUEUED,
    Gate,
    begin,
    keep,
    nothing,
    quietly,
    serving,
)
from tests.jobs.working import (
    doing,
    due_now,
    job_of,
    only_job,
    process,
    say,
    until,
    vectors_of,
    waiting,
    work_with,
)
from tests.sql.world import value

pytestmark = pytest.mark.slow
ATTEMPTS = "SELECT attempts FROM memsvc.jobs WHERE user_id = %s"
# What dies ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
async def test_what_a_living_worker_does_not_hold_is_handed_out_again(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    async with doing(settings, db, monkeypatch, gate):
        await until(lambda: admin.execute("SELECT FROM memsvc.dramatiq_worker").fetchone() is not None)
        with admin.transaction():  # as if the answer to a claim, or the commit of an answer, were lost in a crash
            await asyncio.to_thread(
                admin.execute,
                "WITH one AS (SELECT memsvc.ask_job(%s, 'process', %s) AS job_id) SELECT FROM one",
                [owner.user_id, owner.user_id],
            )
            admin.execute(
                "UPDATE memsvc.dramatiq_queue SET state = 'consumed', "
                "worker_id = (SELECT worker_id FROM memsvc.dramatiq_worker) WHERE user_id = %s",
                [owner.user_id],
            )
        await until(lambda: gate.begun, 5)
        assert waiting(admin, owner) == [("consumed", 1)]
        await asyncio.sleep(1)  # several looks later it still has what it holds
        assert waiting(admin, owner) == [("consumed", 1)]
        assert len(gate.begun) == 1
        gate.open.set()
        await job_of(db, owner)


@pytest.mark.server
async def test_a_restarted_database_costs_a_busy_worker_seconds_and_no_work(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    """All connections break at once, again and again; whole crashes are in test_chaos.py."""
    talks = [MessageIn(conversation=f"talk {i % 20}", text=f"bird {i}") for i in range(400)]
    await append(db, owner, talks, settings)
    cut = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND usename = 'memsvc_app'"
    )
    async with work_with(settings, db, resident(SlowEmbedder(0.05), "words", settings)):
        for enough in (20, 200):
            await until(lambda wanted=enough: len(vectors_of(admin, owner)) >= wanted, 40)  # type: ignore[misc]
            value(admin, cut, [])
        began = time.monotonic()
        await until(lambda: value(admin, PENDING, []) == 0, 30)
        assert time.monotonic() - began < 30
    assert vectors_of(admin, owner) == sorted(one.text for one in talks)
    assert value(admin, QUEUED, []) == 0
    assert value(admin, "SELECT count(*) FROM memsvc.jobs WHERE state <> 'done' AND user_id = %s", [owner.user_id]) == 0


@pytest.mark.usefixtures("quick")
async def test_a_broken_connection_strands_no_message_that_was_fetched_ahead(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a model a worker fetches several messages at once; those behind the first are in its memory only."""
    following = broker.QueueConsumer._compare
    lost: list[int] = []

    def breaking(self: broker.QueueConsumer) -> None:
        if len(self.buffer) >= 3 and len(lost) < 3:
            lost.append(len(self.buffer))
            raise psycopg.OperationalError
        following(self)

    monkeypatch.setattr(broker.QueueConsumer, "_compare", breaking)
    many = [MessageIn(conversation=f"talk {number}", text="a heron") for number in range(60)]
    await append(db, owner, many, settings)
    async with work_with(settings, db, None):
        await until(lambda: value(admin, PENDING, []) == 0)
    assert len(lost) == 3
    assert value(admin, QUEUED, []) == 0


@pytest.mark.server
async def test_a_worker_can_be_ended_while_its_database_is_away(db: Database, settings: Settings) -> None:
    away = db.engine.url.set(host="127.0.0.1", port=9, query={})  # nobody listens there
    with capture_logs():
        async with worker.working(settings, away, None):
            await asyncio.sleep(0.5)
            began = time.monotonic()
    assert time.monotonic() - began < 12


async def test_a_job_that_kills_its_workers_ends_and_others_go_on(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    deadly = await say(db, owner, settings, "a heron")
    await say(db, other, settings, "an otter")
    deaths = 0
    deadline = time.monotonic() + 180

    async def unsettled() -> bool:
        return "pending" in {(await only_job(db, one)).state for one in (owner, other)}

    while await unsettled():
        with process(settings, *DEADLY_WORKER, DEADLY=str(deadly)) as started:
            while started.poll() is None and await unsettled():
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
            deaths += started.poll() == 9
    job = await only_job(db, owner)
    assert (job.state, job.error_code, deaths) == ("failed", "worker_died", 5)
    assert "5 times" in str(job.error)
    assert (await only_job(db, other)).state == "done"
    assert waiting(admin, owner) == []
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]
    await retry_job(db, owner.user_id, job.job_id)
    assert waiting(admin, owner) == [("queued", 0)]


async def test_a_job_that_was_only_fetched_does_not_die_with_its_worker(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    """Killed workers had three jobs each, and had begun one of them."""
    for conversation in ("begun", "fetched", "fetched too"):
        await say(db, owner, settings, "a heron", conversation=conversation)
    begun = value(admin, "SELECT min(job_id::text)::uuid FROM memsvc.jobs WHERE user_id = %s", [owner.user_id])
    claim = "SELECT FROM memsvc.claim_messages('models', %s, %s, 10)"
    for deaths in range(1, 6):
        assert len(admin.execute(claim, [uuid4(), broker.NOBODY]).fetchall()) == 3
        admin.execute("SELECT FROM memsvc.begin_job(%s, %s)", [owner.user_id, begun])
        assert keep(admin) == 3
        assert waiting(admin, owner) == [("queued", deaths), *[("queued", 0)] * 2]
    assert admin.execute("SELECT FROM memsvc.begin_job(%s, %s)", [owner.user_id, begun]).fetchone() is None
    assert waiting(admin, owner) == [("queued", 0)] * 2
    states = "SELECT job_id = %s, state, error_code FROM memsvc.jobs WHERE user_id = %s ORDER BY job_id"
    found = admin.execute(states, [begun, owner.user_id]).fetchall()
    assert found == [(True, "failed", "worker_died"), *[(False, "pending", None)] * 2]


async def test_a_job_that_died_is_begun_anew_by_itself_so_many_times(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "a heron")
    pauses = []
    for restarts, deaths in enumerate((5, 2, 2, 2)):
        assert begin(admin, owner.user_id, starts=deaths - 1)
        assert (await only_job(db, owner)).state == "pending"
        assert not begin(admin, owner.user_id)
        job = await only_job(db, owner)
        assert (job.state, job.error_code, job.restarts) == ("failed", "worker_died", restarts)
        assert job.finished_at is not None
        pauses.append(round((job.run_after - job.finished_at).total_seconds()))
        assert ("3 times, and is given up" in str(job.error)) is (restarts == 3)
        assert (f"begun anew by itself, {3 - restarts} times at most" in str(job.error)) is (restarts < 3)
        keep(admin)
        assert (await only_job(db, owner)).state == "failed"  # its time has not come
        due_now(admin, owner)
        keep(admin)
        assert waiting(admin, owner) == [("queued", 0)] * (restarts < 3)
    assert pauses == [600, 3_600, 21_600, 0]
    await retry_job(db, owner.user_id, job.job_id)
    assert ((await only_job(db, owner)).state, (await only_job(db, owner)).restarts) == ("pending", 0)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("when", ["-1 second", "400 days"], ids=["in time", "of another clock"])
async def test_a_job_that_died_by_no_fault_of_its_own_is_done_later(
    *, db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, when: str
) -> None:
    await say(db, owner, settings, "a heron")
    assert not begin(admin, owner.user_id, starts=5)
    assert (await only_job(db, owner)).state == "failed"
    admin.execute("UPDATE memsvc.jobs SET run_after = now() + %s::interval WHERE user_id = %s", [when, owner.user_id])
    async with work_with(settings, db, None):
        job = await job_of(db, owner)
    assert (job.restarts, job.error_code) == (1, None)


async def test_a_job_that_died_gives_way_to_a_newer_one(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for _ in range(2):
        await say(db, owner, settings, "a heron")
        assert not begin(admin, owner.user_id, starts=5)
    states = "SELECT state FROM memsvc.jobs WHERE user_id = %s ORDER BY job_id"
    assert admin.execute(states, [owner.user_id]).fetchall() == [("failed",), ("failed",)]
    due_now(admin, owner)
    keep(admin)
    assert admin.execute(states, [owner.user_id]).fetchall() == [("failed",), ("pending",)]
    admin.execute("UPDATE memsvc.jobs SET state = 'done' WHERE user_id = %s AND state = 'pending'", [owner.user_id])
    keep(admin)
    assert admin.execute(states, [owner.user_id]).fetchall() == [("failed",), ("done",)]


async def test_a_job_that_died_is_not_begun_anew_for_a_user_who_is_being_erased(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "a heron")
    assert not begin(admin, owner.user_id, starts=5)
    due_now(admin, owner)
    erased = "UPDATE memsvc.users SET erasing_since = %s WHERE user_id = %s"
    admin.execute(erased, [datetime.now(UTC), owner.user_id])
    keep(admin)
    assert waiting(admin, owner) == []
    admin.execute(erased, [None, owner.user_id])
    keep(admin)
    assert waiting(admin, owner) == [("queued", 0)]


@pytest.mark.usefixtures("quick")
async def test_a_job_that_breaks_its_worker_in_a_new_way_ends(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a step raises is its job's failure; this is what nobody foresaw around it."""
    tries = 0

    async def broken(*_: object, **__: object) -> str:
        nonlocal tries
        tries += 1
        raise ZeroDivisionError

    monkeypatch.setattr("memsvc.queue.worker.run_job", broken)
    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, nothing):
        for known in range(1, 5):
            await until(lambda known=known: tries == known)  # type: ignore[misc]
            await until(lambda known=known: value(admin, ATTEMPTS, [owner.user_id]) == known)  # type: ignore[misc]
            due_now(admin, owner)
        job = await job_of(db, owner, "failed")
    assert (job.error_code, job.error) == ("job_failed", "ZeroDivisionError: see the worker's log.")
    assert tries == 4


async def test_a_worker_that_is_told_to_end_hands_its_job_over_at_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, server: EmbeddingServer
) -> None:
    await say(db, owner, settings, "a heron")
    stuck = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(texts: Sequence[str]) -> None:
        if list(texts) != ["dimensions"]:
            loop.call_soon_threadsafe(stuck.set)
            time.sleep(12)

    server.model.before = hang
    with serving(settings, server, "openai:words-handed-over") as started:
        await asyncio.wait_for(stuck.wait(), 20)
        async with work_with(settings, db, resident(WordsEmbedder(), "openai:words-handed-over", settings)):
            started.send_signal(signal.SIGTERM)
            began = time.monotonic()
            assert await asyncio.to_thread(started.wait, 15) == 0
            ended = time.monotonic() - began
            await job_of(db, owner)
            assert time.monotonic() - began < 11  # 5 s of grace; a worker that dies is missed after 12 s
    assert ended < 10
    assert vectors_of(admin, owner, "openai:words-handed-over") == ["a heron"]


@pytest.mark.usefixtures("quick")
async def test_a_worker_that_was_stopped_for_long_does_no_harm(
    *, db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection, server: EmbeddingServer
) -> None:
    await say(db, owner, settings, "a heron")
    stuck = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait(texts: Sequence[str]) -> None:
        if "Ada: a heron" in texts:
            loop.call_soon_threadsafe(stuck.set)
            time.sleep(0.5)

    server.model.before = wait
    holders = "SELECT worker_id FROM memsvc.dramatiq_queue WHERE user_id = %s AND state = 'consumed'"
    with serving(settings, server, "openai:words-stopped") as started:
        await asyncio.wait_for(stuck.wait(), 20)
        first = value(admin, holders, [owner.user_id])
        os.kill(started.pid, signal.SIGSTOP)
        async with work_with(settings, db, resident(WordsEmbedder(), "openai:words-stopped", settings)):
            # Its message is handed out again; its lock, which it still has, keeps the other from the same work.
            taken = "SELECT FROM memsvc.dramatiq_queue WHERE user_id = %s AND worker_id = %s"
            await until(lambda: admin.execute(taken, [owner.user_id, first]).fetchone() is None)
            await say(db, other, settings, "an otter")
            await job_of(db, other)
            assert (await only_job(db, owner)).state == "pending"
            os.kill(started.pid, signal.SIGCONT)
            await job_of(db, owner)
            await until(lambda: value(admin, QUEUED, []) == 0)
            await until(lambda: value(admin, "SELECT count(*) FROM memsvc.dramatiq_worker", []) == 2)
    assert vectors_of(admin, owner, "openai:words-stopped") == ["a heron"]
    assert (await only_job(db, owner)).attempts == 1


# A clock that jumps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", ["1 hour", "-1 hour", "400 days", "-400 days"])
async def test_times_of_another_clock_stop_no_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, jump: str
) -> None:
    """As a server's clock leaves them that was wrong by so much and is right again."""
    for conversation in ("waits", "sent back", "held by the dead", "held by the living"):
        await say(db, owner, settings, "a heron", conversation=conversation)
    dead, alive = uuid4(), uuid4()
    jobs = [row[0] for row in admin.execute("SELECT job_id FROM memsvc.jobs ORDER BY job_id").fetchall()][-4:]
    quietly(admin, "UPDATE memsvc.jobs SET run_after = now() + %s::interval WHERE job_id = %s", [jump, jobs[0]])
    later = "UPDATE memsvc.dramatiq_queue SET available_at = now() + %s::interval WHERE message_id = ANY (%s)"
    admin.execute(later, [jump, jobs[:2]])
    taken = "UPDATE memsvc.dramatiq_queue SET state = 'consumed', worker_id = %s WHERE message_id = %s"
    admin.execute(taken, [dead, jobs[2]])
    admin.execute(taken, [alive, jobs[3]])
    live = "INSERT INTO memsvc.dramatiq_worker VALUES (%s, now() + %s::interval)"
    admin.execute(live, [dead, jump])
    admin.execute(live, [alive, "0"])
    keep(admin)
    due = "SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'queued' AND available_at <= now()"
    assert {row[0] for row in admin.execute(due).fetchall()} == set(jobs[:3])
    assert value(admin, "SELECT bool_and(run_after <= now()) FROM memsvc.jobs WHERE job_id = ANY (%s)", [jobs])
    assert admin.execute("SELECT worker_id FROM memsvc.dramatiq_worker").fetchall() == [(alive,)]


@pytest.mark.usefixtures("quick")
async def test_a_worker_goes_on_when_all_rows_are_of_another_clock(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    async with doing(settings, db, monkeypatch, gate):
        for jump in ("1 hour", "-1 hour"):
            await say(db, owner, settings, "a heron", conversation=jump)
            await until(lambda: gate.begun)
            await say(db, owner, settings, "an otter", conversation=f"waits {jump}")
            quietly(admin, "UPDATE memsvc.jobs SET run_after = now() + %s::interval WHERE state = 'pending'", [jump])
            quietly(admin, "UPDATE memsvc.dramatiq_queue SET available_at = now() + %s::interval", [jump])
            quietly(admin, "UPDATE memsvc.dramatiq_worker SET heartbeat_at = now() + %s::interval", [jump])
            gate.open.set()
            await until(lambda: value(admin, PENDING, []) == 0)
            gate.open.clear()
            gate.begun.clear()
    assert value(admin, QUEUED, []) == 0
