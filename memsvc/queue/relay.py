"""Moves messages from PostgreSQL's queue to Redis or RabbitMQ, for more workers than one database can serve.

A message leaves the queue in a transaction that commits after the server has accepted it. If a relay dies in between,
the message is in both, and the job is still run only once; no message is ever lost. Only a limited number of messages
wait at the server; the rest stay in the database, where users take turns. Several relays may run at the same time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import structlog
from dramatiq import Message
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import MemsvcError
from memsvc.queue.broker import NOBODY, SILENCE_S, NotUnderstoodError, read_message
from memsvc.queue.jobs import QUEUES, channel
from memsvc.queue.targets import Target

BATCH = 100
MOST_WAITING = 100
POLL_S = 1.0
FULL_S = 0.2
"""How soon a server with the most allowed messages is asked again."""
LONGEST_WAIT_S = 10.0
UPKEEP_S = 5.0
TAKE = text("SELECT * FROM memsvc.relay_messages(:queue, :after, :limit)")
KEEP = text("SELECT memsvc.keep_queue(make_interval(secs => :silence))")
log = structlog.get_logger()

T = TypeVar("T")


class Relay:
    """Moves due messages from the database to a server until it is told to stop."""

    def __init__(self, db: Database, target: Target, *, most_waiting: int = MOST_WAITING) -> None:
        """Prepare; nothing connects yet.

        Args:
            db: the database; the relay takes two of its connections.
            target: the server. The relay uses it in a thread of its own and closes it in the end.
            most_waiting: the most messages of each queue that may wait at the server.
        """
        self.db, self.target, self.most_waiting = db, target, most_waiting
        self._upkeep_at = 0.0
        self._after = dict.fromkeys(QUEUES, NOBODY)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="relay")

    async def run(self, stop: asyncio.Event) -> None:
        """Relay until ``stop`` is set; if the database or the server is away, wait for it without losing messages."""
        wait_s = 0.0
        try:
            while not stop.is_set():
                try:
                    async with self.db.listening([channel(queue) for queue in QUEUES]) as heard:
                        while not stop.is_set():
                            rest_s = await self.move()
                            if wait_s:
                                wait_s = 0.0
                                log.info("relay goes on")
                            if rest_s:
                                await (heard(rest_s) if rest_s == POLL_S else asyncio.sleep(rest_s))
                except MemsvcError as error:
                    cause = type(error.__cause__).__name__
                    log.warning("relay waits", code=error.code, error=error.message, cause=cause)
                    wait_s = min(max(wait_s * 2, 0.5), LONGEST_WAIT_S)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), wait_s)
        finally:
            await self._there(self.target.close)
            self._thread.shutdown()

    async def move(self) -> float:
        """Move at most one batch of each queue.

        Returns:
            How many seconds to wait before the next call; 0 if more messages may be due.

        Raises:
            QueueUnavailableError: the server did not accept all messages; they are in the queue again.
            MemsvcError: the database did not commit; the messages are in the queue again.
        """
        await self._keep()
        rests = []
        for queue in QUEUES:
            room = self.most_waiting - await self._there(partial(self.target.waiting, queue))
            if room <= 0:
                rests.append(FULL_S)
            else:
                rests.append(0.0 if await self._move_batch(queue, min(room, BATCH)) else POLL_S)
        return min(rests)

    async def _keep(self) -> None:
        """Run the queue's upkeep, which no other process does if all workers use the server."""
        if time.monotonic() >= self._upkeep_at:
            async with self.db.transaction() as connection:
                await connection.execute(KEEP, {"silence": SILENCE_S})
            self._upkeep_at = time.monotonic() + UPKEEP_S

    async def _move_batch(self, queue: str, limit: int) -> int:
        async with self.db.transaction() as connection:
            values = {"queue": queue, "after": self._after[queue], "limit": limit}
            rows = (await connection.execute(TAKE, values)).all()
            if not rows and self._after[queue] != NOBODY:  # all users had their turn: start again with the first
                rows = (await connection.execute(TAKE, values | {"after": NOBODY})).all()
            if rows:
                readable = await _sorted_out(connection, queue, rows)
                await self._there(partial(self.target.send, readable))
        self._after[queue] = max((row.user_id for row in rows), default=NOBODY)
        return len(rows)

    async def _there(self, call: Callable[[], T]) -> T:
        """Call the server in the relay's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


async def _sorted_out(connection: AsyncConnection, queue: str, rows: Iterable[Row[Any]]) -> list[Message[Any]]:
    """The readable messages; the others go back as dead letters."""
    readable = []
    for row in rows:
        try:
            readable.append(read_message(str(row.message_id), queue, row.message))
        except NotUnderstoodError as error:
            details = {"message_id": str(row.message_id), "queue": queue, "error": str(error)}
            log.warning("message rejected", code="message_rejected", **details)
            values = {
                "message_id": row.message_id, "user_id": row.user_id, "queue_name": queue, "message": row.message
            }  # fmt: skip
            await connection.execute(query("reject_message"), values)
    return readable
