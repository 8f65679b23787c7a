"""The Dramatiq broker for the queue in PostgreSQL, derived from dramatiq-postgres' broker.

It differs from the library in these points: a trigger on ``jobs`` (``sql/functions/queue/10_queue.sql``) writes the
messages, not ``enqueue``; users take turns; the transaction that ends a job also deletes its message; an unreadable
message becomes a dead letter; upkeep is ``memsvc.keep_queue``. The library does the rest: waiting and waking,
heartbeats, pools, reconnecting.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import psycopg
import structlog
from dramatiq import Message, MessageProxy
from dramatiq.errors import BrokerConnectionError, Retry
from dramatiq_postgres import PostgresBroker
from dramatiq_postgres.broker import CLAIM_BATCH_MAX, PostgresConsumer
from dramatiq_postgres.utils import raise_connection_error, transaction
from psycopg import errors
from psycopg_pool import ConnectionPool
from sqlalchemy import URL

from memsvc.errors import DatabaseTooOldError, UpgradedError

HEARTBEAT_S = 3.0
SILENCE_S = 12.0
"""A worker without a heartbeat for this long counts as dead, and its jobs are handed out again. Including the wait for
the next upkeep (up to 1.5 times ``UPKEEP_S``), that takes less than 20 s."""
UPKEEP_S = 4.0
POLL_S = 1.0
LATER_S = 2.0
"""A message that cannot be processed now comes back after this time."""
NOBODY = UUID(int=0)
MISSING = (errors.UndefinedFunction, errors.UndefinedTable, errors.UndefinedColumn)
"""Errors of an older process after an upgrade that removed something it uses."""
log = structlog.get_logger()

CLAIM = "SELECT * FROM memsvc.claim_messages(%s, %s, %s, %s)"
KEEP = "SELECT memsvc.keep_queue(make_interval(secs => %s))"
DELETE = "DELETE FROM memsvc.dramatiq_queue WHERE message_id = %s AND worker_id = %s AND state = 'consumed'"
LATER = """
UPDATE memsvc.dramatiq_queue SET state = 'queued', worker_id = NULL, mtime = clock_timestamp(),
  available_at = clock_timestamp() + make_interval(secs => %s)
WHERE message_id = %s AND worker_id = %s AND state = 'consumed'
"""
NOT_HELD = """
UPDATE memsvc.dramatiq_queue SET state = 'queued', worker_id = NULL, mtime = clock_timestamp()
WHERE worker_id = %s AND queue_name = %s AND state = 'consumed' AND message_id <> ALL (%s::uuid[])
"""
# A message that is not a JSON object has no key for the error, so it is wrapped in one; memsvc.queue.dead unwraps it.
REJECT = """
UPDATE memsvc.dramatiq_queue SET state = 'rejected', worker_id = NULL, mtime = clock_timestamp(),
  message = CASE WHEN jsonb_typeof(message) = 'object' THEN message ELSE jsonb_build_object('unread', message) END
    || jsonb_build_object('error', %s::text)
WHERE message_id = %s AND worker_id = %s AND state = 'consumed'
"""
GONE = "DELETE FROM memsvc.dramatiq_worker WHERE worker_id = %s"


class LaterError(Retry):
    """The message cannot be processed now and comes back; as it is a Retry, Dramatiq does not log it as an error."""


class NotUnderstoodError(Exception):
    """This version cannot read the message; it is kept as a dead letter."""


Nothing = Annotated[dict[str, Any], msgspec.Meta(max_length=0)]
Around = dict[
    Literal["traceparent"], Annotated[str, msgspec.Meta(pattern="^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")]
]
"""The trace in which a job was requested, if one was recorded."""


class Letter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message as ``memsvc.job_message`` builds it.

    Dramatiq does not check messages. An unknown queue, options of the wrong type or arguments that are not a list would
    end its thread, and the message would never be acknowledged.
    """

    queue_name: str
    actor_name: str
    args: tuple[Any, ...]
    kwargs: Around
    options: Nothing
    message_id: str
    message_timestamp: int


def queue_pool(url: URL, size: int) -> ConnectionPool[Any]:
    """The connection pool of a broker; nothing connects yet.

    The queue's commits need not wait for the disk: whatever a crash loses is done again.
    """
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return ConnectionPool(
        plain,
        kwargs={
            "application_name": "memsvc queue",
            "connect_timeout": 5,
            "options": "-c synchronous_commit=off -c statement_timeout=30000",
        },
        min_size=0,
        max_size=size,
        # Short, because the pool's pauses between tries grow: a database that returns is noticed within seconds.
        timeout=5,
        reconnect_timeout=2,
        open=True,
        check=ConnectionPool.check_connection,
    )


class QueueBroker(PostgresBroker):  # type: ignore[misc]  # the library has no types
    """Carries messages from ``memsvc.dramatiq_queue`` to workers."""

    def __init__(self, url: URL, threads: int, *, prefetch: Mapping[str, int] | None = None) -> None:
        """Prepare the broker; nothing connects yet.

        Args:
            url: URL of the database, with the login memsvc_app.
            threads: the number of the worker's threads.
            prefetch: the most messages of each queue that this process holds; 1 for queues whose jobs are slow.
        """
        self.prefetch = dict(prefetch or {})
        self.settled: set[str] = set()
        """Ids of messages that were deleted when their jobs ended."""
        self.held: dict[str, set[str]] = {}
        """For each queue, the ids of the messages that this process is working on; kept across reconnections."""
        # One connection for each queue, one to listen, one for each thread.
        super().__init__(
            pool=queue_pool(url, threads + 8), results=False, schema="memsvc", prefix="dramatiq_",
            poll_interval=POLL_S, heartbeat_interval=HEARTBEAT_S, heartbeat_ttl=SILENCE_S, middleware=[],
        )  # fmt: skip
        self.has_worked = False
        """Whether the database has had everything that a consumer uses."""
        self._upkeep_lock = threading.Lock()
        self._upkeep_at = 0.0

    def declare_queue(self, queue_name: str) -> None:
        """Declare a queue; delays are stored in its rows, so it needs no second queue for delayed messages."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = True
            self.emit_after("declare_queue", queue_name)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> QueueConsumer:
        """A consumer of a queue's messages."""
        most = min(prefetch, self.prefetch.get(queue_name, prefetch))
        return QueueConsumer(broker=self, queue_name=queue_name, prefetch=most, timeout=timeout)

    def maybe_maintenance(self, conn: Any) -> None:
        """Run the queue's upkeep if it is due."""
        with self._upkeep_lock:
            if time.monotonic() < self._upkeep_at:
                return
            self._upkeep_at = time.monotonic() + UPKEEP_S * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
        with transaction(conn) as cursor:
            cursor.execute(KEEP, (SILENCE_S,))
            (again,) = cursor.fetchone()
        if again:
            log.info("messages handed out again", count=again)

    def close(self) -> None:
        """Unregister the worker, so that its messages are handed out again soon, and close all connections."""
        try:
            with self.pool.connection(timeout=2) as connection:
                connection.execute(GONE, (self.worker_id,))
        except psycopg.Error:  # other workers notice the missing heartbeat
            log.info("the queue was left without a word")
        super().close()
        self.pool.close()


class QueueConsumer(PostgresConsumer):  # type: ignore[misc]  # the library has no types
    """Messages of one queue for one process."""

    def __init__(self, **named: Any) -> None:
        """Begin with the first user."""
        super().__init__(**named)
        self.in_processing = self.broker.held.setdefault(self.queue_name, set())
        self._consume_conn: Any = None
        self._after = NOBODY
        self._compare_at = 0.0

    @raise_connection_error  # type: ignore[untyped-decorator]
    def __next__(self) -> MessageProxy | None:
        """The next message; None if there is none within a second."""
        try:
            self._compare()
            message: MessageProxy | None = super().__next__()
        except MISSING as error:
            why = UpgradedError() if self.broker.has_worked else DatabaseTooOldError()
            log.error("no jobs are taken", code=why.code, error=why.message, hint=why.advice)  # noqa: TRY400 - it says all
            raise BrokerConnectionError(why.code) from error  # type: ignore[no-untyped-call]  # tried again, in seconds
        self.broker.has_worked = True
        return message

    def _compare(self) -> None:
        """Give back messages that the database counts as ours but we do not hold: a claim or an answer was lost."""
        if time.monotonic() < self._compare_at:
            return
        held = [*self.in_processing, *(message.message_id for message in self.buffer)]
        with transaction(self.get_consume_conn()) as cursor:
            cursor.execute(NOT_HELD, (self.broker.worker_id, self.queue_name, held))
        self._compare_at = time.monotonic() + UPKEEP_S

    def get_consume_conn(self) -> Any:
        """The consumer's connection; the library's own method tries for minutes and cannot be stopped."""
        if self._consume_conn is not None and self._consume_conn.closed:
            self.pool.putconn(self._consume_conn)
            self._consume_conn = None
        if self._consume_conn is None:
            self._consume_conn = self.pool.getconn()
        return self._consume_conn

    @raise_connection_error  # type: ignore[untyped-decorator]
    def claim(self, limit: int) -> None:
        """Take up to ``limit`` messages, once half of what this process may hold is free.

        The other half keeps all threads busy until then, and a claim costs as much for one message as for several.
        """
        if 2 * limit >= min(self.prefetch, CLAIM_BATCH_MAX):
            self._take(limit)

    def _take(self, limit: int) -> None:
        """Take up to ``limit`` messages, each user in turn; unreadable ones become dead letters."""
        with transaction(self.get_consume_conn()) as cursor:
            rows = self._claim(cursor, limit)
            if not rows and self._after != NOBODY:
                self._after = NOBODY
                rows = self._claim(cursor, limit)
            for message_id, user_id, payload in rows:
                self._after = max(self._after, user_id)
                try:
                    self.buffer.append(read_message(str(message_id), self.queue_name, payload))
                except NotUnderstoodError as error:
                    log.warning("message rejected", message_id=str(message_id), error=str(error))
                    cursor.execute(REJECT, (str(error), message_id, self.broker.worker_id))

    def _claim(self, cursor: Any, limit: int) -> list[tuple[UUID, UUID, str | None]]:
        cursor.execute(CLAIM, (self.queue_name, self.broker.worker_id, self._after, limit))
        found: list[tuple[UUID, UUID, str | None]] = cursor.fetchall()
        return found

    def ack(self, message: MessageProxy) -> None:
        """Acknowledge a message that was processed; runs in a worker's thread."""
        mine = (message.message_id, self.broker.worker_id)
        failure = message._exception  # noqa: SLF001 - Dramatiq has no public attribute for it
        if message.message_id in self.broker.settled:
            self.broker.settled.discard(message.message_id)
            self._let_go(message)
        elif failure is None:
            self._let_go(message, DELETE, *mine)
        elif isinstance(failure, NotUnderstoodError):
            self._let_go(message, REJECT, str(failure), *mine)
        else:
            self._let_go(message, LATER, LATER_S, *mine)

    def nack(self, message: MessageProxy) -> None:
        """Keep a message that no actor understands as a dead letter; runs in a worker's or the consumer's thread."""
        says = f"No worker knows the job {message.actor_name!r}."
        self._let_go(message, REJECT, says, message.message_id, self.broker.worker_id)

    def _let_go(self, message: MessageProxy, statement: str = "", *values: Any) -> None:
        """Run the statement, if there is one. If that fails, ``_compare`` gives the message back."""
        try:
            if statement:
                with self.pool.connection() as connection:
                    connection.execute(statement, values)
        except psycopg.Error as error:
            log.info("a message's answer was lost", message_id=message.message_id, error=type(error).__name__)
        finally:
            self.in_processing.discard(message.message_id)
            self.wakeup.set()

    @raise_connection_error  # type: ignore[untyped-decorator]
    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Give back messages whose processing has not begun."""
        given = list(messages)
        if given:
            with transaction(self.get_consume_conn()) as cursor:
                for message in given:
                    cursor.execute(LATER, (0, message.message_id, self.broker.worker_id))


def read_message(message_id: str, queue_name: str, payload: str | None) -> Message[Any]:
    """Read a message into Dramatiq's form.

    Raises:
        NotUnderstoodError: it is not a message, or does not belong to this row.
    """
    try:
        letter = msgspec.json.decode(payload or "", type=Letter)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise NotUnderstoodError(f"It cannot be read: {type(error).__name__}.") from error
    if letter.message_id != message_id:
        raise NotUnderstoodError("It has another id than its row.")
    if letter.queue_name != queue_name:
        raise NotUnderstoodError("It has another queue than its row.")
    return Message(**msgspec.structs.asdict(letter))
