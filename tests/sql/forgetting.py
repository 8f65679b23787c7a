"""What tests of erasing share: something to say, something to learn from it, and looking at what is left."""

from __future__ import annotations

from uuid import UUID

import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import operations as ops
from memsvc.graph.history import Change, write
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value


def by(*passages: UUID) -> list[ops.Evidence]:
    return [ops.Evidence(passage_id=passage) for passage in passages]


async def say(
    db: Database, owner: Owner, settings: Settings, *texts: str, conversation: str = "pond", start: int = 0
) -> list[UUID]:
    """Store messages; their passages."""
    said = [
        MessageIn(conversation=conversation, text=words, id=f"m{start + place}") for place, words in enumerate(texts)
    ]
    return [message.passage_id for message in await append(db, owner, said, settings) if message.passage_id]


async def learn(db: Database, owner: Owner, *operations: ops.Operation) -> Change:
    return await write(db, owner, operations, asserted_by="tests")


def found(admin: psycopg.Connection, owner: Owner, table: str) -> int:
    """Rows of a table; of sources and passages what was said, without what is known, which has tables of its own."""
    said = {"passages": "version_id IS NULL", "sources": "kind <> 'graph'"}.get(table, "true")
    return int(value(admin, f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s AND {said}", [owner.user_id]))


async def two_people(db: Database, owner: Owner) -> tuple[UUID, UUID]:
    """Two nodes that were entered by hand."""
    change = await learn(db, owner, ops.Node(type="Person", label="Ida"), ops.Node(type="Person", label="Bea"))
    first, second = (result.node_id for result in change.results)
    assert first
    assert second
    return first, second


def knows(one: UUID | int, other: UUID | int, fact: str, *passages: UUID, key: str = "") -> ops.Edge:
    return ops.Edge(from_node=one, type="KNOWS", to_node=other, fact=fact, key=key, evidence=by(*passages))
