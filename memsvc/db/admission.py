"""Heavy reads begin in turn: as many at once as there are processors, and users take turns.

Eight recalls at once on two processors all take four times as long, and some far longer, as the kernel happens to hand
processors out; one after the other, most have their answer sooner and none falls behind (docs/adr/0037). A user with
forty of them must not keep others waiting (docs/adr/0038):

- a free place goes to the waiting user who has the fewest recalls under way; of several to the one whose last turn is
  the longest ago;
- a user who has none under way does not wait for one who has several: there is a place more then;
- one place stays free while others have recalled within the last second, so that their next recall need not share its
  processor.
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
"""So long a user who waits has nothing under way; then the next begins all the same."""
PATIENCE_S = 30.0
"""For a recall behind others of its user, unless another time is given; then it is refused."""
EXPECTED_S = 1.0
"""So long after a recall its user is expected to ask again."""
LEAST = 2
"""At once, so that a processor has work while one waits for a disk."""


QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Of this container, by Linux's cgroups (version 2): microseconds of processors in so many of the clock, or "max"."""


def processors() -> int:
    """How many processors this process may use, a container's quota rounded up; 1 at least."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        spent, clock = map(int, QUOTA.read_text(encoding="ascii").split())
        usable = min(usable, max(1, math.ceil(spent / clock)))
    return usable


class Admission:
    """Lets so much work of one event loop be under way at once, and users take turns."""

    def __init__(
        self,
        at_once: int = 0,
        *,
        connections: int | None = None,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is under way.

        Args:
            at_once: 0: as many as there are processors, two at least.
            connections: of the pool that the work goes to; one of them is left over, so that one user's recalls do not
                stand in the pool's line, which is first come, first served.
            patience_s: the longest wait of who waits for others of the same user.
            clock: gives seconds.
        """
        wanted = at_once or max(LEAST, processors())
        self._at_once = wanted if connections is None else max(1, min(wanted, connections - 1))
        self._patience_s = patience_s
        self._clock = clock
        self._under_way: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._timers: dict[Hashable, asyncio.TimerHandle] = {}
        """Of users who wait and have nothing under way."""
        self._seen: dict[Hashable, float] = {}
        """When a recall of a user last began or ended, the latest at the end; forgotten after ``EXPECTED_S``."""

    async def turn(self, user: Hashable) -> AbstractContextManager[object]:
        """Wait for a turn; it is given back when the block of what this gives ends.

        Args:
            user: whose work it is. Who has nothing under way begins after a quarter of a second at most.

        Raises:
            OverloadedError: others of the same user took so long that there was no turn in time.
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
        """Keep in mind who has turns."""
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
        while self._waiting:  # where the first of them may not begin, no other may
            following = min(self._waiting, key=lambda one: (self._under_way[one], self._seen.get(one, 0.0)))
            if not self._may_begin(following):
                break
            self._let_begin(following)
        self._watch(user)

    def _let_begin(self, user: Hashable) -> None:
        """Let the first of a user's line begin."""
        line = self._waiting[user]
        line.popleft().set_result(None)
        if not line:
            del self._waiting[user]
        self._begin(user)

    def _watch(self, user: Hashable) -> None:
        """See to it that a user who waits and has nothing under way does so for a quarter of a second at most."""
        if user in self._waiting and not self._under_way[user] and user not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[user] = loop.call_later(LONGEST_WAIT_S, self._let_begin, user)

    async def _wait(self, user: Hashable) -> None:
        """Stand in the user's line until it is our turn; whoever gives up leaves the line and takes no turn along."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(place)
        self._watch(user)
        try:
            await asyncio.wait({place}, timeout=self._patience_s)
        except asyncio.CancelledError:
            if place.done():
                self._end(user)
            else:
                self._leave(user, place)
            raise
        if not place.done():
            self._leave(user, place)
            raise OverloadedError("Too many recalls of this user are under way.")

    def _leave(self, user: Hashable, place: asyncio.Future[None]) -> None:
        line = self._waiting[user]
        line.remove(place)
        if not line:
            del self._waiting[user]
            if (timer := self._timers.pop(user, None)) is not None:
                timer.cancel()
