"""The graph as a whole: its sizes, and page by page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError
from memsvc.graph.read import AsOf, times
from memsvc.graph.traverse import MOST_STARTS, GraphEdge, GraphNode, check_count, drawn_edges, drawn_nodes
from memsvc.text.storable import check_storable

MOST_ON_PAGE = 5_000


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """A node with many facts."""

    node_id: UUID
    type: str | None
    label: str | None
    facts: int


class DegreeBucket(msgspec.Struct, frozen=True, kw_only=True, rename={"least": "from", "most": "to"}):
    """How many nodes have so many facts."""

    least: int
    most: int
    nodes: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a graph; nodes that are the same count once."""

    nodes: int
    facts: int
    names: int
    merges: int
    evidence: int
    """Links from passages to what they support or end."""
    isolated: int
    """Nodes without facts."""
    types: dict[str, int]
    """Nodes of each type; one of which nothing is known has none."""
    edge_types: dict[str, int]
    """Facts of each type."""
    most_connected: list[Connected]
    """The ten nodes with the most facts."""
    degrees: list[DegreeBucket]
    """0, 1, 2 to 3, 4 to 7 … facts at a node; without empty ones."""


class GraphPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the whole graph."""

    nodes: list[GraphNode]
    """Ends of the facts, or nodes that have none; ``hop`` is 0. A node is on each page that has a fact of it."""
    edges: list[GraphEdge]
    next_cursor: str | None
    """None: this was the last. A page can be short, even empty, before that."""


async def stats(db: Database, owner: Owner, *, as_of: AsOf = None, known_at: datetime | None = None) -> Stats:
    """Count what there is; reads all of the user's facts (0.1 s for 50,000).

    Raises:
        InvalidTimeError: a time has no offset.
    """
    asked = {"user_id": owner.user_id, **times(as_of, known_at)}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("graph_stats"), asked)).one()
    return Stats(
        nodes=row.nodes,
        facts=row.facts,
        names=row.names,
        merges=row.merges,
        evidence=row.evidence,
        isolated=row.isolated,
        types=msgspec.json.decode(row.types, type=dict[str, int]),
        edge_types=msgspec.json.decode(row.edge_types, type=dict[str, int]),
        most_connected=msgspec.json.decode(row.most_connected, type=list[Connected]),
        degrees=msgspec.json.decode(row.degrees, type=list[DegreeBucket]),
    )


async def page(
    db: Database,
    owner: Owner,
    *,
    cursor: str | None = None,
    limit: int = 500,
    types: Sequence[str] | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> GraphPage:
    """The graph page by page: all facts with the nodes at their ends, then nodes without facts.

    What is written meanwhile may be on a later page; with ``known_at`` all pages are of one moment.

    Args:
        db: the database.
        owner: whose graph it is.
        cursor: ``next_cursor`` of the page before; None: the first.
        limit: most facts, or most nodes without facts, 1 to 5,000.
        types: facts of these types only, and no nodes without facts; None: all.
        as_of: when it was true.
        known_at: when it was known.

    Raises:
        InvalidRequestError: a cursor that no page gave, or a limit that is none.
        InvalidTimeError: a time has no offset.
    """
    check_count("limit", limit, 1, MOST_ON_PAGE)
    check_count("The number of types", len(types or ()), 0, MOST_STARTS)
    for name in types or ():
        check_storable(name, "types")
    part, after_edge, after_id = _place(cursor)
    asked = {
        "user_id": owner.user_id,
        "part": part,
        "after_edge": after_edge,
        "after_id": after_id,
        "most": limit,
        "types": None if types is None else list(types),
        **times(as_of, known_at),
    }
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("graph_page"), asked)).one()
    following = [str(part) for part in (row.next_part, row.next_edge, row.next_id) if part is not None]
    return GraphPage(
        nodes=drawn_nodes(row.nodes), edges=drawn_edges(row.edges), next_cursor=".".join(following) or None
    )


def _place(cursor: str | None) -> tuple[str, UUID | None, UUID | None]:
    """Part, edge and id of a cursor."""
    try:
        match (cursor or "edges").split("."):
            case ["edges" | "nodes" as part]:
                return part, None, None
            case ["edges", edge, version]:
                return "edges", UUID(edge), UUID(version)
            case ["nodes", node]:
                return "nodes", None, UUID(node)
            case _:
                pass
    except ValueError:
        pass
    raise InvalidRequestError("This cursor comes from no page.", hint="Begin without one.", field="cursor")
