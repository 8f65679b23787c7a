"""Stores what is said to a chat app together with what was recalled for it: one transaction, in one round trip."""

from __future__ import annotations

import msgspec
import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.recall.signals import Note, tell_failed, tell_recorded
from memsvc.sources.messages import Prepared, StoredMessage, append_one


async def store_noted(db: Database, owner: Owner, prepared: Prepared, note: Note | None) -> StoredMessage:
    """Store a message; what was recalled is noted with it, unless the message is refused.

    The message counts more: what the database refuses about the note, which is a defect of ours, is logged, and the
    message is stored without it. Then nothing of the first try is there, for it was one transaction.

    Args:
        db: the database.
        owner: whose memory it is.
        prepared: the message.
        note: what was recalled for it; None: nothing.

    Raises:
        MemsvcError: see ``append``.
    """
    if note is None:
        return await append_one(db, owner, prepared)
    try:
        stored = await append_one(db, owner, prepared, query("append_noted"), msgspec.structs.asdict(note))
    except psycopg.Error as error:
        tell_failed(note, error)
        return await append_one(db, owner, prepared)
    tell_recorded(db)
    return stored
