"""The whole graph: its statistics, and its content page by page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import read_id
from memsvc.db.together import Together
from memsvc.errors import BadCursorError
from memsvc.graph.read import AsOf, times
from memsvc.graph.traverse import MOST_STARTS, GraphEdge, GraphNode, check_count, drawn_edges, drawn_nodes
from memsvc.text.storable import check_storable

MOST_ON_PAGE = 5_000


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """A node, and the number of its facts."""

    node_id: UUID
    type: str | None
    label: str | None
    facts: int


class DegreeBucket(msgspec.Struct, frozen=True, kw_only=True, rename={"least": "from", "most": "to"}):
    """How many nodes have a number of facts in this range."""

    least: int
    most: int
    nodes: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of a graph; merged nodes count once."""

    nodes: int
    facts: int
    names: int
    merges: int
    evidence: int
    """Links from passages to the versions that they support or end."""
    isolated: int
    """Nodes without facts."""
    types: dict[str, int]
    """Number of nodes of each type; nodes without known properties are not in it."""
    edge_types: dict[str, int]
    """Number of facts of each type."""
    most_connected: list[Connected]
    """The ten nodes with the most facts."""
    degrees: list[DegreeBucket]
    """Numbers of facts per node in ranges: 0, 1, 2 to 3, 4 to 7 …; empty ranges are left out."""
    turns: int
    """Turns of agents; this and what follows are those of now, whatever time is asked for."""
    tool_calls: int
    """Calls of tools in turns."""
    documents: int
    """Documents that were ingested or that agents touched."""
    document_versions: int
    """Versions of documents."""


class GraphPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the whole graph."""

    nodes: list[GraphNode]
    """Ends of the facts, or nodes without facts; ``hop`` is 0. A node is on each page that has one of its facts."""
    edges: list[GraphEdge]
    next_cursor: str | None
    """None: this is the last page. Pages before it can be short, or even empty."""


async def stats(db: Database, owner: Owner, *, as_of: AsOf = None, known_at: datetime | None = None) -> Stats:
    """Count nodes, facts, names, merges, evidence, and turns; reads all of the user's facts (0.1 s for 50,000).

    Raises:
        InvalidTimeError: a time has no offset.
    """
    asked = {"user_id": owner.user_id, **times(as_of, known_at)}
    trip = Together(db, owner.user_id, stores=False)
    rows = trip.ask(query("graph_stats"), asked)
    await trip.send()
    [row] = rows
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
        turns=row.turns,
        tool_calls=row.tool_calls,
        documents=row.documents,
        document_versions=row.document_versions,
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
    """Return the graph page by page: all facts with the nodes at their ends, then nodes without facts.

    What is written in the meantime may be on a later page; with ``known_at`` all pages show the same moment.

    Args:
        db: the database.
        owner: the user whose graph is read.
        cursor: ``next_cursor`` of the previous page; None: the first page.
        limit: most facts, or most nodes without facts, 1 to 5,000.
        types: only facts of these types, and no nodes without facts; None: everything.
        as_of: valid time.
        known_at: recorded time.

    Raises:
        BadCursorError: the cursor comes from no page.
        InvalidRequestError: the limit is out of range.
        InvalidTimeError: a time has no offset.
    """
    check_count("limit", limit, 1, MOST_ON_PAGE)
    check_count("The number of types", len(types or ()), 0, MOST_STARTS)
    for name in types or ():
        check_storable(name, "types")
    part, after_edge, after_id = _read_cursor(cursor)
    asked = {
        "user_id": owner.user_id,
        "part": part,
        "after_edge": after_edge,
        "after_id": after_id,
        "most": limit,
        "types": None if types is None else list(types),
        **times(as_of, known_at),
    }
    trip = Together(db, owner.user_id, stores=False)
    rows = trip.ask(query("graph_page"), asked)
    await trip.send()
    [row] = rows
    following = [str(part) for part in (row.next_part, row.next_edge, row.next_id) if part is not None]
    return GraphPage(
        nodes=drawn_nodes(row.nodes), edges=drawn_edges(row.edges), next_cursor=".".join(following) or None
    )


def _read_cursor(cursor: str | None) -> tuple[str, UUID | None, UUID | None]:
    """Return part, edge and id of a cursor."""
    match ("edges" if cursor is None else cursor).split("."):
        case ["edges" | "nodes" as part]:
            return part, None, None
        case ["edges", edge, version]:
            return "edges", read_id(edge), read_id(version)
        case ["nodes", node]:
            return "nodes", None, read_id(node)
        case _:
            raise BadCursorError(field="cursor")
