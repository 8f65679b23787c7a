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
from memsvc.settings import Settings

SOON_S, FOREVER_S = 10.0, 30.0
ONE = {"recalls_at_once": 1}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody begins before it is his turn."""
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", FOREVER_S)


async def settled() -> None:
    """Let all tasks go on as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.usefixtures("patient")
async def test_so_many_at_once_and_first_come_first_served() -> None:
    turns, begun, goes_on = Admission(3), list[int](), [asyncio.Event() for _ in range(8)]

    async def work(number: int) -> None:
        with await turns.turn():
            begun.append(number)
            await goes_on[number].wait()

    tasks = [asyncio.create_task(work(number)) for number in range(8)]
    await settled()
    assert begun == [0, 1, 2]
    for ends, expected in ((1, 4), (0, 5), (3, 6), (2, 7), (4, 8)):
        goes_on[ends].set()
        await settled()
        assert begun == list(range(expected))
    for event in goes_on:
        event.set()
    await asyncio.gather(*tasks)


async def test_who_has_waited_long_begins_without_a_turn_and_gives_none_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.01)
    turns = Admission(1)
    with await turns.turn():
        for _ in range(3):
            with await asyncio.wait_for(turns.turn(), FOREVER_S):
                pass
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", FOREVER_S)
    held = await turns.turn()
    waits = asyncio.create_task(turns.turn())
    await settled()
    assert not waits.done()  # one at once it still is
    with held:
        pass
    with await waits:
        pass


@pytest.mark.usefixtures("patient")
async def test_who_gives_up_waiting_or_fails_takes_no_turn_along() -> None:
    turns = Admission(1)

    async def fails() -> None:
        with await turns.turn():
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        await fails()
    held = await turns.turn()
    waits: list[asyncio.Task[AbstractContextManager[object]]] = [
        asyncio.create_task(turns.turn()) for _ in range(3)
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
    waits = [asyncio.create_task(turns.turn()) for _ in range(expected + 1)]
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
    with await db.recalls.turn():
        waits = asyncio.create_task(db.recalls.turn())
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
    held.enter_context(await turns.turn())
    waits = asyncio.create_task(turns.turn())
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
    with await asyncio.wait_for(turns.turn(), SOON_S):  # one turn is there
        another = asyncio.create_task(turns.turn())
        await settled()
        assert not another.done()  # and no other
    with await another:
        pass
