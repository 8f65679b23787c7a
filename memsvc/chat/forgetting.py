"""Conversations that are forgotten when their session ends.

Who talks in one says so with a message; the conversation is marked, until a later message says that it stays. It is
erased for good, with all its sessions, when the app says that one is over, or, for apps that crash and people who just
leave, by the nightly ``tidy`` after some hours of silence.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Literal
from uuid import UUID

from memsvc.access.erase import Receipt, erase
from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError
from memsvc.queue.run import SLICE_S, Steps
from memsvc.sources.read import find_conversation

BATCH = 100
BY = "silence"
Forget = Literal["conversation", "keep"]
"""conversation: all of it goes; keep: it stays, whatever was said before."""


async def forget_later(db: Database, owner: Owner, conversation_id: UUID, *, hours: int) -> None:
    """Mark a conversation: it goes when a session of it ends, or after so many hours of silence, 1 to 8,760."""
    await _mark(db, owner, conversation_id, hours)


async def keep(db: Database, owner: Owner, conversation_id: UUID) -> None:
    """Take the mark back."""
    await _mark(db, owner, conversation_id, None)


async def _mark(db: Database, owner: Owner, conversation_id: UUID, hours: int | None) -> None:
    values = {"user_id": owner.user_id, "source_id": conversation_id, "hours": hours}
    async with db.transaction(owner.user_id) as connection:
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
        values = {"user_id": owner.user_id, "source_id": source_id}
        marked: bool = (await connection.execute(query("is_to_forget"), values)).scalar_one()
    if forget == "keep":
        await keep(db, owner, source_id)
        return None
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
