"""Reads of the graph at two times: ``as_of``, the valid time, and ``known_at``, the recorded time.

Both default to now; ``as_of`` may be ``ALWAYS`` for every valid time. The id of a merged node can be used in place of
the id of its canonical node.
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
from memsvc.graph.operations import Stance
from memsvc.text.storable import check_storable

ALWAYS: Literal["always"] = "always"
AsOf = datetime | Literal["always"] | None
Side = Literal["from", "to", "both"]
Kind = Literal["node", "edge", "alias", "place", "merge"]


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """The common fields of all versions: who asserted it, and the four times."""

    asserted_by: str
    valid_from: datetime | None
    """None: no known start; counts as always."""
    valid_to: datetime | None
    """None: still true."""
    recorded_from: datetime
    recorded_to: datetime | None
    """None: known now."""


class Fact(Version, frozen=True, kw_only=True):
    """A version of an edge."""

    version_id: UUID
    edge_id: UUID
    from_node: UUID
    """The canonical node of its start."""
    type: str
    to_node: UUID
    key: str
    fact: str
    data: dict[str, Any]
    weight: float
    confidence: float
    contested: bool
    """Only one value can be true at a time, but the nodes that were merged have different ones."""
    stored_from: UUID
    """The start as it was written, before merges."""
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
    """The name in the request."""
    canonical_id: UUID
    node_id: UUID
    alias: str
    confidence: float


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded event in the history of a node."""

    at: datetime
    event: Literal["written", "closed"]
    kind: Kind
    id: UUID
    """Id of the version, name or merge."""
    subject: UUID
    """The node or edge."""
    content: dict[str, Any]
    asserted_by: str
    valid_from: datetime | None
    valid_to: datetime | None
    change_id: UUID | None
    changed_by: str | None
    """Who wrote or closed it."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that supports a version, or says that it ended."""

    version_id: UUID
    passage_id: UUID
    span: tuple[int, int] | None
    stance: Stance
    confidence: float
    asserted_by: str
    recorded_from: datetime


def times(as_of: AsOf, known_at: datetime | None) -> dict[str, datetime | None]:
    """Return both times as parameters of a statement.

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
    """Return facts about nodes and the nodes merged into them, newest valid time first; none for unknown nodes."""
    parameters = {"nodes": list(about), "types": None if types is None else list(types), "side": side}
    rows = await _rows(db, owner, "facts", parameters | times(as_of, known_at))
    return [Fact(**row) for row in rows]


async def node_states(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[NodeState]:
    """Return properties of nodes and the nodes merged into them; those of the canonical node first."""
    rows = await _rows(db, owner, "node_states", {"nodes": list(nodes)} | times(as_of, known_at))
    return [NodeState(**row) for row in rows]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """Label, type and description of a node."""

    node_id: UUID
    """The node in the request."""
    canonical_id: UUID
    type: str | None
    """None: nothing is known of the node except that it exists."""
    label: str | None
    description: str | None
    data: dict[str, Any] | None
    importance: float | None
    holds: bool
    """False: this was not true at the requested time; it is the nearest known version."""


async def cards(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> dict[UUID, Card]:
    """Return label, type and description of each node's canonical node; unknown nodes have a card without them."""
    rows = await _rows(db, owner, "node_cards", {"nodes": list(nodes)} | times(as_of, known_at))
    return {row["node_id"]: Card(**row) for row in rows}


async def names(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[Name]:
    """Return names of nodes and the nodes merged into them, in the order in which they were recorded."""
    rows = await _rows(db, owner, "node_names", {"nodes": list(nodes)} | times(as_of, known_at))
    return [Name(**row) for row in rows]


async def called(
    db: Database, owner: Owner, wanted: Sequence[str], *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[Called]:
    """Return nodes that have one of these names; several for an ambiguous name."""
    for name in wanted:
        check_storable(name, "name")
    rows = await _rows(db, owner, "nodes_called", {"names": list(wanted)} | times(as_of, known_at))
    return [Called(**row) for row in rows]


async def resolve(
    db: Database, owner: Owner, nodes: Sequence[UUID], *, known_at: datetime | None = None
) -> dict[UUID, UUID]:
    """Return the canonical node of each node: the node itself if it is not merged.

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
    """Return what was recorded of a node and the nodes merged into it now, newest first, before a time."""
    rows = await _rows(db, owner, "node_history", {"node_id": node, "before": before, "limit": limit})
    return [Event(**row) for row in rows]


async def evidence(
    db: Database, owner: Owner, kind: Kind, versions: Sequence[UUID], *, known_at: datetime | None = None
) -> list[Source]:
    """Return the passages that support versions of one kind (names by alias_id, merges by merge_id)."""
    parameters = {"kind": kind, "versions": list(versions), "known_at": known_at}
    rows = await _rows(db, owner, "evidence", parameters)
    return [
        Source(
            span=None if row["span_from"] is None else (row["span_from"], row["span_to"]),
            **{name: value for name, value in row.items() if not name.startswith("span_")},
        )
        for row in rows
    ]
