"""Whose turn it is to recall."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from sqlalchemy import make_url

from memsvc.db import admission
from memsvc.db.admission import LEAST, Admission
from memsvc.db.engine import Database
from memsvc.errors import OverloadedError
from memsvc.settings import Settings

SOON_S, FOREVER_S = 10.0, 30.0
ADA, BOB, CLEO = "Ada", "Bob", "Cleo"
ONE = {"recalls_at_once": 1}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody begins before it is his turn."""
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", FOREVER_S)


async def settled() -> None:
    """Let all tasks go on as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Work:
    """Work of users that goes on until it is told to end; what began, in order, as (user, number of the user's)."""

    def __init__(self, turns: Admission) -> None:
        self.begun: list[tuple[str, int]] = []
        self._turns = turns
        self._ends: dict[tuple[str, int], asyncio.Event] = {}
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def ask(self, user: str, count: int = 1) -> None:
        """So many more of a user."""
        for _ in range(count):
            name = (user, sum(one == user for one, _ in self._tasks))
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._do(name))
            await settled()

    async def _do(self, name: tuple[str, int]) -> None:
        with await self._turns.turn(name[0]):
            self.begun.append(name)
            await self._ends[name].wait()

    async def end(self, user: str, number: int) -> None:
        """This one is done."""
        self._ends[user, number].set()
        await settled()

    async def give_up(self, user: str, number: int) -> None:
        """Nobody wants this one any more."""
        self._tasks[user, number].cancel()
        await settled()

    async def finish(self) -> None:
        """End all."""
        for event in self._ends.values():
            event.set()
        await asyncio.wait_for(asyncio.gather(*self._tasks.values(), return_exceptions=True), SOON_S)
        assert {name for name, task in self._tasks.items() if not task.cancelled()} <= set(self.begun)

    def order(self) -> str:
        """Initials of the users in the order in which their work began."""
        return "".join(user[0] for user, _ in self.begun)


@pytest.mark.usefixtures("patient")
async def test_so_many_of_a_user_at_once_and_first_come_first_served() -> None:
    work = Work(Admission(3))
    await work.ask(ADA, 8)
    assert work.begun == [(ADA, number) for number in range(3)]
    for ends, begun in ((1, 4), (0, 5), (3, 6), (2, 7), (4, 8)):
        await work.end(ADA, ends)
        assert work.begun == [(ADA, number) for number in range(begun)]
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_a_user_who_has_none_does_not_wait_for_one_who_has_several() -> None:
    work = Work(Admission(2))
    await work.ask(ADA, 5)
    await work.ask(BOB, 3)
    assert work.order() == "AAB"  # the place that Ada has too many
    await work.ask(CLEO)
    assert work.order() == "AAB"  # two users have one each, and there are two places
    await work.end(ADA, 0)
    assert work.order() == "AAB"  # two are under way still
    await work.end(ADA, 1)
    assert work.order() == "AABC"  # Ada has none either and has waited longer, but Cleo had no turn yet
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_free_places_go_round_the_users_that_wait() -> None:
    work = Work(Admission(1))
    await work.ask(ADA, 4)
    await work.ask(BOB, 3)
    await work.ask(CLEO, 2)
    for number in range(2):
        for user in (ADA, BOB, CLEO):
            await work.end(user, number)
    await work.end(ADA, 2)
    await work.end(BOB, 2)
    assert work.order() == "ABCABCABA"
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_who_has_fewer_under_way_comes_first() -> None:
    work = Work(Admission(4))
    await work.ask(ADA, 7)
    await work.ask(BOB, 3)
    await work.ask(CLEO, 2)
    assert work.order() == "AAAABC"
    for number in range(2):
        await work.end(ADA, number)
    assert work.order() == "AAAABC"  # four are under way: two of Ada's, one of Bob's and of Cleo's
    await work.end(ADA, 2)
    assert work.order() == "AAAABCB"  # one each: Bob's last turn is the longest ago
    await work.end(ADA, 3)
    assert work.order() == "AAAABCBA"  # Ada has none
    await work.end(BOB, 0)
    assert work.order() == "AAAABCBAC"  # one each: Cleo's last turn is the longest ago
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_a_place_stays_free_for_who_has_just_recalled() -> None:
    now = [100.0]
    work = Work(Admission(2, clock=lambda: now[0]))
    await work.ask(ADA, 8)
    await work.ask(BOB)
    await work.end(BOB, 0)
    await work.end(ADA, 0)
    assert work.order() == "AAB"
    await work.end(ADA, 1)
    assert work.order() == "AABA"  # one of two
    await work.ask(BOB)
    assert work.order() == "AABAB"
    await work.end(BOB, 1)
    now[0] += admission.EXPECTED_S / 2
    await work.end(ADA, 2)
    assert work.order() == "AABABA"
    now[0] += admission.EXPECTED_S
    await work.end(ADA, 3)
    assert work.order() == "AABABAAA"  # Bob has not asked again: both
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_one_at_once_is_one_at_once_whoever_is_expected() -> None:
    work = Work(Admission(1))
    await work.ask(BOB)
    await work.end(BOB, 0)
    await work.ask(ADA, 2)
    await work.end(ADA, 0)
    assert work.order() == "BAA"
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_whoever_gives_up_leaves_the_turn_to_the_next() -> None:
    work = Work(Admission(1))
    await work.ask(ADA, 3)
    await work.ask(BOB, 2)
    await work.give_up(ADA, 1)
    await work.give_up(BOB, 0)
    await work.end(ADA, 0)
    assert work.begun == [(ADA, 0), (BOB, 1)]
    await work.give_up(BOB, 1)  # while it is under way
    assert work.begun == [(ADA, 0), (BOB, 1), (ADA, 2)]
    await work.finish()


async def test_a_user_who_has_nothing_under_way_begins_soon_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.05)
    work = Work(Admission(1))
    await work.ask(ADA, 3)
    await work.ask(BOB, 2)
    assert work.order() == "A"
    await asyncio.sleep(0.2)
    assert work.order() == "AB"  # one each, whatever Ada's first waits for
    await work.end(BOB, 0)
    assert work.order() == "AB"
    await asyncio.sleep(0.2)
    assert work.order() == "ABB"
    await work.end(BOB, 1)
    await work.end(ADA, 0)
    assert work.order() == "ABBA"
    await work.finish()


async def test_whoever_waits_too_long_for_others_of_the_same_user_is_refused() -> None:
    turns = Admission(1, patience_s=0.05)
    with await turns.turn(ADA), pytest.raises(OverloadedError):
        await turns.turn(ADA)
    with await asyncio.wait_for(turns.turn(ADA), SOON_S):
        pass


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("connections", "expected"), [(8, 7), (2, 1), (1, 1), (100, 16)])
async def test_a_user_leaves_a_connection_of_the_pool_to_others(connections: int, expected: int) -> None:
    work = Work(Admission(16, connections=connections))
    await work.ask(ADA, 20)
    assert len(work.begun) == expected
    await work.finish()


@pytest.mark.usefixtures("patient")
async def test_who_gives_up_waiting_or_fails_takes_no_turn_along() -> None:
    turns = Admission(1)

    async def fails() -> None:
        with await turns.turn(ADA):
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        await fails()
    held = await turns.turn(ADA)
    waits: list[asyncio.Task[AbstractContextManager[object]]] = [
        asyncio.create_task(turns.turn(ADA)) for _ in range(3)
    ]  # fmt: skip
    await settled()
    waits[0].cancel()
    with held:  # its end and the second one's giving up meet
        pass
    waits[1].cancel()
    with await asyncio.wait_for(waits[2], FOREVER_S):
        pass
    assert [one.cancelled() for one in waits] == [True, True, False]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("processors", "expected"), [(1, LEAST), (2, 2), (5, 5)])
async def test_there_are_as_many_turns_as_processors(
    monkeypatch: pytest.MonkeyPatch, processors: int, expected: int
) -> None:
    monkeypatch.setattr(admission, "processors", lambda: processors)
    turns = Admission()
    waits = [asyncio.create_task(turns.turn(ADA)) for _ in range(expected + 1)]
    await settled()
    assert [one.done() for one in waits] == [True] * expected + [False]
    with waits[0].result():
        pass
    with await waits[-1]:
        pass


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000\n", 64), ("200000 100000\n", 2), ("150000 100000\n", 2), ("10000 100000\n", 1),
        ("9000000 100000\n", 64), ("", 64), ("what else\n", 64), (None, 64),
    ],
)  # fmt: skip
def test_a_containers_quota_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: range(64), raising=False)
    monkeypatch.setattr(admission, "QUOTA", tmp_path / "cpu.max")
    if quota is not None:
        (tmp_path / "cpu.max").write_text(quota, encoding="ascii")
    assert admission.processors() == expected


async def test_the_setting_says_how_many(settings: Settings) -> None:
    db = Database(make_url("postgresql+psycopg://nobody@127.0.0.1:1/none"), settings.model_copy(update=ONE))
    with await db.recalls.turn(ADA):
        waits = asyncio.create_task(db.recalls.turn(ADA))
        await settled()
        assert not waits.done()
    with await waits:
        pass


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_turn_that_comes_with_the_end_of_waiting_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, *, cancelled: bool
) -> None:
    """The turn is given, and then time is up, before who waits runs again; he may be told to stop then, too."""
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.02)
    turns, held = Admission(1), ExitStack()
    held.enter_context(await turns.turn(ADA))
    waits = asyncio.create_task(turns.turn(ADA))
    await settled()
    asyncio.get_running_loop().call_later(0.005, held.close)
    if cancelled:
        asyncio.get_running_loop().call_later(0.006, waits.cancel)
    time.sleep(0.05)  # noqa: ASYNC251 - all timers are due in one turn of the loop
    await asyncio.wait({waits})
    assert waits.cancelled() is cancelled
    if not cancelled:
        with waits.result():
            pass
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", FOREVER_S)
    with await asyncio.wait_for(turns.turn(ADA), SOON_S):  # one turn is there
        another = asyncio.create_task(turns.turn(ADA))
        await settled()
        assert not another.done()  # and no other
    with await another:
        pass
