"""Sleep's task ``salience``: how much is on the user's mind of each person and thing, for top of mind and contexts.

Salience is (reach + strength) / 2 · (1 + recency) / 2, each from 0 to 1. Reach is the square root of the node's share
of a random walk that begins at the user, at what is pinned and at what is recalled most (personalised PageRank),
compared with the highest share; strength is s / (1 + s), where s is how strongly what is said about it is recalled;
recency halves each 30 days since it was last spoken of. Time is counted to the last message or recall and not to now:
where nothing happened, nothing changes. It is stored in ``memsvc.node_salience``, where it changed noticeably.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from math import sqrt
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.findings import TIMEOUT
from memsvc.analysis.network import Network, load
from memsvc.analysis.pagerank import pagerank
from memsvc.analysis.stopping import Check, in_thread
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

NAME = "salience"
SEEDS = 20
"""Most recalled nodes at which the walk begins, besides the user and what is pinned."""
NOTICEABLE = 0.05
"""A smaller change is not written, and what is less salient is not stored."""
MOST = 2_000
"""Nodes that are stored at most, the most salient ones."""
HALF_LIFE_DAYS = 30
ASKED = 1_000
"""Nodes that one statement looks up."""


class Salient(NamedTuple):
    """How salient nodes are; all others are not."""

    nodes: Sequence[UUID]
    values: Sequence[float]


class Salience:
    """See ``memsvc.sleep.tasks.Task``; it has one page."""

    name = NAME
    gives_way = False

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether the graph was changed by others than sleep, or anything was recalled, since the last run."""
        values = {"user_id": owner.user_id, "task": self.name}
        async with db.transaction(owner.user_id) as connection:
            changed = (await connection.execute(query("changed_since_run"), values)).scalar_one()
            return bool(changed or (await connection.execute(query("recalled_since_run"), values)).scalar_one())

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield the salience of all nodes: it cannot be told for one node, or for a time, alone."""
        user = {"user_id": owner.user_id}
        async with db.transaction(owner.user_id) as connection:
            moment = (await connection.execute(query("last_news"), user)).scalar_one()
        if place is not None or scope.from_node is not None or moment is None:
            return
        async with db.transaction(owner.user_id) as connection:
            await connection.exec_driver_sql(TIMEOUT)
            own = (await connection.execute(query("own_nodes"), user)).scalars().all()
            pinned = (await connection.execute(query("pinned_nodes"), user)).scalars().all()
            entities = set((await connection.execute(query("entity_nodes"), user)).scalars()) - {*own}
            asked = user | {"moment": moment, "limit": None}
            rows = (await connection.execute(query("recalled_nodes"), asked)).all()
        strengths = {row.node_id: float(row.strength) for row in rows if row.node_id in entities}
        network, nodes, _ = await load(db, owner, only=entities | {*own})
        seeds = {*own, *pinned, *list(strengths)[:SEEDS]}
        reach = await in_thread(lambda check: _reach(network, nodes, seeds, entities, check))
        near = {node: (reach.get(node, 0.0) + s / (1 + s)) / 2 for node, s in strengths.items()}
        near = {node: share / 2 for node, share in reach.items()} | near
        likely = sorted((node for node, value in near.items() if value >= NOTICEABLE), key=lambda n: (-near[n], n))
        seen = await _last_seen(db, owner, likely[: 2 * MOST])
        salient = {node: near[node] * (1 + _recency(seen.get(node), moment)) / 2 for node in likely[: 2 * MOST]}
        found = sorted((one for one in salient.items() if one[1] >= NOTICEABLE), key=lambda one: (-one[1], one[0]))
        work = Salient([node for node, _ in found[:MOST]], [round(value, 4) for _, value in found[:MOST]])
        yield Page(place={"done": True}, examined=len(entities), left=0, work=work)

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Store what changed noticeably."""
        work: Salient = page.work
        values: dict[str, Any] = {
            "user_id": owner.user_id, "nodes": list(work.nodes), "values": list(work.values), "least": NOTICEABLE,
        }  # fmt: skip
        return Applied(applied=(await connection.execute(query("note_salience"), values)).scalar_one())

    async def undo(self, connection: AsyncConnection, owner: Owner, run_id: UUID) -> int:
        """Give nodes the salience from before a run, where no later run wrote it."""
        values = {"user_id": owner.user_id, "run_id": run_id}
        return len((await connection.execute(query("undo_salience"), values)).all())


def _reach(
    network: Network, nodes: Sequence[UUID], seeds: set[UUID], entities: set[UUID], check: Check
) -> dict[UUID, float]:
    """Return the reach of nodes, 0 to 1; those that the walk hardly gets to are left out."""
    starts = [index for index, node in enumerate(nodes) if node in seeds]
    if not starts:
        return {}
    rank = pagerank(network, starts, check=check)
    best = max((rank[index] for index, node in enumerate(nodes) if node in entities), default=0.0)
    if not best:
        return {}
    least = best * NOTICEABLE**2
    return {
        node: sqrt(rank[index] / best) for index, node in enumerate(nodes) if node in entities and rank[index] >= least
    }


async def _last_seen(db: Database, owner: Owner, nodes: Sequence[UUID]) -> Mapping[UUID, datetime]:
    found: dict[UUID, datetime] = {}
    for start in range(0, len(nodes), ASKED):
        values = {"user_id": owner.user_id, "nodes": list(nodes[start : start + ASKED]), "known_at": None}
        async with db.transaction(owner.user_id) as connection:
            rows = await connection.execute(query("nodes_seen"), values)
            found |= {row.canonical_id: row.last_seen for row in rows if row.last_seen is not None}
    return found


def _recency(last: datetime | None, moment: datetime) -> float:
    if last is None:
        return 0.0
    days = max((moment - last).total_seconds(), 0) / 86_400
    return float(0.5 ** (days / HALF_LIFE_DAYS))


OFFER = Offer(
    make=lambda _means: Salience(),
    help="tells which people and things are on the user's mind",
    order=600,
    done="rated",
    of_node=False,
)
