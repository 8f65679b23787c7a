"""The graph as a whole: its sizes, and page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import InvalidRequestError, InvalidTextError
from memsvc.graph import history, read
from memsvc.graph.history import write
from memsvc.graph.operations import Alias, Evidence, Node, Retract, Thread
from memsvc.graph.overview import GraphPage, page, stats
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql import desk as agents
from tests.sql.test_walks import ME, joined, joins, make


async def pages(db: Database, owner: Owner, **more: Any) -> list[GraphPage]:
    """All pages; none comes twice."""
    found = [await page(db, owner, **more)]
    while found[-1].next_cursor is not None:
        found.append(await page(db, owner, cursor=found[-1].next_cursor, **more))
        assert len(found) < 100
    return found


async def whole(db: Database, owner: Owner, **more: Any) -> tuple[list[str], set[str]]:
    """What the facts of all pages say, sorted, and the labels of the nodes."""
    found = await pages(db, owner, **more)
    facts = [edge for one in found for edge in one.edges]
    assert len({edge.version_id for edge in facts}) == len(facts), "a fact comes twice"
    for one in found:
        shown = {node.node_id for node in one.nodes}
        assert all({edge.from_node, edge.to_node} <= shown for edge in one.edges)
        assert len(shown) == len(one.nodes)
    return sorted(edge.fact for edge in facts), {str(node.label) for one in found for node in one.nodes}


async def own(db: Database, owner: Owner) -> set[str]:
    """Labels of what a user has from the beginning."""
    return (await whole(db, owner))[1]


@pytest.mark.parametrize("limit", [1, 2, 3, 500])
async def test_pages_hold_every_fact_once_and_then_the_nodes_without(db: Database, owner: Owner, limit: int) -> None:
    before = await own(db, owner)
    nodes = await joined(db, owner, 14, (0, 1), (1, 2), (2, 0), (3, 3), (0, 4))
    await write(db, owner, joins(nodes, (0, 1), type="PART_OF", fact="part"), asserted_by=ME)
    facts, labels = await whole(db, owner, limit=limit)
    assert facts == ["0 1", "0 4", "1 2", "2 0", "3 3", "part"]
    assert labels == before | {f"n{n}" for n in range(14)}
    assert await whole(db, owner, limit=limit, types=["PART_OF"]) == (["part"], {"n0", "n1"})
    assert await whole(db, owner, limit=limit, types=[]) == ([], set())
    await history.merge(db, owner, nodes[7], nodes[0], asserted_by=ME)
    await history.merge(db, owner, nodes[2], nodes[8], asserted_by=ME)
    facts, labels = await whole(db, owner, limit=limit)
    assert len(facts) == 6
    assert labels == before | {f"n{n}" for n in range(14)} - {"n7", "n2"}


async def test_pages_are_of_one_moment(db: Database, owner: Owner) -> None:
    before = await own(db, owner)
    nodes = await joined(db, owner, 3, (0, 1))
    then = await write(db, owner, joins(nodes, (1, 2), valid_to=datetime(2020, 1, 1, tzinfo=UTC)), asserted_by=ME)
    first = (await read.facts(db, owner, [nodes[0]]))[0].edge_id
    await write(db, owner, [Retract(thread=Thread(edge=first))], asserted_by=ME)
    await make(db, owner, 5)
    every = {f"n{n}" for n in range(3)}
    for limit in (1, 500):
        was = {"known_at": then.recorded_at, "limit": limit}
        assert await whole(db, owner, **was) == (["0 1"], before | every)
        assert await whole(db, owner, as_of=read.ALWAYS, **was) == (["0 1", "1 2"], before | every)
        assert (await whole(db, owner, as_of=datetime(2019, 1, 1, tzinfo=UTC), limit=limit))[0] == ["1 2"]
        assert (await whole(db, owner, limit=limit))[0] == []


@pytest.mark.parametrize(
    "cursor",
    ["x", "edges.1.2", "nodes.x", f"edges.{UUID(int=1)}", f"nodes.{UUID(int=1)}.{UUID(int=2)}", "'", "\0", "."],
)
async def test_a_cursor_of_no_page_is_refused(db: Database, owner: Owner, cursor: str) -> None:
    with pytest.raises(InvalidRequestError, match="cursor"):
        await page(db, owner, cursor=cursor)


async def test_bad_pages_are_refused(db: Database, owner: Owner) -> None:
    for limit in (0, -1, 5_001):
        with pytest.raises(InvalidRequestError):
            await page(db, owner, limit=limit)
    with pytest.raises(InvalidTextError):
        await page(db, owner, types=["\0"])
    assert (await page(db, owner, cursor=f"nodes.{uuid4()}")).edges == []


async def test_turns_calls_documents_and_their_versions_are_counted(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    desk = agents.Desk(db, settings, owner, admin)
    await desk.record(id="1", request="Fix it.", calls=[agents.read("a.py", "one"), agents.write("a.py", "two")])
    await desk.record(id="2", request="Look.", calls=[agents.read("b.py", "three")], answer="Done.")
    await agents.Desk(db, settings, other, admin).record(id="1", request="Not mine.")
    found = await stats(db, owner)
    assert (found.turns, found.tool_calls, found.documents, found.document_versions) == (2, 3, 2, 3)
    assert (await stats(db, other)).turns == 1
    erased = desk.rows("SELECT passage_id FROM memsvc.passages WHERE user_id = USER AND text = 'Look.'")[0][0]
    await erase(db, owner, "passage", erased, requested_by="tests")
    left = await stats(db, owner)
    assert (left.turns, left.tool_calls, left.documents, left.document_versions) == (1, 2, 1, 2)


async def test_sizes_are_counted(db: Database, owner: Owner, settings: Settings) -> None:
    empty = await stats(db, owner)
    nodes = await joined(db, owner, 12, *((0, n) for n in range(1, 10)), (10, 10))
    (stored,) = await append(db, owner, [MessageIn(conversation="pond", text="A heron.")], settings)
    assert stored.passage_id
    seen = [Evidence(passage_id=stored.passage_id)]
    more = [*joins(nodes, (0, 1), type="PART_OF", evidence=seen), Alias(node=nodes[0], alias="Zero")]
    change = await write(db, owner, [*more, Node(type="Person", label="Pat")], asserted_by=ME)
    await history.merge(db, owner, nodes[9], nodes[1], asserted_by=ME)
    found = await stats(db, owner)
    assert found.nodes == empty.nodes + 12
    assert found.isolated == empty.isolated + 2
    assert (found.facts, found.merges, found.evidence, found.names) == (11, 1, 1, empty.names + 1)
    assert found.edge_types == {"RELATED_TO": 10, "PART_OF": 1}
    assert found.types["Concept"] == empty.types.get("Concept", 0) + 11
    assert found.types["Person"] == empty.types.get("Person", 0) + 1
    first, second, third = found.most_connected[:3]
    assert (first.node_id, first.label, first.type, first.facts) == (nodes[0], "n0", "Concept", 10)
    assert (second.node_id, second.facts, third.facts) == (nodes[1], 3, 1)
    assert len(found.most_connected) == 10
    spread = {(bucket.least, bucket.most): bucket.nodes for bucket in found.degrees}
    assert spread == {(0, 0): empty.nodes + 2, (1, 1): 8, (2, 3): 1, (8, 15): 1}
    was = await stats(db, owner, known_at=change.recorded_at - timedelta(microseconds=1))
    assert (was.facts, was.merges, was.evidence, was.names) == (10, 0, 0, empty.names)
