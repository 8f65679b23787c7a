"""Limits how many heavy reads run at the same time, and lets users take turns.

The limit is the number of processors. Eight concurrent recalls on two processors each take four times as long, and some
take far longer because the kernel does not schedule them evenly. In turn, most are answered sooner and none is starved
(docs/adr/0037). A user with forty recalls must not keep others waiting (docs/adr/0038):

- A free slot goes to the waiting user with the fewest running recalls. Of several such users, it goes to the one whose
  last turn is longest ago.
- A user with no running recall does not wait for a user with several: one more slot is then opened.
- One slot stays free while other users have recalled within the last second, so that their next recall does not share
  a processor.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

from memsvc.errors import OverloadedError

LONGEST_WAIT_S = 0.25
"""The longest that a waiting user has nothing running; then their next recall begins in any case."""
PATIENCE_S = 30.0
"""The default time that a recall waits for other recalls of its user before it is refused."""
EXPECTED_S = 1.0
"""For this long after a recall, its user is expected to ask again."""
LEAST = 2
"""The smallest limit, so that a processor has work while one recall waits for a disk."""


QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""This container's quota in Linux's cgroups (version 2): "max", or microseconds of processor time, and its period."""


def processors() -> int:
    """How many processors this process may use, at least 1; a container's quota is rounded up."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        spent, clock = map(int, QUOTA.read_text(encoding="ascii").split())
        usable = min(usable, max(1, math.ceil(spent / clock)))
    return usable


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
            patience_s: the longest that work waits for other work of the same user, in seconds.
            clock: returns the time in seconds.
        """
        wanted = at_once or max(LEAST, processors())
        self._at_once = wanted if connections is None else max(1, min(wanted, connections - 1))
        self._patience_s = patience_s
        self._clock = clock
        self._under_way: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._timers: dict[Hashable, asyncio.TimerHandle] = {}
        """One for each user who waits and has nothing running."""
        self._seen: dict[Hashable, float] = {}
        """When each user's last recall began or ended, the latest last; deleted after ``EXPECTED_S``."""

    async def turn(self, user: Hashable) -> AbstractContextManager[object]:
        """Wait for a turn.

        Args:
            user: whose work it is. A user with nothing running waits a quarter of a second at most.

        Returns:
            A context manager that ends the turn when its block ends.

        Raises:
            OverloadedError: other work of the same user took too long.
        """
        if self._may_begin(user):
            self._begin(user)
        else:
            await self._wait(user)
        turn = ExitStack()
        turn.callback(self._end, user)
        return turn

    def _may_begin(self, user: Hashable) -> bool:
        total = self._under_way.total()
        if not self._under_way[user]:
            return total < self._at_once or len(self._under_way) < self._at_once  # somebody has several
        return total < max(1, self._at_once - self._others_are_expected(user))

    def _others_are_expected(self, user: Hashable) -> bool:
        return any(one != user and not self._under_way[one] for one in self._seen)

    def _note(self, user: Hashable) -> None:
        """Record that a recall of this user began or ended."""
        now = self._clock()
        self._seen.pop(user, None)
        self._seen[user] = now
        while now - self._seen[oldest := next(iter(self._seen))] > EXPECTED_S:
            del self._seen[oldest]

    def _begin(self, user: Hashable) -> None:
        self._note(user)
        self._under_way[user] += 1
        if (timer := self._timers.pop(user, None)) is not None:
            timer.cancel()

    def _end(self, user: Hashable) -> None:
        self._note(user)
        self._under_way[user] -= 1
        if not self._under_way[user]:
            del self._under_way[user]
        while self._waiting:  # if the first of them may not begin, no other may
            following = min(self._waiting, key=lambda one: (self._under_way[one], self._seen.get(one, 0.0)))
            if not self._may_begin(following):
                break
            self._let_begin(following)
        self._watch(user)

    def _let_begin(self, user: Hashable) -> None:
        """Let the first in a user's line begin."""
        line = self._waiting[user]
        line.popleft().set_result(None)
        if not line:
            del self._waiting[user]
        self._begin(user)

    def _watch(self, user: Hashable) -> None:
        """Start the timer that lets a waiting user with nothing running begin within a quarter of a second."""
        if user in self._waiting and not self._under_way[user] and user not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[user] = loop.call_later(LONGEST_WAIT_S, self._let_begin, user)

    async def _wait(self, user: Hashable) -> None:
        """Wait in the user's line until it is our turn; on a timeout or a cancellation, leave the line."""
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(slot)
        self._watch(user)
        try:
            await asyncio.wait({slot}, timeout=self._patience_s)
        except asyncio.CancelledError:
            if slot.done():
                self._end(user)
            else:
                self._leave(user, slot)
            raise
        if not slot.done():
            self._leave(user, slot)
            raise OverloadedError("Too many recalls of this user are under way.")

    def _leave(self, user: Hashable, slot: asyncio.Future[None]) -> None:
        line = self._waiting[user]
        line.remove(slot)
        if not line:
            del self._waiting[user]
            if (timer := self._timers.pop(user, None)) is not None:
                timer.cancel()
