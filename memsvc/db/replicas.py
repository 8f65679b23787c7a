"""Reads from streaming replicas of the database, where they are known to be recent enough.

Each second, one look asks the primary how far it has written, and each replica how far it has replayed. A replica has
everything that was committed before the newest position of the primary that it has replayed. So the age of what it
shows is known by this process's clock alone, and clocks of other machines do not matter. It serves a read only if

- it answered the last look, and is still a replica;
- what it shows is at most ``MEMSVC_REPLICA_LAG_S`` older than the newest known state of the primary;
- it has all that this process itself has stored for this user;
- it has replayed the position that the caller asks for (``memsvc.db.position``), if there is one.

Otherwise the primary serves it. A read that fails on a replica is repeated by the primary. What is read for no user,
such as keys, always comes from the primary: a key that was revoked must not work a moment longer. If the primary is
gone (it refuses connections, or has lost them), replicas go on to serve reads. If it is there and does not answer in
time, it may store for others, so the lag of what replicas show grows until they serve nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import psycopg
from sqlalchemy import exc as sa
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from memsvc.db.position import asked_position
from memsvc.errors import (
    ConfigurationError,
    ContendedError,
    DatabaseTooOldError,
    DatabaseUnavailableError,
    OverloadedError,
    UserUnknownError,
)
from memsvc.observe import REPLICAS, ReplicaState

NOT_THERE = (
    ConfigurationError,
    ContendedError,
    DatabaseTooOldError,
    DatabaseUnavailableError,
    OverloadedError,
    UserUnknownError,
)
"""Errors of a replica that the primary may not have."""

LOOK_EVERY_S = 1.0
GONE = -1
"""In place of a position."""
ANSWER_S = 3.0
"""A replica, or the primary, that takes longer to answer a look is not there."""
MOST_REMEMBERED = 100_000
"""Users whose last write is remembered; beyond that, everybody reads from the primary for a moment."""

WRITTEN = text("SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint) WHERE NOT pg_is_in_recovery()")
REPLAYED = text("SELECT CAST(pg_last_wal_replay_lsn() - '0/0' AS bigint) WHERE pg_is_in_recovery()")
"""Positions in bytes; no row: it is no primary, or no replica."""


@dataclass(slots=True)
class Replica:
    """A replica, and what the last look saw."""

    name: str
    """Its host and port."""
    engine: AsyncEngine
    replayed: int = GONE
    """The position up to which it has replayed, in bytes; GONE: it did not answer, or is no replica."""
    has_until: float = -math.inf
    """It has everything that was committed before this moment of the monotonic clock."""
    served: int = 0
    """The reads that it has served."""


class Replicas:
    """The replicas of one database; without any, everything here costs nothing."""

    def __init__(self, primary: AsyncEngine, replicas: Sequence[Replica], most_lag_s: float) -> None:
        """Begin without knowledge; the first read begins to look, and is served by the primary.

        Args:
            primary: the pool of the primary.
            replicas: the replicas, with a pool each.
            most_lag_s: the greatest lag with which a replica may serve, in seconds.
        """
        self._primary = primary
        self._replicas = replicas
        self._most_lag_s = most_lag_s
        self._positions: deque[tuple[float, int]] = deque()
        self._newest = -math.inf
        """When the primary may have stored something, as far as is known."""
        self._wrote: dict[UUID, float] = {}
        self._all_wrote = -math.inf
        self._looking: asyncio.Task[None] | None = None
        if replicas:
            REPLICAS.watch(self)

    def wrote(self, user_id: UUID) -> None:
        """Remember that this process has just stored something for this user."""
        if not self._replicas:
            return
        if len(self._wrote) >= MOST_REMEMBERED:
            self._wrote.clear()
            self._all_wrote = time.monotonic()
        self._wrote[user_id] = time.monotonic()

    def choose(self, user_id: UUID | None) -> Replica | None:
        """The least busy replica that may serve a read of this user; None: the primary serves it."""
        if not self._replicas or user_id is None:
            return None
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_for_ever())
        since = max(self._all_wrote, self._wrote.get(user_id, -math.inf))
        least = asked_position()
        fit = [
            one
            for one in self._replicas
            if one.replayed >= max(least, 0) and one.has_until > since and self._lag(one) <= self._most_lag_s
        ]
        return min(fit, key=lambda one: (_busy(one.engine), one.served), default=None)

    async def wait(self, user_id: UUID, wait_s: float) -> Replica | None:
        """As ``choose``, but if all replicas that answer are too far behind, look again for so many seconds."""
        until = time.monotonic() + wait_s
        found = self.choose(user_id)
        while found is None and self._may_catch_up() and time.monotonic() < until:
            await asyncio.sleep(LOOK_EVERY_S / 4)
            found = self.choose(user_id)
        return found

    def _may_catch_up(self) -> bool:
        return any(one.replayed >= 0 or not self._positions for one in self._replicas)

    def states(self) -> list[ReplicaState]:
        """What is known of each replica."""
        return [
            ReplicaState(
                one.name,
                one.replayed >= 0,
                lag if one.replayed >= 0 and math.isfinite(lag := self._lag(one)) else None,
                one.served,
            )
            for one in self._replicas
        ]

    async def written(self) -> int:
        """The position up to which the primary has written, in bytes.

        Raises:
            DatabaseUnavailableError: it does not answer.
        """
        position = await _position(self._primary, WRITTEN)
        if position is None or position < 0:
            raise DatabaseUnavailableError
        return position

    async def look(self) -> None:
        """Ask the primary and all replicas where they are."""
        began = time.monotonic()
        written = await _position(self._primary, WRITTEN)
        if written != GONE:
            self._newest = began
        if written is not None and written != GONE:
            if (
                self._positions and written < self._positions[-1][1]
            ):  # another primary, which lacks the newest of the old
                self._positions.clear()
                for one in self._replicas:
                    one.has_until = -math.inf
            self._positions.append((began, written))
            for user_id in [one for one, at in self._wrote.items() if at < began - self._most_lag_s]:
                del self._wrote[user_id]
        await asyncio.gather(*(self._look_at(one) for one in self._replicas))
        oldest = self._positions[-1][0] - self._most_lag_s if self._positions else began
        while len(self._positions) > 1 and self._positions[0][0] < oldest:
            self._positions.popleft()

    async def _look_at(self, one: Replica) -> None:
        replayed = await _position(one.engine, REPLAYED)
        one.replayed = GONE if replayed is None else replayed
        for at, written in reversed(self._positions):
            if written <= one.replayed:
                one.has_until = max(one.has_until, at)
                break

    def _lag(self, one: Replica) -> float:
        return self._newest - one.has_until if self._positions else math.inf

    async def _look_for_ever(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def close(self) -> None:
        """End the looks, and close the replicas' connections."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        for one in self._replicas:
            await one.engine.dispose()


async def _position(engine: AsyncEngine, statement: object) -> int | None:
    """The position that a server tells, in bytes; GONE: it is not there, or not what it should be; None: it is busy."""

    async def ask(connection: AsyncConnection) -> int:
        found = (await connection.execute(statement)).scalar_one_or_none()  # type: ignore[call-overload]
        return GONE if found is None else int(found)

    try:
        async with asyncio.timeout(ANSWER_S), engine.connect() as plain:
            return await ask(await plain.execution_options(isolation_level="AUTOCOMMIT"))
    except (TimeoutError, sa.TimeoutError):  # no answer in time, or no free connection
        return None
    except (sa.SQLAlchemyError, psycopg.Error, OSError):
        return GONE


def _busy(engine: AsyncEngine) -> int:
    checked_out: Callable[[], int] = engine.pool.checkedout  # type: ignore[attr-defined]
    return checked_out()
