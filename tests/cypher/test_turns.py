"""Turns of agents in the graph that Cypher sees: what was done, to which documents, whatever happens to them."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from memsvc.access.users import app_id
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.erasing.users import erase_user
from memsvc.server import projection
from memsvc.settings import Settings
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import StoredTurn, TurnIn, record_turn
from tests.cypher.conftest import Asker

Record = Callable[..., Awaitable[StoredTurn]]
DONE = "MATCH (t:Turn)-[c:TOOL_CALL]->(d) RETURN t.request, c.tool, c.version, coalesce(d.name, '') ORDER BY c.number"


@pytest.fixture
async def kim(asker: Callable[[str], Awaitable[Asker]]) -> Asker:
    """Kim, whose agent has done nothing yet."""
    return await asker("Kim")


@pytest.fixture
def record(cypher_db: Database, cypher_settings: Settings, kim: Asker) -> Record:
    """Records a turn: its id, then calls as (file, content, whether it is written); None: a command."""

    async def store(turn: str, *calls: tuple[str, str, bool] | None, **more: Any) -> StoredTurn:
        made = [
            CallIn(tool="BASH", arguments={"command": "make"}, ok=False)
            if call is None
            else CallIn(tool="WRITE", arguments={"path": call[0], "content": call[1]})
            if call[2]
            else CallIn(tool="READ", arguments={"path": call[0]}, result=call[1])
            for call in calls
        ]
        given = {"conversation": "monday", "id": turn, "request": turn, "root": "/home/kim/shop", "calls": made, **more}
        return await record_turn(cypher_db, kim.owner, TurnIn(**given), cypher_settings)

    return store


def wrong(admin: psycopg.Connection, settings: Settings, asker: Asker) -> list[projection.Difference]:
    """What verify finds."""
    return [line for line in projection.compare(admin, settings, asker.owner.user_id) if line.wrong]


async def test_a_turn_leads_to_its_documents_and_they_to_their_versions(
    kim: Asker, record: Record, cypher_admin: psycopg.Connection, cypher_settings: Settings
) -> None:
    await record("begin", ("a.py", "1", False), done=False)
    await record("begin", ("a.py", "1", False), ("a.py", "2", True), None, ok=True)
    await record("later", ("a.py", "3", False), conversation="tuesday")
    assert await kim.rows(DONE.replace("ORDER BY", "ORDER BY t.request,")) == [
        ["begin", "READ", 1, "shop//a.py"], ["begin", "WRITE", 2, "shop//a.py"], ["begin", "BASH", None, ""],
        ["later", "READ", 3, "shop//a.py"],
    ]  # fmt: skip
    versions = "MATCH (v)-[:VERSION_OF]->(d:Document {name: $name}) RETURN v.version, v.by_agent ORDER BY v.version"
    assert await kim.rows(versions, name="shop//a.py") == [[1, False], [2, True], [3, False]]
    assert await kim.rows("MATCH (t:Turn {ok: true, done: true}) RETURN t.request") == [["begin"]]
    assert wrong(cypher_admin, cypher_settings, kim) == []
    cypher_admin.execute('DELETE FROM memory."TOOL_CALL" WHERE user_id = %s', [kim.owner.user_id])
    cypher_admin.execute('DELETE FROM memory."DocumentVersion" WHERE user_id = %s', [kim.owner.user_id])
    found = wrong(cypher_admin, cypher_settings, kim)
    assert [(line.kind, line.missing, line.different) for line in found] == [("document", 3, 3), ("turn", 4, 0)]
    projection.rebuild(cypher_admin, cypher_settings, kim.owner.user_id)
    assert wrong(cypher_admin, cypher_settings, kim) == []
    assert len(await kim.rows(DONE)) == 4


async def test_whatever_is_recorded_and_erased_in_whatever_order(
    kim: Asker, record: Record, cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings
) -> None:
    lot, stored = random.Random(29), list[str]()
    texts = "SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND session = %s LIMIT 1"
    sources = "SELECT source_id FROM memsvc.sources WHERE user_id = %s AND kind = %s ORDER BY random() LIMIT 1"
    for step in range(24):
        if len(stored) > 3 and lot.random() < 0.3:
            turn = stored.pop(lot.randrange(len(stored)))
            kind, found = "message", cypher_admin.execute(texts.encode(), [kim.owner.user_id, turn]).fetchone()
            if lot.random() < 0.4:
                kind, found = "source", cypher_admin.execute(
                    sources.encode(), [kim.owner.user_id, lot.choice(("document", "turn"))]
                ).fetchone()  # fmt: skip
            if found is not None:
                await erase(cypher_db, kim.owner, kind, found[0], requested_by="tests")  # type: ignore[arg-type]
        else:
            calls = [
                lot.choice([None, (f"{lot.randrange(3)}.py", f"{lot.randrange(3)}", lot.random() < 0.5)])
                for _ in range(lot.randrange(4))
            ]
            done = lot.random() < 0.7
            await record(f"{step}", *calls, done=done, conversation=lot.choice("xy"))
            stored.append(f"{step}")
        if step % 6 == 5:
            assert wrong(cypher_admin, cypher_settings, kim) == []
    assert await kim.rows("MATCH (t:Turn) RETURN count(t)") != [[0]]
    await erase_user(cypher_db, await app_id(cypher_db, "tests"), str(kim.owner.user_id), requested_by="tests")
    for table in ("vertex", "edge"):
        left = f"SELECT count(*) FROM memory._ag_label_{table} WHERE user_id = %s"
        assert cypher_admin.execute(left.encode(), [kim.owner.user_id]).fetchone() == (0,)
