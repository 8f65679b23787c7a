"""The switch "do not remember": while a user's memory is paused, no door stores a message of theirs.

``memsvc.append_messages`` looks at the switch, so it holds for every door: messages get the outcome ``paused``, and
nothing of them is kept, not even the name of a new conversation. Recall goes on, and so do acts of the user that are
meant to be kept: facts, notes, instructions, blocks of the profile.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a user's messages are stored."""

    paused: bool
    """True: they are not."""
    since: datetime | None
    """When the pause began; null: there is none."""
    until: datetime | None
    """When it ends by itself; null: there is none, or it lasts until somebody resumes."""


REMEMBERING = Pause(paused=False, since=None, until=None)


async def find_pause(db: Database, owner: Owner) -> Pause:
    """Return whether the user's memory is paused."""
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("find_pause"), {"user_id": owner.user_id})).one_or_none()
    return Pause(paused=True, since=row.paused_at, until=row.paused_until) if row is not None else REMEMBERING


async def pause(db: Database, owner: Owner, until: datetime | None = None) -> Pause:
    """Store no message of the user from now on. A pause that is running gets the new end.

    Args:
        db: the database.
        owner: whose messages.
        until: aware; None: until ``resume``.

    Raises:
        InvalidRequestError: the end is not in the future.
    """
    if until is not None and until <= datetime.now(UTC):
        raise InvalidRequestError("The end of the pause must lie in the future.", field="until")
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("pause_memory"), {"user_id": owner.user_id, "until": until})
    return await find_pause(db, owner)


async def resume(db: Database, owner: Owner) -> Pause:
    """Store the user's messages again. What was said during the pause stays unknown."""
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("resume_memory"), {"user_id": owner.user_id})
    return REMEMBERING
