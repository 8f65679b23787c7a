"""Calls of a chat to memory: in order, within a time limit, and going on if the chat no longer waits."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from memsvc.client.errors import ClientError

T = TypeVar("T")
SLOW = "memory_slow"
BUSY = "memory_busy"
MOST_PENDING = 32
"""The most calls of a process that nobody waits for any more. At the limit, memory is not asked."""
log = logging.getLogger("memsvc.client")
_pending: set[Future[Any] | asyncio.Task[Any]] = set()
"""Calls that continue although their chat no longer waits for them."""


class Order:
    """Calls to the memory of a chat. An answer is stored after the user's message."""

    def __init__(self) -> None:
        self._said: Future[Any] | None = None
        """Stores what the user said last."""

    def within(
        self, seconds: float, work: Callable[[], T], *, stores: bool = False, after_said: bool = False
    ) -> T | None:
        """Return memory's answer within a time limit; None: it failed, or continues in a daemon thread.

        Args:
            seconds: the longest wait.
            work: asks memory. It is not run while ``MOST_PENDING`` calls are pending.
            stores: it stores the user's message.
            after_said: it begins after the user's message was stored, or failed.
        """
        if _are_many():
            _failed(BUSY)
            return None
        given: Future[T] = Future()
        before = self._said if after_said else None
        if stores:
            self._said = given

        def run() -> None:
            try:
                if before is not None:
                    wait([before])
                given.set_result(work())
            except BaseException as error:  # noqa: BLE001 - the waiting caller gets it
                given.set_exception(error)

        threading.Thread(target=run, name="memsvc", daemon=True).start()
        try:
            return given.result(seconds)
        except TimeoutError:
            _failed(SLOW)
            _goes_on(given)
        except Exception as error:  # noqa: BLE001 - the chat goes on after any error
            _failed(_code(error))
        return None


class AsyncOrder:
    """The same for async programs. Work that nobody waits for continues as a task."""

    def __init__(self) -> None:
        self._said: asyncio.Task[Any] | None = None

    async def within(
        self, seconds: float, work: Callable[[], Awaitable[T]], *, stores: bool = False, after_said: bool = False
    ) -> T | None:
        """Do the same as ``Order.within``."""
        if _are_many():
            _failed(BUSY)
            return None
        before = self._said if after_said else None

        async def run() -> T:
            if before is not None and not before.done():
                await asyncio.wait([before])
            return await work()

        task = asyncio.create_task(run())
        if stores:
            self._said = task
        try:
            done, _ = await asyncio.wait([task], timeout=seconds)
            if done:
                return task.result()
        except asyncio.CancelledError:  # the caller has gone; messages are still stored
            if stores or after_said:
                _goes_on(task)
            else:
                task.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the chat goes on after any error
            _failed(_code(error))
        else:
            _failed(SLOW)
            _goes_on(task)
        return None


def _are_many() -> bool:
    """Whether the limit of pending calls is reached. Calls in closed loops do not count."""
    if len(_pending) >= MOST_PENDING:
        for one in list(_pending):
            if isinstance(one, asyncio.Task) and one.get_loop().is_closed():
                _pending.discard(one)
    return len(_pending) >= MOST_PENDING


def _goes_on(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Keep a call that nobody waits for any more."""
    _pending.add(given)
    given.add_done_callback(_pending.discard)
    given.add_done_callback(_ended)


def _failed(code: str) -> None:
    log.warning("the chat goes on without memory: %s", code)


def _code(error: Exception) -> str:
    """The code of a client's or service's error; for any other error, the name of its class."""
    return error.code if isinstance(error, ClientError) else type(error).__name__


def _ended(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Log the error of a call that nobody waited for."""
    error = None if given.cancelled() else given.exception()
    if error is not None:
        log.warning("memory failed after the chat: %s", error)
