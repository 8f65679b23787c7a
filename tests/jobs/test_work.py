"""What operators see and do: work of all users in counts and ages, failed jobs tried again, dead letters."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import msgspec
import psycopg
import pytest
from psycopg.types.json import Jsonb
from structlog.testing import capture_logs

from memsvc.access.users import Owner
from memsvc.cli.watch import age, lines, picture, summary
from memsvc.db.engine import Database
from memsvc.errors import EmbedderAnswerError, NotFoundError, OverloadedError
from memsvc.observe import JOBS_RUN
from memsvc.queue.backlog import ErrorNow, KindNow, WorkerNow, WorkNow, backlog, work_now
from memsvc.queue.broker import NotUnderstoodError, QueueConsumer, read_message
from memsvc.queue.dead import drop_dead, list_dead, retry_dead
from memsvc.queue.execution import run_due, run_job
from memsvc.queue.jobs import list_jobs, retry_failed, retry_failed_of_all, retry_job
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

ASK = "SELECT memsvc.ask_job(%s, %s, %s)"


@pytest.fixture(autouse=True)
async def _nothing_else_is_there(db: Database, admin: psycopg.Connection) -> AsyncIterator[None]:
    """Jobs of other tests are over since yesterday; what this one leaves is cancelled."""
    await run_due(db)
    clean(admin)
    yield
    clean(admin)


def clean(admin: psycopg.Connection) -> None:
    admin.execute(
        "UPDATE memsvc.jobs SET finished_at = now() - interval '1 day', "
        "state = CASE WHEN state IN ('pending', 'failed') THEN 'cancelled' ELSE state END"
    )
    admin.execute("TRUNCATE memsvc.dramatiq_queue, memsvc.dramatiq_worker")


def ask(admin: psycopg.Connection, owner: Owner, kind: str = "process", subject: UUID | None = None) -> UUID:
    """A job for a subject of its own."""
    asked: UUID = value(admin, ASK, [owner.user_id, kind, subject or uuid4()])
    return asked


def change(admin: psycopg.Connection, jobs: Sequence[UUID], **columns: Any) -> None:
    """Set columns of jobs, whatever follows from it."""
    settings = ", ".join(f"{name} = %({name})s" for name in columns)
    admin.execute(
        f"UPDATE memsvc.jobs SET {settings} WHERE job_id = ANY (%(jobs)s)".encode(), {**columns, "jobs": [*jobs]}
    )


def ago(**span: float) -> datetime:
    return datetime.now(UTC) - timedelta(**span)


async def counts(db: Database) -> dict[tuple[str, str], KindNow]:
    return {(kind.queue, kind.kind): kind for kind in (await work_now(db)).kinds}


# Looking ------------------------------------------------------------------------------------------------------------


async def test_nothing_to_do_is_nothing_to_see(db: Database) -> None:
    now = await work_now(db)
    assert (now.kinds, now.workers, now.errors) == ([], [], [])
    assert (now.oldest_seconds, now.embedding_lag_seconds) == (0, 0)
    assert (await backlog(db)).pending == 0


async def test_each_job_is_counted_where_it_stands(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    waiting = [ask(admin, owner), ask(admin, other), ask(admin, other)]
    running, again, retrying = ask(admin, owner), ask(admin, owner), ask(admin, owner)
    ended = [ask(admin, owner) for _ in range(5)]
    change(admin, [again, retrying], attempts=2, error_code="embedder", started_at=ago(seconds=20))
    change(admin, ended[:2], state="failed", finished_at=ago(minutes=5), error_code="job_failed")
    change(admin, ended[2:3], state="failed", finished_at=ago(hours=3), error_code="job_timeout")
    change(admin, ended[3:4], state="done", finished_at=ago(seconds=5))
    change(admin, ended[4:], state="done", finished_at=ago(seconds=90))
    change(admin, waiting[:1], created_at=ago(minutes=10))
    worker = uuid4()
    admin.execute("INSERT INTO memsvc.dramatiq_worker VALUES (%s, now() - interval '2 s')", [worker])
    admin.execute(
        "UPDATE memsvc.dramatiq_queue SET state = 'consumed', worker_id = %s WHERE message_id = ANY (%s)",
        [worker, [running, again]],
    )
    admin.execute("UPDATE memsvc.dramatiq_queue SET state = 'rejected' WHERE message_id = %s", [waiting[2]])
    ask(admin, owner, "tidy", owner.user_id)

    found = await counts(db)
    assert set(found) == {("models", "process"), ("upkeep", "tidy")}
    here = found["models", "process"]
    assert (here.waiting, here.running, here.retrying, here.failed, here.dead) == (3, 2, 1, 3, 1)
    assert (here.done_last_minute, here.failed_last_hour) == (1, 2)
    assert here.oldest_seconds == pytest.approx(600, abs=5)
    assert found["upkeep", "tidy"].waiting == 1

    now = await work_now(db)
    [hand] = now.workers
    assert (hand.worker_id, hand.running) == (worker, 2)
    assert hand.silent_seconds == pytest.approx(2, abs=1)
    assert [(e.error_code, e.retrying, e.failed_last_hour) for e in now.errors] == [
        ("embedder", 2, 0), ("job_failed", 0, 2),
    ]  # fmt: skip
    assert now.oldest_seconds == now.embedding_lag_seconds == pytest.approx(600, abs=5)

    figures = await backlog(db)
    assert (figures.pending, figures.running, figures.retrying, figures.failed) == (7, 2, 1, 3)
    assert (figures.dead_letters, figures.workers) == (1, 1)


async def test_upkeep_does_not_count_as_lag_of_vectors(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    change(admin, [ask(admin, owner, "tidy", owner.user_id)], created_at=ago(hours=1))
    now = await work_now(db)
    assert now.oldest_seconds > 3_000
    assert now.embedding_lag_seconds == 0
    assert (await backlog(db)).embedding_lag_seconds == 0
    change(admin, [*await states(db, owner)], state="done", finished_at=ago(seconds=1))
    assert (await counts(db))["upkeep", "tidy"].oldest_seconds is None
    change(admin, [ask(admin, owner, "embed", owner.user_id)], created_at=ago(minutes=1))
    assert (await work_now(db)).embedding_lag_seconds == pytest.approx(60, abs=5)


async def test_the_lag_covers_every_message_that_waits_for_its_vector(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for text in ("a heron", "an otter"):
        await append(db, owner, [MessageIn(conversation="pond", text=text)], settings)
    oldest = value(admin, "SELECT min(recorded_at) FROM memsvc.passages WHERE user_id = %s", [owner.user_id])
    now = await work_now(db)
    assert now.embedding_lag_seconds >= (now.at - oldest).total_seconds() - 0.5
    await run_due(db)
    assert (await work_now(db)).embedding_lag_seconds == 0


NOW = WorkNow(
    at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    kinds=[
        KindNow(
            queue="models", kind="process", waiting=12, running=4, retrying=0, failed=1, dead=0, done_last_minute=7,
            failed_last_hour=1, oldest_seconds=75.0,
        ),
        KindNow(
            queue="upkeep", kind="tidy", waiting=0, running=0, retrying=0, failed=0, dead=0, done_last_minute=1,
            failed_last_hour=0, oldest_seconds=None,
        ),
    ],
    workers=[WorkerNow(worker_id=UUID(int=7), silent_seconds=1.25, running=4)],
    errors=[ErrorNow(error_code="embedder", retrying=0, failed_last_hour=1, last_seconds=5.0)],
)  # fmt: skip


def test_work_is_told_in_lines_and_in_a_picture() -> None:
    from rich.console import Console  # noqa: PLC0415

    at, oldest = "2026-01-02T03:04:05Z", "oldest 1.2 min"
    assert summary(NOW) == (
        "all: waiting 12, running 4, retrying 0, failed 1, dead 0, done/min 8, failed/h 1, oldest 1.2 min, "
        "embedding lag 1.2 min, workers 1 (silent for 1.2 s at most)"
    )
    assert lines(NOW) == [
        f"{at} models/process: waiting 12, running 4, retrying 0, failed 1, dead 0, done/min 7, failed/h 1, {oldest}",
        f"{at} upkeep/tidy: waiting 0, running 0, retrying 0, failed 0, dead 0, done/min 1, failed/h 0",
        f"{at} error embedder: retrying 0, failed/h 1, last 5.0 s ago",
        f"{at} {summary(NOW)}",
    ]
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(picture(NOW))
    drawn = console.export_text()
    for word in ("process", "tidy", "embedder", "00000000", "1.2 s ago", summary(NOW)):
        assert word in drawn


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, ""), (0, "0.0 s"), (59.9, "59.9 s"), (60, "1.0 min"), (5_400, "1.5 h"), (90_000_000, "1041.7 d")],
)
def test_ages_are_told_in_the_largest_unit(seconds: float | None, told: str) -> None:
    assert age(seconds) == told


# Trying failed jobs again -------------------------------------------------------------------------------------------


async def states(db: Database, owner: Owner) -> dict[UUID, str]:
    return {job.job_id: job.state for job in await list_jobs(db, owner.user_id)}


async def test_all_failed_jobs_of_a_user_are_tried_again(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    pond, mill = uuid4(), uuid4()
    older, newer = (ask(admin, owner, subject=pond), ask(admin, owner, "embed", pond))
    change(admin, [older], state="failed", finished_at=ago(hours=2), attempts=4, error_code="x")
    newest = ask(admin, owner, subject=pond)
    change(admin, [newer, newest], state="failed", finished_at=ago(hours=1), attempts=4)
    beside = ask(admin, owner, subject=mill)
    change(admin, [beside], state="failed", finished_at=ago(hours=1))
    waits, his = ask(admin, owner, subject=mill), ask(admin, other)
    change(admin, [his], state="failed", finished_at=ago(hours=1))

    assert await retry_failed(db, owner.user_id) == 2
    # The newest for each subject and kind; what another one does is cancelled.
    assert await states(db, owner) == {
        older: "cancelled", newer: "pending", newest: "pending", beside: "cancelled", waits: "pending",
    }  # fmt: skip
    assert await states(db, other) == {his: "failed"}
    [again] = [job for job in await list_jobs(db, owner.user_id) if job.job_id == newest]
    assert (again.attempts, again.finished_at) == (0, None)
    assert again.run_after <= datetime.now(UTC)
    sent = admin.execute("SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'queued'").fetchall()
    assert {newest, newer, waits} == {row[0] for row in sent}
    assert await retry_failed(db, owner.user_id) == 0


async def test_after_an_outage_everybodys_failed_jobs_are_tried_again(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    jobs = [ask(admin, someone) for someone in (owner, owner, other)]
    change(admin, jobs, state="failed", finished_at=ago(hours=1))
    told: list[int] = []
    assert await retry_failed_of_all(db, told.append) == 3
    assert sorted(told) == [1, 2]
    assert {*(await states(db, owner)).values(), *(await states(db, other)).values()} == {"pending"}
    assert await retry_failed_of_all(db) == 0


async def test_users_that_are_being_erased_are_passed_over(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    change(admin, [ask(admin, owner), ask(admin, other)], state="failed", finished_at=ago(hours=1))
    mark = "UPDATE memsvc.users SET erasing_since = %s WHERE user_id = ANY (%s)"
    both = [owner.user_id, other.user_id]

    def mark_both(_retried: int) -> None:
        admin.execute(mark, [ago(hours=0), both])

    admin.execute(mark, [ago(hours=1), both[:1]])
    try:
        assert await retry_failed_of_all(db) == 1
        assert set((await states(db, other)).values()) == {"pending"}
        admin.execute(mark, [None, both])
        change(admin, list(await states(db, other)), state="failed", finished_at=ago(hours=1))
        assert await retry_failed_of_all(db, mark_both) == 1
    finally:
        admin.execute(mark, [None, both])


# Starts -------------------------------------------------------------------------------------------------------------


async def test_starts_of_a_job_that_had_no_end_are_counted(
    db: Database, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is told to stop, or whose job fails, says so; one that dies does not."""
    job_id = ask(admin, owner)
    ends: list[BaseException] = []

    async def ending(*_: Any) -> bool:
        raise ends.pop()

    async def counted(end: BaseException) -> tuple[int, int]:
        ends.append(end)
        with suppress(asyncio.CancelledError, OverloadedError):
            await run_job(db, "process", owner.user_id, job_id, [ending])
        assert not ends
        [found] = admin.execute("SELECT attempts, starts FROM memsvc.jobs WHERE job_id = %s", [job_id]).fetchall()
        return found[0], found[1]

    assert [await counted(asyncio.CancelledError()) for _ in range(6)] == [(0, 0)] * 6
    assert [await counted(EmbedderAnswerError()) for _ in range(2)] == [(1, 0), (2, 0)]
    assert await counted(OverloadedError()) == (2, 0)
    seen = [kind.retrying for kind in (await work_now(db)).kinds]
    assert seen == [1]
    with monkeypatch.context() as dying:
        dying.setattr("memsvc.queue.execution._end_start", AsyncMock())
        assert [await counted(asyncio.CancelledError()) for _ in range(4)] == [(2, deaths) for deaths in range(1, 5)]
        assert await counted(EmbedderAnswerError()) == (3, 0), "a failure is an end"
        assert [await counted(asyncio.CancelledError()) for _ in range(5)] == [(3, deaths) for deaths in range(1, 6)]
    failed = JOBS_RUN.labels("process", "failed")._value.get
    before = failed()
    with capture_logs() as logs:
        assert await run_job(db, "process", owner.user_id, job_id, [ending]) == "failed"
        assert await run_job(db, "process", owner.user_id, job_id, [ending]) == "gone"
    assert [(line["event"], line["log_level"], line["code"]) for line in logs] == [
        ("job failed", "warning", "worker_died")
    ]
    assert failed() == before + 1
    [job] = await list_jobs(db, owner.user_id)
    assert (job.state, job.error_code, job.attempts) == ("failed", "worker_died", 3)
    await retry_job(db, owner.user_id, job_id)
    assert await counted(EmbedderAnswerError()) == (1, 0)


async def test_a_job_that_is_being_done_is_not_one_that_failed(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    seen: list[list[KindNow]] = []

    async def looking(*_: Any) -> bool:
        seen.append((await work_now(db)).kinds)
        return False

    job_id = ask(admin, owner)
    assert await run_job(db, "process", owner.user_id, job_id, [looking]) == "done"
    [[kind]] = seen
    assert (kind.waiting, kind.retrying) == (1, 0)
    [job] = await list_jobs(db, owner.user_id)
    assert (job.state, job.attempts, job.error_code) == ("done", 1, None)


# Dead letters -------------------------------------------------------------------------------------------------------


def bury(admin: psycopg.Connection, message: object, error: str = "Nobody knows it.") -> UUID:
    """A dead letter as a worker leaves it; its id."""
    message_id = uuid4()
    admin.execute(
        "INSERT INTO memsvc.dramatiq_queue (message_id, queue_name, message, state, deliveries) "
        "VALUES (%s, 'models', %s || %s, 'rejected', 3)",
        [message_id, Jsonb(message), Jsonb({"error": error})],
    )
    return message_id


async def test_a_dead_letter_shows_its_ids_and_its_error_and_nothing_else(
    db: Database, admin: psycopg.Connection
) -> None:
    message_id = bury(admin, {"actor_name": "dream", "args": ["a secret"], "kwargs": {"text": "a secret"}})
    [found] = await list_dead(db)
    assert (found.message_id, found.queue, found.actor, found.error) == (
        message_id, "models", "dream", "Nobody knows it.",
    )  # fmt: skip
    assert b"secret" not in msgspec.json.encode(found)


async def test_dead_letters_go_back_as_they_came(db: Database, admin: psycopg.Connection) -> None:
    first, second = bury(admin, {"actor_name": "dream"}), bury(admin, {"unread": ["not an object"]})
    assert await retry_dead(db, first) == 1
    query = "SELECT state, message, deliveries FROM memsvc.dramatiq_queue WHERE message_id = %s"
    assert admin.execute(query, [first]).fetchone() == ("queued", {"actor_name": "dream"}, 0)
    assert [letter.message_id for letter in await list_dead(db)] == [second]
    assert await retry_dead(db) == 1
    assert admin.execute(query, [second]).fetchone() == ("queued", ["not an object"], 0)
    assert await retry_dead(db) == 0
    with pytest.raises(NotFoundError):
        await retry_dead(db, first)


async def test_a_dropped_letter_is_gone(db: Database, admin: psycopg.Connection) -> None:
    dropped, kept = bury(admin, {}), bury(admin, {})
    await drop_dead(db, dropped)
    assert [letter.message_id for letter in await list_dead(db)] == [kept]
    with pytest.raises(NotFoundError):
        await drop_dead(db, dropped)


async def test_only_dead_letters_are_dropped(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    alive = ask(admin, owner)
    for act in (drop_dead, retry_dead):
        with pytest.raises(NotFoundError):
            await act(db, alive)
    assert value(admin, "SELECT state FROM memsvc.dramatiq_queue WHERE message_id = %s", [alive]) == "queued"


ID = "01890000-0000-7000-8000-000000000000"
LETTER = {
    "queue_name": "models", "actor_name": "process", "args": [ID, ID], "kwargs": {}, "options": {}, "message_id": ID,
    "message_timestamp": 1,
}  # fmt: skip


def test_a_jobs_message_is_understood(owner: Owner, admin: psycopg.Connection) -> None:
    job_id = ask(admin, owner)
    payload = value(admin, "SELECT message::text FROM memsvc.dramatiq_queue WHERE message_id = %s", [job_id])
    message = read_message(str(job_id), "models", payload)
    assert (message.actor_name, message.args) == ("process", (str(owner.user_id), str(job_id)))
    assert read_message(ID, "models", msgspec.json.encode(LETTER).decode()).message_id == ID


@pytest.mark.parametrize(
    "change",
    [
        {"queue_name": "upkeep"}, {"queue_name": None}, {"actor_name": 1}, {"args": None}, {"args": "ab"},
        {"kwargs": {"x": 1}}, {"kwargs": None}, {"options": None}, {"options": {"eta": 1}}, {"options": {"pipe": 1}},
        {"message_id": "another"}, {"message_timestamp": "now"}, {"error": "rejected before"},
    ],
    ids=str,
)  # fmt: skip
def test_a_message_of_another_shape_is_not_understood(change: dict[str, object]) -> None:
    with pytest.raises(NotUnderstoodError):
        read_message(ID, "models", msgspec.json.encode({**LETTER, **change}).decode())


@pytest.mark.parametrize("payload", [None, "", "null", "5", '"text"', "[]", "{}", "[1]", "{"])
def test_what_is_no_message_is_not_understood(payload: str | None) -> None:
    with pytest.raises(NotUnderstoodError):
        read_message(ID, "models", payload)


# Taking and settling ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prefetch", "claims"), [(8, [4, 5, 8]), (1, [1, 3, 4, 5, 8])])
def test_messages_are_claimed_when_half_of_the_hands_are_free(
    prefetch: int, claims: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = QueueConsumer.__new__(QueueConsumer)
    consumer.prefetch = prefetch
    taken: list[int] = []
    monkeypatch.setattr(consumer, "_take", taken.append)
    for free in (1, 3, 4, 5, 8):
        consumer.claim(free)
    assert taken == claims


async def test_a_job_with_nothing_to_fold_does_not_queue_up_behind_folders(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    job_id = ask(admin, owner)
    with admin.transaction():
        admin.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || %s, 0))", [str(owner.user_id)]
        )
        async with asyncio.timeout(10):
            assert await run_job(db, "process", owner.user_id, job_id) == "done"
