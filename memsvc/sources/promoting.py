"""Promotes a memory into core memory: a line of a block of the profile, which is part of every context."""

from __future__ import annotations

from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import BlockUnknownError, InvalidRequestError
from memsvc.profiles.blocks import MAX_EVIDENCE, Block, Place
from memsvc.profiles.changes import Append
from memsvc.profiles.read import read_block
from memsvc.profiles.write import Wish, change_block
from memsvc.sources.opening import OpenedMemory, open_memory

BLOCK = "remembered"
"""The block that promoted memories get into."""
MOST_CHARS = 400


async def promote_memory(
    db: Database, owner: Owner, memory: str, *, block: str = BLOCK, asserted_by: str = "user"
) -> Block:
    """Append what a memory says to a core block, with the memory as its evidence; a block is made if there is none.

    A memory that stands there already is not added again. If the memory is erased, its line goes with it.

    Args:
        db: the database.
        owner: whose memory.
        memory: a short or full id of a message, a fact or a node.
        block: the block's name.
        asserted_by: who writes: user, app, or the name of a program.

    Raises:
        MemoryUnknownError, MemoryAmbiguousError: no memory, or several, have this id.
        InvalidRequestError: it is a block, which ``promoteBlock`` moves, or it has no words.
        InvalidRequestError: the block is not in core memory, or cannot have this name.
        TextTooLongError, ProfileFullError: the block has no room.
        ProfileConflictError: somebody changed the block at the same moment.
    """
    opened = await open_memory(db, owner, memory, before=0, after=0)
    line, evidence = _line(opened)
    if not line:
        raise InvalidRequestError(
            "Only messages, facts and nodes can become a line of core memory.",
            hint="A block is promoted as a whole: POST /v1/profile/{name}/promote.",
            field="memory_id",
        )
    place = Place(block)
    try:
        known = await read_block(db, owner, block)
    except BlockUnknownError:
        known = None
    if known is not None and known.kind != "core":
        raise InvalidRequestError(
            f"The block {block!r} is not in core memory.",
            hint="Promote it first (POST /v1/profile/{name}/promote), or name another block.",
            field="block",
        )
    if known is not None and line in known.text.split("\n"):
        return known
    wish = Wish(
        change=Append(text=line),
        evidence=evidence[:MAX_EVIDENCE],
        expected_version=known.version if known is not None else None,  # of two at once, one is told to look again
        asserted_by=asserted_by,
    )
    return await change_block(db, owner, place, wish)


def _line(opened: OpenedMemory) -> tuple[str, list[UUID]]:
    """What a memory says, as one line, and the passages that support it; empty: it is a block."""
    match opened.kind:
        case "message" if (said := opened.message) is not None:
            day = f"{said.said_at.day} {said.said_at:%B %Y}"
            text = f"{day}, {said.speaker or said.role}: {opened.text or said.caption or ''}"
            return _shortened(text), [opened.memory_id]
        case "chunk" if opened.document is not None:
            return _shortened(f"{opened.document.in_words}: {opened.text}"), [opened.memory_id]
        case "fact" if opened.fact is not None:
            version = next((one for one in opened.fact.versions if one.version_id == opened.memory_id), None)
            sources = version.sources if version is not None else []
            return _shortened(opened.text), [one.passage_id for one in sources if one.stance == "supports"]
        case "node" if (node := opened.node) is not None:
            return _shortened(f"{opened.text}: {node.description}" if node.description else opened.text), []
        case _:
            return "", []


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARS else f"{line[: MOST_CHARS - 2].rstrip()} …"
