"""What is known as passages: facts, notes, instructions and cards are recalled as they stand, at any two times."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import InvalidRequestError, InvalidTextError, PassageUnknownError
from memsvc.graph import operations as ops
from memsvc.graph.history import undo, write
from memsvc.graph.known import known_steps
from memsvc.graph.notes import create_note, update_note
from memsvc.queue.execution import run_due
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered
from tests.sql.conftest import Scratch
from tests.sql.world import value

ME = "tests"
OWN = "SELECT passage_id, kind, text, part FROM memsvc.passages WHERE user_id = %s AND version_id IS NOT NULL "


async def learn(db: Database, owner: Owner, *operations: ops.Operation) -> list[UUID]:
    """The nodes that a change made or was about."""
    change = await write(db, owner, operations, asserted_by=ME)
    return [result.node_id for result in change.results if result.node_id is not None]


async def found(db: Database, owner: Owner, settings: Settings, query: str, **filters: Any) -> list[Memory]:
    return await remembered(db, owner, query, settings, filters=Filters(**filters), limit=20)


async def texts(db: Database, owner: Owner, settings: Settings, query: str, **filters: Any) -> set[str]:
    return {memory.text for memory in await found(db, owner, settings, query, **filters)}


async def test_every_kind_is_found_by_its_words_and_says_what_it_is(
    db: Database, owner: Owner, settings: Settings
) -> None:
    note = await create_note(db, owner, "Buckwheat bannocks", "A hot griddle, four minutes a side.", tags=["kitchen"])
    doctor, clinic = await learn(
        db, owner,
        ops.Node(type="Person", label="Dr Sen", description="A cardiologist with a griddle at home."),
        ops.Node(type="Organization", label="Harbour Clinic"),
    )  # fmt: skip
    [rule] = await learn(db, owner, ops.Node(type="Instruction", label="Never leave a griddle on."))
    await learn(db, owner, ops.Edge(from_node=doctor, type="WORKS_AT", to_node=clinic, fact="Dr Sen sells a griddle."))
    await append(db, owner, [MessageIn(conversation="talk", text="The griddle is new.", speaker="Ada")], settings)
    memories = {memory.kind: memory for memory in await found(db, owner, settings, "griddle")}
    assert {kind: (memory.node_id, memory.node_type, memory.speaker) for kind, memory in memories.items()} == {
        "note": (note.note_id, "Note", "Buckwheat bannocks"), "card": (doctor, "Person", "Dr Sen"),
        "instruction": (rule, "Instruction", ""), "fact": (None, None, ME), "message": (None, None, "Ada"),
    }  # fmt: skip
    assert memories["instruction"].text == "Never leave a griddle on."
    assert memories["note"].conversation_id is None
    assert memories["fact"].fact is not None
    assert await texts(db, owner, settings, "bannocks") == {"A hot griddle, four minutes a side."}  # by its title
    assert "Harbour Clinic" not in await texts(db, owner, settings, "harbour clinic"), "a label alone says nothing"


async def test_tasks_without_a_description_are_found_where_they_are_asked_for(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    bare, *_ = await learn(
        db, owner,
        ops.Node(type="Task", label="renew the passport"),
        ops.Node(type="Task", label="collect the passport", description="At the town hall, with a passport photo."),
        ops.Node(type="Object", label="passport"),
    )  # fmt: skip
    [task] = await found(db, owner, settings, "passport", kinds=["task"])
    assert (task.kind, task.text, task.node_id, task.node_type) == ("task", "renew the passport", bare, "Task")
    described = "At the town hall, with a passport photo."
    assert await texts(db, owner, settings, "passport") == {described}
    both = {"kinds": ["task", "card"], "types": ["Task"]}
    assert await texts(db, owner, settings, "passport", **both) == {described, "renew the passport"}
    admin.execute("DELETE FROM memsvc.passages WHERE user_id = %s AND kind = 'task'", [owner.user_id])
    assert await texts(db, owner, settings, "passport", **both) == {described}
    [step] = known_steps()["tidy"]
    assert await step(db, owner.user_id, owner.user_id) is False
    assert await texts(db, owner, settings, "passport", **both) == {described, "renew the passport"}

    then = datetime.now(UTC)
    done = ops.Correct(version=task.memory_id, content={"description": "Done, the new passport has come."})
    await write(db, owner, [done], asserted_by="user")
    assert await texts(db, owner, settings, "passport", kinds=["task"]) == set()
    assert await texts(db, owner, settings, "passport", kinds=["task"], known_at=then) == {"renew the passport"}
    await erase(db, owner, "node", bare, requested_by="user")
    assert await texts(db, owner, settings, "passport", kinds=["task"], known_at=then) == set()


async def test_what_is_reworded_is_found_as_it_stood_then(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    note = await create_note(db, owner, "Key", "The key hangs by the larder.")
    before = datetime.now(UTC)
    await update_note(db, owner, note.note_id, text="The key lies under the pot.")
    assert await texts(db, owner, settings, "key") == {"The key lies under the pot."}
    assert await texts(db, owner, settings, "key larder", known_at=before) == {"The key hangs by the larder."}
    closed = admin.execute((OWN + "AND recorded_to < 'infinity'").encode(), [owner.user_id]).fetchall()
    assert [row[2] for row in closed] == ["The key hangs by the larder."]
    lacking = "SELECT passage_id FROM memsvc.passages AS p WHERE p.user_id = %s AND memsvc.has_vectors(p)"
    assert closed[0][0] not in {row[0] for row in admin.execute(lacking, [owner.user_id])}, "it gets no vectors again"


async def test_what_held_once_is_found_as_of_then_and_for_a_time_that_is_asked_about(
    db: Database, owner: Owner, settings: Settings
) -> None:
    spring, summer = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    ada, porto, graz = await learn(
        db, owner, ops.Node(type="Person", label="Eve"), ops.Node(type="Place", label="Porto"),
        ops.Node(type="Place", label="Graz", description="A town on the river.", valid_to=spring),
    )  # fmt: skip
    await learn(
        db, owner,
        ops.Edge(from_node=ada, type="LIVES_IN", to_node=porto, fact="Eve lives in Porto.", valid_to=spring),
    )  # fmt: skip
    await learn(
        db, owner, ops.Edge(from_node=ada, type="LIVES_IN", to_node=graz, fact="Eve lives in Graz.", valid_from=spring)
    )
    assert await texts(db, owner, settings, "lives town") == {"Eve lives in Graz."}
    assert await texts(db, owner, settings, "lives town", as_of=spring - timedelta(days=9)) == {
        "Eve lives in Porto.", "A town on the river.",
    }  # fmt: skip
    assert await texts(db, owner, settings, "Who lives here?", as_of=summer) == {"Eve lives in Graz."}
    assert "Eve lives in Porto." in await texts(db, owner, settings, "Where did Eve live in January 2026?")


async def test_a_merge_shows_the_node_that_stands_for_both_and_its_end_the_other(
    db: Database, owner: Owner, settings: Settings
) -> None:
    app, system = await learn(
        db, owner, ops.Node(type="Project", label="Memory App", description="Keeps lanterns."),
        ops.Node(type="Project", label="Memory System"),
    )  # fmt: skip
    change = await write(db, owner, [ops.Merge(node=app, canonical=system)], asserted_by=ME)
    [memory] = await found(db, owner, settings, "lanterns")
    assert memory.node_id == system
    assert change.change_id is not None
    await undo(db, owner, change.change_id, asserted_by=ME)
    [memory] = await found(db, owner, settings, "lanterns")
    assert memory.node_id == app


async def test_what_is_named_brings_its_card(db: Database, owner: Owner, settings: Settings) -> None:
    [tove] = await learn(db, owner, ops.Node(type="Person", label="Tove", description="Plays the cello."))
    [memory] = [one for one in await found(db, owner, settings, "Who is Tove?") if one.kind == "card"]
    assert (memory.node_id, memory.text) == (tove, "Plays the cello.")
    assert memory.factors["names"] > 0


async def test_erasing_takes_the_passages_and_their_words_along(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [tove] = await learn(db, owner, ops.Node(type="Person", label="Tove", description="Plays the theremin."))
    kept = await create_note(db, owner, "Kept", "The theremin is loud.")
    await erase(db, owner, "node", tove, requested_by="user")
    await run_due(db)
    assert {row[0] for row in admin.execute(OWN.encode(), [owner.user_id])} == {kept.version_id}
    counted = "SELECT sum(passages) FROM memsvc.terms WHERE user_id = %s AND form = 'simple' AND term = 'theremin'"
    assert value(admin, counted, [owner.user_id]) == 1
    await erase(db, owner, "node", kept.note_id, requested_by="user")
    assert admin.execute(OWN.encode(), [owner.user_id]).fetchall() == []
    assert await texts(db, owner, settings, "theremin", known_at=datetime.now(UTC)) == set()


async def test_it_is_no_message_to_open_erase_or_rest_on(db: Database, owner: Owner, settings: Settings) -> None:
    note = await create_note(db, owner, "Key", "Under the pot.")
    with pytest.raises(PassageUnknownError):
        await erase(db, owner, "message", note.version_id, requested_by="user")
    with pytest.raises(PassageUnknownError):
        await learn(db, owner, ops.Node(type="Person", label="X", evidence=[ops.Evidence(passage_id=note.version_id)]))
    assert await texts(db, owner, settings, "pot") == {"Under the pot."}


@pytest.mark.parametrize("said", ["A sentence about moss. " * 340, "moss\n\n" * 1_300, "藓苔" * 3_900, "x" * 7_999])
async def test_a_long_note_is_filed_in_parts_that_are_the_note(
    db: Database, owner: Owner, admin: psycopg.Connection, said: str
) -> None:
    await create_note(db, owner, "Long", said)
    rows = admin.execute((OWN + "ORDER BY part").encode(), [owner.user_id]).fetchall()
    assert "".join(row[2] for row in rows) == said
    assert [row[3] for row in rows] == list(range(len(rows)))
    assert max(len(row[2]) for row in rows) <= 900


async def test_what_was_there_before_is_filed_at_night_and_only_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    note = await create_note(db, owner, "Key", "Under the pot.")
    await update_note(db, owner, note.note_id, text="Under the other pot.")
    rows = admin.execute(OWN.encode(), [owner.user_id]).fetchall()
    admin.execute("DELETE FROM memsvc.passages WHERE user_id = %s AND version_id IS NOT NULL", [owner.user_id])
    for table in ("terms", "corpora", "term_deltas"):
        admin.execute(f"DELETE FROM memsvc.{table} WHERE user_id = %s".encode(), [owner.user_id])
    assert await texts(db, owner, settings, "pot") == set()
    [step] = known_steps()["tidy"]
    for _ in range(2):
        assert await step(db, owner.user_id, owner.user_id) is False
        assert sorted(admin.execute(OWN.encode(), [owner.user_id]).fetchall()) == sorted(rows)
    assert await texts(db, owner, settings, "pot") == {"Under the other pot."}
    assert value(admin, "SELECT sum(passages) FROM memsvc.term_deltas WHERE user_id = %s", [owner.user_id]) == 4


async def test_what_is_filed_beside_a_change_that_supersedes_it_does_not_stand(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    note = await create_note(db, owner, "Key", "Under the pot.")
    admin.execute("DELETE FROM memsvc.passages WHERE user_id = %s AND version_id IS NOT NULL", [owner.user_id])
    [step] = known_steps()["tidy"]
    async with db.transaction(owner.user_id) as writing:
        await writing.execute(text("SELECT memsvc.keep_memories(:user)"), {"user": owner.user_id})
        closing = "UPDATE memsvc.node_versions SET recorded_to = clock_timestamp() WHERE version_id = :version"
        await writing.execute(text(closing), {"version": note.version_id})
        filing = asyncio.ensure_future(step(db, owner.user_id, owner.user_id))
        await asyncio.wait({filing}, timeout=0.5)
    assert await filing is False
    rows = admin.execute((OWN + "AND recorded_to = 'infinity'").encode(), [owner.user_id]).fetchall()
    assert rows == []
    assert [row[0] for row in admin.execute(OWN.encode(), [owner.user_id])] == [note.version_id]


async def test_two_writers_at_once_wait_only_for_each_others_commit(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    async def remember(number: int) -> None:
        for n in range(8):
            await learn(db, owner, ops.Node(type="Person", label=f"P{number}", description=f"Says {number} {n}."))

    await asyncio.gather(*map(remember, range(4)))
    assert len(admin.execute(OWN.encode(), [owner.user_id]).fetchall()) == 32
    asked = "SELECT state FROM memsvc.jobs WHERE user_id = %s AND kind = 'embed'"
    assert admin.execute(asked, [owner.user_id]).fetchall() == [("pending",)]


async def test_filters_let_through_what_they_say(db: Database, owner: Owner, settings: Settings) -> None:
    said = [
        MessageIn(conversation="a", text="The boat is red.", speaker="Ada", metadata={"room": "dock"}),
        MessageIn(conversation="b", text="The boat is blue.", speaker="Bob"),
        MessageIn(conversation="b", text="The boat is rigged.", role="tool"),
        MessageIn(conversation="b", text="The boat is fast.", role="assistant"),
    ]
    stored = await append(db, owner, said, settings)
    await create_note(db, owner, "Boat", "The boat needs paint.", tags=["dock"], importance=9)
    assert stored[0].passage_id is not None
    evidence = [ops.Evidence(passage_id=stored[0].passage_id)]
    boat, _ = await learn(
        db, owner, ops.Node(type="Object", label="Boat", description="A boat of oak.", evidence=evidence),
        ops.Node(type="Person", label="Eve"),
    )  # fmt: skip
    await learn(
        db, owner, ops.Node(type="Place", label="Quay", description="Where the boat lies."),
        ops.Edge(from_node=boat, type="LOCATED_AT", to_node=0, fact="The boat lies at the quay.", evidence=evidence),
    )  # fmt: skip
    await learn(
        db, owner, ops.Node(type="Object", label="Oar", description="An oar of the boat.", evidence=[
            ops.Evidence(passage_id=given) for given in (stored[2].passage_id, stored[3].passage_id) if given
        ]),
    )  # fmt: skip
    red, blue, note, card = "The boat is red.", "The boat is blue.", "The boat needs paint.", "A boat of oak."
    rigged, fast, oar = "The boat is rigged.", "The boat is fast.", "An oar of the boat."
    quay, fact = "Where the boat lies.", "The boat lies at the quay."
    for filters, expected in (
        ({}, {red, blue, fast, note, card, quay, oar, fact}),
        ({"kinds": ["note", "fact"]}, {note, fact}),
        ({"facts": False}, {red, blue, fast, note, card, quay, oar}),
        ({"conversations": ["a"]}, {red, card, fact}),
        ({"not_conversations": ["a"]}, {blue, fast, note, quay, oar}),
        ({"speakers": ["Bob"]}, {blue}),
        ({"speakers": ["Ada"]}, {red, card, fact}),
        ({"roles": ["user"]}, {red, blue, card, fact}),
        ({"roles": ["assistant"]}, {fast, oar}),
        ({"roles": ["tool"]}, {rigged, oar}),
        ({"roles": ["tool"], "kinds": ["message", "card"]}, {oar}),
        ({"roles": ["user", "assistant"], "conversations": ["b"]}, {blue, fast, oar}),
        ({"roles": ["other"]}, set()),
        ({"source_kinds": ["graph"]}, {note, quay}),
        ({"types": ["Note", "LOCATED_AT"]}, {note, fact}),
        ({"least_importance": 6}, {note}),
        ({"metadata": {"tags": ["dock"]}}, {note}),
        ({"metadata": {"room": "dock"}}, {red}),
        ({"speakers": ["Boat"]}, set()),
        ({"kinds": ["card"], "not_conversations": ["a"]}, {quay, oar}),
        ({"said_to": datetime(2020, 1, 1, tzinfo=UTC)}, set()),
    ):
        assert await texts(db, owner, settings, "boat", **filters) == expected, filters


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ({"kinds": ["rumour"]}, InvalidRequestError),
        ({"source_kinds": ["rumour"]}, InvalidRequestError),
        ({"roles": ["rumour"]}, InvalidRequestError),
        ({"least_importance": 11}, InvalidRequestError),
        ({"least_importance": float("nan")}, InvalidRequestError),
        ({"metadata": {"x": "y" * 1_000_000}}, InvalidRequestError),
        ({"metadata": {"x": "a\0b"}}, InvalidTextError),
        ({"speakers": ["a\ud800"]}, InvalidTextError),
    ],
)
async def test_filters_that_cannot_be_asked_for_are_refused(
    db: Database, owner: Owner, settings: Settings, filters: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await found(db, owner, settings, "boat", **filters)


async def test_metadata_as_deep_as_a_well_is_refused(db: Database, owner: Owner, settings: Settings) -> None:
    deep: Any = 1
    for _ in range(1_000):
        deep = {"x": deep}
    with pytest.raises(InvalidRequestError):
        await found(db, owner, settings, "boat", metadata=deep)


def test_a_new_kind_is_one_row_and_whoever_writes_it(scratch: Scratch) -> None:
    with psycopg.connect(scratch("kinds"), autocommit=True) as admin:
        app = value(admin, "SELECT memsvc.ensure_app('kinds')")
        user = value(admin, "SELECT memsvc.create_user(%s, 'u', 'Ada', 'UTC', 'english')", [app])
        body = str(value(admin, "SELECT pg_get_functiondef('memsvc.passage_kinds'::regproc)"))
        row = "('summary'::text, true, true)"
        assert "VALUES " in body
        admin.execute(body.replace("VALUES ", f"VALUES {row}, ").encode())
        admin.execute(
            "INSERT INTO memsvc.sources (user_id, source_id, kind, identifier) VALUES (%s, %s, 'conversation', 's')",
            [user, user],
        )
        admin.execute(
            "INSERT INTO memsvc.passages (user_id, source_id, kind, ordinal, role, text, said_at, said_offset, "
            "language, tsv, tsv_simple, length, length_simple) SELECT %s, %s, 'summary', 0, 'other', t.text, now(), 0, "
            "'english', to_tsvector('english', t.text), to_tsvector('simple', t.text), 4, 4 "
            "FROM (VALUES ('A week of fog.')) AS t (text)",
            [user, user],
        )
        kinds = "'summary' = ANY (memsvc.recalled_kinds()) AND 'summary' = ANY (memsvc.compared_kinds())"
        assert value(admin, f"SELECT {kinds}")
        fits = "memsvc.in_scope(memsvc.scope(), p) AND memsvc.has_vectors(p)"
        assert value(admin, f"SELECT count(*) FROM memsvc.passages AS p WHERE {fits}") == 1
