"""Rooms of live clients in this process: one room for each user with clients.

One task serves all rooms. It waits for a notification, or for a fraction of a second. It asks the database in one
statement which rooms have new events, reads these under row security, and gives each message to all clients of the
room. A client that is late reads from the database until it has caught up, so it neither misses a message nor gets one
twice. A client that does not take its messages is dropped; it can come back with its cursor.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
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
    UserMovingError,
    UserUnknownError,
)
from memsvc.graph.events import Frame, Position, frames_after, users_with_news

POLL_S = 0.4
"""The longest that a lost notification, or a writer that sends none, delays a message."""
RETRY_S = 1.0
GRACE_S = 5.0
"""How long a service that shuts down waits for clients to disconnect."""
AT_ONCE = 4
"""How many rooms are read at the same time. Each takes a database connection."""
MOST_WAITING = 256
MOST_WAITING_CHARS = 4_000_000


class Subscription:
    """The messages that one client has still to receive."""

    def __init__(self, position: Position) -> None:
        """Begin after a position."""
        self.position = position
        self.ended = asyncio.Event()
        """Set when nothing more comes; ``error`` says why."""
        self.error: MemsvcError | None = None
        self._waiting: deque[Frame] = deque()
        self._chars = 0
        self._something = asyncio.Event()

    def offer(self, frame: Frame) -> None:
        """Queue a message, or drop the client if too many are waiting."""
        size = len(frame.message or "")
        if self._waiting and (len(self._waiting) >= MOST_WAITING or self._chars + size > MOST_WAITING_CHARS):
            self.end(SlowReaderError())
        elif self.error is None:
            self._waiting.append(frame)
            self._chars += size
            self._something.set()

    def advance(self, frame: Frame) -> str:
        """Move on past a message, and return its text for this client."""
        self.position = frame.after(self.position)
        return frame.text(self.position)

    def end(self, error: MemsvcError) -> None:
        """Drop all waiting messages. The first error is kept."""
        self.error = self.error or error
        self._waiting.clear()
        self._something.set()
        self.ended.set()

    async def next(self, seconds: float) -> str | None:
        """Return the next message after ``position`` and move on past it; None if none came in time.

        The text is empty if the event has nothing to show.

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
                    if not self.position.covers(frame.transaction, frame.event):  # else it was read while catching up
                        return self.advance(frame)
        except TimeoutError:
            return None


@dataclass(slots=True)
class _Room:
    position: Position
    subscriptions: set[Subscription] = field(default_factory=set)

    def end(self, error: MemsvcError) -> None:
        for subscription in self.subscriptions:
            subscription.end(error)


class Hub:
    """All rooms of this process."""

    def __init__(self, db: Database, *, most: int, most_of_user: int, is_home: bool = True) -> None:
        """Connect to nothing yet; the first client starts that.

        Args:
            db: the database. One connection is held while there are clients.
            is_home: it is the directory, too, so who is gone from it is erased; who is gone from a cell may have moved.
            most: the most clients in all.
            most_of_user: the most clients of one user.
        """
        self._db, self._most, self._most_of_user = db, most, most_of_user
        self._is_home = is_home
        self._rooms: dict[UUID, _Room] = {}
        self._anybody = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._present: set[asyncio.Task[object]] = set()
        self._over: MemsvcError | None = None
        """Why no more clients are taken."""

    def disconnect(self, error: MemsvcError | None = None) -> None:
        """Tell all clients to come back later, and why; take no others. Default: the service is shutting down."""
        self._over = self._over or error or RestartingError()
        for room in self._rooms.values():
            room.end(self._over)

    async def close(self, error: MemsvcError | None = None) -> None:
        """Disconnect all clients, wait until they are gone, and stop."""
        self.disconnect(error)
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
        """Mark the current task as serving a client while the block runs, so ``close`` waits for it.

        Raises:
            RestartingError: the service is shutting down.
        """
        if self._over is not None:
            raise self._over
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs this
        self._present.add(task)
        try:
            yield
        finally:
            self._present.discard(task)

    @contextmanager
    def listening(self, user_id: UUID, position: Position, end: Position) -> Iterator[Subscription]:
        """Subscribe to the user's room until the block ends.

        Args:
            user_id: whose events.
            position: how far the client has read.
            end: the end of the events, from ``end_of``. A new room begins there.

        A block that ends with ``SlowReaderError`` counts as a dropped client. ``offer`` raises it if too much waits,
        and the block itself if a message was not taken in time.

        Raises:
            TooManyConnectionsError: the limit is reached.
            RestartingError, UserMovingError: the hub was closed.
        """
        if self._over is not None:
            raise self._over
        room = self._rooms.get(user_id) or _Room(end)
        clients = sum(len(one.subscriptions) for one in self._rooms.values())
        if clients >= self._most or len(room.subscriptions) >= self._most_of_user:
            raise TooManyConnectionsError
        self._rooms[user_id] = room
        subscription = Subscription(position)
        room.subscriptions.add(subscription)
        observe.LIVE_CONNECTIONS.inc()
        self._anybody.set()
        if self._task is None:
            # In its own context: the task serves all clients and belongs to no request.
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
        """Yield all messages after the subscription's position: first those that were missed, then new ones.

        Yields None after each ``quiet_s`` seconds without a message, and empty text if an event has nothing to show.

        Raises:
            MemsvcError: nothing more comes.
        """
        missed = True
        while missed:
            try:
                frames = await frames_after(self._db, user_id, subscription.position)
            except UserUnknownError as error:  # the user existed when the client connected
                raise self._gone() from error
            for frame in frames.items:
                yield subscription.advance(frame)
            subscription.position, missed = frames.end, frames.more
        while True:
            yield await subscription.next(quiet_s)

    def _gone(self) -> MemsvcError:
        """What clients of a user are told who is not there any more: when they come back, the directory knows."""
        return UserErasedError() if self._is_home else UserMovingError(retry_after=1)

    async def _serve(self) -> None:
        """Send new events to all clients as long as the process lives, also after the database was away."""
        while True:
            await self._anybody.wait()
            try:
                async with self._db.listening([EVENTS]) as heard:
                    while self._rooms:
                        await self._send_news()
                        await heard(POLL_S)
            except MemsvcError as error:
                observe.logger().warning("live updates wait", code=error.code)
                await asyncio.sleep(RETRY_S)
            except Exception as error:  # noqa: BLE001 - else clients would wait for ever without any sign
                observe.logger().error("live updates failed", exc_info=error)
                await asyncio.sleep(RETRY_S)
            if not self._rooms:
                self._anybody.clear()

    async def _send_news(self) -> None:
        rooms = dict(self._rooms)
        async with self._db.transaction() as connection:
            news, end = await users_with_news(connection, {user_id: room.position for user_id, room in rooms.items()})
            gone = (await connection.execute(query("users_gone"), {"users": list(rooms)})).all()
        for user_id, moved in gone:
            rooms[user_id].end(UserMovingError(retry_after=1) if moved else self._gone())
        erased = [user_id for user_id, _ in gone]
        for user_id in rooms.keys() - set(news):
            rooms[user_id].position = end
        turn = asyncio.Semaphore(AT_ONCE)

        async def read(user_id: UUID) -> None:
            async with turn:
                await self._read(user_id, rooms[user_id])

        await asyncio.gather(*(read(user_id) for user_id in set(news).difference(erased)))

    async def _read(self, user_id: UUID, room: _Room) -> None:
        more = True
        while more and room.subscriptions:
            try:
                frames = await frames_after(self._db, user_id, room.position)
            except UserUnknownError:
                room.end(self._gone())
                return
            for frame in frames.items:
                observe.LIVE_LAG_SECONDS.observe(_age_s(frame.event))
                for subscription in room.subscriptions:
                    subscription.offer(frame)
            room.position, more = frames.end, frames.more


class Hubs:
    """The rooms of all cells' users: a hub for each database, made when its first client comes."""

    def __init__(self, home: Database, *, most: int, most_of_user: int) -> None:
        """Make the hub of the home; arguments as of ``Hub``. Each cell has its own limit of clients."""
        self._most, self._most_of_user = most, most_of_user
        self._home = Hub(home, most=most, most_of_user=most_of_user)
        self._hubs = {home: self._home}

    def of(self, db: Database) -> Hub:
        """The hub of a database; that of a cell is closed with the cell's database.

        Raises:
            UserMovingError: the database is closed.
        """
        if db not in self._hubs:
            db.closes_first(partial(self._leave, db))
            self._hubs[db] = Hub(db, most=self._most, most_of_user=self._most_of_user, is_home=False)
        return self._hubs[db]

    async def _leave(self, db: Database) -> None:
        """Close the hub of a database. Its clients find their users elsewhere when they come back."""
        await self._hubs.pop(db).close(UserMovingError(retry_after=1))

    def present(self) -> AbstractContextManager[None]:
        """Mark the current task as serving a client, as ``Hub.present``."""
        return self._home.present()

    async def close(self) -> None:
        """Disconnect all clients, wait until they are gone, and stop."""
        for hub in self._hubs.values():
            hub.disconnect()
        await asyncio.gather(*(hub.close() for hub in self._hubs.values()))


def _age_s(event: UUID) -> float:
    """How long ago an event was written: its id (UUID version 7) begins with the milliseconds since 1970."""
    return max(0.0, time.time() - (event.int >> 80) / 1000)
