"""Recalls wait for their turn at the database, and give it back whatever becomes of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db import admission
from memsvc.db.admission import Admission
from memsvc.db.engine import Database
from memsvc.errors import UserUnknownError
from memsvc.observe import REGISTRY
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered as recall
from tests.jobs.working import until

SOON_S = 10.0


@pytest.fixture
async def heron(db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """Somebody who knows of a heron; one recall at once, and nobody begins before it is his turn."""
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 3 * SOON_S)
    monkeypatch.setattr(db, "recalls", Admission(1))
    await append(db, owner, [MessageIn(conversation="talk", text="The heron is back at the pond.")], settings)
    return owner


def waited() -> float:
    """How many recalls' waiting was measured."""
    return REGISTRY.get_sample_value("memsvc_recall_stage_duration_seconds_count", {"stage": "wait"}) or 0.0


async def test_a_recall_waits_for_its_turn(db: Database, heron: Owner, settings: Settings) -> None:
    before = waited()
    with await db.recalls.turn("somebody"):
        asked = [asyncio.create_task(recall(db, heron, "heron", settings)) for _ in range(3)]
        done, _ = await asyncio.wait(asked, timeout=0.3)
        assert not done
    async with asyncio.timeout(SOON_S):
        found = await asyncio.gather(*asked)
    assert [[memory.text for memory in one] for one in found] == [["The heron is back at the pond."]] * 3
    assert waited() == before + 3


async def test_a_user_with_many_recalls_keeps_nobody_waiting(
    db: Database, heron: Owner, other: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "recalls", Admission(2))
    await append(db, other, [MessageIn(conversation="talk", text="An otter swims by.")], settings)
    with await db.recalls.turn(heron.user_id), await db.recalls.turn(heron.user_id):
        asked = [asyncio.create_task(recall(db, heron, "heron", settings)) for _ in range(20)]
        done, _ = await asyncio.wait(asked, timeout=0.3)
        assert not done
        async with asyncio.timeout(SOON_S):
            found = await recall(db, other, "otter", settings)
        assert [memory.text for memory in found] == ["An otter swims by."]
        assert not any(one.done() for one in asked)
    async with asyncio.timeout(SOON_S):
        assert all(await asyncio.gather(*asked))


async def test_who_fails_or_goes_gives_the_turn_back(
    db: Database, heron: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    with pytest.raises(UserUnknownError):
        await recall(db, replace(heron, user_id=uuid4()), "heron", settings)
    before = waited()
    with admin.transaction():
        admin.execute("LOCK TABLE memsvc.passages IN ACCESS EXCLUSIVE MODE")
        gone = asyncio.create_task(recall(db, heron, "heron", settings))
        await until(lambda: waited() > before)
        gone.cancel()
        await asyncio.wait({gone})
    assert gone.cancelled()
    async with asyncio.timeout(SOON_S):
        assert await recall(db, heron, "heron", settings)
