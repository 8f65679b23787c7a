"""Begins sleep before its time, when enough is new and the user is not talking.

The job of new messages notes when to look (``memsvc.note_news``); workers look here. ``memsvc.look_sleep``
(``sql/functions/queue/45_waking.sql``) decides by the settings and requests the job ``sleep``, in one transaction.
"""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.errors import MemsvcError
from memsvc.queue.execution import OF_THE_DATABASE
from memsvc.queue.jobs import announce_jobs
from memsvc.queue.schedule import BATCH, LOOK_S
from memsvc.recall import times_in_words
from memsvc.settings import Settings

QUIET = timedelta(minutes=2)
"""A user who said something a shorter time ago may be waiting for an answer."""
SILENCE = times_in_words.SITTING
"""It ends a sitting, as in contexts."""
DUE = text("SELECT * FROM memsvc.due_looks(:limit)")
LOOK = text(
    "SELECT memsvc.look_sleep(:user_id, :messages, :sitting_messages, :importance, :sitting, :calm, :pause) AS woken"
)
log = structlog.get_logger()


async def wake_due(db: Database, settings: Settings) -> int:
    """Look at all users whose time has come; return for how many sleep was requested.

    Raises:
        MemsvcError: the database cannot be reached; who was not looked at stays due.
    """
    woken = 0
    async with db.transaction() as connection:
        due = list((await connection.execute(DUE, {"limit": BATCH})).scalars())
    random.shuffle(due)  # two processes that read the same rows begin at different ones
    for user_id in due:
        reason = await _look(db, user_id, settings)
        if reason is not None:
            woken += 1
            log.info("sleep begins before its time", user_id=str(user_id), cause=reason)
    if woken:
        announce_jobs(db)
    return woken


async def _look(db: Database, user_id: UUID, settings: Settings) -> str | None:
    """Look at one user; an error about one does not stop the others."""
    values = {
        "user_id": user_id, "messages": settings.sleep_after_messages, "sitting_messages": settings.sleep_after_sitting,
        "importance": settings.sleep_after_importance, "sitting": SILENCE, "calm": QUIET,
        "pause": timedelta(minutes=settings.sleep_pause_minutes),
    }  # fmt: skip

    async def look(connection: AsyncConnection) -> str | None:
        reason: str | None = (await connection.execute(LOOK, values)).scalar_one()
        return reason

    try:
        return await db.attempt(user_id, look)
    except OF_THE_DATABASE:
        raise
    except Exception:
        log.exception("a look at new messages failed", user_id=str(user_id))
        return None


async def keep_waking(db: Database, settings: Settings) -> None:
    """Look repeatedly until cancelled; keeps trying while the database is away."""
    while True:
        await asyncio.sleep(LOOK_S * random.uniform(2 / 3, 4 / 3))  # noqa: S311 - no secret
        try:
            await wake_due(db, settings)
        except MemsvcError as error:
            log.warning("looking for what is new waits for the database", code=error.code)
        except Exception:
            log.exception("nobody looked for what is new")
