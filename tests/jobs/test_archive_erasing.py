"""What an erasure takes of blocks in the archive, and what an export says of them: no more and no less."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing import memories as erasing
from memsvc.erasing.memories import Kind, erase, preview
from memsvc.graph import operations as ops
from memsvc.profiles.blocks import Place
from memsvc.profiles.changes import Append
from memsvc.profiles.write import Wish, change_block, write_block
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.conftest import remembered
from tests.sql.exports import Travel
from tests.sql.forgetting import found, knows, learn, say, two_people
from tests.sql.world import value

BOAT = "Rosinante has two masts."


@pytest.fixture(autouse=True)
async def _nothing_else_is_due(db: Database) -> None:
    """Jobs of other tests are done."""
    await run_due(db)


@pytest.fixture
def travel(db: Database, app: UUID, settings: Settings, tmp_path: Path) -> Travel:
    """Exports and imports."""
    return Travel(db, app, settings, tmp_path)


async def filed(db: Database, owner: Owner, settings: Settings, query: str) -> UUID:
    """The passage of a block in the archive that recall finds."""
    [one] = [one for one in await remembered(db, owner, query, settings) if one.kind == "block"]
    return one.memory_id


async def test_what_others_support_keeps_what_was_drawn_from_the_block(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    once, twice = await say(db, owner, settings, "Her keel is of oak.", "Oak, the keel.")
    ida, bea = await two_people(db, owner)
    await write_block(db, owner, "boat", BOAT, kind="archival")
    heard = Wish(change=Append(text="Her keel is of oak."), evidence=[once, twice])
    await change_block(db, owner, Place("boat"), heard)
    shown = await filed(db, owner, settings, "masts")
    await learn(db, owner, knows(ida, bea, "Ida and Bea sail the Rosinante.", shown))
    assert (await erase(db, owner, "message", once, requested_by="tests")).verified
    assert await filed(db, owner, settings, "masts") == shown
    assert found(admin, owner, "edges") == 1
    # The last that says so takes the line along, and what was drawn from the text that had it.
    assert (await erase(db, owner, "message", twice, requested_by="tests")).verified
    assert found(admin, owner, "edges") == 0
    await run_due(db, all_steps(settings, None))
    assert await filed(db, owner, settings, "masts") != shown


async def test_the_receipt_names_blocks_of_which_nothing_is_left(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    ida, bea = await two_people(db, owner)
    about = await write_block(db, owner, "about", "Ida carves herons.", node=ida)
    other = await write_block(db, owner, "about", "Bea carves oars.", node=bea)
    [said] = await say(db, owner, settings, "Her keel is of oak.")
    keel = await write_block(db, owner, "keel", "Of oak.", kind="archival", evidence=[said])
    waiting = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending' AND subject_id = %s"
    named = "SELECT ids FROM memsvc.erasures WHERE erasure_id = %s"
    gone: list[tuple[Kind, UUID, UUID]] = [("node", ida, about.block_id), ("message", said, keel.block_id)]
    for kind, subject, block in gone:
        assert value(admin, waiting, [block]) == 1
        foreseen = await preview(db, owner, kind, subject)
        receipt = await erase(db, owner, kind, subject, requested_by="tests")
        assert receipt.verified, receipt
        assert receipt.counts["sources"] == foreseen["sources"] == 1
        assert block in value(admin, named, [receipt.erasure_id])
        assert value(admin, waiting, [block]) == 0
    assert value(admin, waiting, [other.block_id]) == 1


async def test_an_export_amid_an_erasure_can_be_read(
    travel: Travel, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, settings = travel.db, travel.settings
    ida, bea = await two_people(db, owner)
    for text in (BOAT, "Rosinante was painted.", "Rosinante was sold."):
        boat = await write_block(db, owner, "boat", text, kind="archival")
    shown = await filed(db, owner, settings, "sold")
    await learn(db, owner, knows(ida, bea, "Ida sold the boat to Bea.", shown))
    await write_block(db, owner, "mill", "Sold as well.", kind="archival", evidence=[shown])
    await write_block(db, owner, "mill", "Sold as well, and far.", kind="archival")
    monkeypatch.setattr(erasing, "BATCH", 1)
    begun = await erase(db, owner, "block", boat.block_id, requested_by="tests", whole=False)
    assert begun.state == "pending"
    files = await travel.out(owner.user_id, "half")
    assert not [name for name, body in files.items() if name.endswith(".jsonl") and b"Rosinante" in body]
    assert str(boat.block_id).encode() not in files["sources.jsonl"]
    settled = (await travel.into("half-way", "half")).user
    texts = "SELECT array_agg(text ORDER BY text) FROM memsvc.passages WHERE user_id = %s AND version_id IS NULL"
    assert value(admin, texts, [settled.user_id]) == ["Sold as well, and far.", "Sold as well."]


async def test_progress_ends_where_the_erasure_ends(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await say(db, owner, settings, "Her keel is of oak.", "She has two masts.")
    await write_block(db, owner, "keel", "Of oak.", kind="archival", evidence=[said[0]])
    await write_block(db, owner, "masts", "Two.", kind="archival", evidence=[said[1]])
    monkeypatch.setattr(erasing, "BATCH", 1)
    steps: list[tuple[int, int]] = []
    pond = (await remembered(db, owner, "keel", settings))[0].conversation_id
    assert pond is not None
    await erase(db, owner, "source", pond, requested_by="tests", on_progress=lambda done, of: steps.append((done, of)))
    assert steps == [(2, 4), (4, 4)]


async def test_pages_show_what_was_said_and_name_blocks(travel: Travel, owner: Owner) -> None:
    db, settings = travel.db, travel.settings
    await say(db, owner, settings, "Her keel is of oak.")
    ida, bea = await two_people(db, owner)
    for text in ("Rosinante has one mast.", BOAT):
        await write_block(db, owner, "boat", text, kind="archival")
    shown = await filed(db, owner, settings, "masts")
    await learn(db, owner, ops.Node(type="Person", label="Cy"), knows(ida, bea, "Ida sails with Bea.", shown))
    files = await travel.out(owner.user_id, "out")
    [page] = [name for name in files if name.startswith("markdown/conversations/")]
    assert b"keel" in files[page]
    pages = b"".join(body for name, body in files.items() if name.startswith("markdown/nodes/")).decode()
    assert "  - the block boat, " in pages
    assert f": “{BOAT}”" in pages
