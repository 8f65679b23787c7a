"""Conversations that are forgotten when their session ends.

Who talks in one says so with a message; the conversation is marked, until a later message says that it stays. It is
erased for good, with all its sessions, when the app says that one is over, or, for apps that crash and people who just
leave, by the nightly ``tidy`` after some hours of silence.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.erasing.memories import Receipt, erase
from memsvc.errors import ConversationUnknownError, NotFoundError
from memsvc.queue.execution import SLICE_S, Steps
from memsvc.queue.jobs import announce_jobs
from memsvc.sources.messages import Prepared, StoredMessage, append_prepared
from memsvc.sources.read import find_conversation

BATCH = 100
BY = "silence"
Forget = Literal["conversation", "keep"]
"""conversation: all of it goes; keep: it stays, whatever was said before."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What a message says of its conversation."""

    hours: int | None
    """It goes when a session of it ends, or after so many hours of silence, 1 to 8,760; None: it stays."""


async def store_fated(db: Database, owner: Owner, prepared: Prepared, fate: Fate) -> StoredMessage:
    """Store a message, and mark its conversation or take the mark back, in one transaction.

    A message that comes again, late perhaps, says nothing more: what was said since counts.

    Raises:
        MemsvcError: see ``append``; then neither is done.
    """

    async def once(connection: AsyncConnection) -> StoredMessage:
        [stored] = await append_prepared(connection, owner, [prepared])
        if stored.outcome == "created":
            await _mark(connection, owner, stored.conversation_id, fate)
        return stored

    stored = await db.attempt(owner.user_id, once)
    if stored.job_id is not None:
        announce_jobs(db)
    return stored


async def _mark(connection: AsyncConnection, owner: Owner, conversation_id: UUID, fate: Fate) -> None:
    values = {"user_id": owner.user_id, "source_id": conversation_id, "hours": fate.hours}
    await connection.execute(query("mark_to_forget"), values)


async def end_session(
    db: Database, owner: Owner, conversation: str, *, forget: Forget | None, requested_by: str
) -> Receipt | None:
    """End a session of a conversation: erase the conversation where it is marked, or where that is wanted now.

    Args:
        db: the database.
        owner: whose.
        conversation: its identifier, or its id.
        forget: conversation: erase it, marked or not; keep: take the mark back; None: go by the mark.
        requested_by: who wants it.

    Returns:
        The receipt; a job does the rest of a large erasure. None: the conversation stays.

    Raises:
        ConversationUnknownError: this user has none such.
    """
    async with db.transaction(owner.user_id) as connection:
        source_id = await find_conversation(connection, owner, conversation)
        if forget == "keep":
            await _mark(connection, owner, source_id, Fate(None))
            return None
        marked = await _marked(connection, owner, source_id)
    if forget is None and not marked:
        return None

    async def unless(connection: AsyncConnection) -> None:
        await _lock(connection, owner, source_id)
        if forget is None and await _marked(connection, owner, source_id) is False:
            raise _KeptError

    try:
        return await erase(db, owner, "source", source_id, requested_by=requested_by, whole=False, unless=unless)
    except _KeptError:
        return None
    except NotFoundError as error:  # somebody else was first
        raise ConversationUnknownError(f"There is no conversation {conversation!r}.") from error


class _KeptError(Exception):
    """The mark was taken back, or something was said, since it was looked at."""


async def _lock(connection: AsyncConnection, owner: Owner, source_id: UUID) -> None:
    """Nobody says anything in a conversation, or marks it, until the transaction ends."""
    await connection.execute(query("lock_to_forget"), {"user_id": owner.user_id, "source_id": source_id})


async def _marked(connection: AsyncConnection, owner: Owner, source_id: UUID) -> bool | None:
    """None: the conversation is gone."""
    values = {"user_id": owner.user_id, "source_id": source_id}
    return (await connection.execute(query("is_to_forget"), values)).scalar_one_or_none()


async def _silent(
    connection: AsyncConnection, owner: Owner, *, source_id: UUID | None = None, limit: int = BATCH
) -> list[UUID]:
    """Marked conversations that have fallen silent; with ``source_id`` that one, if it has."""
    values = {"user_id": owner.user_id, "source_id": source_id, "limit": limit}
    return list((await connection.execute(query("sources_to_forget"), values)).scalars())


def forgetting_steps() -> Steps:
    """The step of the job ``tidy`` that erases marked conversations which have fallen silent."""
    return {"tidy": [_forget_silent]}


async def _forget_silent(db: Database, user_id: UUID, _user: UUID) -> bool:
    """Erase them; True: the time was up before."""
    until = time.monotonic() + SLICE_S
    owner = await owner_of(db, user_id)
    while True:
        async with db.transaction(user_id) as connection:
            silent = await _silent(connection, owner)
        for source_id in silent:
            with suppress(NotFoundError, _KeptError):  # somebody else was first
                await _erase_silent(db, owner, source_id)
            if time.monotonic() >= until:
                return True
        if len(silent) < BATCH:
            return False


async def _erase_silent(db: Database, owner: Owner, source_id: UUID) -> None:
    """Erase a conversation, if it still is marked and silent.

    Raises:
        _KeptError: it is not.
        NotFoundError: it is gone.
    """

    async def unless(connection: AsyncConnection) -> None:
        await _lock(connection, owner, source_id)
        if not await _silent(connection, owner, source_id=source_id, limit=1):
            raise _KeptError

    await erase(db, owner, "source", source_id, requested_by=BY, unless=unless)
