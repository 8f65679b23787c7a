"""Admits chat callers while the database does not answer, if their key worked for the same user minutes ago.

Keys are looked up in the database. Chats must go on without it, so this process keeps the last valid caller of each
key, by a hash of the key and by the named user, and uses it if a look-up fails or takes too long. Such a caller may ask
the chat server. Memory waits for the look-up, which continues, so a key that was revoked meanwhile reads and writes
nothing.
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
from memsvc.access.keys import Enrol, Principal
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
"""The most callers to keep. The one that has not chatted for longest is dropped first. Each takes about 1 kB."""
LIFE_S = 600.0
"""How long a caller is valid after its last look-up: longer than a restart or a failover takes, and not longer than a
token outlives its key (``jwt_ttl_s``, 15 minutes)."""
MOST_LATE = 64
"""The most look-ups that nobody waits for any more. At the limit no new one starts, as each holds its chat's text."""
MINUTE_S = 60.0
NO_ANSWER = (DatabaseUnavailableError, OverloadedError, StorageFullError)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a caller was admitted without an answer of the database, and the look-up that may still answer."""

    code: str
    asking: asyncio.Future[Principal | MemsvcError]

    def is_over(self) -> bool:
        """Whether the late look-up has admitted the caller.

        Raises:
            MemsvcError: the database refused the key.
        """
        if not self.asking.done() or isinstance(self.asking.result(), NO_ANSWER):
            return False
        _given(self.asking.result())
        return True

    async def settled(self) -> Principal:
        """Wait for the look-up, and return the caller.

        Raises:
            MemsvcError: the database refuses the key, or cannot be reached.
        """
        return _given(await asyncio.shield(self.asking))


class Admitting:
    """Looks up the callers of chats, and keeps the last valid ones. Belongs to one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without known callers. ``clock`` counts seconds."""
        self._clock = clock
        self._known: OrderedDict[tuple[bytes, str | None], tuple[float, Principal]] = OrderedDict()
        self._refused = 0
        """How many look-ups refused a key."""
        self._late = 0
        self._minute = -1.0
        self._let_in = Counter[str | None]()
        """Requests admitted in this minute, by key, for keys with a limit."""

    async def admit(
        self,
        db: Database,
        settings: Settings,
        afterwards: Afterwards,
        credential: str,
        user_ref: str | None,
        *,
        enrol: Enrol | None = None,
    ) -> tuple[Principal, Doubt | None]:
        """Return the caller and None, or the last known caller of this key and user with the doubt.

        For a known caller, the database gets ``chat_memory_ms`` to answer. Unknown callers wait longer,
        ``pool_timeout_s``, because only the database can admit them.

        ``enrol`` adds a user whom a key names for the first time; None: to this database.

        Raises:
            UnauthenticatedError, RateLimitedError: as ``keys.authenticate``. Requests in doubt are counted here.
            DatabaseUnavailableError, OverloadedError, StorageFullError: no answer, and the caller is not known.
        """
        known = self.known(credential, user_ref)
        if self._late >= MOST_LATE:
            asking: asyncio.Future[Principal | MemsvcError] = asyncio.get_running_loop().create_future()
            asking.set_result(OverloadedError("The database takes too long."))
        else:
            asking = afterwards.start(self._asked(db, credential, user_ref, enrol))
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
        """Drop a refused key, for all users."""
        self._refused += 1
        digest = _digest(credential)
        for name in [name for name in self._known if name[0] == digest]:
            del self._known[name]

    async def _asked(
        self, db: Database, credential: str, user_ref: str | None, enrol: Enrol | None
    ) -> Principal | MemsvcError:
        """Ask the database. Errors are returned and not raised, because nobody may wait any more."""
        since, refused = self._clock(), self._refused
        try:
            principal = await keys.authenticate(db, credential, user_ref, enrol=enrol)
        except UnauthenticatedError as error:
            self.forget(credential)
            return error
        except MemsvcError as error:
            return error
        if self._refused == refused:  # else a later look-up may have refused it
            self.remember(credential, user_ref, principal, since)
        return principal

    def remember(self, credential: str, user_ref: str | None, principal: Principal, since: float | None = None) -> None:
        """Keep a caller that the database has just admitted; ``since``: when it was asked, None: now."""
        name = _digest(credential), user_ref
        self._known.pop(name, None)
        if principal.owner is not None:
            self._known[name] = self._clock() if since is None else since, principal
        if len(self._known) > MOST:
            self._known.popitem(last=False)

    def _is_over(self, _asking: asyncio.Future[Principal | MemsvcError]) -> None:
        self._late -= 1

    def _count(self, known: Principal) -> None:
        """Count a request of a caller in doubt as the database would: by key, including its tokens.

        Raises:
            RateLimitedError: it exceeds the limit per minute, counted in this process.
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

    def known(self, credential: str, user_ref: str | None) -> Principal | None:
        """The last valid caller of a key or token for a user, if that was not long ago."""
        since, principal = self._known.get((_digest(credential), user_ref), (0.0, None))
        return principal if self._clock() - since < LIFE_S else None


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode()).digest()


def _given(found: Principal | MemsvcError) -> Principal:
    if isinstance(found, MemsvcError):
        raise found
    return found
