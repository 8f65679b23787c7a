"""Blocks in the archive are found like all else, as long as they stand there: by words, by vector, and after it all."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.erase import erase, preview
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import ImportInvalidError, InvalidRequestError
from memsvc.profiles import filing
from memsvc.profiles.blocks import Place
from memsvc.profiles.changes import Append
from memsvc.profiles.read import read_block
from memsvc.profiles.write import Wish, change_block, forget_block, move, write_block
from memsvc.queue.run import Steps, run_due
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.settings import Settings
from tests.conftest import remembered
from tests.fakes.embedders import Alone, TokenWords, resident
from tests.jobs.working import say, vectors_of
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
    [step] = all_steps(settings.model_copy(update={"passage_tokens": 64}), None)["embed"]
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
    for name, text in said.items():
        await write_block(db, owner, name, text, kind="archival")
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
    with pytest.raises(ImportInvalidError, match="its block does not say this"):
        await travel.into("forger", "true")
