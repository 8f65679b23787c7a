"""Blocks in the archive are found like all else, as long as they stand there: by words, by vector, and after it all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.erasing.memories import erase, preview
from memsvc.errors import ImportInvalidError, InvalidRequestError
from memsvc.profiles import filing
from memsvc.profiles.blocks import Place
from memsvc.profiles.changes import Append
from memsvc.profiles.read import read_block
from memsvc.profiles.write import Wish, change_block, forget_block, move, write_block
from memsvc.queue.execution import Steps, run_due
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.settings import Settings
from tests.conftest import remembered
from tests.fakes.embedders import Alone, TokenWords, resident
from tests.jobs.working import say, until, vectors_of
from tests.sql.exports import Travel, rewrite
from tests.sql.forgetting import two_people
from tests.sql.world import value

BOAT = "Rosinante has two masts.\nHer keel is of oak."
COUNTS = """
SELECT NOT EXISTS (
  SELECT FROM (
    SELECT kind, form, passages, length FROM memsvc.corpora WHERE user_id = %(user)s
    UNION ALL
    SELECT kind, form, passages, length FROM memsvc.term_deltas WHERE user_id = %(user)s
    UNION ALL
    SELECT p.kind, f.form, -1, -f.length FROM memsvc.passages AS p
    CROSS JOIN LATERAL (VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
    WHERE p.user_id = %(user)s
  ) AS c GROUP BY c.kind, c.form HAVING sum(c.passages) <> 0 OR sum(c.length) <> 0
)
"""

# A block with one wording becomes one that said it 1,000 times, all filed, and says the next thing, not filed yet.
# There are others' blocks, so that statistics of users and of blocks by themselves mislead.
MUCH_SAID = (
    "UPDATE memsvc.passages SET ordinal = 1000 WHERE user_id = %(user_id)s AND source_id = %(block_id)s",
    """
    INSERT INTO memsvc.passages (
      user_id, source_id, kind, ordinal, role, text, said_at, said_offset, language, tsv, tsv_simple, length,
      length_simple
    )
    SELECT p.user_id, p.source_id, 'former', n, p.role, p.text, p.said_at, 0, p.language, p.tsv, p.tsv_simple,
      p.length, p.length_simple
    FROM memsvc.passages AS p CROSS JOIN generate_series(1, 999) AS n
    WHERE p.user_id = %(user_id)s AND p.source_id = %(block_id)s
    """,
    """
    UPDATE memsvc.profile_versions SET version = 1001, text = 'Done at the mill.'
    WHERE user_id = %(user_id)s AND block_id = %(block_id)s
    """,
    """
    INSERT INTO memsvc.profile_versions (
      user_id, block_id, version, name, kind, text, tokens, token_limit, asserted_by, recorded_from, recorded_to
    )
    SELECT v.user_id, v.block_id, n, v.name, v.kind, 'Begun at the mill.', v.tokens, v.token_limit, v.asserted_by,
      v.recorded_from, v.recorded_from
    FROM memsvc.profile_versions AS v CROSS JOIN generate_series(1, 1000) AS n
    WHERE v.user_id = %(user_id)s AND v.block_id = %(block_id)s
    """,
    """
    WITH others AS (
      INSERT INTO memsvc.users (user_id, app_id, name, time_zone, language, external_id)
      SELECT uuidv7(), u.app_id, u.name, u.time_zone, u.language, 'other ' || n || ' of ' || u.user_id
      FROM memsvc.users AS u CROSS JOIN generate_series(1, 50) AS n
      WHERE u.user_id = %(user_id)s
      RETURNING user_id
    )
    INSERT INTO memsvc.profile_versions (user_id, version, name, kind, text, tokens, token_limit, asserted_by)
    SELECT o.user_id, 1, 'log', 'core', '', 0, 500, 'tests' FROM others AS o
    """,
    "ANALYZE memsvc.passages, memsvc.profile_versions",
)


@pytest.fixture(autouse=True)
async def _nothing_else_is_due(db: Database) -> None:
    """Jobs of other tests are done, without vectors."""
    await run_due(db)


@pytest.fixture
def model(settings: Settings) -> Alone:
    """A small model."""
    return resident(TokenWords(), "words", settings)


@pytest.fixture
def steps(settings: Settings, model: Alone) -> Steps:
    """What a worker does with it."""
    return all_steps(settings, model)


@pytest.fixture
def travel(db: Database, app: UUID, settings: Settings, tmp_path: Path) -> Travel:
    """Exports and imports."""
    return Travel(db, app, settings, tmp_path)


async def blocks(
    db: Database, owner: Owner, settings: Settings, query: str = "oak keel", known_at: datetime | None = None
) -> list[str]:
    """What recall finds of blocks."""
    found = await remembered(db, owner, query, settings, filters=Filters(known_at=known_at))
    return [memory.text for memory in found if memory.kind == "block"]


def unsound(admin: psycopg.Connection, owner: Owner) -> list[str]:
    """What the word statistics do not say of the passages, and vectors of what is not found any more."""
    faults = [] if value(admin, COUNTS, {"user": owner.user_id}) else ["words are not counted as they stand"]
    lost = (
        "SELECT count(*) FROM memsvc.embeddings AS e JOIN memsvc.passages AS p USING (user_id, passage_id) "
        "WHERE p.user_id = %s AND p.kind = 'former'"
    )
    return faults + (["a former block has a vector"] if value(admin, lost, [owner.user_id]) else [])


async def test_what_is_archived_is_found_while_it_says_so(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "The oak in the yard is old.")
    assert (await write_block(db, owner, "boat", BOAT)).kind == "core"
    assert await blocks(db, owner, settings) == []  # it stands in every context anyway
    filed = await move(db, owner, "boat", "archival")
    [found] = [one for one in await remembered(db, owner, "oak keel", settings) if one.kind == "block"]
    assert (found.block_id, found.speaker, found.ordinal, found.text) == (filed.block_id, "boat", filed.version, BOAT)
    assert (found.conversation_id, found.conversation) == (None, "")
    assert found.why.startswith("from the archived block boat: says “keel”, “oak”")
    assert await blocks(db, owner, settings, "what is in boat?") == [BOAT]  # its name is one of its words
    assert await blocks(db, other, settings) == []
    longer = await change_block(db, owner, Place("boat"), Wish(change=Append(text="She has a keel of lead now.")))
    assert await blocks(db, owner, settings) == [longer.text]  # once, as it is now
    assert unsound(admin, owner) == []
    core = await move(db, owner, "boat", "core")
    assert await blocks(db, owner, settings) == []
    assert unsound(admin, owner) == []
    # What was known once: nothing, the first wording, the second one, nothing.
    assert await blocks(db, owner, settings, known_at=filed.recorded_from - timedelta(microseconds=1)) == []
    assert await blocks(db, owner, settings, known_at=filed.recorded_from) == [BOAT]
    assert await blocks(db, owner, settings, known_at=longer.recorded_from) == [longer.text]
    assert await blocks(db, owner, settings, known_at=core.recorded_from) == []


async def test_it_is_found_by_its_meaning_and_read_for_no_facts(
    travel: Travel, owner: Owner, admin: psycopg.Connection, model: Alone, steps: Steps
) -> None:
    db, settings = travel.db, travel.settings
    long = "\n".join(f"Plank number {number} of the deck is sound." for number in range(60))
    await write_block(db, owner, "deck", long, kind="archival", limit_tokens=2_000)
    await write_block(db, owner, "boat", BOAT, kind="archival")
    await run_due(db, steps)
    assert len(vectors_of(admin, owner)) > 3  # a long block in parts
    found: list[Memory] = await remembered(db, owner, "Boat: " + BOAT, settings, embedder=model, limit=3)
    assert (found[0].text, found[0].kind) == (BOAT, "block")
    assert "vector" in found[0].arms
    assert "late" in found[0].arms
    assert value(admin, "SELECT count(*) FROM memsvc.extractions WHERE user_id = %s", [owner.user_id]) == 0
    await write_block(db, owner, "boat", "Sold.")
    assert [row for row in vectors_of(admin, owner) if "keel" in row] == []
    assert unsound(admin, owner) == []


async def test_what_is_reworded_while_the_model_works_gets_no_vector(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    loop, longer = asyncio.get_running_loop(), Wish(change=Append(text="She was sold."))
    reworded: list[str] = []

    def reword(texts: Sequence[str]) -> None:
        if not reworded and any(BOAT in one for one in texts):
            changing = change_block(db, owner, Place("boat"), longer)
            reworded.append(asyncio.run_coroutine_threadsafe(changing, loop).result(20).text)

    await write_block(db, owner, "boat", BOAT, kind="archival")
    await run_due(db, all_steps(settings, resident(TokenWords(before=reword), "words", settings)))
    assert vectors_of(admin, owner) == reworded
    assert unsound(admin, owner) == []


async def test_who_stores_vectors_of_a_block_waits_for_who_rewords_it(
    db: Database, owner: Owner, admin: psycopg.Connection, steps: Steps
) -> None:
    boat = await write_block(db, owner, "boat", BOAT, kind="archival")
    await run_due(db, steps)
    values: dict[str, object] = {"user_id": owner.user_id, "block_id": boat.block_id}
    newest = "SELECT passage_id, vector::text FROM memsvc.embeddings WHERE user_id = %s"
    [(passage, vector)] = admin.execute(newest, [owner.user_id]).fetchall()
    store = (
        "SELECT memsvc.store_embeddings(:user_id, CAST(m.model_id AS smallint), CAST(:ids AS uuid[]), "
        "CAST(:vectors AS public.halfvec[])) "
    )
    values |= {"ids": [passage], "vectors": [vector]}

    async def stored() -> int:
        async with db.transaction(owner.user_id) as connection:
            late = text(store + "FROM memsvc.embedding_models AS m WHERE m.name = 'words'")
            count: int = (await connection.execute(late, values)).scalar_one()
            return count

    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("profile_hold"), values)
        await connection.execute(text("SELECT memsvc.retire_passages(:user_id, :ids)"), values)
        storing = asyncio.create_task(stored())
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        await until(lambda: storing.done() or value(admin, waits))
    assert await storing == 0
    assert vectors_of(admin, owner) == []


async def test_a_change_reads_nothing_of_what_an_archived_block_said_before(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    log = await write_block(db, owner, "log", "Begun at the mill.", kind="archival")
    values = {"user_id": owner.user_id, "block_id": log.block_id, "parts": '{"1001": ["Done at the mill."]}'}
    for statement in MUCH_SAID:
        admin.execute(statement.encode(), values)
    read = text(
        "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables "
        "WHERE schemaname = 'memsvc' AND relname IN ('passages', 'profile_versions')"
    )
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("profile_hold"), values)
        before = (await connection.execute(read)).scalar_one()
        [said] = (await connection.execute(query("profile_archived"), values)).all()
        await connection.execute(query("profile_file"), values)
        rows = (await connection.execute(read)).scalar_one() - before
    assert (said.version, said.text) == (1_001, "Done at the mill.")
    kinds = "SELECT kind, count(*) FROM memsvc.passages WHERE source_id = %s GROUP BY kind ORDER BY kind"
    assert admin.execute(kinds, [log.block_id]).fetchall() == [("block", 1), ("former", 1_000)]
    assert rows < 50, rows


async def test_writers_at_once_leave_one_wording(db: Database, owner: Owner, settings: Settings) -> None:
    await write_block(db, owner, "log", "Begun at the mill.", kind="archival")
    lines = [f"Mill, day {number}." for number in range(5)]
    await asyncio.gather(*(change_block(db, owner, Place("log"), Wish(change=Append(text=line))) for line in lines))
    await write_block(db, owner, "log", (await read_block(db, owner, "log")).text)  # a retry changes nothing
    assert await blocks(db, owner, settings, "mill") == [(await read_block(db, owner, "log")).text]


async def test_erasing_reaches_the_archive(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, steps: Steps
) -> None:
    await say(db, owner, settings, "Her keel is of oak.")
    [said] = (await remembered(db, owner, "keel", settings))[:1]
    await write_block(db, owner, "boat", "Rosinante has two masts.", kind="archival")
    heard = Wish(change=Append(text="Her keel is of oak."), evidence=[said.memory_id])
    await change_block(db, owner, Place("boat"), heard)
    await write_block(db, owner, "boat", "Rosinante, the ketch, has two masts.\nHer keel is of oak.")
    receipt = await erase(db, owner, "message", said.memory_id, requested_by="tests")
    assert receipt.verified, receipt
    texts = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND text LIKE '%%keel%%'"
    assert value(admin, texts, [owner.user_id]) == 0
    await run_due(db, steps)  # what is left is filed again
    kept = (await read_block(db, owner, "boat")).text
    assert await blocks(db, owner, settings, "masts") == [kept] == ["Rosinante, the ketch, has two masts."]
    assert unsound(admin, owner) == []
    # A past wording does not take along what the block says now.
    first = "SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND kind = 'former' LIMIT 1"
    past = value(admin, first, [owner.user_id])
    for kind in ("message", "passage"):
        with pytest.raises(InvalidRequestError, match="past wording of the block 'boat'"):
            await erase(db, owner, kind, past, requested_by="tests")
    with pytest.raises(InvalidRequestError, match="past wording"):
        await preview(db, owner, "message", past)
    assert await blocks(db, owner, settings, "masts") == [kept]
    # Whoever erases what recall showed means the block; nothing of it is left, whatever its versions.
    [shown] = [one for one in await remembered(db, owner, "masts", settings) if one.kind == "block"]
    assert "profile_versions" in await preview(db, owner, "message", shown.memory_id)
    whole = await erase(db, owner, "message", shown.memory_id, requested_by="tests")
    assert (whole.kind, whole.verified, whole.counts["sources"]) == ("block", True, 1)
    rows = "SELECT count(*) FROM memsvc.sources WHERE user_id = %s AND kind = 'block'"
    assert value(admin, rows, [owner.user_id]) == 0
    assert unsound(admin, owner) == []


async def test_it_goes_with_its_node_and_by_its_name(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    ida, _ = await two_people(db, owner)
    await write_block(db, owner, "about", "Ida carves herons.", node=ida)
    await write_block(db, owner, "boat", BOAT, kind="archival")
    assert await blocks(db, owner, settings, "herons") == ["Ida carves herons."]
    assert (await erase(db, owner, "node", ida, requested_by="tests")).verified
    assert (await forget_block(db, owner, "boat", requested_by="tests")).verified
    assert await blocks(db, owner, settings, "herons oak") == []
    left = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"
    assert value(admin, left, [owner.user_id]) == 0
    assert unsound(admin, owner) == []


async def test_what_was_archived_before_is_filed_by_a_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, travel: Travel
) -> None:
    """As after an upgrade, or the import of an export of an older version: versions, and no passages."""
    await write_block(db, owner, "boat", "Sold in spring.", kind="archival")
    await write_block(db, owner, "boat", BOAT)
    whole = await travel.out(owner.user_id, "whole")
    settled = (await travel.into("settler", "whole")).user
    assert await travel.out(settled.user_id, "again") == whole
    there = Owner(settled.user_id, "Ada", "UTC", "english")
    assert await blocks(db, there, settings) == [BOAT]
    admin.execute("DELETE FROM memsvc.passages WHERE user_id = %s", [settled.user_id])
    admin.execute("DELETE FROM memsvc.sources WHERE user_id = %s", [settled.user_id])
    for table in ("terms", "corpora", "term_deltas"):
        admin.execute(f"DELETE FROM memsvc.{table} WHERE user_id = %s".encode(), [settled.user_id])
    await travel.out(settled.user_id, "older")
    late = (await travel.into("latecomer", "older")).user
    assert await run_due(db, all_steps(settings, None)) > 0
    there = Owner(late.user_id, "Ada", "UTC", "english")
    assert await blocks(db, there, settings) == [BOAT]
    first = value(admin, "SELECT min(recorded_from) FROM memsvc.profile_versions WHERE user_id = %s", [late.user_id])
    assert await blocks(db, there, settings, "spring", known_at=first) == ["Sold in spring."]
    assert unsound(admin, there) == []


async def test_much_is_filed_in_short_transactions_and_parts_of_the_set_window(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = "\n".join(f"Plank number {number} of the deck is sound." for number in range(40))
    for name in ("deck", "hold"):
        for number in range(3):
            await write_block(
                db, owner, name, f"{deck}\nVersion {number}.", kind="archival", limit_tokens=2_000, passage_tokens=64
            )
    found = "SELECT kind, ordinal, part, text FROM memsvc.passages WHERE user_id = %s ORDER BY source_id, ordinal, part"
    filed = admin.execute(found, [owner.user_id]).fetchall()
    admin.execute("DELETE FROM memsvc.passages WHERE user_id = %s", [owner.user_id])
    for table in ("terms", "corpora", "term_deltas"):
        admin.execute(f"DELETE FROM memsvc.{table} WHERE user_id = %s".encode(), [owner.user_id])
    monkeypatch.setattr(filing, "BATCH", 2)
    monkeypatch.setattr(filing, "SLICE_S", -1.0)
    step = all_steps(settings.model_copy(update={"passage_tokens": 64}), None)["tidy"][0]
    versions = "SELECT count(DISTINCT (source_id, ordinal)) FROM memsvc.passages WHERE user_id = %s"
    told = [(await step(db, owner.user_id, owner.user_id), value(admin, versions, [owner.user_id])) for _ in range(4)]
    assert told == [(True, 2), (True, 3), (True, 5), (False, 6)]
    assert admin.execute(found, [owner.user_id]).fetchall() == filed
    assert unsound(admin, owner) == []
    lengths = "SELECT max(length(text)) FROM memsvc.passages WHERE user_id = %s"
    small = value(admin, lengths, [owner.user_id])
    await write_block(db, owner, "deck", deck, passage_tokens=2_000)  # no longer cut than it has to be
    assert value(admin, lengths, [owner.user_id]) == len(deck) > 2 * small


async def test_a_page_is_as_memory_was_when_the_first_was_asked_for(
    db: Database, owner: Owner, settings: Settings
) -> None:
    said = {name: f"The {name} is of oak." for name in ("keel", "mast", "deck")}
    for name, words in said.items():
        await write_block(db, owner, name, words, kind="archival")
    first = await recall(db, owner, "oak", settings, mode="deliberate", limit=1)
    for name in said:
        await write_block(db, owner, name, "Sold.")
    rest = await recall(db, owner, "oak", settings, mode="deliberate", limit=5, cursor=first.next_cursor)
    assert sorted(one.text for one in (*first.memories, *rest.memories)) == sorted(said.values())


async def test_an_import_cannot_say_what_a_block_does_not(owner: Owner, travel: Travel) -> None:
    await write_block(travel.db, owner, "boat", BOAT, kind="archival")
    await travel.out(owner.user_id, "true")
    said = (travel.path("true") / "passages.jsonl").read_bytes()
    rewrite(travel.path("true"), "passages.jsonl", said.replace(b"two masts", b"ten masts").splitlines())
    with pytest.raises(ImportInvalidError, match="its block or document does not have it"):
        await travel.into("forger", "true")
