"""How much waits for a person's decision, by kind. The lists themselves belong to whoever made them.

Statements: ``sql/queries/sleep_report.sql``, and ``contested_facts`` of ``sql/queries/graph.sql``.
"""

from __future__ import annotations

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.graph.describe import contradictions

MOST_CONTRADICTIONS = 100
"""More are not counted."""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """How many things of each kind wait for a person."""

    reviews: int
    """Doubtful facts."""
    duplicates: int
    """Pairs of nodes that may be the same."""
    contradictions: int
    """Groups of facts that cannot all be true, and disputed facts; 100 at most."""
    types: int
    """Proposed types of nodes and edges."""
    lessons: int
    """Proposed instructions."""
    links: int
    """Proposed links between nodes."""
    aliases: int
    """Proposed names."""
    splits: int
    """Nodes that are probably two."""
    core: int
    """Proposed lines of core memory."""
    outdated: int
    """Lines of core memory that a later fact ended or contradicts."""
    total: int


async def count_waiting(db: Database, owner: Owner) -> Waiting:
    """Count what waits."""
    values = {"user_id": owner.user_id}
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("decisions_wait"), values)).one()
        types: int = (await connection.execute(query("types_wait"), values)).scalar_one()
        kinds = {one.kind: one.waiting for one in await connection.execute(query("proposals_wait"), values)}
    contested = len((await contradictions(db, owner, limit=MOST_CONTRADICTIONS)).items)
    counted = {
        "reviews": row.facts, "duplicates": row.pairs, "contradictions": contested, "types": types,
        "lessons": row.lessons, "links": kinds.get("link", 0), "aliases": kinds.get("alias", 0),
        "splits": kinds.get("split", 0), "core": kinds.get("core", 0),
        "outdated": kinds.get("outdated", 0),
    }  # fmt: skip
    return Waiting(**counted, total=sum(counted.values()))
