"""Messages that cannot be understood become dead letters and stop nothing."""

from __future__ import annotations

import json
from uuid import UUID, uuid4

import psycopg
import pytest

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.jobs.queueing.posting import (
    PENDING,
    QUEUED,
    Gate,
    keep,
    message,
    nothing,
    place_in_queue,
    quietly,
)
from tests.jobs.working import doing, job_of, only_job, say, until, waiting
from tests.sql.world import value

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
