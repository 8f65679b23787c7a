"""Stores a chat message together with the record of its recall, in one transaction and one round trip."""

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
    """Store a message, and record the recall with it unless the message is refused.

    The message matters more than the record. If an erasure is running, the message does not wait for the record, which
    follows later. If the database refuses the record, because of a defect or an older database, that is logged and the
    message is stored without it. Nothing of the first try remains, as it was one transaction.

    Args:
        db: the database.
        owner: whose memory it is.
        prepared: the message.
        note: the record of the recall; None: nothing was recalled.
        afterwards: stores a record that has to wait.
        fate: whether to erase the conversation later, stored with the message; None: unchanged.

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
        stored = await append_one(db, owner, prepared)  # fails again if the record was not the cause
        tell_failed(note, error)
        return stored
    if row.noted:
        tell_recorded(db)
    else:
        afterwards.start(record(db, owner, note))
    return stored
