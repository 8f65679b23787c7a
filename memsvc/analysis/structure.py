"""Structure of the whole graph: hubs, orphans, communities, and nodes near given ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.findings import MOST_FINDINGS, MOST_MEMBERS, REPLICA_WAIT_S, TIMEOUT, Finding, Found
from memsvc.analysis.leiden import leiden, modularity
from memsvc.analysis.network import Network, load
from memsvc.analysis.pagerank import pagerank
from memsvc.analysis.stopping import Check, in_thread
from memsvc.db.engine import Database
from memsvc.db.files import query

SMALLEST = 3
"""Least members of a community that is reported."""


async def hubs(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """Rank nodes by the strength of their facts; score: the sum of weight times confidence."""
    rows = await _best(db, owner, "analysis_hubs")
    found = [
        Finding(
            what="hub", score=round(row.strength, 3), nodes=[row.node_id],
            figures={"facts": row.facts, "neighbours": row.neighbours},
        )
        for row in rows
    ]  # fmt: skip
    return Found(findings=found, total=rows[0].total if rows else 0)


async def orphans(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """Find nodes without facts; score: the number of passages that mention them."""
    rows = await _best(db, owner, "analysis_orphans")
    found = [Finding(what="orphan", score=row.passages, nodes=[row.node_id]) for row in rows]
    return Found(findings=found, total=rows[0].total if rows else 0)


async def _best(db: Database, owner: Owner, name: str) -> Sequence[Row[Any]]:
    """The rows of a query that ranks nodes, as many as a run keeps."""

    async def work(connection: AsyncConnection) -> Sequence[Row[Any]]:
        await connection.exec_driver_sql(TIMEOUT)
        values = {"user_id": owner.user_id, "limit": MOST_FINDINGS}
        return (await connection.execute(query(name), values)).all()

    return await db.read(owner.user_id, work, wait_s=REPLICA_WAIT_S)


async def communities(db: Database, owner: Owner, _seeds: Sequence[UUID]) -> Found:
    """Find groups of nodes, the largest first; score: the number of members. The strongest members come first."""
    network, nodes, facts = await load(db, owner)
    return await in_thread(lambda check: _communities(network, nodes, facts, check))


def _communities(network: Network, nodes: Sequence[UUID], facts: int, check: Check) -> Found:
    of_node = leiden(network, check=check)
    members: list[list[int]] = [[] for _ in range(max(of_node, default=-1) + 1)]
    for node, number in enumerate(of_node):
        members[number].append(node)
    found = []
    for group in members:
        if len(group) < SMALLEST:
            break  # groups are sorted by size
        strength = sum(network.strength[node] for node in group)
        number = of_node[group[0]]
        within = sum(w for node in group for end, w in network.around(node) if of_node[end] == number)
        strongest = sorted(group, key=lambda node: -network.strength[node])[:MOST_MEMBERS]
        found.append(
            Finding(
                what="community", score=len(group), nodes=[nodes[node] for node in strongest],
                figures={"size": len(group), "within": round(within / strength, 3)},
            )
        )  # fmt: skip
    figures = {"nodes": network.size, "facts": facts, "modularity": round(modularity(network, of_node), 4)}
    return Found(findings=found[:MOST_FINDINGS], total=len(found), figures=figures)


async def near(db: Database, owner: Owner, seeds: Sequence[UUID]) -> Found:
    """Rank nodes near given ones, or near the user's own node; score: share of the random walk's time, in thousandths.

    Start nodes without facts are near to nothing; if there are no others, nothing is found.
    """
    if not seeds:
        async with db.transaction(owner.user_id) as connection:
            seeds = (await connection.execute(query("own_nodes"), {"user_id": owner.user_id})).scalars().all()
    else:
        async with db.transaction(owner.user_id) as connection:
            values = {"user_id": owner.user_id, "nodes": list(seeds), "known_at": None}
            seeds = [row.canonical_id for row in await connection.execute(query("resolve_nodes"), values)]
    network, nodes, facts = await load(db, owner)
    return await in_thread(lambda check: _near(network, nodes, facts, set(seeds), check))


def _near(network: Network, nodes: Sequence[UUID], facts: int, seeds: set[UUID], check: Check) -> Found:
    starts = [index for index, node in enumerate(nodes) if node in seeds]
    figures = {"nodes": network.size, "facts": facts}
    if not starts:
        return Found(findings=[], total=0, figures=figures)
    rank = pagerank(network, starts, check=check)
    own = set(starts)
    best = sorted((node for node in range(network.size) if rank[node] and node not in own), key=lambda n: -rank[n])
    found = [
        Finding(what="near", score=round(1_000 * rank[node], 4), nodes=[nodes[node]]) for node in best[:MOST_FINDINGS]
    ]
    return Found(findings=found, total=len(best), figures=figures)
