"""Reads the profile, as it is now or was at some time. Statements: ``sql/queries/profiles.sql``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page
from memsvc.errors import BlockUnknownError, ConversationUnknownError
from memsvc.graph import read as graph
from memsvc.profiles.blocks import CORE_TOKENS, MOST_WORKING, SECTIONS, TIERS, Block, Place, Profile, Tier, as_block
from memsvc.text.storable import check_storable


async def read_profile(
    db: Database,
    owner: Owner,
    *,
    conversation: str | None = None,
    node: UUID | None = None,
    known_at: datetime | None = None,
) -> Profile:
    """Return all blocks of the user, including core blocks about nodes; or all blocks about one node.

    Args:
        db: the database.
        owner: the user whose profile it is.
        conversation: return working memory of this conversation only, given by id or identifier; None: of all
            conversations, the newest 100 blocks (``working_truncated`` is true if there are older ones).
        node: a node, or one that is merged into it; None: the user's own profile.
        known_at: recorded time; None: now.

    Raises:
        ConversationUnknownError, NodeUnknownError: the user has no such conversation or node.
    """
    canonical = (await graph.resolve(db, owner, [node]))[node] if node is not None else None
    async with db.transaction(owner.user_id) as connection:
        source_id = await conversation_id(connection, owner, conversation)
        asked = blocks_asked(owner, source_id=source_id, node_id=canonical, known_at=known_at)
        rows = (await connection.execute(*asked)).all()
    found = [as_block(row) for row in rows]
    tiers: dict[Tier, list[Block]] = {tier: [block for block in found if block.kind == tier] for tier in TIERS}
    return Profile(
        core=tiers["core"],
        working=tiers["working"],
        working_truncated=any(row.kind == "working" and row.of_kind > MOST_WORKING for row in rows),
        archival=tiers["archival"],
        core_tokens=sum(block.tokens for block in tiers["core"]),
        core_limit_tokens=CORE_TOKENS,
    )


async def read_block(
    db: Database, owner: Owner, name: str, *, conversation: str | None = None, node: UUID | None = None
) -> Block:
    """Return the current version of a block.

    Args:
        db: the database.
        owner: the user whose profile it is.
        name: the block's name.
        conversation: the conversation whose working memory it is in, by id or identifier; None: another tier.
        node: the node that it describes; None: the user's own profile.

    Raises:
        BlockUnknownError: there is no block of this name, or it has expired.
        ConversationUnknownError, NodeUnknownError: the user has no such conversation or node.
        InvalidRequestError: the name is not valid.
    """
    row = await _row(db, owner, Place(name, conversation, node))
    if not row.live:
        raise BlockUnknownError(f"The profile has no block {name!r} now.")
    return as_block(row)


async def history(
    db: Database,
    owner: Owner,
    name: str,
    *,
    conversation: str | None = None,
    node: UUID | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Block]:
    """Return the versions of a block, newest first, even if it has expired or was evicted.

    Args:
        db: the database.
        owner: the user whose profile it is.
        name: the block's name.
        conversation: as in ``read_block``.
        node: as in ``read_block``.
        before: only versions with a lower number.
        limit: most versions, 1 to 1,000.

    Raises:
        BlockUnknownError: there never was such a block. Others: as ``read_block``.
    """
    check_page(limit)
    row = await _row(db, owner, Place(name, conversation, node))
    parameters = {"user_id": owner.user_id, "block_id": row.block_id, "before": before, "limit": limit}
    async with db.transaction(owner.user_id) as connection:
        return [as_block(found) for found in await connection.execute(query("profile_history"), parameters)]


async def last_version(db: Database, owner: Owner, block_id: UUID) -> Block:
    """Return the current or the last version of a block, by its id.

    Raises:
        BlockUnknownError: there is no such block, or it was erased.
    """
    parameters = {"user_id": owner.user_id, "block_id": block_id, "before": None, "limit": 1}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("profile_history"), parameters)).one_or_none()
    if row is None:
        raise BlockUnknownError("There is no block with this id.")
    return as_block(row)


async def _row(db: Database, owner: Owner, place: Place) -> Row[Any]:
    node_id = await canonical_of(db, owner, place)
    async with db.transaction(owner.user_id) as connection:
        row = await called(connection, owner, place, node_id)
    if row is None:
        raise BlockUnknownError(f"The profile has no block {place.name!r}.")
    return row


async def canonical_of(db: Database, owner: Owner, place: Place) -> UUID | None:
    """Return the canonical node of the one in an address.

    Raises:
        NodeUnknownError: there is no such node.
    """
    return None if place.node is None else (await graph.resolve(db, owner, [place.node]))[place.node]


async def called(connection: AsyncConnection, owner: Owner, place: Place, node_id: UUID | None) -> Row[Any] | None:
    """Return the row of a block: its current version (``live``) or its last one; None: there never was one.

    Raises:
        ConversationUnknownError: there is no such conversation.
    """
    source_id = await conversation_id(connection, owner, place.conversation)
    parameters = {"user_id": owner.user_id, "name": place.name, "source_id": source_id, "node_id": node_id}
    return (await connection.execute(query("profile_called"), parameters)).one_or_none()


async def conversation_id(connection: AsyncConnection, owner: Owner, name: str | None) -> UUID | None:
    """Return the id of a conversation, given by id or identifier; None for None.

    Raises:
        ConversationUnknownError: there is no such conversation.
        InvalidTextError: the name cannot be stored, so no conversation can have it.
    """
    if name is None:
        return None
    check_storable(name, "conversation")
    rows = await connection.execute(query("conversation_ids"), {"user_id": owner.user_id, "wanted": [name]})
    row = rows.one_or_none()
    if row is None:
        raise ConversationUnknownError(f"There is no conversation {name[:100]!r}.", conversation=name[:100])
    found: UUID = row.source_id
    return found


def blocks_asked(
    owner: Owner,
    *,
    kinds: Sequence[Tier] = TIERS,
    source_id: UUID | None = None,
    node_id: UUID | None = None,
    known_at: datetime | None = None,
) -> tuple[TextClause, dict[str, Any]]:
    """Return the statement that selects the blocks of these tiers, in their order, and its values."""
    parameters = {
        "user_id": owner.user_id, "kinds": list(kinds), "sections": list(SECTIONS), "source_id": source_id,
        "node_id": node_id, "known_at": known_at, "most_working": MOST_WORKING,
    }  # fmt: skip
    return query("profile_blocks"), parameters
