"""Dead letters: messages that no worker could read, kept in the queue until somebody retries or drops them.

They come from a worker that is too old to know a kind of job, or from manual changes to the table. They belong to no
user, so these functions are for operators. No job is lost with them: a pending job without a message gets a new one.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError
from memsvc.queue.jobs import announce_jobs

MOST_LISTED = 1_000
NOTE = text("SELECT memsvc.note_queue_act(:action, :subject)")


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was rejected."""

    message_id: UUID
    """The id of its job, if it belongs to one."""
    queue: str
    actor: str | None
    """The kind of job that it names."""
    rejected_at: datetime
    error: str | None


async def list_dead(db: Database, limit: int = MOST_LISTED) -> list[DeadLetter]:
    """Dead letters of all queues, the newest first."""
    async with db.transaction() as connection:
        rows = await connection.execute(query("list_dead"), {"limit": limit})
        return [DeadLetter(**row._mapping) for row in rows]  # noqa: SLF001 - the public name of a row's mapping


async def retry_dead(db: Database, message_id: UUID | None = None) -> int:
    """Put one dead letter, or all of them, back into the queue and wake the workers; returns how many.

    Raises:
        NotFoundError: no dead letter has this id.
    """
    async with db.transaction() as connection:
        rows = (await connection.execute(query("retry_dead"), {"message_id": message_id})).all()
        if rows:
            await _note(connection, "dead_letter.retry", message_id)
    if message_id is not None and not rows:
        raise _missing()
    announce_jobs(db)
    return len(rows)


async def drop_dead(db: Database, message_id: UUID) -> None:
    """Delete one dead letter; a job that is still pending gets a new message.

    Raises:
        NotFoundError: no dead letter has this id.
    """
    async with db.transaction() as connection:
        row = (await connection.execute(query("drop_dead"), {"message_id": message_id})).one_or_none()
        if row is not None:
            await _note(connection, "dead_letter.drop", message_id)
    if row is None:
        raise _missing()


async def _note(connection: AsyncConnection, action: str, message_id: UUID | None) -> None:
    await sign(connection)
    await connection.execute(NOTE, {"action": action, "subject": str(message_id or "all")})


def _missing() -> NotFoundError:
    return NotFoundError("There is no dead letter with this id.")
