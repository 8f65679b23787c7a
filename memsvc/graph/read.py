"""Reads of the graph at two times: ``as_of``, when it was true, and ``known_at``, when memsvc knew it.

Both are now where they are not given; ``as_of`` may be ``ALWAYS`` for every valid time. Ids of merged nodes are as good
as those of the nodes that stand for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidTimeError, NodeUnknownError
from memsvc.text.storable import check_storable

ALWAYS: Literal["always"] = "always"
AsOf = datetime | Literal["always"] | None
Side = Literal["from", "to", "both"]
Kind = Literal["node", "edge", "alias", "place", "merge"]


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """What all versions have: who says so, and the four times."""

    asserted_by: str
    valid_from: datetime | None
    """None: as far as known, always."""
    valid_to: datetime | None
    """None: it still is."""
    recorded_from: datetime
    recorded_to: datetime | None
    """None: it is what is known now."""


class Fact(Version, frozen=True, kw_only=True):
    """A version of an edge."""

    version_id: UUID
    edge_id: UUID
    from_node: UUID
    """The node that stands for its start."""
    type: str
    to_node: UUID
    key: str
    fact: str
    data: dict[str, Any]
    weight: float
    confidence: float
    contested: bool
    """Only one of these can be true, and nodes that are the same disagree."""
    stored_from: UUID
    """The start as it was written, whatever it is merged with."""
    stored_to: UUID


class NodeState(Version, frozen=True, kw_only=True):
    """A version of a node's properties."""

    canonical_id: UUID
    node_id: UUID
    version_id: UUID
    type: str
    label: str
    description: str
    data: dict[str, Any]
    importance: float


class Name(Version, frozen=True, kw_only=True):
    """A name of a node."""

    canonical_id: UUID
    node_id: UUID
    alias_id: UUID
    alias: str
    normal_form: str
    confidence: float


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A node that has a name."""

    name: str
    """As it was asked for."""
    canonical_id: UUID
    node_id: UUID
    alias: str
    confidence: float


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was recorded."""

    at: datetime
    event: Literal["written", "closed"]
    kind: Kind
    id: UUID
    """Of the version, name or merge."""
    subject: UUID
    """The node or edge."""
    content: dict[str, Any]
    asserted_by: str
    valid_from: datetime | None
    valid_to: datetime | None
    change_id: UUID | None
    changed_by: str | None
    """Who wrote or closed it then."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that speaks for a version, or says that it ended."""

    version_id: UUID
    passage_id: UUID
    span: tuple[int, int] | None
    stance: Literal["supports", "ends"]
    confidence: float
    asserted_by: str
    recorded_from: datetime


def times(as_of: AsOf, known_at: datetime | None) -> dict[str, datetime | None]:
    """Both times as parameters of a statement.

    Raises:
        InvalidTimeError: one of them has no offset.
    """
    for field, given in (("as_of", as_of), ("known_at", known_at)):
        if isinstance(given, datetime) and given.utcoffset() is None:
            raise InvalidTimeError(f"{field} has no offset.", field=field)
    moment = None if isinstance(as_of, str) else as_of or datetime.now(UTC)
    return {"as_of": moment, "known_at": known_at}


async def _rows(db: Database, owner: Owner, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    async with db.transaction(owner.user_id) as connection:
        found = await connection.execute(query(name), {"user_id": owner.user_id, **parameters})
        return [dict(row) for row in found.mappings()]


async def facts(
    db: Database,
    owner: Owner,
    about: Sequence[UUID],
    *,
    types: Sequence[str] | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    side: Side = "both",
) -> list[Fact]:
    """Facts about nodes and all that are the same, newest valid time first; none for unknown nodes."""
    parameters = {"nodes": list(about), "types": None if types is None else list(types), "side": side}
    rows = await _rows(db, owner, "facts", parameters | times(as_of, known_at))
    return [Fact(**row) for row in rows]


async def node_states(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[NodeState]:
    """Properties of nodes and of all that are the same; those of the node that stands for them first."""
    rows = await _rows(db, owner, "node_states", {"nodes": list(nodes)} | times(as_of, known_at))
    return [NodeState(**row) for row in rows]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """How a node is shown."""

    node_id: UUID
    """As it was asked for."""
    canonical_id: UUID
    type: str | None
    """None: nothing is known of it but that it is there."""
    label: str | None
    description: str | None
    data: dict[str, Any] | None
    importance: float | None
    holds: bool
    """False: this is not so at the time asked for, but the nearest that is known."""


async def cards(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> dict[UUID, Card]:
    """One label, type and description for each node, merges resolved; unknown nodes have a card without them."""
    rows = await _rows(db, owner, "node_cards", {"nodes": list(nodes)} | times(as_of, known_at))
    return {row["node_id"]: Card(**row) for row in rows}


async def names(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[Name]:
    """Names of nodes and of all that are the same, in the order in which they were learnt."""
    rows = await _rows(db, owner, "node_names", {"nodes": list(nodes)} | times(as_of, known_at))
    return [Name(**row) for row in rows]


async def called(
    db: Database, owner: Owner, wanted: Sequence[str], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[Called]:
    """Nodes that have one of these names; several where a name is ambiguous."""
    for name in wanted:
        check_storable(name, "name")
    rows = await _rows(db, owner, "nodes_called", {"names": list(wanted)} | times(as_of, known_at))
    return [Called(**row) for row in rows]


async def resolve(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, known_at: datetime | None = None
) -> dict[UUID, UUID]:
    """For each node the one that stands for it; itself where it is not merged.

    Raises:
        NodeUnknownError: one of them does not exist.
    """
    wanted = list(dict.fromkeys(nodes))
    parameters = {"user_id": owner.user_id, "nodes": wanted}
    async with db.transaction(owner.user_id) as connection:
        known = set((await connection.execute(query("known_nodes"), parameters)).scalars())
        for node in wanted:
            if node not in known:
                raise NodeUnknownError(f"There is no node {node}.")
        found = await connection.execute(query("resolve_nodes"), {**parameters, **times(None, known_at)})
        return {row.node_id: row.canonical_id for row in found}


async def history(
    db: Database, owner: Owner, node: UUID, *, before: datetime | None = None, limit: int = 100
) -> list[Event]:
    """What was ever recorded of a node and of all that are the same now, newest first, before a time."""
    rows = await _rows(db, owner, "node_history", {"node_id": node, "before": before, "limit": limit})
    return [Event(**row) for row in rows]


async def evidence(
    db: Database, owner: Owner, kind: Kind, versions: Sequence[UUID], *, known_at: datetime | None = None
) -> list[Source]:
    """Passages behind versions of one kind (of names by alias_id, of merges by merge_id)."""
    parameters = {"kind": kind, "versions": list(versions), "known_at": known_at}
    rows = await _rows(db, owner, "evidence", parameters)
    return [
        Source(
            span=None if row["span_from"] is None else (row["span_from"], row["span_to"]),
            **{name: value for name, value in row.items() if not name.startswith("span_")},
        )
        for row in rows
    ]
