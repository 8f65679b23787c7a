"""Limits how much work runs in the database at the same time, and lets users take turns.

The limit is the number of processors. Eight concurrent recalls on two processors each take four times as long, and some
take far longer because the kernel does not schedule them evenly. In turn, most are answered sooner and none is starved
(docs/adr/0037). A user with forty requests must not keep others waiting (docs/adr/0038, docs/adr/0070):

- A free slot goes to the waiting user with the fewest running turns. Of several such users, the most urgent work comes
  first; of equally urgent work, that of the user whose last turn is longest ago.
- A user with no running turn does not wait for a user with several: one more slot is then opened.
- One slot stays free while other users have worked within the last second, so that their next recall does not share
  a processor.
- Work that would wait for longer than its patience is refused at once, with the time after which to ask again.

A recall takes its turn itself. Other requests of a user take one for each transaction (``share``), so no turn is held
while a client sends a body or reads an answer.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from contextvars import ContextVar
from enum import IntEnum
from pathlib import Path

from memsvc.errors import OverloadedError
from memsvc.observe import SHED

LONGEST_WAIT_S = 0.25
"""The longest that a waiting user has nothing running; then their next recall begins in any case."""
PATIENCE_S = 30.0
"""The default time that a recall waits for other recalls of its user before it is refused."""
EXPECTED_S = 1.0
"""For this long after a turn, its user is expected to ask again."""
LEAST = 2
"""The smallest limit, so that a processor has work while one recall waits for a disk."""
FIRST_MEAN_S = 0.05
"""How long a turn takes, as long as none has been measured."""
WEIGHT = 0.1
"""Of the latest turn in the mean duration."""
LONGEST_RETRY_S = 60
"""The longest time after which a refused client is told to ask again."""


class Work(IntEnum):
    """Kinds of work, the most urgent first."""

    ASK = 0
    """Recalls, contexts, chats."""
    LOOK = 1
    """Other requests that read or change little: lists, the graph, facts."""
    STORE = 2
    """Messages, documents, imports."""
    LATE = 3
    """Jobs. They wait only while somebody asks, and are never refused."""


PATIENCE = {Work.ASK: 1.0, Work.LOOK: 0.5, Work.STORE: 0.25}
"""How long each kind waits before it is refused, as a part of the patience for recalls."""
WAITS = {Work.ASK: 1, Work.LOOK: 2, Work.STORE: 4, Work.LATE: 20}
"""How long a user with nothing running waits at most, as a multiple of ``LONGEST_WAIT_S``."""

_work: ContextVar[Work | None] = ContextVar("memsvc.work", default=None)
_held: ContextVar[bool] = ContextVar("memsvc.turn", default=False)


def work_is(work: Work | None) -> None:
    """Say what the rest of this task does; None: its transactions take no turns."""
    _work.set(work)


QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""This container's quota in Linux's cgroups (version 2): "max", or microseconds of processor time, and its period."""


def processors() -> int:
    """How many processors this process may use, at least 1; a container's quota is rounded up."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        spent, clock = map(int, QUOTA.read_text(encoding="ascii").split())
        usable = min(usable, max(1, math.ceil(spent / clock)))
    return usable


class _Lines:
    """What one user waits for: a line for each kind of work."""

    def __init__(self) -> None:
        self.timer: asyncio.TimerHandle | None = None
        """Runs while the user waits and has nothing running."""
        self._lines: dict[Work, deque[tuple[float, asyncio.Future[None]]]] = {}
        """Slots, each with the time at which it is due."""

    def add(self, work: Work, slot: asyncio.Future[None], due: float) -> None:
        self._lines.setdefault(work, deque()).append((due, slot))

    def remove(self, work: Work, slot: asyncio.Future[None]) -> None:
        left = deque(one for one in self._lines[work] if one[1] is not slot)
        if left:
            self._lines[work] = left
        else:
            del self._lines[work]

    def first(self) -> Work:
        """The work that is due first. So urgent work overtakes other work of its user, but not for ever."""
        return min(self._lines, key=lambda work: self._lines[work][0][0])

    def pop(self) -> asyncio.Future[None]:
        """Take the slot that is due first."""
        work = self.first()
        _, slot = self._lines[work].popleft()
        if not self._lines[work]:
            del self._lines[work]
        return slot

    def waiting(self, work: Work) -> Iterator[tuple[Work, int]]:
        """How much waits of this work and of more urgent work."""
        return ((one, len(line)) for one, line in self._lines.items() if one <= work)

    def __bool__(self) -> bool:
        return bool(self._lines)


class Admission:
    """Limits the concurrent work of one event loop, and lets users take turns."""

    def __init__(
        self,
        at_once: int = 0,
        *,
        connections: int | None = None,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing running.

        Args:
            at_once: the limit; 0: the number of processors, at least two.
            connections: the size of the connection pool that the work uses. One connection stays unused, so that one
                user's recalls do not wait in the pool's queue, which is first come, first served.
            patience_s: the longest that recalls wait for other work of the same user, in seconds; other work waits
                for a part of it.
            clock: returns the time in seconds.
        """
        wanted = at_once or max(LEAST, processors())
        self._at_once = wanted if connections is None else max(1, min(wanted, connections - 1))
        self._most = math.inf if connections is None else max(1, connections - 1)
        """Turns at the same time, whatever anybody waits for: more would wait in the pool's queue."""
        self._patience_s = patience_s
        self._clock = clock
        self._under_way: Counter[Hashable] = Counter()
        self._late = 0
        """Jobs that have a turn."""
        self._waiting: dict[Hashable, _Lines] = {}
        self._seen: dict[Hashable, float] = {}
        """When each user's last turn began or ended, the latest last; deleted after ``EXPECTED_S``."""
        self._mean_s = dict.fromkeys(Work, FIRST_MEAN_S)
        """How long a turn of each kind takes."""

    async def turn(self, user: Hashable, work: Work = Work.ASK) -> AbstractContextManager[object]:
        """Wait for a turn.

        Args:
            user: whose work it is. A user with nothing running waits a quarter of a second at most for a recall.
            work: its kind.

        Returns:
            A context manager that ends the turn when its block ends.

        Raises:
            OverloadedError: other work took too long, or would; ``details["retry_after"]`` is in seconds.
        """
        if work is Work.LATE:
            user = (Work.LATE, user)
        if self._may_begin(user, work):
            self._begin(user, work)
        else:
            self._refuse_if_hopeless(user, work)
            await self._wait(user, work)
        return self._turn(user, work)

    def _turn(self, user: Hashable, work: Work) -> ExitStack:
        """A turn that has begun."""
        _held.set(True)
        turn = ExitStack()
        turn.callback(self._finish, user, work, self._clock())
        return turn

    async def share(self, user: Hashable) -> AbstractContextManager[object]:
        """Wait for a turn for a transaction of this user, if the task's work takes turns and has none yet.

        Raises:
            OverloadedError: as ``turn``.
        """
        work = _work.get()
        if work is None or user is None or _held.get():
            return nullcontext()
        if work is Work.LATE and not self._somebody_asks():
            return nullcontext()
        if work is Work.ASK:
            # What is around a recall waits for nobody else: it is short, and ends what was begun. Only a user with much
            # under way waits, for their own work, while others come.
            if not self._others_are_expected(user):
                return nullcontext()
            if self._under_way[user] < max(1, self._at_once - 1):
                self._begin(user, work)
                return self._turn(user, work)
        return await self.turn(user, work)

    def _somebody_asks(self) -> bool:
        """Whether a request works now, or did within the last second."""
        now = self._clock()
        return bool(self._under_way) or any(now - seen <= EXPECTED_S for seen in self._seen.values())

    def _may_begin(self, user: Hashable, work: Work) -> bool:
        total = self._under_way.total()
        if work is Work.LATE:
            waits = any(lines.first() < Work.LATE for lines in self._waiting.values())
            return not waits and total + self._late < max(1, self._at_once - 1)
        if not self._under_way[user]:
            return total < self._at_once or len(self._under_way) < self._at_once  # somebody has several
        return total < max(1, self._at_once - self._others_are_expected(user))

    def _others_are_expected(self, user: Hashable) -> bool:
        return any(one != user and not self._under_way[one] for one in self._seen)

    def _note(self, user: Hashable) -> None:
        """Record that a turn of this user began or ended."""
        now = self._clock()
        self._seen.pop(user, None)
        self._seen[user] = now
        while now - self._seen[oldest := next(iter(self._seen))] > EXPECTED_S:
            del self._seen[oldest]

    def _begin(self, user: Hashable, work: Work) -> None:
        if work is Work.LATE:
            self._late += 1
            return
        self._note(user)
        self._under_way[user] += 1

    def _finish(self, user: Hashable, work: Work, began: float) -> None:
        """End a turn that was used."""
        _held.set(False)
        self._mean_s[work] += WEIGHT * (self._clock() - began - self._mean_s[work])
        self._end(user, work)

    def _end(self, user: Hashable, work: Work) -> None:
        if work is Work.LATE:
            self._late -= 1
        else:
            self._note(user)
            self._under_way[user] -= 1
            if not self._under_way[user]:
                del self._under_way[user]
        while self._waiting:  # if the first of them may not begin, no other may
            following = min(self._waiting, key=self._order)
            if not self._may_begin(following, self._waiting[following].first()):
                break
            self._let_begin(following)
        self._watch(user)

    def _order(self, user: Hashable) -> tuple[bool, int, Work, float]:
        """Sorts waiting users: jobs last, then by what they have running, by urgency, and by their last turn."""
        first = self._waiting[user].first()
        return first is Work.LATE, self._under_way[user], first, self._seen.get(user, 0.0)

    def _let_begin(self, user: Hashable) -> None:
        """Let the first in a user's most urgent line begin."""
        lines = self._waiting[user]
        work = lines.first()
        lines.pop().set_result(None)
        self._stop_timer(lines)
        if not lines:
            del self._waiting[user]
        self._begin(user, work)

    def _overdue(self, user: Hashable) -> None:
        """Let a user begin who has waited for long enough, whatever others do."""
        self._waiting[user].timer = None
        if self._under_way.total() + self._late < self._most:
            self._let_begin(user)
        self._watch(user)

    def _watch(self, user: Hashable) -> None:
        """Start the timer that lets a waiting user with nothing running begin soon."""
        lines = self._waiting.get(user)
        if lines is not None and not self._under_way[user] and lines.timer is None:
            wait_s = WAITS[lines.first()] * LONGEST_WAIT_S
            lines.timer = asyncio.get_running_loop().call_later(wait_s, self._overdue, user)

    @staticmethod
    def _stop_timer(lines: _Lines) -> None:
        if lines.timer is not None:
            lines.timer.cancel()
            lines.timer = None

    def _wait_s(self, user: Hashable, work: Work) -> float:
        """How long the next work of this user would wait, if all users go on taking turns."""
        mine = sum(count for _, count in self._waiting[user].waiting(work)) if user in self._waiting else 0
        before = [
            min(count, mine + 1) * self._mean_s[one]
            for other, lines in self._waiting.items()
            for one, count in lines.waiting(Work.STORE if other != user else work)
        ]
        return sum(before) / self._at_once

    def _refuse_if_hopeless(self, user: Hashable, work: Work) -> None:
        if work is not Work.LATE and (wait_s := self._wait_s(user, work)) > PATIENCE[work] * self._patience_s:
            raise self._refusal(work, wait_s)

    @staticmethod
    def _refusal(work: Work, wait_s: float) -> OverloadedError:
        SHED.labels(work.name.lower()).inc()
        what = "recalls" if work is Work.ASK else "requests"
        retry_after = max(1, min(LONGEST_RETRY_S, math.ceil(wait_s)))
        return OverloadedError(f"Too many {what} of this user are under way.", retry_after=retry_after)

    async def _wait(self, user: Hashable, work: Work) -> None:
        """Wait in the user's line until it is our turn; on a timeout or a cancellation, leave the line."""
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        due = self._clock() + WAITS[work] * LONGEST_WAIT_S
        self._waiting.setdefault(user, _Lines()).add(work, slot, due)
        self._watch(user)
        try:
            await asyncio.wait({slot}, timeout=None if work is Work.LATE else PATIENCE[work] * self._patience_s)
        except asyncio.CancelledError:
            if slot.done():
                self._end(user, work)
            else:
                self._leave(user, work, slot)
            raise
        if not slot.done():
            self._leave(user, work, slot)
            raise self._refusal(work, self._wait_s(user, work))

    def _leave(self, user: Hashable, work: Work, slot: asyncio.Future[None]) -> None:
        lines = self._waiting[user]
        lines.remove(work, slot)
        if not lines:
            del self._waiting[user]
            self._stop_timer(lines)
