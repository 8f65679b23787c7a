"""What messages told: the facts of one conversation, drawn like a walk (``memsvc.graph.draw``)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.read import AsOf, times
from memsvc.graph.traverse import MOST_STARTS, Graph, check_count, drawn_edges, drawn_nodes
from memsvc.text.storable import check_storable

MOST_FACTS = 2_000


async def graph_told(
    db: Database,
    owner: Owner,
    source_id: UUID,
    *,
    types: Sequence[str] | None = None,
    limit: int = 500,
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> Graph:
    """Return the facts that passages of a source support, the strongest first, and the nodes at their ends.

    Args:
        db: the database.
        owner: the user whose graph is read.
        source_id: a conversation; without facts, or unknown, it gives an empty graph.
        types: only facts of these types; None: all types.
        limit: most facts, 1 to 2,000.
        as_of: valid time.
        known_at: recorded time.

    Raises:
        InvalidRequestError, InvalidTextError, InvalidTimeError: a value is not valid.
    """
    check_count("limit", limit, 1, MOST_FACTS)
    check_count("The number of types", len(types or ()), 0, MOST_STARTS)
    for name in types or ():
        check_storable(name, "types")
    asked = {"source_id": source_id, "types": None if types is None else list(types), "most": limit}
    async with db.transaction(owner.user_id) as connection:
        parameters = {"user_id": owner.user_id, **asked, **times(as_of, known_at)}
        row = (await connection.execute(query("graph_told"), parameters)).one()
    return Graph(nodes=drawn_nodes(row.nodes), edges=drawn_edges(row.edges), truncated=row.truncated)
