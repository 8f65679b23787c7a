"""A bounded walk keeps the strongest of all, however few edges it reads: compared with a walk in Python over all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import history
from memsvc.graph.history import write
from memsvc.graph.operations import Edge
from tests.sql.test_walks import FETCHED, ME, make

pytestmark = pytest.mark.slow

NODES, EDGES = 50, 1_000
LATER = datetime(2999, 1, 1, tzinfo=UTC)
ALL = text("SELECT version_id, from_node, to_node, weight FROM memsvc.edge_versions WHERE recorded_to = 'infinity'")
WALK = text(
    "SELECT node_id, hop, parent_id, version_id, truncated FROM memsvc.neighbourhood("
    ":user, CAST(:nodes AS uuid[]), :hops, NULL, :side, CAST(:fan_out AS integer), CAST(:most AS integer), now())"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """An edge as it is seen from one of its ends."""

    weight: float
    version_id: UUID
    start: UUID
    end: UUID


async def wide(db: Database, owner: Owner, lot: random.Random) -> list[UUID]:
    """A graph of few nodes with many edges: parallel ones, loops, equally strong ones, some with an end to come."""
    nodes = await make(db, owner, NODES)
    made = [
        Edge(
            from_node=nodes[min(lot.randrange(NODES), lot.randrange(NODES))], to_node=lot.choice(nodes), key=str(place),
            type="RELATED_TO", fact="x", weight=lot.randrange(20) / 10, valid_to=LATER if lot.random() < 0.1 else None,
        )
        for place in range(EDGES)
    ]  # fmt: skip
    await write(db, owner, made, asserted_by=ME)
    return nodes


def expected(
    strongest: Sequence[Seen], starts: Sequence[UUID], hops: int, fan_out: int | None, most: int | None
) -> tuple[list[tuple[UUID, int, UUID | None, UUID | None]], bool]:
    """What a walk must find, and whether it must say that bounds left something out."""
    found: list[tuple[UUID, int, UUID | None, UUID | None]] = [(node, 0, None, None) for node in starts]
    frontier, cut = set(starts), False
    for hop in range(1, hops + 1):
        known = {node for node, *_ in found}
        followed: Counter[UUID] = Counter()
        fresh: dict[UUID, Seen] = {}
        for edge in strongest:
            if edge.start in frontier:
                followed[edge.start] += 1
                if fan_out is not None and followed[edge.start] > fan_out:
                    cut = True
                elif edge.end not in known:
                    fresh.setdefault(edge.end, edge)
        room = len(fresh) if most is None else max(most - len(found), 0)
        cut |= len(fresh) > room
        frontier = set(list(fresh)[:room])
        found += [(end, hop, fresh[end].start, fresh[end].version_id) for end in list(fresh)[:room]]
        if not frontier or (cut and most is not None and len(found) >= most):
            break
    return found, cut


def strongest_first(edges: Iterable[Seen]) -> list[Seen]:
    """Edges that lead anywhere, in the order in which they count."""
    leading = [edge for edge in edges if edge.start != edge.end]
    return sorted(leading, key=lambda edge: (edge.weight, edge.version_id), reverse=True)


@pytest.mark.parametrize("merged", [False, True])
async def test_a_bounded_walk_finds_what_a_walk_over_all_edges_finds(db: Database, owner: Owner, merged: bool) -> None:
    lot = random.Random(4)
    nodes = await wide(db, owner, lot)
    stands = {node: node for node in nodes}
    if merged:
        for place in range(0, 12, 2):
            await history.merge(db, owner, nodes[place], nodes[place + 1], asserted_by=ME)
            stands[nodes[place]] = nodes[place + 1]
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(ALL)).all()
        out = [Seen(row.weight, row.version_id, stands[row.from_node], stands[row.to_node]) for row in rows]
        back = [Seen(edge.weight, edge.version_id, edge.end, edge.start) for edge in out]
        edges = {
            "from": strongest_first(out), "to": strongest_first(back), "both": strongest_first([*out, *back])
        }  # fmt: skip
        for number in range(80):
            starts = dict.fromkeys(stands[node] for node in lot.sample(nodes, lot.choice((1, 1, 3))))
            asked: dict[str, Any] = {
                "user": owner.user_id, "hops": lot.randrange(1, 4), "side": lot.choice(("from", "to", "both")),
                "nodes": list(starts), "fan_out": lot.choice((None, 3, 8, 25)),
                "most": lot.choice((None, 2, 5, 10, 30, 49)),
            }  # fmt: skip
            found = (await connection.execute(WALK, asked)).all()
            wanted, cut = expected(
                edges[asked["side"]], asked["nodes"], asked["hops"], asked["fan_out"], asked["most"]
            )  # fmt: skip
            assert [tuple(row)[:4] for row in found] == wanted, (number, asked)
            assert {row.truncated for row in found} == {cut}, (number, asked)


async def test_a_walk_with_a_limit_does_not_read_all_edges_of_the_last_nodes(db: Database, owner: Owner) -> None:
    nodes = await wide(db, owner, random.Random(5))
    asked = {"user": owner.user_id, "nodes": nodes[:10], "hops": 1, "side": "from", "fan_out": None}

    async def read(most: int | None) -> int:
        async with db.transaction(owner.user_id) as connection:
            before: int = (await connection.execute(text(FETCHED))).scalar_one()
            await connection.execute(WALK, asked | {"most": most})
            count: int = (await connection.execute(text(FETCHED))).scalar_one()
            return count - before

    assert await read(20) < 0.5 * await read(None)
