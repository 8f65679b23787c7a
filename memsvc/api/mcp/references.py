"""What a model names: nodes by the ids and names that it was shown, messages by their short ids."""

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

MessageIds = Annotated[
    list[Annotated[str, Meta(max_length=60)]], Meta(max_length=20, description="Ids of messages (m:…) that show it.")
]
SHORT_NODE = re.compile(r"\[?n:[0-9a-zA-Z-]{1,40}\]?")


async def node_called(db: Database, owner: Owner, asked: str) -> UUID:
    """The node with this id (n:… or whole), name or label.

    Raises:
        MemoryUnknownError, NodeUnknownError: there is none.
        MemoryAmbiguousError, NodeAmbiguousError: several have it.
        InvalidRequestError, InvalidAliasError, InvalidTextError: nothing can be called so.
    """
    if SHORT_NODE.fullmatch(asked.strip()):
        return (await find_memory(db, owner, asked)).memory_id
    return await find_node(db, owner, asked)


async def messages_called(db: Database, owner: Owner, ids: Sequence[str]) -> list[Evidence]:
    """Messages by their ids, as evidence.

    Raises:
        MemoryUnknownError, MemoryAmbiguousError, InvalidRequestError: one is none; or it is a fact or a node.
    """
    found = []
    for asked in ids:
        memory = await find_memory(db, owner, asked)
        if memory.kind != "message":
            raise InvalidRequestError(f"{asked[:60]!r} is no message.", hint="Give ids that begin with m:.")
        found.append(Evidence(passage_id=memory.memory_id))
    return found
