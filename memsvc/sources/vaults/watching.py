"""Watches a folder of notes and keeps the memory as the folder is, until somebody stops it.

It polls once a second: names, times and sizes of 5,000 notes take 0.05 s of a processor, on every file system and
without a library. A change counts when the folder has been still from one look to the next, so a note that an editor
writes in several steps, or deletes and makes again, is read once; a folder that is never still is read after two
seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from memsvc.documents.vaults.reading import RESTLESS_NS, Stamp, VaultReader
from memsvc.errors import MemsvcError
from memsvc.sources.vaults.storing import Brought, Keeper

LOOK_S, PENDING_S = 1.0, 0.3
"""Between looks at a folder that is as it was, and at one that has changed."""
LONGEST_S = 2.0
"""A folder that changes with every look is read after so long."""
AFTER_TROUBLE_S = 5.0

Stamps = dict[str, Stamp | None]


class Watch:
    """A watch over one folder."""

    def __init__(self, keeper: Keeper, reader: VaultReader, stopping: asyncio.Event) -> None:
        """Watch what the keeper keeps, until the event is set."""
        self._keeper, self._reader, self._stopping = keeper, reader, stopping
        self._acted: Stamps | None = None
        self._last: Stamps | None = None
        self._since: float | None = None
        """Since when the folder differs from what was read."""
        self._again: float | None = None
        """When to read files once more that had just been written."""

    async def run(self, told: Callable[[Brought], Awaitable[None]], trouble: Callable[[MemsvcError], None]) -> None:
        """Watch.

        Args:
            told: is called after the first reading, and after each that did something.
            trouble: is called with what went wrong: the folder is not there, the database cannot be reached. The watch
                goes on, and does what is missing when that is over.
        """
        is_first, troubled = True, ""
        while not self._stopping.is_set():
            try:
                brought = await self._look()
                if brought is not None and (brought.is_change or is_first):
                    is_first = False
                    await told(brought)
                troubled, wait_s = "", LOOK_S if self._since is None else PENDING_S
            except MemsvcError as error:
                if error.message != troubled:
                    trouble(error)
                troubled, wait_s = error.message, AFTER_TROUBLE_S
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), wait_s)

    async def _look(self) -> Brought | None:
        """Look at the folder once; read it if it is time."""
        stamps, now = await asyncio.to_thread(self._reader.stamps), time.monotonic()
        if stamps == self._acted:
            self._since = None
            if self._again is None or now < self._again:
                return None
            self._again = None
        else:
            self._since = self._since if self._since is not None else now
            is_still = self._acted is None or stamps == self._last
            self._last = stamps
            if not is_still and now - self._since < LONGEST_S:
                return None
            self._again = now + 2 * RESTLESS_NS / 1e9
        vault = await asyncio.to_thread(self._reader.read)
        brought = await self._keeper.bring(vault)
        self._acted, self._since = stamps, None
        return brought
