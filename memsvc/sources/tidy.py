"""The nightly job ``tidy`` of a user: delete old rows and request missing vectors.

The job's first step, which files blocks of the archive, is in ``memsvc.profiles.filing``.

It deletes ended jobs and old events with ``memsvc.delete_ended``, in transactions of bounded size, and may be killed at
any point and run again. It adds recalls to ``memory_signals``, then deletes old recalls and the stored answers of
repeated requests. Statistics are folded at the end of every job (``memsvc.finish_job``).
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.queue.execution import SLICE_S, Steps
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.ingests import BATCH as OLD_INGESTS
from memsvc.sources.ingests import delete_old

BATCH = 5_000
"""Most rows of a table that one transaction deletes."""
DELETE = text("SELECT * FROM memsvc.delete_ended(:user_id, :jobs_kept, :events_kept, :limit)")
FOLD_RECALLS = text("SELECT memsvc.fold_recalls(:user_id, :limit)")
PRUNE_AUDIT = text("SELECT memsvc.prune_audit(:kept, :limit)")
DELETE_RECALLS = text("SELECT memsvc.delete_recalls(:user_id, :kept, :limit)")


def tidy_steps(settings: Settings, *, vectors: bool) -> Steps:
    """Return the steps of the job ``tidy``.

    Args:
        settings: how long jobs and events are kept, and whether messages have token vectors.
        vectors: request vectors that messages lack.
    """
    kept = {
        "jobs_kept": timedelta(days=settings.keep_jobs_days),
        "events_kept": timedelta(days=settings.keep_events_days),
    }

    async def tidy(db: Database, user_id: UUID, _user: UUID) -> bool:
        if await _delete(db, user_id, kept):
            return True
        if await _settle_recalls(db, user_id, timedelta(days=settings.keep_recalls_days)):
            return True
        await db.attempt(user_id, partial(_delete_kept_answers, user_id=user_id))
        while await db.attempt(user_id, partial(delete_old, user_id=user_id, kept=kept["jobs_kept"])) >= OLD_INGESTS:
            pass
        await db.attempt(None, partial(_prune_audit, kept=timedelta(days=settings.keep_audit_days)))
        if vectors:
            await _request_vectors(db, user_id, tokens=settings.late_interaction)
        return False

    return {"tidy": [tidy]}


async def _prune_audit(connection: AsyncConnection, *, kept: timedelta) -> None:
    """Delete old lines of the audit log, which belongs to all users: each night's jobs delete some."""
    await connection.execute(PRUNE_AUDIT, {"kept": kept, "limit": BATCH})


async def _delete(db: Database, user_id: UUID, kept: dict[str, timedelta]) -> bool:
    """Delete old jobs and events; return True if the time was up before all were deleted."""
    values = {**kept, "user_id": user_id, "limit": BATCH}

    async def delete(connection: AsyncConnection) -> int:
        deleted = (await connection.execute(DELETE, values)).one()
        most: int = max(deleted.jobs, deleted.events)
        return most

    until = time.monotonic() + SLICE_S
    while await db.attempt(user_id, delete) >= BATCH:
        if time.monotonic() >= until:
            return True
    return False


async def _settle_recalls(db: Database, user_id: UUID, kept: timedelta) -> bool:
    """Fold recalls into signals, then delete old ones; return True if the time was up before the end."""
    until = time.monotonic() + SLICE_S
    for statement in (FOLD_RECALLS, DELETE_RECALLS):
        values = {"user_id": user_id, "limit": BATCH, **({"kept": kept} if statement is DELETE_RECALLS else {})}

        async def settle(connection: AsyncConnection, statement: Any = statement, values: Any = values) -> int:
            return int((await connection.execute(statement, values)).scalar_one())

        while await db.attempt(user_id, settle) >= BATCH:
            if time.monotonic() >= until:
                return True
    return False


async def _delete_kept_answers(connection: AsyncConnection, user_id: UUID) -> None:
    await connection.execute(query("forget_what_doors_kept"), {"user_id": user_id})


async def _request_vectors(db: Database, user_id: UUID, *, tokens: bool) -> None:
    async def ask(connection: AsyncConnection) -> bool:
        asked = await connection.execute(query("ask_lacking"), {"user_id": user_id, "tokens": tokens})
        return asked.one_or_none() is not None

    if await db.attempt(user_id, ask):
        announce_jobs(db)
