"""Heavy reads begin in turn: as many at once as there are processors, first come, first served.

Eight recalls at once on two processors all take four times as long, and some far longer, as the kernel happens to hand
processors out; one behind the other, most have their answer sooner and none falls behind. Nobody waits long for a turn:
what is slow, or hangs, keeps others back for a moment and no more (docs/adr/0037).
"""

from __future__ import annotations

import asyncio
import math
import os
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

LONGEST_WAIT_S = 0.25
"""For a turn; who has waited so long begins all the same."""
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
    """Lets so much work of one event loop be under way at once."""

    def __init__(self, at_once: int = 0) -> None:
        """Nothing is under way.

        Args:
            at_once: 0: as many as there are processors, two at least.
        """
        self._turns = asyncio.Semaphore(at_once or max(LEAST, processors()))

    async def turn(self) -> AbstractContextManager[object]:
        """Wait for a turn, a quarter of a second at most; it is given back when the block of what this gives ends."""
        turn = ExitStack()
        try:
            if self._turns.locked():
                async with asyncio.timeout(LONGEST_WAIT_S):
                    await self._turns.acquire()
            else:
                await self._turns.acquire()  # at once
        except TimeoutError:
            return turn
        turn.callback(self._turns.release)
        return turn
