"""Conversations that are erased when a session of them ends.

A message marks its conversation to be erased, until a later message takes the mark back. The conversation is erased for
good, with all its sessions, when the app says that a session is over. For apps that crash and people who just leave,
the nightly ``tidy`` erases it after some hours without a message.
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
"""conversation: erase all of it; keep: do not erase it, whatever an earlier message said."""


@dataclass(frozen=True, slots=True)
class Fate:
    """Whether a message marks its conversation to be erased."""

    hours: int | None
    """Erase it when a session ends, or after so many hours without a message, 1 to 8,760; None: keep it."""


async def store_fated(db: Database, owner: Owner, prepared: Prepared, fate: Fate) -> StoredMessage:
    """Store a message, and set or remove the mark of its conversation, in one transaction.

    A repeated message changes no mark, because a later message may have changed it since.

    Raises:
        MemsvcError: see ``append``; then neither is done.
    """

    async def once(connection: AsyncConnection) -> StoredMessage:
        [stored] = await append_prepared(connection, owner, [prepared])
        if stored.outcome == "created" and stored.conversation_id is not None:
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
    """End a session of a conversation: erase the conversation if it is marked, or if ``forget`` says so.

    Args:
        db: the database.
        owner: whose memory.
        conversation: its identifier or its id.
        forget: conversation: erase it, marked or not; keep: remove the mark; None: erase it if it is marked.
        requested_by: who asks for it.

    Returns:
        The receipt; a job does the rest of a large erasure. None: the conversation is kept.

    Raises:
        ConversationUnknownError: the user has no such conversation.
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
    except NotFoundError as error:  # another process erased it first
        raise ConversationUnknownError(f"There is no conversation {conversation!r}.") from error


class _KeptError(Exception):
    """The mark was removed, or a message came, since the mark was read."""


async def _lock(connection: AsyncConnection, owner: Owner, source_id: UUID) -> None:
    """Lock a conversation against new messages and marks until the transaction ends."""
    await connection.execute(query("lock_to_forget"), {"user_id": owner.user_id, "source_id": source_id})


async def _marked(connection: AsyncConnection, owner: Owner, source_id: UUID) -> bool | None:
    """Whether the conversation is marked; None: it is gone."""
    values = {"user_id": owner.user_id, "source_id": source_id}
    return (await connection.execute(query("is_to_forget"), values)).scalar_one_or_none()


async def _silent(
    connection: AsyncConnection, owner: Owner, *, source_id: UUID | None = None, limit: int = BATCH
) -> list[UUID]:
    """Marked conversations without a message for their hours; with ``source_id`` only that one, if it qualifies."""
    values = {"user_id": owner.user_id, "source_id": source_id, "limit": limit}
    return list((await connection.execute(query("sources_to_forget"), values)).scalars())


def forgetting_steps() -> Steps:
    """The step of the job ``tidy`` that erases marked conversations after their hours without a message."""
    return {"tidy": [_forget_silent]}


async def _forget_silent(db: Database, user_id: UUID, _user: UUID) -> bool:
    """Erase them; True: the time ran out first."""
    until = time.monotonic() + SLICE_S
    owner = await owner_of(db, user_id)
    while True:
        async with db.transaction(user_id) as connection:
            silent = await _silent(connection, owner)
        for source_id in silent:
            with suppress(NotFoundError, _KeptError):  # another process was first
                await _erase_silent(db, owner, source_id)
            if time.monotonic() >= until:
                return True
        if len(silent) < BATCH:
            return False


async def _erase_silent(db: Database, owner: Owner, source_id: UUID) -> None:
    """Erase a conversation if it is still marked and without new messages.

    Raises:
        _KeptError: it is not.
        NotFoundError: it is gone.
    """

    async def unless(connection: AsyncConnection) -> None:
        await _lock(connection, owner, source_id)
        if not await _silent(connection, owner, source_id=source_id, limit=1):
            raise _KeptError

    await erase(db, owner, "source", source_id, requested_by=BY, unless=unless)
