"""What forgetting has archived: how much and what it is, whether forgetting is on, and taking memories out again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, check_page
from memsvc.errors import InvalidRequestError
from memsvc.settings import Settings
from memsvc.sources.opening import find_memory

MOST_RESTORED = 1_000
MOST_SHOWN_CHARS = 2_000


class Archive(msgspec.Struct, frozen=True, kw_only=True):
    """A user's archived memories."""

    forgetting: bool
    """Whether sleep mode archives what nobody recalls."""
    chosen: bool
    """True: the user's own choice; false: as the service is set."""
    messages: int
    """How many messages are archived."""
    facts: int
    cards: int
    """Of nodes: what their descriptions say."""
    turns: int
    """Texts of turns of agents: requests, what was done, answers."""
    last_at: datetime | None
    """When the last of them was archived; null: none is."""


class Archived(msgspec.Struct, frozen=True, kw_only=True):
    """An archived memory."""

    memory_id: UUID
    """By it the memory is opened and restored."""
    kind: Literal["message", "fact", "card", "turn"]
    text: str
    """Its beginning, at most 2,000 characters."""
    speaker: str
    said_at: datetime
    archived_at: datetime
    run_id: UUID | None
    """The run that archived it, which can be undone as a whole; null: none that is known."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken out of the archive."""

    restored: int
    """How many memories; what was not archived is not counted."""


async def archive_of(db: Database, owner: Owner, settings: Settings) -> Archive:
    """Return how much is archived, and whether forgetting is on."""
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("archived_memories"), {"user_id": owner.user_id})).one()
    return Archive(
        forgetting=settings.forgetting if row.forgetting is None else row.forgetting,
        chosen=row.forgetting is not None,
        messages=row.messages,
        facts=row.facts,
        cards=row.cards,
        turns=row.turns,
        last_at=row.last_at,
    )


async def list_archived(db: Database, owner: Owner, *, cursor: UUID | None = None, limit: int = 50) -> Page[Archived]:
    """Return a page of archived memories, the newest first.

    Raises:
        InvalidRequestError: the limit is not 1 to 1,000.
    """
    check_page(limit)
    asked = {"user_id": owner.user_id, "after": cursor, "limit": limit + 1, "most": MOST_SHOWN_CHARS}
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("archived_page"), asked)).mappings().all()
    items = [Archived(**{name: row[name] for name in Archived.__struct_fields__}) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(rows[limit - 1]["passage_id"]) if len(rows) > limit else None)


async def switch_forgetting(db: Database, owner: Owner, settings: Settings, *, on: bool | None) -> Archive:
    """Switch forgetting on or off for a user; None: as the service is set. What is archived stays so."""
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("switch_forgetting"), {"user_id": owner.user_id, "wanted": on})
    return await archive_of(db, owner, settings)


async def restore(db: Database, owner: Owner, memories: Sequence[str]) -> Restored:
    """Take memories out of the archive. They count as used now. A whole run is taken back by ``memsvc.sleep.undoing``.

    Args:
        db: the database.
        owner: whose memories they are.
        memories: ids of messages, facts and nodes, short or full, at most 1,000.

    Raises:
        InvalidRequestError: none or too many are asked for.
        MemoryUnknownError, MemoryAmbiguousError: no memory, or several, have an id.
    """
    if not memories:
        raise InvalidRequestError("Nothing is to be restored.", hint="Name memories by their ids.", field="memory_ids")
    if len(memories) > MOST_RESTORED:
        raise InvalidRequestError(f"At most {MOST_RESTORED:,} memories fit.", field="memory_ids")
    called = [await find_memory(db, owner, one) for one in memories]
    async with db.transaction(owner.user_id) as connection:
        ids = [one.memory_id for one in called]
        for node in (one.memory_id for one in called if one.kind == "node"):
            asked = {"user_id": owner.user_id, "node_id": node}
            ids += (await connection.execute(query("passage_of_node"), asked)).scalars()
        await connection.execute(query("keep_memories"), {"user_id": owner.user_id})
        values = {"user_id": owner.user_id, "ids": ids, "run_id": None}
        return Restored(restored=(await connection.execute(query("restore_memories"), values)).scalar_one())
