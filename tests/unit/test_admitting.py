"""How long, and how many, callers of chats are remembered."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from memsvc.access.keys import UNLIMITED, Limits, Principal
from memsvc.access.users import Owner
from memsvc.chat import admitting
from memsvc.chat.admitting import LIFE_S, Admitting
from memsvc.chat.afterwards import Afterwards
from memsvc.db.engine import Database
from memsvc.errors import (
    DatabaseUnavailableError,
    MemsvcError,
    OverloadedError,
    StorageFullError,
    UnauthenticatedError,
)
from memsvc.settings import Settings


class Door:
    """Asks for callers, with a clock and a database of ours."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.error = 0.0, None  # type: tuple[float, MemsvcError | None]
        self.settings = Settings(chat_memory_ms=50, pool_timeout_s=0.2)
        self.limits, self.may_answer, self.asked = UNLIMITED, asyncio.Event(), 0
        self.may_answer.set()
        self.admitting, self.afterwards = Admitting(lambda: self.now), Afterwards()
        monkeypatch.setattr("memsvc.access.keys.authenticate", self.authenticate)

    async def authenticate(self, _db: object, credential: str, user_ref: str | None, *, enrol: object) -> Principal:
        self.asked += 1
        error = self.error
        await self.may_answer.wait()
        if error is not None:
            raise error
        owner = Owner(uuid4(), credential, "UTC", "english") if user_ref != "nobody" else None
        return Principal(
            uuid4(), frozenset({"read"}), owner, None, user_ref, credential.split(".", maxsplit=1)[0], self.limits
        )

    async def admits(self, credential: str, user_ref: str | None = None) -> bool:
        database: Database = None  # type: ignore[assignment]
        try:
            await self.admitting.admit(database, self.settings, self.afterwards, credential, user_ref)
        except MemsvcError:
            return False
        return True


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    return Door(monkeypatch)


@pytest.mark.parametrize("error", [DatabaseUnavailableError(), OverloadedError(), StorageFullError()])
async def test_a_caller_counts_for_minutes_after_the_database_named_it(door: Door, error: MemsvcError) -> None:
    await door.admits("mk_a.b")
    door.error, door.now = error, LIFE_S - 1
    assert await door.admits("mk_a.b")
    assert not await door.admits("mk_a.c")
    door.now = LIFE_S  # that it was let in since then does not make it longer
    assert not await door.admits("mk_a.b")


async def test_other_errors_are_answers(door: Door) -> None:
    await door.admits("mk_a.b")
    door.error = MemsvcError()
    assert not await door.admits("mk_a.b")


async def test_so_many_are_kept_and_no_key_or_nobody(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admitting, "MOST", 3)
    for credential in ("mk_1.x", "mk_2.x", "mk_3.x", "mk_1.x", "mk_4.x"):
        await door.admits(credential)
    await door.admits("mk_5.x", "nobody")
    assert not any("mk_" in str(name) for name in door.admitting._known)
    door.error = DatabaseUnavailableError()
    assert [await door.admits(f"mk_{number}.x") for number in range(1, 5)] == [True, False, True, True]
    assert not await door.admits("mk_5.x", "nobody")


async def test_callers_in_doubt_are_counted_by_key(door: Door) -> None:
    door.limits = Limits(requests_per_minute=2)
    for credential in ("mk_a.b", "mk_a.token", "mk_c.d"):
        await door.admits(credential)
    door.error = DatabaseUnavailableError()
    asked = ("mk_a.b", "mk_a.token", "mk_a.b", "mk_a.token", "mk_c.d")
    assert [await door.admits(one) for one in asked] == [True, True, False, False, True]
    door.now = 60.0
    assert await door.admits("mk_a.b")


async def test_a_look_up_that_a_refusal_overtook_makes_nobody_known(door: Door) -> None:
    door.may_answer.clear()
    early = asyncio.create_task(door.admits("mk_a.b"))
    await asyncio.sleep(0.01)
    door.error = UnauthenticatedError()
    late = asyncio.create_task(door.admits("mk_a.b"))
    await asyncio.sleep(0.01)
    door.admitting.forget("mk_a.b")
    door.may_answer.set()
    assert [await early, await late] == [True, False]
    door.error = DatabaseUnavailableError()
    assert not await door.admits("mk_a.b")


async def test_look_ups_that_hang_are_not_piled_up(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admitting, "MOST_LATE", 3)
    await door.admits("mk_a.b")
    door.may_answer.clear()
    assert [await door.admits(one) for one in ("mk_a.b", "mk_a.b", "mk_a.b", "mk_a.b", "mk_c.d")] == [True] * 4 + [
        False
    ]
    assert door.asked == 1 + 3
    door.may_answer.set()
    await door.afterwards.settle()
    assert await door.admits("mk_c.d")


async def test_many_at_once_all_wait_for_the_database(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admitting, "MOST_LATE", 3)
    door.settings = Settings(chat_memory_ms=10_000, pool_timeout_s=10)
    await door.admits("mk_a.b")
    door.may_answer.clear()
    chats = [asyncio.create_task(door.admits(one)) for one in ("mk_a.b", "mk_c.d") for _ in range(10)]
    await asyncio.sleep(0.05)
    door.may_answer.set()
    assert all(await asyncio.gather(*chats))
    assert door.asked == 1 + 20
