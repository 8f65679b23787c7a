"""Whose turn it is to recall."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager

import pytest

from memsvc.db import admission
from memsvc.db.admission import LEAST, Admission

FOREVER_S = 30.0


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


def test_a_machine_has_processors() -> None:
    assert admission.processors() >= 1
