"""Erasing in batches, receipts, and erasing while others are at work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing import memories as erasing
from memsvc.erasing.memories import Kind, erase, erase_steps, erasure, erasures, preview
from memsvc.errors import (
    MemsvcError,
)
from memsvc.graph import operations as ops
from memsvc.queue.execution import run_due
from memsvc.queue.jobs import list_jobs
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.read import list_conversations
from tests.jobs.working import until
from tests.sql.forgetting import by, found, knows, learn, say, two_people
from tests.sql.world import value

pytestmark = pytest.mark.slow
KINDS: tuple[Kind, ...] = ("message", "passage", "source", "fact", "node")


# Large ones ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of three."""
    monkeypatch.setattr(erasing, "BATCH", 3)


async def large(db: Database, owner: Owner, settings: Settings) -> UUID:
    """A conversation of ten messages, with facts of one and of two of them."""
    passages = await say(db, owner, settings, *(f"text number {n}" for n in range(10)))
    ida, bea = await two_people(db, owner)
    await learn(
        db, owner,
        *(knows(ida, bea, f"fact {n}", passages[n], passages[-1 - n], key=str(n)) for n in range(10)),
    )  # fmt: skip
    return (await list_conversations(db, owner)).items[0].conversation_id


@pytest.mark.usefixtures("small")
async def test_a_large_source_goes_in_batches(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    source = await large(db, owner, settings)
    foreseen = await preview(db, owner, "source", source)
    seen: list[tuple[int, int]] = []
    receipt = await erase(
        db, owner, "source", source, requested_by="user", on_progress=lambda done, all_: seen.append((done, all_))
    )
    assert seen == [(3, 10), (6, 10), (9, 10), (10, 10)]
    assert receipt.counts == foreseen
    assert receipt.counts["edges"] == 10
    assert receipt.state == "done"
    assert receipt.verified is True
    jobs = await list_jobs(db, owner.user_id)
    assert {job.kind: job.state for job in jobs} == {"process": "cancelled", "erase": "cancelled", "embed": "pending"}
    for table in ("passages", "sources", "source_links", "edge_versions", "terms", "corpora", "term_deltas"):
        assert found(admin, owner, table) == 0, table
    events = "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s AND kind = 'memory.erased'"
    assert value(admin, events, [owner.user_id]) == 1


@pytest.mark.usefixtures("small")
async def test_the_job_does_what_is_left_of_a_large_source(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    source = await large(db, owner, settings)
    receipt = await erase(db, owner, "source", source, requested_by="user", whole=False)
    assert receipt.state == "pending"
    assert receipt.verified is None
    assert found(admin, owner, "passages") == 7
    [row] = (await list_conversations(db, owner)).items
    assert (row.identifier, row.messages) == (str(source), 7)
    # What is said meanwhile under the old name belongs to another conversation, and stays.
    await say(db, owner, settings, "new words", start=20)
    [again] = await append(db, owner, [MessageIn(conversation="pond", text="text number 9", id="m9")], settings)
    assert again.outcome == "erased"
    same = await erase(db, owner, "source", source, requested_by="another", whole=False)
    assert same.erasure_id == receipt.erasure_id
    await run_due(db, {**erase_steps(), "process": ()})
    assert (await erasure(db, owner, receipt.erasure_id)).verified is True
    states = sorted((job.kind, job.state) for job in await list_jobs(db, owner.user_id))
    assert states == [("embed", "pending"), ("erase", "done"), ("process", "cancelled"), ("process", "done")]
    assert [row.identifier for row in (await list_conversations(db, owner)).items] == ["pond"]
    assert found(admin, owner, "passages") == 1
    events = "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s AND kind = 'memory.erased'"
    assert value(admin, events, [owner.user_id]) == 1


@pytest.mark.usefixtures("small")
async def test_a_node_with_many_edges_goes_in_batches(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await large(db, owner, settings)
    node = value(admin, "SELECT from_node FROM memsvc.edges WHERE user_id = %s LIMIT 1", [owner.user_id])
    foreseen = await preview(db, owner, "node", node)
    seen: list[tuple[int, int]] = []
    receipt = await erase(
        db, owner, "node", node, requested_by="user", on_progress=lambda done, all_: seen.append((done, all_))
    )
    assert seen[-1] == (10, 10)
    assert len(seen) >= 4
    assert receipt.counts == foreseen
    assert found(admin, owner, "edges") == 0


async def test_receipts_are_listed_newest_first(db: Database, owner: Owner, settings: Settings) -> None:
    made = [
        (await erase(db, owner, "message", passage, requested_by="user")).erasure_id
        for passage in await say(db, owner, settings, "one", "two", "three")
    ]
    page = await erasures(db, owner, limit=2)
    assert [receipt.erasure_id for receipt in page.items] == made[:0:-1]
    assert page.next_cursor
    rest = await erasures(db, owner, after=UUID(page.next_cursor), limit=2)
    assert [receipt.erasure_id for receipt in rest.items] == made[:1]
    assert rest.next_cursor is None


async def test_leftovers_are_found_in_whatever_table(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [passage] = await say(db, owner, settings, "one")
    receipt = await erase(db, owner, "message", passage, requested_by="user")
    assert receipt.leftovers == {}
    try:
        admin.execute("CREATE TABLE memsvc.tests_future (user_id uuid, seen_in uuid, several uuid[])")
        admin.execute("GRANT SELECT ON memsvc.tests_future TO memsvc_app")
        admin.execute(
            "INSERT INTO memsvc.tests_future VALUES (%(user)s, %(id)s, ARRAY[%(id)s])",
            {"user": owner.user_id, "id": passage},
        )
        admin.execute(
            "INSERT INTO memsvc.terms (user_id, kind, form, term, passages) VALUES (%s, 'message', 'simple', 'one', 0)",
            [owner.user_id],
        )
        again = await erasure(db, owner, receipt.erasure_id)
        assert again.verified is False
        assert again.leftovers == {"tests_future.seen_in": 1, "tests_future.several": 1, "terms.passages": 1}
    finally:
        admin.execute("DROP TABLE memsvc.tests_future")


# At the same time ----------------------------------------------------------------------------------------------------


async def quietly(work: Any) -> str:
    """The code of an error, or nothing."""
    try:
        await work
    except MemsvcError as error:
        return error.code
    return ""


@pytest.fixture
def model(admin: psycopg.Connection) -> Iterator[int]:
    """A model of three dimensions, gone afterwards: the first one of a database stays the active one."""
    there = admin.execute("SELECT model_id FROM memsvc.embedding_models WHERE dimensions = 3").fetchone()
    if there is not None:  # other tests of this worker left theirs
        yield there[0]
        return
    made: int = value(admin, "SELECT model_id FROM memsvc.ensure_model('tests:three', 3)")
    yield made
    admin.execute("DELETE FROM memsvc.embeddings WHERE model_id = %s", [made])
    admin.execute("DELETE FROM memsvc.embedding_models WHERE model_id = %s", [made])
    admin.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier("memsvc", f"embeddings_near_{made}")))


async def test_erasing_while_others_write_cite_embed_and_fold(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, model: int
) -> None:
    """Each gets what it asked for or a clear error, and nothing of what was erased is left."""
    ida, bea = await two_people(db, owner)

    async def embed(passages: Sequence[UUID]) -> None:
        async with db.transaction(owner.user_id) as connection:
            await connection.execute(
                text(
                    "SELECT memsvc.store_embeddings("
                    ":user, CAST(:model AS smallint), :passages, CAST(:vectors AS public.halfvec[]))"
                ),
                {"user": owner.user_id, "model": model, "passages": list(passages), "vectors": ["[1,0,0]"] * 4},
            )

    for turn in range(12):
        passages = await say(db, owner, settings, *(f"turn {turn} text {n}" for n in range(4)), start=turn * 10)
        source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [passages[0]])
        target: tuple[Literal["source", "message"], UUID] = ("source", source) if turn % 2 else ("message", passages[0])
        codes = await asyncio.gather(
            quietly(say(db, owner, settings, "more", "and more", start=turn * 10 + 5)),
            quietly(learn(db, owner, *(knows(ida, bea, f"{turn} {n}", passages[n], key=str(n)) for n in range(4)))),
            quietly(embed(passages)),
            quietly(erase(db, owner, *target, requested_by="user")),
            quietly(run_due(db)),
            quietly(learn(db, owner, ops.Merge(node=bea, canonical=ida, evidence=by(passages[0])))),
        )
        assert set(codes) <= {"", "passage_unknown"}, codes
        assert codes[0] == codes[2] == codes[3] == codes[4] == ""
        await learn(db, owner, ops.Unmerge(node=bea))
        receipt = (await erasures(db, owner, limit=1)).items[0]
        assert (await erasure(db, owner, receipt.erasure_id)).leftovers == {}
        await run_due(db)
    counted = "SELECT coalesce(sum(passages), 0) FROM memsvc.corpora WHERE user_id = %s AND form = 'simple'"
    assert value(admin, counted, [owner.user_id]) == found(admin, owner, "passages")
    states = await list_jobs(db, owner.user_id)
    assert {job.state for job in states} <= {"done", "cancelled"}


@pytest.mark.parametrize("left", [10, 1], ids=["all at once", "in batches"])
async def test_who_waits_for_a_source_that_is_erased_meanwhile_makes_a_new_one(
    left: int, db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    """Not the next one by name, and not an error."""
    passages = await say(db, owner, settings, "one", "two")
    await say(db, owner, settings, "elsewhere", conversation="pond and others")
    source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [passages[0]])
    values = {"user": owner.user_id, "source": source, "limit": left}
    async with db.transaction(owner.user_id) as connection:
        lock = "SELECT FROM memsvc.sources WHERE user_id = :user AND source_id = :source FOR NO KEY UPDATE"
        await connection.execute(text(lock), values)
        saying = asyncio.create_task(say(db, owner, settings, "three", start=5))
        waits = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0"
        )
        await until(lambda: value(admin, waits))
        await connection.execute(text("SELECT FROM memsvc.erase(:user, 'source', :source, 'tests', :limit)"), values)
    [passage] = await saying
    found_in = admin.execute(
        "SELECT s.identifier, s.source_id FROM memsvc.passages AS p INNER JOIN memsvc.sources AS s "
        "USING (user_id, source_id) WHERE p.passage_id = %s",
        [passage],
    ).fetchone()
    assert found_in
    assert found_in[0] == "pond"
    assert found_in[1] != source
