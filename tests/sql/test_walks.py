"""Walking the graph through the Python API: bounds, supernodes, cycles, merges, both times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, InvalidTextError, InvalidTimeError, NodeUnknownError
from memsvc.graph import history, read
from memsvc.graph.history import write
from memsvc.graph.operations import Close, Edge, Node, Thread
from memsvc.graph.traverse import Graph, neighbourhood, paths, subgraph

ME = "tests"
SUPER = 20_000
FILL = """
WITH made AS (
  INSERT INTO memsvc.nodes (user_id) SELECT %(user)s FROM generate_series(1, %(count)s) RETURNING node_id
),
node AS (SELECT node_id, row_number() OVER () AS n FROM made),
edge AS (
  INSERT INTO memsvc.edges (user_id, from_node, type, to_node)
  SELECT %(user)s, CASE WHEN n %% 2 = 0 THEN %(hub)s::uuid ELSE node_id END,
    CASE WHEN n %% 4000 < 2 THEN 'LIKES' ELSE 'KNOWS' END, CASE WHEN n %% 2 = 0 THEN node_id ELSE %(hub)s::uuid END
  FROM node
  RETURNING edge_id, from_node, type, to_node
)
INSERT INTO memsvc.edge_versions (
  user_id, edge_id, from_node, type, to_node, functional, fact, weight, asserted_by, recorded_from
)
SELECT %(user)s, e.edge_id, e.from_node, e.type, e.to_node, false, 'x', (row_number() OVER ())::real / 1000, 'bulk',
  '2025-01-01'
FROM edge AS e
"""
FETCHED = """
SELECT sum(pg_stat_get_xact_tuples_fetched(i.indexrelid))::integer FROM pg_index AS i
WHERE i.indrelid = 'memsvc.edge_versions'::regclass
"""


def day(number: int) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)


async def make(db: Database, owner: Owner, count: int) -> list[UUID]:
    """So many nodes."""
    change = await write(db, owner, [Node(type="Concept", label=f"n{n}") for n in range(count)], asserted_by=ME)
    return [result.node_id for result in change.results if result.node_id]


def joins(nodes: Sequence[UUID], *pairs: tuple[int, int], **more: Any) -> list[Edge]:
    """Facts between nodes by their places."""
    return [
        Edge(from_node=nodes[a], to_node=nodes[b], **{"type": "RELATED_TO", "fact": f"{a} {b}", **more})
        for a, b in pairs
    ]  # fmt: skip


async def joined(db: Database, owner: Owner, count: int, *pairs: tuple[int, int]) -> list[UUID]:
    """Nodes with facts between them."""
    nodes = await make(db, owner, count)
    await write(db, owner, joins(nodes, *pairs), asserted_by=ME)
    return nodes


def hops(graph: Graph) -> dict[str | None, int]:
    """How far each label is."""
    found = {node.label: node.hop for node in graph.nodes}
    assert len(found) == len(graph.nodes), "a node comes twice"
    return found


def facts(graph: Graph) -> list[str]:
    """What the facts say, sorted."""
    return sorted(edge.fact for edge in graph.edges)


# Neighbourhoods ------------------------------------------------------------------------------------------------------


async def test_circles_loops_and_parallel_facts_are_walked_once(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 5, (0, 1), (1, 2), (2, 0), (0, 0), (2, 3), (3, 4))
    await write(db, owner, joins(nodes, (0, 1), key="again", weight=2, fact="stronger"), asserted_by=ME)
    found = await neighbourhood(db, owner, [nodes[0]], hops=2)
    assert hops(found) == {"n0": 0, "n1": 1, "n2": 1, "n3": 2}
    assert facts(found) == ["2 0", "2 3", "stronger"]
    assert not found.truncated
    assert hops(await neighbourhood(db, owner, [nodes[0]], hops=6)) == {"n0": 0, "n1": 1, "n2": 1, "n3": 2, "n4": 3}
    assert hops(await neighbourhood(db, owner, [nodes[4], nodes[0], nodes[4]], hops=0)) == {"n4": 0, "n0": 0}


async def test_sides_and_types_say_where_one_may_go(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 4, (0, 1), (2, 0))
    await write(db, owner, joins(nodes, (0, 3), type="PART_OF"), asserted_by=ME)
    for more, expected in (
        ({"side": "from"}, {"n0", "n1", "n3"}), ({"side": "to"}, {"n0", "n2"}), ({}, {"n0", "n1", "n2", "n3"}),
        ({"types": ["PART_OF"]}, {"n0", "n3"}), ({"types": ["PART_OF", "RELATED_TO"] * 2}, {"n0", "n1", "n2", "n3"}),
        ({"types": ["PART_OF"], "side": "to"}, {"n0"}), ({"types": []}, {"n0"}), ({"types": ["'; --"]}, {"n0"}),
    ):  # fmt: skip
        assert set(hops(await neighbourhood(db, owner, [nodes[0]], **more))) == expected, more


async def test_bounds_keep_the_strongest_and_say_that_something_was_left_out(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, 8)
    star = [edge for n in range(1, 6) for edge in joins(nodes, (0, n), weight=n)]
    await write(db, owner, [*star, *joins(nodes, (5, 6), (6, 7))], asserted_by=ME)

    async def walk(**bounds: Any) -> tuple[set[str | None], bool]:
        found = await neighbourhood(db, owner, [nodes[0]], **bounds)
        assert found == await neighbourhood(db, owner, [nodes[0]], **bounds)
        return set(hops(found)), found.truncated

    assert await walk(hops=1, fan_out=5) == ({f"n{n}" for n in range(6)}, False)
    assert await walk(hops=1, fan_out=4) == ({"n0", "n5", "n4", "n3", "n2"}, True)
    assert await walk(hops=1, fan_out=1) == ({"n0", "n5"}, True)
    assert await walk(hops=1, limit=3) == ({"n0", "n5", "n4"}, True)
    assert await walk(hops=1, limit=6) == ({f"n{n}" for n in range(6)}, False)
    assert await walk(hops=2, limit=6) == ({f"n{n}" for n in range(6)}, True)
    assert await walk(hops=2, limit=7) == ({f"n{n}" for n in range(7)}, False)
    assert await walk(hops=3, limit=8) == ({f"n{n}" for n in range(8)}, False)
    assert await walk(hops=6, limit=8) == ({f"n{n}" for n in range(8)}, False)
    assert await walk(hops=6, limit=1) == ({"n0"}, True)
    assert await walk(hops=6, fan_out=None, limit=None) == ({f"n{n}" for n in range(8)}, False)
    given = await neighbourhood(db, owner, nodes[1:5], hops=1, limit=2)
    assert set(hops(given)) == {"n1", "n2", "n3", "n4"}
    assert given.truncated


async def test_of_equally_strong_facts_the_newest_goes_first(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, 5)
    for n in (2, 1, 4, 3):
        await write(db, owner, joins(nodes, (0, n)), asserted_by=ME)
    assert list(hops(await neighbourhood(db, owner, [nodes[0]], fan_out=2))) == ["n0", "n3", "n4"]


@pytest.mark.slow
@pytest.mark.server
async def test_a_supernode_is_not_read_through(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    (node,) = await make(db, owner, 1)
    admin.execute(FILL.encode(), {"user": owner.user_id, "hub": node, "count": SUPER})
    every = await neighbourhood(db, owner, [node], hops=2, fan_out=None, limit=None)
    assert len(every.nodes) == SUPER + 1
    assert not every.truncated
    leaf = next(found.node_id for found in every.nodes if found.hop == 1)
    admin.execute("ANALYZE memsvc.edge_versions")
    walks: list[tuple[UUID, dict[str, Any]]] = [
        (node, {}), (leaf, {"hops": 3}), (node, {"types": ["LIKES"]}), (node, {"side": "to"}),
        (node, {"as_of": day(1)}), (node, {"known_at": datetime(2025, 6, 1, tzinfo=UTC)}),
    ]  # fmt: skip
    for start, more in walks:
        found = await neighbourhood(db, owner, [start], **{"hops": 2, **more})
        assert found.truncated is ("types" not in more), more
        assert len(found.nodes) in ({11} if "types" in more else {26, 26 + (start == leaf)}), more
        asked = {"user": owner.user_id, "node": start, "types": None, "side": "both", "as_of": None, "known_at": None}
        assert await fetched(db, owner, asked | {"hops": 2} | more) < 500, more
    middle = await paths(db, owner, leaf, every.nodes[-1].node_id)
    assert [step.hop for step in middle.paths[0].nodes] == [0, 1, 2]


async def fetched(db: Database, owner: Owner, asked: dict[str, Any]) -> int:
    """How many versions of edges a bounded walk fetches."""
    async with db.transaction(owner.user_id) as connection:
        before: int = (await connection.execute(text(FETCHED))).scalar_one()
        await connection.execute(
            text(
                "SELECT * FROM memsvc.neighbourhood(:user, ARRAY[CAST(:node AS uuid)], :hops, CAST(:types AS text[]), "
                ":side, 25, 200, :as_of, :known_at)"
            ),
            asked,
        )
        count: int = (await connection.execute(text(FETCHED))).scalar_one()
        return count - before


async def test_merged_nodes_are_one_and_what_joins_them_leads_nowhere(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 6, (0, 1), (1, 2), (0, 3), (2, 4), (5, 1))
    before = (await write(db, owner, joins(nodes, (0, 2)), asserted_by=ME)).recorded_at
    await history.merge(db, owner, nodes[0], nodes[1], asserted_by=ME)
    await history.merge(db, owner, nodes[1], nodes[2], asserted_by=ME)
    for start in nodes[:3]:
        found = await neighbourhood(db, owner, [start], hops=1, fan_out=3)
        assert hops(found) == {"n2": 0, "n3": 1, "n4": 1, "n5": 1}
        assert facts(found) == ["0 3", "2 4", "5 1"]
        assert not found.truncated
        assert {edge.from_node for edge in found.edges} == {nodes[2], nodes[5]}
    assert (await neighbourhood(db, owner, [nodes[3]], hops=2, fan_out=2)).truncated
    was = await neighbourhood(db, owner, [nodes[1]], hops=1, known_at=before)
    assert hops(was) == {"n1": 0, "n0": 1, "n2": 1, "n5": 1}
    await history.unmerge(db, owner, nodes[1], asserted_by=ME)
    assert hops(await neighbourhood(db, owner, [nodes[4]], hops=2)) == {"n4": 0, "n2": 1, "n1": 2}


async def test_both_times_count(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, 3)
    lives: dict[str, Any] = {"type": "LIVES_IN", "from_node": nodes[0], "fact": "lives there"}
    types = [Node(node=nodes[0], type="Person", label="Ada")]
    types += [Node(node=nodes[n], type="Place", label=f"Town {n}") for n in (1, 2)]
    await write(db, owner, types, asserted_by=ME)
    first = await write(db, owner, [Edge(to_node=nodes[1], valid_from=day(0), **lives)], asserted_by=ME)
    await write(db, owner, [Edge(to_node=nodes[2], valid_from=day(9), **lives)], asserted_by=ME)

    async def towns(**times: Any) -> set[str | None]:
        return set(hops(await neighbourhood(db, owner, [nodes[0]], hops=1, **times))) - {"Ada"}

    assert await towns() == {"Town 2"}
    assert await towns(as_of=day(3)) == {"Town 1"}
    assert await towns(as_of=day(-1)) == set()
    assert await towns(as_of=read.ALWAYS) == {"Town 1", "Town 2"}
    assert await towns(known_at=first.recorded_at) == {"Town 1"}
    assert await towns(known_at=first.recorded_at - timedelta(microseconds=1)) == set()
    edge = first.results[0].edge_id
    await write(db, owner, [Close(thread=Thread(edge=edge), at=day(5))], asserted_by=ME)
    assert await towns(as_of=day(6)) == set()


# Paths ---------------------------------------------------------------------------------------------------------------


async def labels(db: Database, owner: Owner, start: UUID, end: UUID, **more: Any) -> list[str]:
    """Paths as the last letters of their nodes."""
    found = await paths(db, owner, start, end, **more)
    assert found.complete
    return ["".join((node.label or "?")[1:] for node in path.nodes) for path in found.paths]


async def test_facts_say_where_nobody_told_their_times(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, 5)
    begin, end = day(0) + timedelta(hours=9), day(9)
    marks = {"since": "by 2020-01-01", "until": "by 2020-01-10"}
    await write(
        db,
        owner,
        [
            *joins(nodes, (0, 1), valid_from=begin, valid_to=end, data={"times": marks}),
            *joins(nodes, (0, 2), valid_from=day(1), valid_to=end + timedelta(1), data={"times": marks}),
            *joins(nodes, (0, 3), data={"times": marks}),
            *joins(nodes, (0, 4), valid_from=begin, data={"times": "by 2020-01-01"}),
        ],
        asserted_by=ME,
    )
    found = await neighbourhood(db, owner, nodes[:1], as_of=day(5))
    assert {edge.fact: (edge.begin_untold, edge.end_untold) for edge in found.edges} == {
        "0 1": (True, True), "0 2": (False, False), "0 3": (False, False), "0 4": (False, False),
    }  # fmt: skip


async def test_the_shortest_paths_are_found_whichever_way_they_point(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 9, (0, 1), (2, 1), (2, 3), (0, 4), (4, 5), (5, 6), (6, 3), (3, 7), (0, 0), (3, 0))
    await write(db, owner, joins(nodes, (0, 1), key="again", fact="stronger", weight=3), asserted_by=ME)
    assert await labels(db, owner, nodes[0], nodes[2], side="both") == ["012", "032"]
    assert await labels(db, owner, nodes[0], nodes[3], side="from") == ["04563"]
    assert await labels(db, owner, nodes[0], nodes[3], side="from", max_hops=3) == []
    assert await labels(db, owner, nodes[3], nodes[0], side="to", max_hops=4) == ["36540"]
    assert await labels(db, owner, nodes[0], nodes[7]) == ["037"]
    assert await labels(db, owner, nodes[0], nodes[8], max_hops=6) == []
    assert await labels(db, owner, nodes[0], nodes[0]) == ["0"]
    assert await labels(db, owner, nodes[0], nodes[2], types=["PART_OF"]) == []
    found = await paths(db, owner, nodes[0], nodes[2], limit=1)
    assert [edge.fact for edge in found.paths[0].edges] == ["stronger", "2 1"]
    assert found.truncated
    assert not (await paths(db, owner, nodes[0], nodes[2], limit=2)).truncated


async def test_all_of_many_shortest_paths_are_there_the_strongest_first(db: Database, owner: Owner) -> None:
    nodes = await make(db, owner, 14)
    first, second = [(0, n) for n in range(1, 7)], [(a, b) for a in range(1, 7) for b in range(7, 13)]
    facts = [*joins(nodes, *first), *joins(nodes, *second), *joins(nodes, *((b, 13) for b in range(7, 13)))]
    await write(db, owner, [*facts, *joins(nodes, (0, 3), key="strong", weight=9)], asserted_by=ME)
    found = await paths(db, owner, nodes[0], nodes[13], limit=100)
    assert len({tuple(node.node_id for node in path.nodes) for path in found.paths}) == 36
    assert (found.complete, found.truncated) == (True, False)
    assert [path.nodes[1].label for path in found.paths[:6]] == ["n3"] * 6
    few = await paths(db, owner, nodes[0], nodes[13], limit=7)
    assert few.paths == found.paths[:7]
    assert few.truncated


async def test_a_search_that_gives_up_says_so(
    db: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    nodes = await joined(db, owner, 7, (0, 1), (0, 2), (0, 3), (1, 4), (4, 5), (5, 6))
    found = await paths(db, owner, nodes[0], nodes[6], max_hops=6)
    assert [len(path.edges) for path in found.paths] == [4]
    monkeypatch.setattr("memsvc.graph.traverse.WORK", 2)
    found = await paths(db, owner, nodes[0], nodes[6], max_hops=6)
    assert (found.paths, found.complete) == ([], False)


async def test_paths_go_through_merges_and_times(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 4, (0, 1), (2, 3))
    assert await labels(db, owner, nodes[0], nodes[3]) == []
    merged = await history.merge(db, owner, nodes[2], nodes[1], asserted_by=ME)
    assert await labels(db, owner, nodes[0], nodes[3]) == ["013"]
    assert await labels(db, owner, nodes[2], nodes[1]) == ["1"]
    before = merged.recorded_at - timedelta(microseconds=1)
    assert await labels(db, owner, nodes[0], nodes[3], known_at=before) == []


# Subgraphs -----------------------------------------------------------------------------------------------------------


async def test_a_subgraph_has_all_facts_among_its_nodes(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 6, (0, 1), (1, 0), (1, 1), (1, 2), (2, 3), (3, 4))
    await write(db, owner, joins(nodes, (0, 1), type="PART_OF", fact="knows"), asserted_by=ME)
    found = await subgraph(db, owner, nodes[:2])
    assert facts(found) == ["0 1", "1 0", "1 1", "knows"]
    assert hops(found) == {"n0": 0, "n1": 0}
    assert facts(await subgraph(db, owner, nodes[:3], types=["PART_OF"])) == ["knows"]
    assert facts(await subgraph(db, owner, [nodes[2]], hops=1)) == ["1 1", "1 2", "2 3"]
    assert facts(await subgraph(db, owner, [nodes[5], nodes[4]])) == []
    await history.merge(db, owner, nodes[3], nodes[1], asserted_by=ME)
    found = await subgraph(db, owner, [nodes[3], nodes[2]])
    assert facts(found) == ["1 1", "1 2", "2 3"]
    assert {edge.to_node for edge in found.edges if edge.fact == "2 3"} == {nodes[1]}


async def test_a_subgraph_is_bounded_in_nodes_and_facts(db: Database, owner: Owner) -> None:
    nodes = await joined(db, owner, 2, (0, 1))
    await write(db, owner, [*joins(nodes, (0, 1), key="k"), *joins(nodes, (1, 0), (0, 0), (1, 1))], asserted_by=ME)
    found = await subgraph(db, owner, nodes, limit=1)
    assert len(found.nodes) == 2, "the given nodes are always there"
    assert len(found.edges) == 4
    assert found.truncated
    assert not (await subgraph(db, owner, nodes, limit=2)).truncated
    assert len((await subgraph(db, owner, nodes, limit=None)).edges) == 5
    many = await make(db, owner, 40)
    ring = [(a, (a + 1) % 40) for a in range(40)]
    await write(db, owner, joins(many, *ring), asserted_by=ME)
    assert len((await subgraph(db, owner, many)).edges) == 40


# Bad input -----------------------------------------------------------------------------------------------------------


async def test_bad_input_is_refused(db: Database, owner: Owner, other: Owner) -> None:
    (node,) = await make(db, owner, 1)
    (foreign,) = await make(db, other, 1)
    for unknown in (uuid4(), foreign):
        for call in (
            neighbourhood(db, owner, [node, unknown]), subgraph(db, owner, [unknown]), paths(db, owner, node, unknown),
            paths(db, owner, unknown, node),
        ):  # fmt: skip
            with pytest.raises(NodeUnknownError, match=str(unknown)):
                await call
    wrong: list[dict[str, Any]] = [
        {"hops": -1}, {"hops": 7}, {"fan_out": 0}, {"fan_out": 2**31}, {"limit": 0}, {"limit": 2**31}, {"side": "up"},
        {"types": ["x"] * 1001},
    ]  # fmt: skip
    for more in wrong:
        with pytest.raises(InvalidRequestError):
            await neighbourhood(db, owner, [node], **more)
    for bad in ([], [node] * 1001):
        with pytest.raises(InvalidRequestError):
            await neighbourhood(db, owner, bad)
    wrong = [{"max_hops": 0}, {"max_hops": 7}, {"limit": 0}, {"limit": 101}]
    for more in wrong:
        with pytest.raises(InvalidRequestError):
            await paths(db, owner, node, node, **more)
    with pytest.raises(InvalidRequestError):
        await subgraph(db, owner, [node], hops=3)
    with pytest.raises(InvalidTextError):
        await neighbourhood(db, owner, [node], types=["\0"])
    with pytest.raises(InvalidTimeError):
        await neighbourhood(db, owner, [node], as_of=datetime(2020, 1, 1))  # noqa: DTZ001
