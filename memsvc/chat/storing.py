"""Stores what is said to a chat app together with what was recalled for it: one transaction, in one round trip."""

from __future__ import annotations

import msgspec
import psycopg

from memsvc.access.users import Owner
from memsvc.chat.afterwards import Afterwards
from memsvc.chat.forgetting import Fate, store_fated
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import DatabaseTooOldError
from memsvc.recall.signals import Note, record, tell_failed, tell_recorded
from memsvc.sources.messages import Prepared, StoredMessage, append_one, append_with


async def store_noted(
    db: Database,
    owner: Owner,
    prepared: Prepared,
    note: Note | None,
    afterwards: Afterwards,
    *,
    fate: Fate | None = None,
) -> StoredMessage:
    """Store a message; what was recalled is noted with it, unless the message is refused.

    The message counts more. While somebody erases, it waits for nothing on the note's behalf: the note comes
    afterwards. What the database refuses about the note, which is a defect of ours or a database that does not know it
    yet, is logged, and the message is stored without it. Then nothing of the first try is there, for it was one
    transaction.

    Args:
        db: the database.
        owner: whose memory it is.
        prepared: the message.
        note: what was recalled for it; None: nothing.
        afterwards: holds the note that has to wait.
        fate: what the message says of its conversation, stored with it, and the note afterwards; None: nothing.

    Raises:
        MemsvcError: see ``append``.
    """
    if fate is not None:
        stored = await store_fated(db, owner, prepared, fate)
        if note is not None:
            afterwards.start(record(db, owner, note))
        return stored
    if note is None:
        return await append_one(db, owner, prepared)
    try:
        stored, row = await append_with(db, owner, prepared, query("append_noted"), msgspec.structs.asdict(note))
    except (psycopg.Error, DatabaseTooOldError) as error:
        stored = await append_one(db, owner, prepared)  # fails as well where it was not the note
        tell_failed(note, error)
        return stored
    if row.noted:
        tell_recorded(db)
    else:
        afterwards.start(record(db, owner, note))
    return stored
