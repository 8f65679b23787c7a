"""Conversations that are forgotten when their session ends."""

from __future__ import annotations

from memsvc.access.erase import Receipt, erase
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.sources.read import find_conversation


async def end_session(
    db: Database, owner: Owner, conversation: str, *, forget: bool, requested_by: str
) -> Receipt | None:
    """End a session of a conversation: erase it where that is wanted.

    Args:
        db: the database.
        owner: whose.
        conversation: its identifier, or its id.
        forget: erase it now.
        requested_by: who wants it.

    Returns:
        The receipt; a job does the rest of a large erasure. None: the conversation stays.

    Raises:
        ConversationUnknownError: this user has none such.
    """
    async with db.transaction(owner.user_id) as connection:
        source_id = await find_conversation(connection, owner, conversation)
    if not forget:
        return None
    return await erase(db, owner, "source", source_id, requested_by=requested_by, whole=False)
