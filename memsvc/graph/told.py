"""What messages told: the facts of one conversation, and the graph around memories that a search found.

Both are read with the walks of ``memsvc.graph.traverse`` and drawn like them (``memsvc.graph.draw``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.graph.read import AsOf, times
from memsvc.graph.traverse import MOST_STARTS, Graph, asked_for, check_count, drawn_edges, drawn_nodes
from memsvc.text.storable import check_storable

MOST_FACTS = 2_000
STARTS, FAN_OUT, AROUND = 50, 10, 150
"""Around memories: most nodes of the memories, most facts that are followed from each, and most nodes in all."""


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


async def graph_around_memories(db: Database, owner: Owner, ends: Sequence[UUID], passages: Sequence[UUID]) -> Graph:
    """Return the nodes that memories are about, those one fact away, and all facts among these that hold now.

    Args:
        db: the database.
        owner: the user whose graph is read.
        ends: nodes at the ends of the facts that were found, best first.
        passages: messages that were found, best first; what they support says which nodes they are about.

    At most 50 nodes of memories, 10 facts from each, and 150 nodes in all; ``truncated`` says that there are more.
    """
    about = list(dict.fromkeys(ends))
    if passages and len(about) <= STARTS:
        async with db.transaction(owner.user_id) as connection:
            parameters = {"user_id": owner.user_id, "passages": list(passages), "most": STARTS + 1}
            spoken = (await connection.execute(query("nodes_told"), parameters)).scalars().all()
        about = list(dict.fromkeys([*about, *spoken]))
    if not about:
        return Graph(nodes=[], edges=[], truncated=False)
    asked = asked_for(owner, about[:STARTS], types=None, side="both", as_of=None, known_at=None)
    together = Together(db, owner.user_id, keep_plans=True, stores=False)
    rows = together.ask(query("graph_among"), asked | {"hops": 1, "fan_out": FAN_OUT, "most": AROUND})
    await together.send()
    row = rows[0]
    gone = set(row.unknown)  # erased since the memories were found
    return Graph(
        nodes=[node for node in drawn_nodes(row.nodes) if node.node_id not in gone],
        edges=drawn_edges(row.edges),
        truncated=row.truncated or len(about) > STARTS,
    )
