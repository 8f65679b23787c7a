"""Work in threads that can be stopped: nobody can end a thread, so long work asks now and then whether to go on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
Check = Callable[[], None]
"""What long work calls every few milliseconds; raises where nobody waits for it any more."""


class StoppedError(Exception):
    """Nobody waits any more. It ends a thread and reaches nobody."""


def go_on() -> None:
    """The check of work that nobody stops."""


async def in_thread(work: Callable[[Check], Result]) -> Result:
    """Do work in a thread; where the caller is cancelled or runs out of time, the work ends at its next check."""
    left = threading.Event()

    def check() -> None:
        if left.is_set():
            raise StoppedError

    try:
        return await asyncio.to_thread(work, check)
    finally:
        left.set()
