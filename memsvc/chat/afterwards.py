"""Work that continues after its caller has the answer or has gone. The process waits for it before it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from memsvc import observe
from memsvc.errors import MemsvcError

T = TypeVar("T")
SLOW, UNKNOWN = "memory_slow", "internal"
LAST_S = 10.0
"""The longest wait at the end of the process, in seconds."""


class Afterwards:
    """Holds the work of one event loop."""

    def __init__(self) -> None:
        """Start without work."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start work. A caller who awaits it may give up without cancelling it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    async def within(
        self, seconds: float, work: Coroutine[Any, Any, T], *, abandon: bool = False
    ) -> tuple[T | None, str | None]:
        """Return the result of work within a time limit.

        Args:
            seconds: the longest wait.
            work: continues by itself if it takes longer.
            abandon: cancel it instead.

        Returns:
            The result and None, or None and a code that says why there is no result.
        """
        task = self.start(work)
        done, _ = await asyncio.wait({task}, timeout=max(0.0, seconds))
        if done and (error := task.exception()) is None:
            return task.result(), None
        if not done and abandon:
            task.cancel()  # not awaited: if the database hangs, so would this
        code = _code(error) if done and error is not None else SLOW
        observe.DEGRADED.labels(code).inc()
        return None, code

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            observe.logger().warning("work after an answer failed", code=_code(error), error=type(error).__name__)

    async def settle(self) -> None:
        """Wait until all work is done, for ``LAST_S`` seconds at most, then cancel the rest."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_S)
        for task in list(self._tasks):
            task.cancel()


def _code(error: BaseException) -> str:
    return error.code if isinstance(error, MemsvcError) else UNKNOWN
