"""Transactions that the database gives up for the sake of others are tried again."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import TRIES, Database
from memsvc.errors import ContendedError
from memsvc.queue.jobs import announce_jobs, get_job
from memsvc.settings import Settings
from tests.jobs.queueing.posting import (
    nothing,
)
from tests.jobs.working import doing, job_of, only_job, say, until

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
