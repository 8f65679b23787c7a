"""Explores the graph from given nodes, page by page, in portions that a program can handle.

All pages show the same moment: the first page fixes the recorded time, and the cursor keeps it. Nodes come nearest
first, so the next page holds nodes that are farther away or connected by weaker facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Number, read_cursor, write_cursor
from memsvc.errors import BadCursorError
from memsvc.graph.traverse import GraphEdge, GraphNode, check_count, neighbourhood

FAN_OUT = 200
"""Most facts that are followed from one node, the strongest first."""
MOST_NODES = 2_000
"""Most nodes on all pages together."""
PAGE = 20


class Explored(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the nodes around the given ones."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    """Facts that lead to these nodes; on the first page also those between the given nodes."""
    truncated: bool
    """The pages do not show everything: a node has more than 200 facts, or there are more than 2,000 nodes."""
    next_cursor: str | None
    """Send it as ``cursor`` to get the next page; None: this is the last page."""


async def explore(
    db: Database,
    owner: Owner,
    nodes: Sequence[UUID],
    *,
    hops: int = 1,
    types: Sequence[str] | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> Explored:
    """Return nodes within some hops, nearest first, with the facts that lead to them.

    Args:
        db: the database.
        owner: the user whose graph is read.
        nodes: where to start; the same on all pages.
        hops: 0 to 6; the same on all pages.
        types: follow only facts of these types; None: all types.
        cursor: ``next_cursor`` of the previous page.
        limit: most nodes of this page, 1 to 100.

    Raises:
        NodeUnknownError, InvalidRequestError: as ``neighbourhood``; or the cursor is not one of ours.
    """
    check_count("limit", limit, 1, 100)
    shown, known_at = (0, await _moment(db, owner)) if cursor is None else _read_cursor(cursor)
    wanted = min(shown + limit, MOST_NODES)
    near = await neighbourhood(
        db, owner, nodes, hops=hops, types=types, fan_out=FAN_OUT, limit=wanted, known_at=known_at
    )
    page = near.nodes[shown:]
    here = {node.node_id for node in page}
    full = near.truncated and len(near.nodes) >= wanted
    more = full and wanted < MOST_NODES and bool(page)
    return Explored(
        nodes=page,
        edges=[edge for edge in near.edges if edge.from_node in here or edge.to_node in here],
        truncated=near.truncated and not more,
        next_cursor=write_cursor((len(near.nodes), known_at)) if more else None,
    )


async def _moment(db: Database, owner: Owner) -> datetime:
    async with db.transaction(owner.user_id) as connection:
        found: datetime = (await connection.execute(query("moment"), {"user_id": owner.user_id})).scalar_one()
    return found


def _read_cursor(cursor: str) -> tuple[int, datetime]:
    shown, known_at = read_cursor(cursor, tuple[Number, Moment])
    if not 0 < shown < MOST_NODES:
        raise BadCursorError(field="cursor")
    return shown, known_at
