"""The undirected graph in memory, compact: neighbours and weights of all nodes in flat arrays.

Rows are streamed from ``memsvc.weighted_pairs``, which adds up the facts between the same two nodes. A pair takes 24
bytes here, a node about 200 with its id; 100,000 pairs of 40,000 nodes take 11 MB.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.findings import REPLICA_WAIT_S, TIMEOUT
from memsvc.analysis.stopping import Check, go_on, in_thread
from memsvc.db.engine import Database
from memsvc.db.files import query

FETCHED = 5_000
"""Rows that are fetched from the server at a time."""


class Network:
    """An undirected weighted graph over nodes 0 to ``size`` - 1, in compressed rows.

    The neighbours of node v are ``ends[starts[v]:starts[v + 1]]``, with ``weights`` at the same indexes. A loop is
    stored once, with twice its weight, so that ``strength[v]`` is always the sum of the row.
    """

    __slots__ = ("ends", "size", "starts", "strength", "total", "weights")

    def __init__(self, size: int, pairs: Iterable[tuple[int, int, float]], check: Check = go_on) -> None:
        """Build the graph.

        Args:
            size: number of nodes.
            pairs: two nodes and the weight between them, above 0; each pair of nodes at most once.
            check: called at each pair; may raise, to stop.
        """
        ones, others, between = array("I"), array("I"), array("d")
        degree = array("I", bytes(4 * (size + 1)))
        for one, other, weight in pairs:
            check()
            ones.append(one)
            others.append(other)
            between.append(weight)
            degree[one + 1] += 1
            if other != one:
                degree[other + 1] += 1
        self.size = size
        self.starts = array("I", accumulate(degree))
        self.ends = array("I", bytes(4 * self.starts[size]))
        self.weights = array("d", bytes(8 * self.starts[size]))
        self.strength = array("d", bytes(8 * size))
        free = array("I", self.starts)
        for one, other, weight in zip(ones, others, between, strict=True):
            check()
            self._put(free, one, other, weight if one != other else 2 * weight)
            if other != one:
                self._put(free, other, one, weight)
        self.total = sum(self.strength)

    def _put(self, free: array[int], node: int, end: int, weight: float) -> None:
        self.ends[free[node]] = end
        self.weights[free[node]] = weight
        self.strength[node] += weight
        free[node] += 1

    def around(self, node: int) -> Iterable[tuple[int, float]]:
        """Return the neighbours of a node, with weights."""
        first, last = self.starts[node], self.starts[node + 1]
        return zip(self.ends[first:last], self.weights[first:last], strict=True)


async def load(
    db: Database, owner: Owner, without: Collection[UUID] = (), *, only: Collection[UUID] | None = None
) -> tuple[Network, Sequence[UUID], int]:
    """Load a user's graph as it is true and known now, best from a replica.

    Nodes ``without`` are left out, with their facts, and so are those that are not among ``only`` (None: all are).

    Returns:
        The graph, the ids of its nodes by index, and the number of its facts.
    """

    async def work(connection: AsyncConnection) -> tuple[dict[UUID, int], tuple[array[Any], ...], int]:
        index: dict[UUID, int] = {}
        ones, others, weights, facts = array("I"), array("I"), array("d"), 0
        await connection.exec_driver_sql(TIMEOUT)
        rows = await connection.stream(
            query("weighted_pairs").execution_options(yield_per=FETCHED), {"user_id": owner.user_id}
        )
        async for row in rows:
            if row.node_id in without or row.other_id in without:
                continue
            if only is not None and (row.node_id not in only or row.other_id not in only):
                continue
            facts += row.facts
            if row.weight > 0:
                ones.append(index.setdefault(row.node_id, len(index)))
                others.append(index.setdefault(row.other_id, len(index)))
                weights.append(row.weight)
        return index, (ones, others, weights), facts

    index, pairs, facts = await db.read(owner.user_id, work, wait_s=REPLICA_WAIT_S)
    size = len(index)
    network = await in_thread(lambda check: Network(size, zip(*pairs, strict=True), check))
    return network, list(index), facts
