"""Reads the ids that commands take, in full or as memsvc shows them (m:…, f:…, n:…).

A full id is taken as it is: the command itself says when nothing has it. A short one is looked up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from memsvc.cli.common import as_uuid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.operations import Evidence

Kind = Literal["message", "fact", "node"]
LETTERS: dict[Kind, str] = {"message": "m", "fact": "f", "node": "n"}
BARE = re.compile(r"[0-9a-z]{11,12}")
"""A short id without its letter; fewer signs are rather a name."""
SHORT = re.compile(r"\[?[mfnb]:[0-9a-zA-Z-]{1,40}\]?")


def is_short(asked: str) -> bool:
    """Return whether this is an id as memsvc shows it, with its letter."""
    return SHORT.fullmatch(asked.strip()) is not None


async def id_of(db: Database, owner: Owner, asked: str, kind: Kind, what: str = "") -> UUID:
    """Return the full id of a message (of its passage), a fact (of its edge) or a node.

    Args:
        db: the database.
        owner: whose memory it is.
        asked: a full id, or a short one, with its letter or without. For a fact, also a version's.
        kind: what it must be.
        what: the word of the command for it, if it is another one, such as note.

    Raises:
        NotFoundError: it is no id.
        MemoryUnknownError, MemoryAmbiguousError: nothing, or several, have the short id.
        InvalidRequestError: something of another kind has it.
    """
    from memsvc.errors import InvalidRequestError, MemoryUnknownError
    from memsvc.sources.opening import find_memory

    if BARE.fullmatch(asked.strip()):
        asked = f"{LETTERS[kind]}:{asked.strip()}"
    if not is_short(asked):
        whole = as_uuid(asked, what or kind)
        if kind != "fact":
            return whole
        try:
            memory = await find_memory(db, owner, f"f:{whole}")
        except MemoryUnknownError:
            return whole
        return memory.belongs_to
    memory = await find_memory(db, owner, asked)
    if memory.kind != kind:
        raise InvalidRequestError(
            f"{asked[:60]!r} is a {memory.kind}, not a {what or kind}.",
            hint=f"Ids of {what or kind}s begin with {LETTERS[kind]}:, or are given in full.",
        )
    return memory.belongs_to if kind == "fact" else memory.memory_id


async def evidence_of(db: Database, owner: Owner, asked: Sequence[str]) -> list[Evidence]:
    """Return messages as evidence. Raises: as ``id_of``."""
    from memsvc.graph.operations import Evidence

    return [Evidence(passage_id=await id_of(db, owner, one, "message", "passage")) for one in asked]
