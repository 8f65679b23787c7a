"""Each kind of job has its actor, on the queue that the database names."""

from __future__ import annotations

import asyncio

import psycopg
from dramatiq.brokers.stub import StubBroker

from jobs.actors import QUEUES, declare_actors
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue import jobs
from memsvc.queue.execution import WORDS_ALONE
from memsvc.queue.worker import JobRunner
from memsvc.settings import Settings
from tests.jobs.working import only_job, say


def test_actors_and_queues_are_those_of_the_database(admin: psycopg.Connection) -> None:
    row = admin.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'memsvc.jobs'::regclass "
        "AND conname = 'jobs_kind_check'"
    ).fetchone()
    assert row is not None
    for kind, queue in QUEUES.items():
        assert f"'{kind}'" in row[0]
        assert admin.execute("SELECT memsvc.job_queue(%s)", [kind]).fetchone() == (queue,)
    assert row[0].count("::text") >= len(QUEUES)
    assert set(QUEUES.values()) == set(jobs.QUEUES)


def test_an_actor_hands_on_its_kind_and_what_its_message_brings() -> None:
    broker, called = StubBroker(middleware=[]), list[tuple[object, ...]]()
    declare_actors(broker, lambda *what: called.append(what))
    assert {kind: broker.get_actor(kind).queue_name for kind in QUEUES} == QUEUES
    broker.get_actor("process").fn("one", "two")
    assert called == [("process", "one", "two")]


async def test_a_runner_for_another_broker_remembers_no_job(db: Database, owner: Owner, settings: Settings) -> None:
    """It would grow for as long as the worker lives: nobody but our own broker forgets what was settled."""
    await say(db, owner, settings, "a heron")
    job_id = str((await only_job(db, owner)).job_id)
    runner = JobRunner(db, WORDS_ALONE, StubBroker(middleware=[]))
    await asyncio.to_thread(runner, "process", str(owner.user_id), job_id)
    assert (await only_job(db, owner)).state == "done"
    assert not any(job_id in held for held in vars(runner).values() if isinstance(held, set))
