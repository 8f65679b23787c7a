"""The queue hands each job to a worker that lives, whatever dies, lies or says nonsense; jobs stay the truth."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import dramatiq.worker
import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from structlog.testing import capture_logs

from jobs import worker
from jobs.actors import QUEUES
from memsvc.access.users import Owner, add_user
from memsvc.db.engine import TRIES, Database
from memsvc.errors import ContendedError, JobStateError
from memsvc.llm.embedders import remote
from memsvc.observe import JOBS_RUN
from memsvc.queue import broker
from memsvc.queue.jobs import announce_jobs, cancel_job, get_job, retry_job
from memsvc.queue.run import run_due
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered
from tests.fakes.embedders import Alone, NotANumber, SlowEmbedder, WordsEmbedder, resident
from tests.fakes.embedding_server import EmbeddingServer, Mode, embedding_server
from tests.jobs.working import doing, due_now, job_of, only_job, process, say, until, vectors_of, waiting, work_with
from tests.sql.world import value

PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
QUEUED = "SELECT count(*) FROM memsvc.dramatiq_queue"
DEADLY_WORKER = (sys.executable, "-m", "tests.fakes.deadly_worker")


@pytest.fixture(autouse=True)
async def _nothing_else_waits(db: Database, admin: psycopg.Connection) -> AsyncIterator[None]:
    """Other tests' jobs do not stand in the way, and nothing of ours stays for them."""
    await run_due(db)
    admin.execute("DELETE FROM memsvc.dramatiq_worker")
    yield
    admin.execute("UPDATE memsvc.jobs SET state = 'cancelled' WHERE state = 'pending'")
    admin.execute("DELETE FROM memsvc.dramatiq_queue")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a worker of this process waits for takes a tenth of its time."""
    for name, seconds in (("HEARTBEAT_S", 0.2), ("SILENCE_S", 1.5), ("UPKEEP_S", 0.2), ("POLL_S", 0.1)):
        monkeypatch.setattr(broker, name, seconds)
    monkeypatch.setattr(broker, "LATER_S", 0.2)
    monkeypatch.setattr(dramatiq.worker, "CONSUMER_RESTART_DELAY_SECS", 0.2)


async def nothing(_db: Database, _user: UUID, _subject: UUID) -> bool:
    """A step that is done at once."""
    return False


class Gate:
    """A step that waits until it is let through, and notes for whom it was begun and ended."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.begun: list[UUID] = []
        self.ended: list[UUID] = []

    async def __call__(self, _db: Database, _user: UUID, subject: UUID) -> bool:
        self.begun.append(subject)
        await self.open.wait()
        self.ended.append(subject)
        return False


def keep(admin: psycopg.Connection, silence: float = 12) -> int:
    """Upkeep of the queue, now; how many messages went back or out."""
    return int(value(admin, "SELECT memsvc.keep_queue(make_interval(secs => %s))", [silence]))


def quietly(admin: psycopg.Connection, statement: str, values: Sequence[Any]) -> None:
    """Change rows without the triggers that keep queue and jobs in step."""
    with admin.transaction():
        admin.execute("SET LOCAL session_replication_role = replica")
        admin.execute(statement, values)


def place_in_queue(admin: psycopg.Connection, message: str | None, message_id: UUID | None = None) -> UUID:
    """Put a message, any JSON, into the queue; None: the column is empty."""
    chosen = message_id or uuid4()
    admin.execute(
        "INSERT INTO memsvc.dramatiq_queue (message_id, queue_name, message) VALUES (%s, 'models', %s)",
        [chosen, message],
    )
    return chosen


def message(message_id: UUID, /, **changes: object) -> str:
    """A message that is right but for the changes."""
    right: dict[str, object] = {
        "queue_name": "models", "actor_name": "process", "args": [str(uuid4()), str(uuid4())], "kwargs": {},
        "options": {}, "message_id": str(message_id), "message_timestamp": 1,
    }  # fmt: skip
    return json.dumps(right | changes)


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


# What is not understood ---------------------------------------------------------------------------------------------

CHANGES: dict[str, dict[str, object]] = {
    "the args of an older version": {"args": [str(uuid4())]},
    "too many args": {"args": [str(uuid4())] * 3},
    "args that are no ids": {"args": [1, None]},
    "args that are no list": {"args": 7},
    "args that are missing": {"args": None},
    "kwargs": {"kwargs": {"when": "now"}},
    "kwargs that are no object": {"kwargs": None},
    "an unknown actor": {"actor_name": "dance"},
    "an actor without a name": {"actor_name": None},
    "an actor that is an object": {"actor_name": {"name": "process"}},
    "another queue than its row": {"queue_name": "upkeep"},
    "a queue that nobody has": {"queue_name": "nowhere"},
    "another id than its row": {"message_id": str(uuid4())},
    "an id that is none": {"message_id": None},
    "a time of its own, far away": {"options": {"eta": 9_999_999_999_999}},
    "no options": {"options": None},
    "an option that Dramatiq trusts": {"options": {"throws": "anything"}},
    "a field that this version does not know": {"priority": 5},
}
NO_MESSAGES: dict[str, str | None] = {
    "an empty column": None,
    "null": "null",
    "a text": '"process"',
    "a number": "5",
    "a list": "[1, 2, 3]",
    "an empty object": "{}",
    "only an actor": '{"actor_name": "process"}',
    "ten megabytes": json.dumps({"huge": "x" * 10_000_000}),
    "a number of 5,000 digits": "1e5000",
    "deeply nested": "[" * 2_000 + "]" * 2_000,
}


@pytest.mark.usefixtures("quick")
async def test_what_is_not_understood_is_kept_and_stops_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for what in NO_MESSAGES.values():
        place_in_queue(admin, what)
    for changes in CHANGES.values():
        name = uuid4()
        place_in_queue(admin, message(name, **changes), name)
    everything = value(admin, QUEUED, [])
    right = place_in_queue(admin, message(name := uuid4()), name)  # but the job is gone
    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, nothing):
        await job_of(db, owner)
        rejected = "SELECT count(*) FROM memsvc.dramatiq_queue WHERE state = 'rejected'"
        await until(lambda: value(admin, rejected, []) == everything)
        await say(db, owner, settings, "an otter", conversation="mill")
        await until(lambda: value(admin, PENDING, []) == 0)
    left = admin.execute("SELECT message_id, state, message ->> 'error' FROM memsvc.dramatiq_queue").fetchall()
    assert {state for _, state, _ in left} == {"rejected"}
    assert all(error for _, _, error in left)
    assert right not in {message_id for message_id, _, _ in left}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.usefixtures("quick")
async def test_a_worker_keeps_all_its_threads_after_nonsense(
    *,
    db: Database,
    app: UUID,
    settings: Settings,
    admin: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
    threads: int,
) -> None:
    for changes in (*CHANGES.values(), *CHANGES.values()):
        name = uuid4()
        place_in_queue(admin, message(name, **changes), name)
    chosen = settings.model_copy(update={"worker_threads": threads})
    gate = Gate()
    async with doing(chosen, db, monkeypatch, gate, kind="tidy"):
        waits = "SELECT count(*) FROM memsvc.dramatiq_queue WHERE state <> 'rejected'"
        await until(lambda: value(admin, waits, []) == 0)
        for number in range(threads):
            one = (await add_user(db, app, name="Ada", external_id=f"nonsense-{threads}-{number}")).owner
            admin.execute("SELECT memsvc.ask_job(%s, 'process', %s)", [one.user_id, one.user_id])
        await until(lambda: value(admin, PENDING, []) == 0)


@pytest.mark.usefixtures("quick")
async def test_a_job_whose_message_was_spoilt_is_sent_again(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(db, owner, settings, "a heron")
    job = await only_job(db, owner)
    admin.execute("UPDATE memsvc.dramatiq_queue SET message = '[]' WHERE message_id = %s", [job.job_id])
    async with doing(settings, db, monkeypatch, nothing):
        await until(lambda: waiting(admin, owner)[0][0] == "rejected")
        assert keep(admin) == 0
        assert (await only_job(db, owner)).state == "pending"
        long_ago = "UPDATE memsvc.jobs SET run_after = now() - interval '3 minutes' WHERE job_id = %s"
        quietly(admin, long_ago, [job.job_id])
        await job_of(db, owner)
        assert waiting(admin, owner) == []


@pytest.mark.parametrize(
    "spoil",
    [
        "DELETE FROM memsvc.dramatiq_queue WHERE message_id = %s",
        "UPDATE memsvc.dramatiq_queue SET queue_name = 'elsewhere' WHERE message_id = %s",
        "UPDATE memsvc.dramatiq_queue SET state = 'consumed', worker_id = NULL WHERE message_id = %s",
        "UPDATE memsvc.dramatiq_queue SET state = 'consumed', worker_id = gen_random_uuid() WHERE message_id = %s",
    ],
)
async def test_a_job_whose_message_was_lost_is_sent_again(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, spoil: str
) -> None:
    await say(db, owner, settings, "a heron")
    job = await only_job(db, owner)
    admin.execute(spoil, [job.job_id])
    quietly(admin, "UPDATE memsvc.jobs SET run_after = now() - interval '3 minutes' WHERE job_id = %s", [job.job_id])
    assert keep(admin) == 1
    found = admin.execute("SELECT state, queue_name, worker_id FROM memsvc.dramatiq_queue").fetchall()
    assert found == [("queued", "models", None)]


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
                "UPDATE memsvc.dramatiq_queue SET state = 'consumed', deliveries = 1, "
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
    deadline = time.monotonic() + 60
    while (await only_job(db, owner)).state == "pending":
        with process(settings, *DEADLY_WORKER, DEADLY=str(deadly)) as started:
            while started.poll() is None and (await only_job(db, owner)).state == "pending":
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


@pytest.mark.usefixtures("quick")
async def test_a_job_that_breaks_its_worker_in_a_new_way_ends(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a step raises is its job's failure; this is what nobody foresaw around it."""
    tries = 0

    async def broken(*_: object) -> str:
        nonlocal tries
        tries += 1
        raise ZeroDivisionError

    monkeypatch.setattr("memsvc.queue.worker.run_job", broken)
    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, nothing):
        job = await job_of(db, owner, "failed")
    assert job.error_code == "worker_died"
    assert 5 <= tries < 10


def serving(settings: Settings, server: EmbeddingServer, model: str) -> Any:
    """A real ``memsvc worker`` whose model is the server's."""
    return process(settings, MEMSVC_EMBEDDING_MODEL=model, MEMSVC_EMBEDDING_URL=server.url)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """An embedding server."""
    with embedding_server() as made:
        yield made


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


# The model ----------------------------------------------------------------------------------------------------------


async def test_a_model_that_is_not_installed_is_told_once_and_stops_nothing(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await say(db, owner, settings, "a heron")
    holder = Alone(settings.model_copy(update={"embedding_model": "nowhere:nothing"}))
    async with work_with(settings, db, holder):
        with capture_logs() as logs:
            await job_of(db, owner)
    warned = [(line["log_level"], line.get("code")) for line in logs if "vectors" in line["event"]]
    assert warned == [("warning", "embedder_missing")]
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]


class WrongSize(WordsEmbedder):
    """Gives vectors of another length than it says."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One dimension too many."""
        return np.hstack([super().embed(texts), np.zeros((len(texts), 1), np.float32)])


@pytest.mark.parametrize("model", [NotANumber(""), WrongSize()], ids=["NaN", "another size"])
@pytest.mark.usefixtures("quick")
async def test_a_model_that_answers_nonsense_fails_the_job_and_says_so(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, model: WordsEmbedder
) -> None:
    await say(db, owner, settings, "a heron")
    async with work_with(settings, db, resident(model, "words", settings)):
        for attempt in range(1, 5):
            await until(lambda: value(admin, "SELECT max(attempts) FROM memsvc.jobs WHERE user_id = %s", [
                owner.user_id
            ]) == attempt)  # noqa: B023  # fmt: skip
            if attempt < 4:
                due_now(admin, owner)
        job = await job_of(db, owner, "failed")
    assert job.error_code == "embedder_answer"
    assert "model gave" in str(job.error)
    assert "heron" not in str(job.error)
    assert waiting(admin, owner) == []
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]


CODES: dict[Mode, str] = {
    "slow": "embedder", "429": "embedder", "500": "embedder", "401": "embedder", "garbage": "embedder",
    "dies": "embedder", "wrong count": "embedder_answer", "NaN": "embedder_answer", "shape": "embedder_answer",
}  # fmt: skip


@pytest.mark.parametrize("mode", CODES)
@pytest.mark.usefixtures("quick")
async def test_an_embedding_server_that_fails_delays_only_what_it_was_asked_for(
    *,
    db: Database,
    owner: Owner,
    other: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    server: EmbeddingServer,
    mode: Mode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "time", SimpleNamespace(sleep=lambda _seconds: None))
    update = {"embedding_model": f"openai:{mode}", "embedding_url": server.url, "embedding_timeout_s": 0.5}
    chosen = settings.model_copy(update=update)
    await say(db, owner, settings, "a heron")
    server.modes = ["ok", *([mode] * (1 if mode in {"slow", "401", "wrong count", "NaN", "shape"} else 3))]
    async with work_with(settings, db, Alone(chosen)):
        await until(lambda: value(admin, "SELECT attempts FROM memsvc.jobs WHERE user_id = %s", [owner.user_id]) == 1)
        job = await only_job(db, owner)
        assert (job.state, job.error_code) == ("pending", CODES[mode])
        assert "server" in str(job.error) or "model gave" in str(job.error)
        assert 3 < (job.run_after - job.created_at).total_seconds() < 12
        assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]
        await say(db, other, settings, "an otter")
        await job_of(db, other)
        assert vectors_of(admin, other, f"openai:{mode}") == ["an otter"]
        due_now(admin, owner)
        job = await job_of(db, owner)
    assert (job.error_code, job.error) == (None, None)
    assert vectors_of(admin, owner, f"openai:{mode}") == ["a heron"]


# Transactions that the database gives up ----------------------------------------------------------------------------


async def test_a_deadlock_is_tried_again(db: Database) -> None:
    tries: list[str] = []
    both = asyncio.Barrier(2)

    async def lock(first: int, second: int) -> str:
        async def work(connection: AsyncConnection) -> str:
            name = f"{first} before {second}"
            tries.append(name)
            await connection.execute(text("SELECT pg_advisory_xact_lock(-77, :n)"), {"n": first})
            if len(tries) <= 2:
                await both.wait()
            await connection.execute(text("SELECT pg_advisory_xact_lock(-77, :n)"), {"n": second})
            return name

        return await db.attempt(None, work)

    assert set(await asyncio.gather(lock(1, 2), lock(2, 1))) == {"1 before 2", "2 before 1"}
    assert len(tries) == 3


async def test_a_transaction_that_cannot_be_serialized_is_tried_again(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    worker_id = uuid4()
    beat = "UPDATE memsvc.dramatiq_worker SET heartbeat_at = now() WHERE worker_id = %s"
    admin.execute("INSERT INTO memsvc.dramatiq_worker VALUES (%s, now())", [worker_id])
    tries = 0

    async def work(connection: AsyncConnection) -> None:
        nonlocal tries
        tries += 1
        await connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        await connection.execute(text("SELECT * FROM memsvc.dramatiq_worker"))
        if tries < 3:
            admin.execute(beat, [worker_id])
        mine = "UPDATE memsvc.dramatiq_worker SET heartbeat_at = now() WHERE worker_id = :worker_id"
        await connection.execute(text(mine), {"worker_id": worker_id})

    await db.attempt(None, work)
    assert tries == 3
    tries = -100
    with pytest.raises(ContendedError):
        await db.attempt(None, work)
    assert tries == -100 + TRIES


async def test_a_job_whose_end_meets_a_deadlock_is_settled_all_the_same(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = 0
    transaction = Database.transaction

    def contended(self: Database, user_id: UUID | None = None) -> Any:
        nonlocal failures
        if user_id is not None and failures < 3:
            failures += 1
            raise ContendedError
        return transaction(self, user_id)

    await say(db, owner, settings, "a heron")
    async with doing(settings, db, monkeypatch, nothing):
        monkeypatch.setattr(Database, "transaction", contended)
        announce_jobs(db)
        await until(lambda: failures == 3)
        job = await get_job(db, owner.user_id, (await only_job(db, owner)).job_id)
        assert (await job_of(db, owner)).job_id == job.job_id
