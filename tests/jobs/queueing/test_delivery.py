"""Each job is handed to a worker once: at once, users in turn, and whatever happens to it meanwhile."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from jobs.actors import QUEUES
from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.errors import JobStateError
from memsvc.observe import JOBS_RUN
from memsvc.queue import broker
from memsvc.queue.execution import run_due
from memsvc.queue.jobs import cancel_job, retry_job
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.fakes.embedders import SlowEmbedder, resident
from tests.fakes.embedding_server import embedding_server
from tests.jobs.queueing.posting import (
    PENDING,
    QUEUED,
    Gate,
    serving,
)
from tests.jobs.working import doing, job_of, only_job, say, until, vectors_of, waiting, work_with
from tests.sql.world import value

# The usual way ------------------------------------------------------------------------------------------------------


def test_actors_and_database_name_the_same_queues(admin: psycopg.Connection) -> None:
    kinds = value(admin, "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", ["jobs_kind_check"])
    assert all(f"'{kind}'" in kinds for kind in QUEUES)
    assert {kind: value(admin, "SELECT memsvc.job_queue(%s)", [kind]) for kind in QUEUES} == QUEUES


async def test_a_job_has_one_message_until_it_is_settled(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "a heron")
    await say(db, owner, settings, "an otter")
    assert waiting(admin, owner) == [("queued", 0)]
    job = await only_job(db, owner)
    await cancel_job(db, owner.user_id, job.job_id)
    assert waiting(admin, owner) == []
    await retry_job(db, owner.user_id, job.job_id)
    assert waiting(admin, owner) == [("queued", 0)]
    assert await run_due(db) == 1
    assert waiting(admin, owner) == []


async def test_a_rolled_back_request_leaves_neither_job_nor_message(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    class NoError(Exception):
        """The request went wrong after its job was written."""

    async def ask() -> None:
        async with db.transaction(owner.user_id) as connection:
            await connection.execute(text("SELECT memsvc.ask_job(:user, 'tidy', :user)"), {"user": owner.user_id})
            raise NoError

    with pytest.raises(NoError):
        await ask()
    assert waiting(admin, owner) == []
    assert value(admin, "SELECT count(*) FROM memsvc.jobs WHERE user_id = %s", [owner.user_id]) == 0


async def test_a_notified_worker_begins_at_once(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "POLL_S", 3.0)
    monkeypatch.setattr("memsvc.queue.worker.IDLE_MS", 3_000)
    gate = Gate()
    gate.open.set()
    async with doing(settings, db, monkeypatch, gate):
        await say(db, owner, settings, "awake")
        await job_of(db, owner)
        for number in range(1, 4):
            await asyncio.sleep(0.3)  # it has looked just before, and would look again in 2.7 s
            began = time.monotonic()
            await say(db, owner, settings, "a heron", conversation=f"pond {number}")
            await until(lambda wanted=number + 1: len(gate.ended) == wanted)  # type: ignore[misc]
            assert time.monotonic() - began < 1


async def test_without_a_notification_a_worker_finds_its_work_soon(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    gate.open.set()
    async with doing(settings, db, monkeypatch, gate):
        await say(db, owner, settings, "awake")
        await job_of(db, owner)
        monkeypatch.setattr(Database, "notify", lambda *_: None)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await say(db, owner, settings, "a heron", conversation="mill")
        await until(lambda: len(gate.ended) == 2)
        assert time.monotonic() - began < 1.5


# Users take turns ---------------------------------------------------------------------------------------------------


async def test_a_user_with_many_jobs_does_not_keep_others_waiting(
    db: Database, app: UUID, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[UUID] = []

    async def note(_db: Database, user_id: UUID, _subject: UUID) -> bool:
        done.append(user_id)
        return False

    many = [MessageIn(conversation=f"talk {number}", text="a heron") for number in range(300)]
    await append(db, owner, many, settings)
    others = [(await add_user(db, app, name=name, external_id=f"turns-{name}")).owner for name in ("Eve", "Fay", "Gil")]
    for other in others:
        await say(db, other, settings, "an otter")
    async with doing(settings, db, monkeypatch, note):
        await until(lambda: {other.user_id for other in others} <= set(done))
    assert len(done) < 36


async def test_a_long_conversation_gives_way_to_a_single_turn(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for part in range(5):
        await say(db, owner, settings, *(f"bird {part * 1_000 + number}" for number in range(1_000)))
    # 32 texts at once: a page of 128 takes 0.4 s, all of them 16 s.
    async with work_with(settings, db, resident(SlowEmbedder(0.1), "words", settings)):
        await until(lambda: vectors_of(admin, owner))
        for number in range(2):
            began = time.monotonic()
            await say(db, other, settings, f"an otter {number}")
            await until(lambda wanted=number + 1: len(vectors_of(admin, other)) == wanted)  # type: ignore[misc]
            assert time.monotonic() - began < 5
        assert (await only_job(db, owner)).state == "pending"


# While a job is being done ------------------------------------------------------------------------------------------


async def test_more_messages_during_a_job_are_work_of_the_same_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    source_id = await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, gate):
        await until(lambda: gate.begun)
        await say(db, owner, settings, "an otter")
        gate.open.set()
        job = await job_of(db, owner)
        assert gate.ended == [source_id, source_id]
        assert job.attempts == 1
        assert waiting(admin, owner) == []


async def test_a_job_that_is_cancelled_while_it_is_done_stays_cancelled(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, gate):
        await until(lambda: gate.begun)
        job = await only_job(db, owner)
        await cancel_job(db, owner.user_id, job.job_id)
        gate.open.set()
        await until(lambda: gate.ended)
    assert (await only_job(db, owner)).state == "cancelled"
    assert waiting(admin, owner) == []
    events = "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s AND kind = 'source.completed'"
    assert value(admin, events, [owner.user_id]) == 0


@pytest.mark.usefixtures("quick")
async def test_a_job_that_is_retried_while_it_is_done_is_done_once_at_a_time(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, gate), doing(settings, db, monkeypatch, gate):
        await until(lambda: gate.begun)
        job = await only_job(db, owner)
        await cancel_job(db, owner.user_id, job.job_id)
        await retry_job(db, owner.user_id, job.job_id)
        with pytest.raises(JobStateError):
            await retry_job(db, owner.user_id, job.job_id)
        busy = JOBS_RUN.labels("process", "busy")._value.get
        before = busy()
        await until(lambda: busy() >= before + 2)  # the other worker, each time that it is handed the job
        gate.open.set()
        await job_of(db, owner)
        await until(lambda: waiting(admin, owner) == [])
    assert len(gate.begun) == 1
    events = "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s AND kind = 'source.completed'"
    assert value(admin, events, [owner.user_id]) == 1


async def test_two_workers_started_alike_share_the_work_and_double_none(
    db: Database, app: UUID, settings: Settings, admin: psycopg.Connection
) -> None:
    owners = [(await add_user(db, app, name="Ada", external_id=f"alike-{number}")).owner for number in range(12)]
    for one in owners:
        await append(db, one, [MessageIn(conversation=f"c{i}", text=f"{one.user_id} {i}") for i in range(5)], settings)
    seen: set[UUID] = set()
    with embedding_server() as server:
        server.model.before = lambda _texts: time.sleep(0.05)
        with serving(settings, server, "openai:words-alike"), serving(settings, server, "openai:words-alike"):

            def all_done() -> bool:
                holders = "SELECT worker_id FROM memsvc.dramatiq_queue WHERE state = 'consumed'"
                seen.update(row[0] for row in admin.execute(holders).fetchall())
                return bool(value(admin, PENDING, []) == 0)

            await until(all_done, 60)
        asked = [words for request in server.requests for words in request["input"] if words != "dimensions"]
    assert len(asked) == len(set(asked)) == 60
    assert len(seen) == 2
    assert value(admin, QUEUED, []) == 0
