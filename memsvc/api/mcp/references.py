"""Finds what a model refers to: nodes by ids or names, messages by short ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError
from memsvc.graph.find import find_node
from memsvc.graph.operations import Evidence
from memsvc.sources.opening import find_memory

MessageIds = Annotated[list[Annotated[str, Meta(max_length=60)]], Meta(max_length=20, description="m:… as evidence.")]
SHORT_NODE = re.compile(r"\[?n:[0-9a-zA-Z-]{1,40}\]?")


async def node_called(db: Database, owner: Owner, asked: str) -> UUID:
    """Find the node with this id (n:… or full), name or label.

    Raises:
        MemoryUnknownError, NodeUnknownError: no node matches.
        MemoryAmbiguousError, NodeAmbiguousError: several nodes match.
        InvalidRequestError, InvalidAliasError, InvalidTextError: nothing can have this id or name.
    """
    if SHORT_NODE.fullmatch(asked.strip()):
        return (await find_memory(db, owner, asked)).memory_id
    return await find_node(db, owner, asked)


async def messages_called(db: Database, owner: Owner, ids: Sequence[str]) -> list[Evidence]:
    """Return messages as evidence, by their ids.

    Raises:
        MemoryUnknownError, MemoryAmbiguousError, InvalidRequestError: an id names nothing, several, or no message.
    """
    found = []
    for asked in ids:
        memory = await find_memory(db, owner, asked)
        if memory.kind != "message":
            raise InvalidRequestError(f"{asked[:60]!r} is not a message.", hint="Give ids that begin with m:.")
        found.append(Evidence(passage_id=memory.memory_id))
    return found
