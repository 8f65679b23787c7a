"""Turns for all kinds of work: what is urgent comes first, what is hopeless is refused, jobs stand back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager
from typing import Any

import pytest

from memsvc.db import admission
from memsvc.db.admission import Admission, Work, work_is
from memsvc.errors import OverloadedError

ADA, BOB, CLEO = "Ada", "Bob", "Cleo"
Turn = Coroutine[Any, Any, AbstractContextManager[object]]
FOREVER_S = 30.0


async def settled() -> None:
    """Let all tasks go on as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Desk:
    """Work of users and kinds that goes on until it is told to end."""

    def __init__(self, turns: Admission) -> None:
        self.begun: list[str] = []
        self._turns = turns
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, user: str, work: Work | None) -> None:
        """Ask for a turn: as a recall does, or as a transaction of other work does."""
        self._ends[name] = asyncio.Event()
        turn = self._turns.turn(user) if work is Work.ASK else self._turns.share(user)
        self.tasks[name] = asyncio.create_task(self._do(name, turn, work))
        await settled()

    async def around(self, name: str, user: str) -> None:
        """Ask for a transaction around a recall."""
        self._ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._do(name, self._turns.share(user), Work.ASK))
        await settled()

    async def _do(
        self, name: str, turn: Coroutine[Any, Any, AbstractContextManager[object]], work: Work | None
    ) -> None:
        work_is(work)
        with await turn:
            self.begun.append(name)
            await self._ends[name].wait()

    async def end(self, name: str) -> None:
        """This one is done."""
        self._ends[name].set()
        await settled()

    async def finish(self) -> None:
        """End all."""
        for event in self._ends.values():
            event.set()
        await asyncio.wait_for(asyncio.gather(*self.tasks.values(), return_exceptions=True), 10)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody begins before it is his turn; what is due is so by its kind alone."""
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", FOREVER_S)


@pytest.mark.usefixtures("patient")
async def test_of_a_users_own_work_the_urgent_comes_first() -> None:
    desk = Desk(Admission(1))
    await desk.ask("running", ADA, Work.STORE)
    await desk.ask("store", ADA, Work.STORE)
    await desk.ask("look", ADA, Work.LOOK)
    await desk.ask("ask", ADA, Work.ASK)
    for name in ("running", "ask", "look"):
        await desk.end(name)
    assert desk.begun == ["running", "ask", "look", "store"]
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_urgent_work_does_not_overtake_for_ever() -> None:
    now = [0.0]
    desk = Desk(Admission(1, clock=lambda: now[0]))
    await desk.ask("running", ADA, Work.ASK)
    await desk.ask("store", ADA, Work.STORE)
    now[0] += FOREVER_S * (admission.WAITS[Work.STORE] - admission.WAITS[Work.ASK]) + 1
    await desk.ask("ask", ADA, Work.ASK)
    await desk.end("running")
    assert desk.begun == ["running", "store"]  # it is due before the later recall
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_a_user_who_has_nothing_does_not_wait_for_more_urgent_work_of_who_has_some() -> None:
    desk = Desk(Admission(1))
    await desk.ask("running", ADA, Work.ASK)
    await desk.ask("more", ADA, Work.ASK)
    await desk.ask("list", BOB, Work.LOOK)
    await desk.ask("batch", CLEO, Work.STORE)
    await desk.end("running")  # nobody has any now: the urgent is first
    assert desk.begun == ["running", "more"]
    await desk.end("more")
    await desk.end("list")
    assert desk.begun == ["running", "more", "list", "batch"]
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_what_is_around_a_recall_waits_only_for_its_own_user_and_only_beside_others() -> None:
    now = [0.0]
    desk = Desk(Admission(2, clock=lambda: now[0]))
    for number in range(5):
        await desk.around(f"alone {number}", ADA)
    assert len(desk.begun) == 5
    for number in range(5):
        await desk.end(f"alone {number}")
    await desk.ask("bob's", BOB, Work.LOOK)
    await desk.end("bob's")  # he is expected again
    for number in range(3):
        await desk.around(f"beside {number}", ADA)
    assert desk.begun[-1] == "beside 0"
    await desk.around("cleo's", CLEO)  # who has nothing under way waits for nobody
    assert desk.begun[-1] == "cleo's"
    await desk.end("beside 0")
    assert desk.begun[-1] == "beside 1"
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_what_has_a_turn_or_takes_none_waits_for_none() -> None:
    turns = Admission(1)

    async def inner() -> None:
        work_is(Work.LOOK)
        with await turns.turn(ADA), await asyncio.wait_for(turns.share(ADA), 1):  # a recall's own transaction
            pass

    await asyncio.create_task(inner())
    with await turns.turn(ADA):
        desk = Desk(turns)
        await desk.ask("none", BOB, None)
        assert desk.begun == ["none"]
        await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_what_would_wait_too_long_is_refused_at_once_and_storing_first() -> None:
    """Twelve wait, each of a second: eleven ahead are too many for storing (10 s), not for a recall (40 s)."""
    now = [0.0]
    turns = Admission(1, patience_s=40, clock=lambda: now[0])
    desk = Desk(turns)
    await desk.ask("first", ADA, Work.STORE)
    turns._mean_s = dict.fromkeys(Work, 1.0)
    for number in range(20):
        await desk.ask(f"store {number}", ADA, Work.STORE)
    refused = [name for name, task in desk.tasks.items() if task.done()]
    assert refused == [f"store {number}" for number in range(11, 20)]
    with pytest.raises(OverloadedError) as error:
        desk.tasks["store 11"].result()
    assert 10 < error.value.details["retry_after"] <= 12
    await desk.ask("recall", ADA, Work.ASK)
    await desk.ask("other's", BOB, Work.STORE)  # takes turns with Ada, and does not wait for all of hers
    assert not desk.tasks["recall"].done()
    assert not desk.tasks["other's"].done()
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_who_waits_longer_than_its_patience_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(admission.PATIENCE, Work.STORE, 0.001)
    desk = Desk(Admission(1))
    await desk.ask("running", ADA, Work.STORE)
    desk._turns._mean_s = dict.fromkeys(Work, 0.0)
    await desk.ask("store", ADA, Work.STORE)
    await desk.ask("recall", ADA, Work.ASK)
    await asyncio.sleep(0.1)
    with pytest.raises(OverloadedError):
        desk.tasks["store"].result()
    await desk.end("running")
    assert desk.begun == ["running", "recall"]
    await desk.finish()


@pytest.mark.usefixtures("patient")
async def test_jobs_run_freely_while_nobody_asks_and_leave_a_place_while_somebody_does() -> None:
    now = [0.0]
    desk = Desk(Admission(3, clock=lambda: now[0]))
    for number in range(5):
        await desk.ask(f"job {number}", ADA, Work.LATE)
    assert len(desk.begun) == 5
    await desk.ask("recall", ADA, Work.ASK)
    for number in range(3):
        await desk.ask(f"late {number}", BOB, Work.LATE)
    assert desk.begun[5:] == ["recall", "late 0"]  # one of two places that jobs and requests may have together
    await desk.ask("another recall", ADA, Work.ASK)
    assert desk.begun[-1] == "another recall"  # a job is in nobody's way
    await desk.end("late 0")
    assert "late 1" not in desk.begun
    await desk.end("recall")
    await desk.end("another recall")
    assert {"late 1", "late 2"} <= set(desk.begun)
    await desk.finish()


async def test_jobs_begin_some_day_whatever_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.01)
    desk = Desk(Admission(1))
    await desk.ask("recall", ADA, Work.ASK)
    await desk.ask("job", BOB, Work.LATE)
    assert desk.begun == ["recall"]
    await asyncio.sleep(0.5)
    assert desk.begun == ["recall", "job"]
    await desk.finish()


async def test_the_longest_wait_does_not_fill_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.01)
    desk = Desk(Admission(1, connections=4))
    for number in range(8):
        await desk.ask(f"recall {number}", f"user {number}", Work.ASK)
    await asyncio.sleep(0.2)
    assert len(desk.begun) == 3
    await desk.end("recall 0")
    await asyncio.sleep(0.1)
    assert len(desk.begun) == 4
    await desk.finish()


async def test_the_kind_belongs_to_the_task() -> None:
    async def says() -> None:
        work_is(Work.STORE)

    await asyncio.create_task(says())
    assert admission._work.get() is None
