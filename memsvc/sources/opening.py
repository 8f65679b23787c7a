"""Open a memory by the id that a context or a recall shows, full or short: its content and its evidence.

A short id is the start of an id (``memsvc.db.short_ids``), so each kind of memory is found through its key.
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
from memsvc.graph.describe import describe_edge, describe_node
from memsvc.graph.operations import Stance
from memsvc.graph.shown import ShownEdge, ShownNode
from memsvc.profiles.blocks import Block
from memsvc.profiles.read import last_version
from memsvc.sources.document_reads import ChunkPlace, DocumentChunk, chunks_around
from memsvc.sources.read import Message, OpenedSource, open_source
from memsvc.text.storable import check_storable

KINDS = {"m": "message", "f": "fact", "n": "node", "b": "block"}
ASKED = re.compile(r"\[?(?:(?P<kind>[mfnb]):)?(?P<id>[0-9a-zA-Z-]{1,40})\]?")


class SupportedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a message supports, as currently known."""

    version_id: UUID
    edge_id: UUID
    fact: str
    stance: Stance
    """ends: the message says that the fact is not true, or no longer; validated, disputed: it says why it was marked
    so."""


class OpenedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that an id of a context refers to."""

    kind: Literal["message", "chunk", "fact", "node", "block"]
    memory_id: UUID
    """The full id of the passage, the fact's version, the node, or the block."""
    text: str
    """The passage's text (a long message has several), the fact's sentence, the node's label, or the block's text."""
    message: Message | None = None
    """For a message: the whole message, with all its passages."""
    source: OpenedSource | None = None
    """For a message: its conversation, with the message and its neighbours."""
    supports: list[SupportedFact] = []
    """For a message or a chunk: the facts that it supports, at most 100."""
    fact: ShownEdge | None = None
    """For a fact: all its versions with their evidence."""
    node: ShownNode | None = None
    """For a node: everything about it."""
    block: Block | None = None
    """For a block of the profile: its current or last text."""
    document: ChunkPlace | None = None
    """For a chunk of a document: where it stands."""
    chunks: list[DocumentChunk] = []
    """For a chunk: those around it, in reading order, itself among them."""


class CalledMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that an id refers to, without its content."""

    kind: Literal["message", "fact", "node", "block"]
    memory_id: UUID
    """The full id of the passage, the fact's version, the node or the block. A chunk of a document is a message."""
    belongs_to: UUID
    """The conversation of a message, the edge of a fact; else ``memory_id``."""


async def find_memory(db: Database, owner: Owner, asked: str) -> CalledMemory:
    """Return the memory that a short or full id refers to. Raises: as ``open_memory``."""
    async with db.transaction(owner.user_id) as connection:
        row = await _find(connection, owner, asked)
    return CalledMemory(
        kind="message" if row.kind == "chunk" else row.kind, memory_id=row.memory_id, belongs_to=row.belongs_to
    )


async def open_memory(db: Database, owner: Owner, asked: str, *, before: int = 2, after: int = 2) -> OpenedMemory:
    """Open a memory: a message, or a chunk of a document, with what is around it and facts; a fact; a node; a block.

    Args:
        db: the database.
        owner: the owner of the memory.
        asked: a short or full id, with or without the prefix ``m:``, ``f:``, ``n:`` or ``b:``; also an edge's full id.
        before: number of messages before a message, 0 to 100.
        after: number of messages after it, 0 to 100.

    Raises:
        InvalidRequestError: ``asked`` is not an id.
        MemoryUnknownError: this user has no memory with this id.
        MemoryAmbiguousError: several memories match; names their full ids.
    """
    async with db.transaction(owner.user_id) as connection:
        memory = await _find(connection, owner, asked)
        facts: list[SupportedFact] = []
        place, chunks = None, list[DocumentChunk]()
        if memory.kind == "chunk":
            place, chunks = await chunks_around(connection, owner, memory.memory_id, before=before, after=after)
        if memory.kind in {"message", "chunk"}:
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
            whole = next((message for message in source.messages if message.passage_id == memory.first_id), None)
            rest = {"message": whole, "source": source, "supports": facts}
        case "chunk":
            rest = {"document": place, "chunks": chunks, "supports": facts}
        case "fact":
            rest = {"fact": await describe_edge(db, owner, memory.belongs_to)}
        case "block":
            rest = {"block": await last_version(db, owner, memory.belongs_to)}
        case _:
            node = await describe_node(db, owner, str(memory.memory_id))
            return OpenedMemory(kind="node", memory_id=memory.memory_id, text=node.label or "", node=node)
    return OpenedMemory(kind=memory.kind, memory_id=memory.memory_id, text=memory.text, **rest)


async def _find(connection: AsyncConnection, owner: Owner, asked: str) -> Row[Any]:
    """Return the row of the memory that an id refers to. Raises: as ``open_memory``."""
    check_storable(asked, "id")
    form = ASKED.fullmatch(asked.strip())
    span = id_range(form["id"]) if form is not None else None
    if form is None or span is None:
        raise InvalidRequestError(
            f"{asked[:60]!r} is not the id of a memory.",
            hint="Give an id as a context shows it: m:…, f:…, n:… or b:….",
            field="id",
        )
    parameters = {"user_id": owner.user_id, "first": span[0], "last": span[1], "kind": KINDS.get(form["kind"] or "")}
    found = (await connection.execute(query("memories_called"), parameters)).all()
    if not found:
        raise MemoryUnknownError(f"There is no memory {asked[:60]!r}.")
    if len(found) > 1:
        ids = [str(row.memory_id) for row in found]
        raise MemoryAmbiguousError(f"{asked[:60]!r} matches several memories: {', '.join(ids)}.", ids=ids)
    return found[0]
