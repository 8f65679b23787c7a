"""Who may chat where the database does not answer: who could a few minutes ago, with the same key for the same user.

A key is looked up in the database. A chat is to go on without it, so the last good caller of each key is kept in this
process, by a hash of the key and by the user that was named, and counts where a look-up fails or takes too long.
Such a caller may ask the chat server. Memory waits for the look-up, which goes on: a key that was revoked meanwhile
reads and writes nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from memsvc import observe
from memsvc.access import keys
from memsvc.access.keys import Principal
from memsvc.chat.afterwards import SLOW, Afterwards
from memsvc.db.engine import Database
from memsvc.errors import (
    DatabaseUnavailableError,
    MemsvcError,
    OverloadedError,
    RateLimitedError,
    StorageFullError,
    UnauthenticatedError,
)
from memsvc.settings import Settings

MOST = 1_000
"""Callers that are kept; who has not chatted for longest goes first. One takes about a kilobyte."""
LIFE_S = 600.0
"""So long a caller counts after the database was asked for it: longer than a restart or a failover takes, and not
longer than a token outlives its key (``jwt_ttl_s``, 15 minutes)."""
MOST_LATE = 64
"""Look-ups that nobody waits for any more; while there are so many, none begins: each holds its chat's words."""
MINUTE_S = 60.0
NO_ANSWER = (DatabaseUnavailableError, OverloadedError, StorageFullError)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a caller was let in without the database's word, and the look-up that may still give it."""

    code: str
    asking: asyncio.Future[Principal | MemsvcError]

    def is_over(self) -> bool:
        """The look-up, late as it was, let the caller in.

        Raises:
            MemsvcError: it refused the key.
        """
        if not self.asking.done() or isinstance(self.asking.result(), NO_ANSWER):
            return False
        _given(self.asking.result())
        return True

    async def settled(self) -> Principal:
        """Who asks, once the database has said so.

        Raises:
            MemsvcError: it refuses the key, or cannot be asked.
        """
        return _given(await asyncio.shield(self.asking))


class Admitting:
    """Looks callers of chats up, and keeps the last good ones; of one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody is known; ``clock`` counts seconds."""
        self._clock = clock
        self._known: OrderedDict[tuple[bytes, str | None], tuple[float, Principal]] = OrderedDict()
        self._refused = 0
        """How often a key was."""
        self._late = 0
        self._minute = -1.0
        self._let_in = Counter[str | None]()
        """In this minute, by key, of those that have a limit."""

    async def admit(
        self, db: Database, settings: Settings, afterwards: Afterwards, credential: str, user_ref: str | None
    ) -> tuple[Principal, Doubt | None]:
        """Who asks, and None; or who asked with this key for this user before, and the doubt.

        The database gets ``chat_memory_ms`` for somebody who is known. Others have nobody else to vouch for them, and
        wait as long as for a free connection, ``pool_timeout_s``.

        Raises:
            UnauthenticatedError, RateLimitedError: as ``keys.authenticate``; while in doubt, requests are counted here.
            DatabaseUnavailableError, OverloadedError, StorageFullError: no answer, and nobody who is known.
        """
        known = self._find(credential, user_ref)
        if self._late >= MOST_LATE:
            asking: asyncio.Future[Principal | MemsvcError] = asyncio.get_running_loop().create_future()
            asking.set_result(OverloadedError("The database takes too long."))
        else:
            asking = afterwards.start(self._asked(db, credential, user_ref))
        within_s = settings.pool_timeout_s if known is None else settings.chat_memory_ms / 1000
        done, _ = await asyncio.wait({asking}, timeout=within_s)
        if not done:
            self._late += 1
            asking.add_done_callback(self._is_over)
        found = asking.result() if done else OverloadedError("The database took too long.")
        if known is None or not isinstance(found, NO_ANSWER):
            return _given(found), None
        self._count(known)
        code = found.code if done else SLOW
        observe.DEGRADED.labels(code).inc()
        return known, Doubt(code, asking)

    def forget(self, credential: str) -> None:
        """A key was refused: it counts no more, whichever user it names."""
        self._refused += 1
        digest = _digest(credential)
        for name in [name for name in self._known if name[0] == digest]:
            del self._known[name]

    async def _asked(self, db: Database, credential: str, user_ref: str | None) -> Principal | MemsvcError:
        """What the database says, early or late; errors are given, for nobody may be there any more to be told."""
        since, refused = self._clock(), self._refused
        try:
            principal = await keys.authenticate(db, credential, user_ref)
        except UnauthenticatedError as error:
            self.forget(credential)
            return error
        except MemsvcError as error:
            return error
        name = _digest(credential), user_ref
        self._known.pop(name, None)
        if principal.owner is not None and self._refused == refused:  # a later look-up may have been refused
            self._known[name] = since, principal
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        return principal

    def _is_over(self, _asking: asyncio.Future[Principal | MemsvcError]) -> None:
        self._late -= 1

    def _count(self, known: Principal) -> None:
        """Count a caller in doubt, as the database would: by key, with its tokens.

        Raises:
            RateLimitedError: it is one too many in this minute, in this process.
        """
        if (most := known.limits.requests_per_minute) is None:
            return
        minute, second = divmod(self._clock(), MINUTE_S)
        if minute != self._minute:
            self._minute = minute
            self._let_in.clear()
        if self._let_in[known.key_id] >= most:
            raise RateLimitedError(limit=most, retry_after=math.ceil(MINUTE_S - second))
        self._let_in[known.key_id] += 1

    def _find(self, credential: str, user_ref: str | None) -> Principal | None:
        since, principal = self._known.get((_digest(credential), user_ref), (0.0, None))
        return principal if self._clock() - since < LIFE_S else None


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode()).digest()


def _given(found: Principal | MemsvcError) -> Principal:
    if isinstance(found, MemsvcError):
        raise found
    return found
