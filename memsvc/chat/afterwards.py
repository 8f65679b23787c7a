"""Work that goes on after who asked for it has its answer, or has gone; the process waits for it before it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from memsvc import observe
from memsvc.errors import MemsvcError

T = TypeVar("T")
SLOW, UNKNOWN = "memory_slow", "internal"
LAST_S = 10.0
"""Longest that the end of the process waits."""


class Afterwards:
    """Holds such work, of one event loop."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin work; who awaits it may give up without ending it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    async def within(
        self, seconds: float, work: Coroutine[Any, Any, T], *, abandon: bool = False
    ) -> tuple[T | None, str | None]:
        """What work gives in some time.

        Args:
            seconds: so long is waited.
            work: goes on by itself if it takes longer.
            abandon: it ends then.

        Returns:
            What it gives, and None; or None, and a code that says why there is nothing.
        """
        task = self.start(work)
        done, _ = await asyncio.wait({task}, timeout=max(0.0, seconds))
        if done and (error := task.exception()) is None:
            return task.result(), None
        if not done and abandon:
            task.cancel()  # not awaited: a database that hangs hangs here as well
        code = _code(error) if done and error is not None else SLOW
        observe.DEGRADED.labels(code).inc()
        return None, code

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            observe.logger().warning("work behind an answer failed", code=_code(error), error=type(error).__name__)

    async def settle(self) -> None:
        """Wait until all is done, some seconds at most."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_S)
        for task in list(self._tasks):
            task.cancel()


def _code(error: BaseException) -> str:
    return error.code if isinstance(error, MemsvcError) else UNKNOWN
