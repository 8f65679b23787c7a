"""Messages in the graph that Cypher sees: each passage, its conversation, and what follows it, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from memsvc.access.users import app_id
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.erasing.users import erase_user
from memsvc.server import projection
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, StoredMessage, append
from tests.cypher.conftest import Asker

FOLLOWS = "MATCH (a:Passage)-[:NEXT]->(b:Passage) RETURN a.text, b.text ORDER BY a.text"
Say = Callable[..., Awaitable[list[StoredMessage]]]


@pytest.fixture
async def ines(asker: Callable[[str], Awaitable[Asker]]) -> Asker:
    """Ines, who has said nothing yet."""
    return await asker("Ines")


@pytest.fixture
def say(cypher_db: Database, cypher_settings: Settings, ines: Asker) -> Say:
    """Says texts in a conversation."""

    async def append_all(
        *texts: str, conversation: str = "talk", first: int | None = None, **more: str
    ) -> list[StoredMessage]:
        messages = [
            MessageIn(
                conversation=conversation, text=text, ordinal=None if first is None else first + place,
                said_at="2025-01-01T12:00:00Z", **more,  # type: ignore[arg-type]
            )
            for place, text in enumerate(texts)
        ]  # fmt: skip
        return await append(cypher_db, ines.owner, messages, cypher_settings)

    return append_all


def wrong(admin: psycopg.Connection, settings: Settings, asker: Asker) -> list[projection.Difference]:
    """What verify finds."""
    return [line for line in projection.compare(admin, settings, asker.owner.user_id) if line.wrong]


async def test_passages_follow_each_other_within_a_session(ines: Asker, say: Say) -> None:
    await say("a", "b", speaker="Ines")
    await say("thought", role="thinking")
    await say("c")
    await say("d", session="later")
    await say("e", conversation="other")
    assert await ines.rows(FOLLOWS) == [["a", "b"], ["b", "c"]]
    query = "MATCH (p:Passage)-[:PART_OF]->(c:Conversation) RETURN c.id, count(p) AS passages ORDER BY passages"
    assert [row[1] for row in await ines.rows(query)] == [1, 4]
    [[first]] = await ines.rows("MATCH (p:Passage {text: 'a'}) RETURN p")
    assert first["properties"] | {"id": ""} == {
        "id": "", "role": "user", "speaker": "Ines", "text": "a", "said_at": "2025-01-01T12:00:00.000000Z"
    }  # fmt: skip


async def test_a_message_placed_between_others_is_between_them(ines: Asker, say: Say) -> None:
    await say("a", first=0)
    await say("c", first=2)
    await say("b", first=1)
    assert await ines.rows(FOLLOWS) == [["a", "b"], ["b", "c"]]


async def test_parts_of_a_long_message_follow_each_other(
    ines: Asker, say: Say, cypher_admin: psycopg.Connection, cypher_settings: Settings
) -> None:
    await say("before", " ".join(f"Sentence number {n} is here." for n in range(2_000)), "after")
    [[passages]] = await ines.rows("MATCH (p:Passage) RETURN count(p)")
    assert passages > 3
    assert len(await ines.rows(FOLLOWS)) == passages - 1
    assert wrong(cypher_admin, cypher_settings, ines) == []


async def test_what_is_erased_goes_and_its_neighbours_meet(ines: Asker, say: Say, cypher_db: Database) -> None:
    stored = await say("a", "b", "c", "d")
    for place in (1, 2):
        subject = stored[place].passage_id
        assert subject is not None
        await erase(cypher_db, ines.owner, "passage", subject, requested_by="tests")
    assert await ines.rows(FOLLOWS) == [["a", "d"]]
    conversation = stored[0].conversation_id
    assert conversation is not None
    await erase(cypher_db, ines.owner, "source", conversation, requested_by="tests")
    assert await ines.rows("MATCH (n) WHERE label(n) IN ['Passage', 'Conversation'] RETURN n") == []


async def test_no_row_of_a_user_who_goes_is_left(
    ines: Asker, say: Say, cypher_db: Database, cypher_admin: psycopg.Connection
) -> None:
    await say("a", "b", "c")
    count = "SELECT count(*) FROM memory._ag_label_{} WHERE user_id = %s"
    assert cypher_admin.execute(count.format("edge").encode(), [ines.owner.user_id]).fetchone() == (5,)
    await erase_user(cypher_db, await app_id(cypher_db, "tests"), str(ines.owner.user_id), requested_by="tests")
    for table in ("vertex", "edge"):
        assert cypher_admin.execute(count.format(table).encode(), [ines.owner.user_id]).fetchone() == (0,)


async def test_verify_finds_what_lacks_and_rebuild_mends_it(
    ines: Asker, say: Say, cypher_admin: psycopg.Connection, cypher_settings: Settings
) -> None:
    await say("a", "b", "c")
    cypher_admin.execute('DELETE FROM memory."NEXT" WHERE user_id = %s', [ines.owner.user_id])
    cypher_admin.execute(
        "UPDATE memory.\"Passage\" SET properties = ag_catalog.agtype_in('{}') WHERE user_id = %s", [ines.owner.user_id]
    )
    found = wrong(cypher_admin, cypher_settings, ines)
    assert [(line.kind, line.missing, line.different) for line in found] == [("passage", 0, 3), ("order", 2, 0)]
    cypher_admin.execute('UPDATE memory."PART_OF" SET end_id = start_id WHERE user_id = %s', [ines.owner.user_id])
    cypher_admin.execute('UPDATE memory."Conversation" SET node_id = uuidv7() WHERE user_id = %s', [ines.owner.user_id])
    found = wrong(cypher_admin, cypher_settings, ines)
    assert [(line.kind, line.missing, line.surplus, line.different) for line in found] == [
        ("passage", 1, 1, 3), ("order", 2, 0, 3),
    ]  # fmt: skip
    projection.rebuild(cypher_admin, cypher_settings, ines.owner.user_id)
    assert wrong(cypher_admin, cypher_settings, ines) == []
    assert await ines.rows(FOLLOWS) == [["a", "b"], ["b", "c"]]


async def test_whatever_is_said_and_erased_in_whatever_order(
    ines: Asker, say: Say, cypher_db: Database, cypher_admin: psycopg.Connection, cypher_settings: Settings
) -> None:
    stored: list[StoredMessage] = []
    lot, free = random.Random(8), {name: list(range(60)) for name in "xy"}
    for step in range(40):
        name = lot.choice("xy")
        if stored and lot.random() < 0.3:
            subject = stored.pop(lot.randrange(len(stored))).passage_id
            assert subject is not None
            await erase(cypher_db, ines.owner, "passage", subject, requested_by="tests")
        else:
            first = free[name].pop(lot.randrange(len(free[name])))
            stored += await say(f"{step}", session=name, first=first)
        if step % 10 == 9:
            assert wrong(cypher_admin, cypher_settings, ines) == []
    assert len(await ines.rows(FOLLOWS)) > 5
