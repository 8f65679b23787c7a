"""What an erasure takes of blocks in the archive, and what an export says of them: no more and no less."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from memsvc.access import erase as erasing
from memsvc.access.erase import erase
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import operations as ops
from memsvc.profiles.write import write_block
from memsvc.queue.run import run_due
from memsvc.settings import Settings
from tests.conftest import remembered
from tests.sql.exports import Travel
from tests.sql.forgetting import knows, learn, say, two_people
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
    texts = "SELECT array_agg(text ORDER BY text) FROM memsvc.passages WHERE user_id = %s"
    assert value(admin, texts, [settled.user_id]) == ["Sold as well, and far.", "Sold as well."]


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
