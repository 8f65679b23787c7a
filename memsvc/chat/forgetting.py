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

from memsvc.access.erase import Receipt, erase
from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError
from memsvc.queue.jobs import announce_jobs
from memsvc.queue.run import SLICE_S, Steps
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
        values = {"user_id": owner.user_id, "source_id": source_id}
        marked: bool = (await connection.execute(query("is_to_forget"), values)).scalar_one()
    if forget is None and not marked:
        return None
    return await erase(db, owner, "source", source_id, requested_by=requested_by, whole=False)


def forgetting_steps() -> Steps:
    """The step of the job ``tidy`` that erases marked conversations which have fallen silent."""
    return {"tidy": [_forget_silent]}


async def _forget_silent(db: Database, user_id: UUID, _user: UUID) -> bool:
    """Erase them; True: the time was up before."""
    until = time.monotonic() + SLICE_S
    owner = await owner_of(db, user_id)
    while True:
        async with db.transaction(user_id) as connection:
            rows = await connection.execute(query("sources_to_forget"), {"user_id": user_id, "limit": BATCH})
            silent: list[UUID] = list(rows.scalars())
        for source_id in silent:
            with suppress(NotFoundError):  # somebody else was first
                await erase(db, owner, "source", source_id, requested_by=BY)
            if time.monotonic() >= until:
                return True
        if len(silent) < BATCH:
            return False
