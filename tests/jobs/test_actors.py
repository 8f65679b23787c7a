"""Each kind of job has its actor, on the queue that the database names."""

from __future__ import annotations

import psycopg
from dramatiq.brokers.stub import StubBroker

from jobs.actors import QUEUES, declare_actors
from memsvc.queue import jobs


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
