"""What is recalled most, where tasks of sleep work first (``sql/functions/recall/62_recalled.sql``).

A task that works in pages puts these before all others, and keeps them in its place, so that a run that goes on later
has the same order although somebody has recalled other things since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.sleep.tasks import Place

MOST = 100
"""Nodes or sources that come first."""
Item = TypeVar("Item")


async def sources_first(db: Database, owner: Owner, place: Place | None) -> list[UUID]:
    """Return the sources from which most is recalled, the strongest first, or those that a run began with."""
    if place is not None and "first" in place:
        return [UUID(one) for one in place["first"]]
    async with db.transaction(owner.user_id) as connection:
        values: dict[str, Any] = {"user_id": owner.user_id, "limit": MOST}
        return list((await connection.execute(query("recalled_sources"), values)).scalars())


async def nodes_first(db: Database, owner: Owner, place: Place | None) -> list[UUID]:
    """Return the nodes about which most is recalled, the strongest first, or those that a run began with."""
    if place is not None:
        return [UUID(one) for one in place.get("first", ())]
    async with db.transaction(owner.user_id) as connection:
        values: dict[str, Any] = {"user_id": owner.user_id, "moment": None, "limit": MOST}
        rows = await connection.execute(query("recalled_nodes"), values)
        return [row.node_id for row in rows if row.strength > 0]


def ordered(items: Iterable[Item], is_first: Callable[[Item], bool]) -> list[Item]:
    """Put what is recalled most before all else; within both, the order stays."""
    return sorted(items, key=lambda item: not is_first(item))
