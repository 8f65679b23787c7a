"""Reflections as they are stored: nodes of the type Reflection, each a sentence with the messages that it rests on.

Sleep mode writes them (``memsvc.sleep.reflection``). As passages of the kind ``reflection`` they are recalled. A node's
data say what kind it is, what it is about (``key``), and of what it was made (``digest``). Edges REFLECTS_ON lead to
the people and things that it is about. Statements: ``sql/queries/lessons.sql``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidRequestError
from memsvc.graph.operations import Edge, Evidence, Node, Operation

WRITER = "reflection"
"""Who asserts them."""
TYPE, EDGE = "Reflection", "REFLECTS_ON"
ReflectionKind = Literal["habit", "changed_mind", "contradiction", "open_loop", "insight"]
REFLECTIONS: dict[ReflectionKind, str] = {
    "habit": "Habit", "changed_mind": "Changed mind", "contradiction": "Contradiction", "open_loop": "Open loop",
    "insight": "Insight",
}  # fmt: skip
"""What a node of each kind is called."""
MOST_NODES, MOST_EVIDENCE = 3, 20
IMPORTANCE: dict[ReflectionKind, float] = {
    "habit": 5.0, "changed_mind": 6.0, "contradiction": 6.0, "open_loop": 6.0, "insight": 7.0
}  # fmt: skip


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Something to say."""

    kind: ReflectionKind
    key: str
    """What it is about: with the same key it is told anew as a version of the same node."""
    text: str
    at: datetime
    """When the last thing was said or happened that it rests on."""
    evidence: tuple[Evidence, ...]
    """At least one, ``MOST_EVIDENCE`` at most."""
    nodes: tuple[UUID, ...] = ()
    """What it is about, the most important first."""
    by: str = ""
    """The language model that wrote it; empty: none."""

    @property
    def digest(self) -> str:
        """Of all that it says and rests on."""
        rests = " ".join(sorted(str(one.passage_id) for one in self.evidence))
        return hashlib.sha256(f"{self.text}\n{rests}".encode()).hexdigest()[:32]


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's data say of a reflection."""

    kind: ReflectionKind
    key: str
    digest: str
    by: str = ""


class Known(msgspec.Struct, frozen=True):
    """A reflection that is or was stored."""

    node_id: UUID
    kind: str
    digests: frozenset[str]
    """Of all its versions."""
    stands: bool


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from several memories."""

    node_id: UUID
    version_id: UUID
    kind: ReflectionKind
    """habit, changed_mind, contradiction, open_loop or insight."""
    text: str
    importance: float
    """1 to 10."""
    at: datetime
    """When the last thing was said or happened that it rests on."""
    sources: list[UUID]
    """The messages that it rests on, which open by their ids."""
    by: str
    """The language model that wrote it; empty: none."""


def operations(node_id: UUID, found: Found) -> Iterator[Operation]:
    """What writes a reflection, with edges to what it is about."""
    data = Data(kind=found.kind, key=found.key, digest=found.digest, by=found.by)
    label = f"{REFLECTIONS[found.kind]} {found.key.rpartition(':')[2][:8]}"
    yield Node(
        node=node_id, make=True, type=TYPE, label=label, description=found.text, data=msgspec.to_builtins(data),
        importance=IMPORTANCE[found.kind], valid_from=found.at, evidence=found.evidence[:MOST_EVIDENCE],
    )  # fmt: skip
    for node in found.nodes[:MOST_NODES]:
        yield Edge(from_node=node_id, type=EDGE, to_node=node, fact=f"{label} is about it.")


async def known_reflections(connection: AsyncConnection, owner: Owner) -> dict[str, Known]:
    """What was told before, by what it is about; of what was imported twice one of the nodes."""
    rows = await connection.execute(query("reflection_versions"), {"user_id": owner.user_id, "writer": WRITER})
    return {
        row.key: Known(row.node_id, row.kind or "", frozenset(filter(None, row.digests)), row.stands)
        for row in rows
        if row.key
    }


async def list_reflections(
    db: Database, owner: Owner, *, kind: ReflectionKind | None = None, cursor: str | None = None, limit: int = 50
) -> Page[Reflection]:
    """Return reflections, those on the latest things first.

    Args:
        db: the database.
        owner: whose.
        kind: habit, changed_mind, contradiction, open_loop or insight; None: all.
        cursor: of the previous page.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: there is no such kind, or the limit or cursor is none.
    """
    check_page(limit)
    if kind is not None and kind not in REFLECTIONS:
        raise InvalidRequestError(
            f"There is no kind {kind[:60]!r}.", hint=f"One of: {', '.join(REFLECTIONS)}.", field="kind"
        )
    after = read_cursor(cursor, tuple[Moment, UUID]) if cursor is not None else None
    values = {
        "user_id": owner.user_id, "writer": WRITER, "kind": kind, "after_at": after[0] if after else None,
        "after_node": after[1] if after else None, "limit": limit + 1,
    }  # fmt: skip
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("list_reflections"), values)).all()
    more = rows[limit - 1] if len(rows) > limit else None
    items = [one for one in map(_reflection, rows[:limit]) if one is not None]
    return Page(items=items, next_cursor=write_cursor((more.at, more.node_id)) if more is not None else None)


def _reflection(row: Row[Any]) -> Reflection | None:
    try:
        data = msgspec.convert(row.data, Data, strict=False)
    except msgspec.ValidationError:  # somebody else wrote it in our name
        return None
    return Reflection(
        node_id=row.node_id, version_id=row.version_id, kind=data.kind, text=row.text, importance=row.importance,
        at=row.at, sources=list(row.sources), by=data.by,
    )  # fmt: skip
