"""Rooms of live clients in this process: one for each user that somebody listens for.

One task serves them all. It waits for a notification, or for a fraction of a second, asks the database in one statement
which rooms have news, reads these under row security, and gives each message to all in the room. A client that is
behind reads by itself until it has caught up, so it neither misses a message nor gets one twice; one that does not take
what it is given is dropped, and comes back with its cursor.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from uuid import UUID

from memsvc import observe
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.errors import (
    MemsvcError,
    RestartingError,
    SlowReaderError,
    TooManyConnectionsError,
    UserErasedError,
    UserUnknownError,
)
from memsvc.graph.events import Frame, Place, frames_behind, users_with_news

POLL_S = 0.4
"""The longest that a lost notification, or a writer that sends none, delays a message."""
RETRY_S = 1.0
GRACE_S = 5.0
"""How long an ending service waits for clients to take their leave."""
AT_ONCE = 4
"""Rooms that are read at the same time: each takes a connection."""
MOST_WAITING = 256
MOST_WAITING_CHARS = 4_000_000


class Subscription:
    """What one client is still to be sent."""

    def __init__(self, place: Place) -> None:
        """Begin behind a place."""
        self.place = place
        self.ended = asyncio.Event()
        """Nothing more comes; ``error`` says why."""
        self.error: MemsvcError | None = None
        self._waiting: deque[Frame] = deque()
        self._chars = 0
        self._something = asyncio.Event()

    def offer(self, frame: Frame) -> None:
        """Queue a message; drops a client that has too many waiting."""
        size = len(frame.message or "")
        if self._waiting and (len(self._waiting) >= MOST_WAITING or self._chars + size > MOST_WAITING_CHARS):
            self.end(SlowReaderError())
        elif self.error is None:
            self._waiting.append(frame)
            self._chars += size
            self._something.set()

    def told(self, frame: Frame) -> str:
        """Move on behind a message; its text for this client."""
        self.place = frame.after(self.place)
        return frame.text(self.place)

    def end(self, error: MemsvcError) -> None:
        """Let go of everything; the first reason counts."""
        self.error = self.error or error
        self._waiting.clear()
        self._something.set()
        self.ended.set()

    async def next(self, seconds: float) -> str | None:
        """The next message behind ``place``, which moves on with it; None: there was none for so long.

        Empty where what happened has nothing to show.

        Raises:
            MemsvcError: nothing more comes.
        """
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self._something.wait()
                    if self.error is not None:
                        raise self.error
                    frame = self._waiting.popleft()
                    self._chars -= len(frame.message or "")
                    if not self._waiting:
                        self._something.clear()
                    if not self.place.covers(frame.transaction, frame.event):  # else it was read while catching up
                        return self.told(frame)
        except TimeoutError:
            return None


@dataclass(slots=True)
class _Room:
    place: Place
    subscriptions: set[Subscription] = field(default_factory=set)

    def end(self, error: MemsvcError) -> None:
        for subscription in self.subscriptions:
            subscription.end(error)


class Hub:
    """All rooms of this process."""

    def __init__(self, db: Database, *, most: int, most_of_user: int) -> None:
        """Nothing connects before somebody listens.

        Args:
            db: the database; one of its connections is held while anybody listens.
            most: so many clients at most.
            most_of_user: so many of one user.
        """
        self._db, self._most, self._most_of_user = db, most, most_of_user
        self._rooms: dict[UUID, _Room] = {}
        self._anybody = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._present: set[asyncio.Task[object]] = set()
        self._closed = False

    async def close(self) -> None:
        """Send everybody away, wait until they are gone, and stop."""
        self._closed = True
        for room in self._rooms.values():
            room.end(RestartingError())
        if self._present:
            _, stuck = await asyncio.wait(self._present, timeout=GRACE_S)
            for task in stuck:
                task.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @contextmanager
    def present(self) -> Iterator[None]:
        """While the block runs, the task that runs it serves a client: ``close`` waits for it.

        Raises:
            RestartingError: the service is ending.
        """
        if self._closed:
            raise RestartingError
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs this
        self._present.add(task)
        try:
            yield
        finally:
            self._present.discard(task)

    @contextmanager
    def listening(self, user_id: UUID, place: Place, end: Place) -> Iterator[Subscription]:
        """In the user's room until the block ends.

        Args:
            user_id: whose events.
            place: where the client is.
            end: where events ended a moment ago, as ``end_of`` says; the room begins there if nobody is in it.

        A block that ends by ``SlowReaderError`` counts as a client that was dropped, whoever found it slow: ``offer``,
        since too much waits, or the block itself, since one message was not taken in time.

        Raises:
            TooManyConnectionsError: there is no place left.
        """
        room = self._rooms.get(user_id) or _Room(end)
        everybody = sum(len(one.subscriptions) for one in self._rooms.values())
        if everybody >= self._most or len(room.subscriptions) >= self._most_of_user:
            raise TooManyConnectionsError
        self._rooms[user_id] = room
        subscription = Subscription(place)
        room.subscriptions.add(subscription)
        observe.LIVE_CONNECTIONS.inc()
        self._anybody.set()
        if self._task is None:
            # In a context of its own: it serves everybody, and belongs to no request.
            self._task = asyncio.create_task(self._serve(), context=Context())
        try:
            yield subscription
        except SlowReaderError:
            observe.LIVE_DROPPED.inc()
            raise
        finally:
            observe.LIVE_CONNECTIONS.dec()
            room.subscriptions.discard(subscription)
            if not room.subscriptions and self._rooms.get(user_id) is room:
                del self._rooms[user_id]

    async def messages(self, user_id: UUID, subscription: Subscription, quiet_s: float) -> AsyncIterator[str | None]:
        """All messages behind the subscription's place: those that were missed, then those that come.

        None after each ``quiet_s`` seconds without one; empty text where what happened has nothing to show.

        Raises:
            MemsvcError: nothing more comes.
        """
        missed = True
        while missed:
            try:
                frames = await frames_behind(self._db, user_id, subscription.place)
            except UserUnknownError as error:  # who came was known
                raise UserErasedError from error
            for frame in frames.items:
                yield subscription.told(frame)
            subscription.place, missed = frames.end, frames.more
        while True:
            yield await subscription.next(quiet_s)

    async def _serve(self) -> None:
        """Tell everybody what is new, for as long as the process lives; outlives a database that goes away."""
        while True:
            await self._anybody.wait()
            try:
                async with self._db.listening([EVENTS]) as heard:
                    while self._rooms:
                        await self._tell()
                        await heard(POLL_S)
            except MemsvcError as error:
                observe.logger().warning("live updates wait", code=error.code)
                await asyncio.sleep(RETRY_S)
            except Exception as error:  # noqa: BLE001 - clients would wait for ever, and nobody would know
                observe.logger().error("live updates failed", exc_info=error)
                await asyncio.sleep(RETRY_S)
            if not self._rooms:
                self._anybody.clear()

    async def _tell(self) -> None:
        rooms = dict(self._rooms)
        async with self._db.transaction() as connection:
            news, end = await users_with_news(connection, {user_id: room.place for user_id, room in rooms.items()})
            erased = (await connection.execute(query("users_erased"), {"users": list(rooms)})).scalars().all()
        for user_id in erased:
            rooms[user_id].end(UserErasedError())
        for user_id in rooms.keys() - set(news):
            rooms[user_id].place = end
        turn = asyncio.Semaphore(AT_ONCE)

        async def read(user_id: UUID) -> None:
            async with turn:
                await self._read(user_id, rooms[user_id])

        await asyncio.gather(*(read(user_id) for user_id in set(news).difference(erased)))

    async def _read(self, user_id: UUID, room: _Room) -> None:
        more = True
        while more and room.subscriptions:
            try:
                frames = await frames_behind(self._db, user_id, room.place)
            except UserUnknownError:
                room.end(UserErasedError())
                return
            for frame in frames.items:
                observe.LIVE_LAG_SECONDS.observe(_age_s(frame.event))
                for subscription in room.subscriptions:
                    subscription.offer(frame)
            room.place, more = frames.end, frames.more


def _age_s(event: UUID) -> float:
    """How long ago an event was written: its id (UUID version 7) begins with the milliseconds since 1970."""
    return max(0.0, time.time() - (event.int >> 80) / 1000)
