"""Walks of the graph from given nodes, at a valid time (``as_of``) and a recorded time (``known_at``).

Merged nodes count as one. Bounds keep nodes with many edges from flooding a walk; without bounds (None) everything is
found. ``memsvc.graph.overview`` reads the whole graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError, NodeUnknownError
from memsvc.graph.read import AsOf, Side, times
from memsvc.text.storable import check_storable

FAN_OUT = 25
"""Most edges that are followed from one node."""
MOST_NODES = 200
MOST_HOPS = 6
MOST_STARTS = 1_000
"""Most start nodes of one walk, and most types that it may name."""
MOST_COUNT = 100_000
"""The highest value of a bound; None means no bound."""
WORK = 50_000
"""Most edges that a search for paths reads before it gives up."""


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a walk or a drawing."""

    node_id: UUID
    """The canonical node, which represents all nodes merged into it."""
    type: str | None
    """None: nothing is known of the node except that it exists."""
    label: str | None
    description: str
    data: dict[str, Any]
    importance: float | None
    hop: int
    """Distance from the start nodes, in edges."""


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True):
    """A fact between two nodes of the result."""

    version_id: UUID
    edge_id: UUID
    from_node: UUID
    type: str
    to_node: UUID
    fact: str
    weight: float
    confidence: float
    valid_from: datetime | None
    valid_to: datetime | None
    begin_untold: bool = False
    """Nobody told since when: ``valid_from`` is the time at which it was said, and is shown as "known since"."""
    end_untold: bool = False
    """Nobody told until when: ``valid_to`` is the time at which it was said to be over."""


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the graph."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool
    """The bounds left nodes or facts out: a node has more than ``fan_out`` facts, or there are more than ``limit``."""


class Path(msgspec.Struct, frozen=True, kw_only=True):
    """A path from one node to another."""

    nodes: list[GraphNode]
    """From the first to the last; ``hop`` is the index in the path."""
    edges: list[GraphEdge]
    """One fewer than nodes; between two nodes the strongest fact, in either direction."""


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """The shortest paths from one node to another; all have the same length."""

    paths: list[Path]
    complete: bool
    """False: the search gave up. Without paths, one may exist; with paths, there may be others."""
    truncated: bool
    """There are more paths than ``limit``."""


class _Step(msgspec.Struct):
    nodes: list[UUID]
    versions: list[UUID]


def check_count(name: str, value: int | None, least: int, most: int) -> None:
    """Refuse a bound that is out of range.

    Raises:
        InvalidRequestError: it is not between ``least`` and ``most``.
    """
    if value is not None and not least <= value <= most:
        raise InvalidRequestError(f"{name} must be between {least} and {most:,}.", field=name)


def asked_for(
    owner: Owner,
    nodes: Sequence[UUID],
    *,
    types: Sequence[str] | None,
    side: str,
    as_of: AsOf,
    known_at: datetime | None,
) -> dict[str, Any]:
    """Return the parameters that the statements of all walks have in common.

    Raises:
        InvalidRequestError: no nodes, too many nodes or types, or an unknown side.
        InvalidTextError: a type that the database cannot store.
        InvalidTimeError: a time without offset.
    """
    check_count("The number of nodes", len(nodes), 1, MOST_STARTS)
    check_count("The number of types", len(types or ()), 0, MOST_STARTS)
    for name in types or ():
        check_storable(name, "types")
    if side not in get_args(Side):
        raise InvalidRequestError(f"{side!r} is not a side.", hint="from, to or both.", field="side")
    return {
        "user_id": owner.user_id,
        "nodes": list(dict.fromkeys(nodes)),
        "types": None if types is None else list(types),
        "side": side,
        **times(as_of, known_at),
    }


async def ask(db: Database, owner: Owner, name: str, asked: dict[str, Any]) -> Any:
    """Run the statement of a walk in one round trip, and return its one row.

    Raises:
        NodeUnknownError: a start or end node does not exist.
    """
    together = Together(db, owner.user_id, keep_plans=True, stores=False)
    rows = together.ask(query(name), asked)
    await together.send()
    row = rows[0]
    if row.unknown:
        raise NodeUnknownError(f"There is no node {row.unknown[0]}.")
    return row


def drawn_nodes(text: str) -> list[GraphNode]:
    """Decode nodes from the JSON of a statement."""
    return msgspec.json.decode(text, type=list[GraphNode])


def drawn_edges(text: str) -> list[GraphEdge]:
    """Decode facts from the JSON of a statement."""
    return msgspec.json.decode(text, type=list[GraphEdge])


async def neighbourhood(
    db: Database,
    owner: Owner,
    nodes: Sequence[UUID],
    *,
    hops: int = 2,
    types: Sequence[str] | None = None,
    side: Side = "both",
    fan_out: int | None = FAN_OUT,
    limit: int | None = MOST_NODES,
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> Graph:
    """Return nodes within ``hops`` of the given ones, nearest first, and the facts along which they were found.

    Args:
        db: the database.
        owner: the user whose graph is read.
        nodes: where to start, 1 to 1,000; merged nodes count as their canonical node.
        hops: 0 to 6.
        types: follow only facts of these types; None: all types.
        side: from: in the direction of the facts; to: against it; both.
        fan_out: most facts that are followed from one node, the strongest first, then the newest; None: all.
        limit: most nodes; the given ones are always included; None: all.
        as_of: valid time.
        known_at: recorded time.

    Raises:
        NodeUnknownError: one of the nodes does not exist.
        InvalidRequestError: a bound is out of range.
        InvalidTimeError: a time has no offset.
    """
    check_count("hops", hops, 0, MOST_HOPS)
    check_count("fan_out", fan_out, 1, MOST_COUNT)
    check_count("limit", limit, 1, MOST_COUNT)
    asked = asked_for(owner, nodes, types=types, side=side, as_of=as_of, known_at=known_at)
    asked |= {"hops": hops, "fan_out": fan_out, "most": limit}
    row = await ask(db, owner, "graph_around", asked)
    return Graph(nodes=drawn_nodes(row.nodes), edges=drawn_edges(row.edges), truncated=row.truncated)


async def subgraph(
    db: Database,
    owner: Owner,
    nodes: Sequence[UUID],
    *,
    hops: int = 0,
    types: Sequence[str] | None = None,
    fan_out: int | None = FAN_OUT,
    limit: int | None = 500,
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> Graph:
    """Return nodes, those within ``hops`` of them, and all facts between any of these, the strongest first.

    Args:
        db: the database.
        owner: the user whose graph is read.
        nodes: 1 to 1,000.
        hops: 0 to 2.
        types: only facts of these types; None: all types.
        fan_out: as in ``neighbourhood``.
        limit: most nodes, the given ones always included; at most four times as many facts; None: all.
        as_of: valid time.
        known_at: recorded time.

    Raises:
        NodeUnknownError, InvalidRequestError, InvalidTimeError: as ``neighbourhood``.
    """
    check_count("hops", hops, 0, 2)
    check_count("fan_out", fan_out, 1, MOST_COUNT)
    check_count("limit", limit, 1, MOST_COUNT)
    asked = asked_for(owner, nodes, types=types, side="both", as_of=as_of, known_at=known_at)
    asked |= {"hops": hops, "fan_out": fan_out, "most": limit}
    row = await ask(db, owner, "graph_among", asked)
    return Graph(nodes=drawn_nodes(row.nodes), edges=drawn_edges(row.edges), truncated=row.truncated)


async def paths(
    db: Database,
    owner: Owner,
    from_node: UUID,
    to_node: UUID,
    *,
    max_hops: int = 4,
    types: Sequence[str] | None = None,
    side: Side = "both",
    limit: int = 5,
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> Paths:
    """Return the shortest paths between two nodes, at most ``limit`` of them, those with the strongest facts first.

    Args:
        db: the database.
        owner: the user whose graph is read.
        from_node: where they start.
        to_node: where they end; if it is the same node, the only path has no edges.
        max_hops: 1 to 6.
        types: only facts of these types; None: all types.
        side: from: in the direction of the facts; to: against it; both.
        limit: 1 to 100.
        as_of: valid time.
        known_at: recorded time.

    Raises:
        NodeUnknownError, InvalidRequestError, InvalidTimeError: as ``neighbourhood``.
    """
    check_count("max_hops", max_hops, 1, MOST_HOPS)
    check_count("limit", limit, 1, 100)
    asked = asked_for(owner, [from_node, to_node], types=types, side=side, as_of=as_of, known_at=known_at)
    asked |= {"from_node": from_node, "to_node": to_node, "max_hops": max_hops, "most": limit, "work": WORK}
    row = await ask(db, owner, "graph_paths", asked)
    nodes = {node.node_id: node for node in drawn_nodes(row.nodes)}
    edges = {edge.version_id: edge for edge in drawn_edges(row.edges)}
    found = [
        Path(nodes=[nodes[node] for node in step.nodes], edges=[edges[version] for version in step.versions])
        for step in msgspec.json.decode(row.paths, type=list[_Step])
    ]
    return Paths(paths=found, complete=row.complete, truncated=row.truncated)
