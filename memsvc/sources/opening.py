"""Opens a memory by the id that a context or a recall shows, whole or short: what it is, and what it rests on.

A short id is the begin of an id (``memsvc.db.short_ids``), so each kind of memory is found by its key.
"""

from __future__ import annotations

import re
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.short_ids import id_range
from memsvc.errors import InvalidRequestError, MemoryAmbiguousError, MemoryUnknownError
from memsvc.graph.describe import ShownEdge, ShownNode, describe_edge, describe_node
from memsvc.profiles.blocks import Block
from memsvc.profiles.read import last_version
from memsvc.sources.read import Message, OpenedSource, open_source
from memsvc.text.storable import check_storable

KINDS = {"m": "message", "f": "fact", "n": "node", "b": "block"}
ASKED = re.compile(r"\[?(?:(?P<kind>[mfnb]):)?(?P<id>[0-9a-zA-Z-]{1,40})\]?")


class SupportedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a message speaks for, as it is known now."""

    version_id: UUID
    edge_id: UUID
    fact: str
    stance: Literal["supports", "ends"]
    """ends: the message says that it is not so, or not any more."""


class OpenedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What an id of a context stands for."""

    kind: Literal["message", "fact", "node", "block"]
    memory_id: UUID
    """The whole id: of the passage, the fact's version, the node, or the block."""
    text: str
    """What the passage says (a long message has several), the fact's sentence, the node's label, the block's text."""
    message: Message | None = None
    """Of a message: all of it, however many passages it has."""
    source: OpenedSource | None = None
    """Of a message: its conversation, with the message among its neighbours."""
    supports: list[SupportedFact] = []
    """Of a message: the facts that rest on it, at most 100."""
    fact: ShownEdge | None = None
    """Of a fact: all its versions with their evidence."""
    node: ShownNode | None = None
    """Of a node: everything about it."""
    block: Block | None = None
    """Of a block of the profile: what it says, or said last."""


class CalledMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What an id means, without what it says."""

    kind: Literal["message", "fact", "node", "block"]
    memory_id: UUID
    """The whole id: of the passage, the fact's version, the node or the block."""
    belongs_to: UUID
    """The conversation of a message, the edge of a fact; else the same."""


async def find_memory(db: Database, owner: Owner, asked: str) -> CalledMemory:
    """What a short or whole id means. Raises: as ``open_memory``."""
    async with db.transaction(owner.user_id) as connection:
        row = await _called(connection, owner, asked)
    return CalledMemory(kind=row.kind, memory_id=row.memory_id, belongs_to=row.belongs_to)


async def open_memory(db: Database, owner: Owner, asked: str, *, before: int = 2, after: int = 2) -> OpenedMemory:
    """What an id stands for: a message with conversation, neighbours and facts; a fact with evidence; a node; a block.

    Args:
        db: the database.
        owner: whose memory.
        asked: a short or whole id, with or without ``m:``, ``f:``, ``n:`` or ``b:`` before it; also an edge's whole id.
        before: messages before a message, 0 to 100.
        after: messages behind it, 0 to 100.

    Raises:
        InvalidRequestError: it is no id.
        MemoryUnknownError: this user has no memory with it.
        MemoryAmbiguousError: several have it; names the whole ids.
    """
    async with db.transaction(owner.user_id) as connection:
        memory = await _called(connection, owner, asked)
        facts: list[SupportedFact] = []
        if memory.kind == "message":
            rows = await connection.execute(
                query("facts_supported"), {"user_id": owner.user_id, "passage_id": memory.memory_id}
            )
            facts = [SupportedFact(**row) for row in rows.mappings()]
    rest: dict[str, Any] = {}
    match memory.kind:
        case "message":
            source = await open_source(
                db, owner, memory.belongs_to, around=memory.memory_id, before=before, after=after
            )
            whole = next((said for said in source.messages if said.passage_id == memory.first_id), None)
            rest = {"message": whole, "source": source, "supports": facts}
        case "fact":
            rest = {"fact": await describe_edge(db, owner, memory.belongs_to)}
        case "block":
            rest = {"block": await last_version(db, owner, memory.belongs_to)}
        case _:
            node = await describe_node(db, owner, str(memory.memory_id))
            return OpenedMemory(kind="node", memory_id=memory.memory_id, text=node.label or "", node=node)
    return OpenedMemory(kind=memory.kind, memory_id=memory.memory_id, text=memory.text, **rest)


async def _called(connection: AsyncConnection, owner: Owner, asked: str) -> Row[Any]:
    """The one memory that an id means. Raises: as ``open_memory``."""
    check_storable(asked, "id")
    form = ASKED.fullmatch(asked.strip())
    span = id_range(form["id"]) if form is not None else None
    if form is None or span is None:
        raise InvalidRequestError(
            f"{asked[:60]!r} is no id of a memory.",
            hint="Give one as a context shows it, m:…, f:…, n:… or b:….",
            field="id",
        )
    parameters = {"user_id": owner.user_id, "first": span[0], "last": span[1], "kind": KINDS.get(form["kind"] or "")}
    found = (await connection.execute(query("memories_called"), parameters)).all()
    if not found:
        raise MemoryUnknownError(f"There is no memory {asked[:60]!r}.")
    if len(found) > 1:
        ids = [str(row.memory_id) for row in found]
        raise MemoryAmbiguousError(f"{asked[:60]!r} can be any of {', '.join(ids)}.", ids=ids)
    return found[0]
