"""Stops work in threads: a thread cannot be killed, so long work regularly calls a check that may raise."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
Check = Callable[[], None]
"""A function that long work calls every few milliseconds; it raises when the caller does not wait any more."""


class StoppedError(Exception):
    """The caller does not wait any more. It ends the thread, and no caller sees it."""


def go_on() -> None:
    """A check that never stops the work."""


async def in_thread(work: Callable[[Check], Result]) -> Result:
    """Do work in a thread; if the caller is cancelled or times out, the work ends at its next check."""
    left = threading.Event()

    def check() -> None:
        if left.is_set():
            raise StoppedError

    try:
        return await asyncio.to_thread(work, check)
    finally:
        left.set()
