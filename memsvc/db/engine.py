"""Connections and transactions, each bound to one user or to none.

``Database.transaction(user_id)`` is the way to the data; ``memsvc.db.together`` does the same in one round trip. A
transaction begins, sets the signed identity for itself alone, and the database verifies it. Without a user, row
security shows no memories at all.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import cache
from typing import Any, TypeVar, cast
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import URL, TextClause, make_url, text
from sqlalchemy import exc as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import QueuePool
from sqlalchemy.util import greenlet_spawn

from memsvc import traces
from memsvc.db.admission import Admission
from memsvc.db.age import Age
from memsvc.db.epochs import epoch_of
from memsvc.db.identity import Signer
from memsvc.db.liveness import close_failed
from memsvc.db.meanings import DRIVERS_ERRORS, in_doubt, plainly
from memsvc.db.pools import open_pool
from memsvc.db.position import note_stored
from memsvc.db.replicas import NOT_THERE, Replica, Replicas
from memsvc.db.wire import Line
from memsvc.errors import (
    ConfigurationError,
    ContendedError,
    DatabaseTooOldError,
    InvalidRequestError,
    MemsvcError,
    UpgradedError,
    UserMovingError,
)
from memsvc.settings import Settings
from memsvc.text.policy import read_policy

# The token is a parameter and never part of a statement's text, which pg_stat_activity or a log would show.
BIND = text("SELECT memsvc.act_for(:user_id, :token, :keep_plans, :erasing)")
BIND_TRACED = text(f"{BIND.text}, set_config('memsvc.traceparent', :traceparent, true)")


@cache
def _bounded(bind: TextClause) -> TextClause:
    """The statement that binds, and sets the transaction's timeout: a pooler's sessions have none of ours."""
    return text(f"{bind.text}, set_config('statement_timeout', :timeout, true)")


TRY_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))")

TELL = text("SELECT pg_notify(channel, '') FROM unnest(CAST(:channels AS text[])) AS t (channel)")
TELL_EVERY_S = 0.05
"""Notifications within this time are sent together: each sending is a round trip and wakes all listeners."""
EVENTS = "memsvc.events"
"""The channel for new events in any user's outbox."""

HOME_CONNECTIONS = 2
"""The most connections to the home of a process that works for another cell: it only counts there."""
LOOK_EVERY_S = 0.05
"""How often a pool that is about to be closed is looked at."""

TRIES = 5
PAUSE_S = 0.02
"""The pause before the second try; it doubles for each further try, and is random between that and twice as long."""
Result = TypeVar("Result")


def role_url(base: str, role: str, password: str) -> URL:
    """The URL of the same database with one of memsvc's own logins, for SQLAlchemy's psycopg driver.

    Raises:
        ConfigurationError: ``base`` is not a URL. The library's own error is hidden, because it shows the password.
    """
    try:
        url = make_url(base)
    except (ValueError, sa.ArgumentError):
        raise ConfigurationError("MEMSVC_DATABASE_URL cannot be read as a URL.") from None
    return url.set(drivername="postgresql+psycopg", username=role, password=password)


def _host(url: URL) -> str:
    """A server's name for people, without its login."""
    host = url.host or url.query.get("host", "local")
    return f"{host if isinstance(host, str) else ','.join(host)}:{url.port or 5432}"


def _home(url: URL, settings: Settings) -> Database:
    """The home of a process that works for another cell, as the same login."""
    base = settings.home_url.get_secret_value() if settings.home_url else ""
    own = settings.model_copy(update={"home_url": None, "pooler_url": None, "replica_urls": None})
    return Database(role_url(base, url.username or "", url.password or ""), own, pool_size=HOME_CONNECTIONS)


class Database:
    """The service's pool of connections, as one of memsvc's own logins."""

    def __init__(
        self, url: URL, settings: Settings, *, pool_size: int | None = None, turns: Admission | None = None
    ) -> None:
        """Prepare the pool; nothing connects yet.

        Args:
            url: of the database, as one of memsvc's logins.
            settings: of this process.
            pool_size: the most connections; None: as the settings say.
            turns: those of another pool of this process; None: its own.
        """
        self._first: list[Callable[[], Awaitable[None]]] = []
        self._is_closed = False
        self._patient_until = 0.0
        self._channels: set[str] = set()
        self._teller: asyncio.Task[None] | None = None
        size = pool_size or settings.pool_size
        self.recalls = turns or Admission(
            settings.recalls_at_once, connections=size, patience_s=settings.statement_timeout_ms / 1_000
        )
        """Lets users take turns, to recall and otherwise."""
        self.signer = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s)
        try:
            self.policy = read_policy(settings.text_policy or "")
        except InvalidRequestError as error:
            raise ConfigurationError(f"MEMSVC_TEXT_POLICY: {error.message}", hint=error.advice) from error
        self.direct: AsyncEngine = open_pool(url, settings, size)
        """Connections that keep what a session is told: to listen, and to hold locks."""
        self.engine: AsyncEngine = self.direct
        """Connections for transactions."""
        self._timeout_ms: int | None = None
        if settings.pooler_url is not None:
            pooler = role_url(settings.pooler_url.get_secret_value(), url.username or "", url.password or "")
            self.engine = open_pool(pooler, settings, size, pooled=True)
            self._timeout_ms = settings.statement_timeout_ms
        close_failed(self.engine)
        self._age = Age(self.engine)
        others = [role_url(base, url.username or "", url.password or "") for base in settings.replicas]
        self._own_home = None if settings.home_url is None else _home(url, settings)
        self.accounts: Database = self._own_home or self
        """The database with the keys and their counts: the home. It is this one, if this is not another cell's."""
        self.replicas = Replicas(
            self.engine,
            [Replica(_host(other), open_pool(other, settings, size)) for other in others],
            settings.replica_lag_s,
        )
        """Serve reads that may be a little late."""

    @asynccontextmanager
    async def transaction(
        self, user_id: UUID | None = None, *, keep_plans: bool = False
    ) -> AsyncIterator[AsyncConnection]:
        """Run the block in one transaction, and commit it if the block raises nothing.

        Args:
            user_id: whose memories may be read and written in it; None: no memories at all.
            keep_plans: do not plan a prepared statement again. Its plan uses indexes, whatever the tables hold. For
                statements with one plan for all values: a partial index is not used if a value decides whether it
                applies. Needs a user.

        Raises:
            DatabaseUnavailableError, OverloadedError, StorageFullError, DatabaseTooOldError: the driver failed.
            OutcomeUnknownError: the connection was lost during COMMIT; raised even if the transaction only read.
            UserUnknownError: the user does not exist or was erased.
            UserMovingError: the user is in another cell, or on the way there.
            ConfigurationError: the database does not accept our signature.
        """
        try:
            with await self.recalls.share(user_id):
                async with self._begun(self.engine, user_id, keep_plans=keep_plans) as connection:
                    yield connection
                    with in_doubt():
                        await connection.commit()
                    self._stored(user_id)
        except DatabaseTooOldError as error:
            raise await self._which_is_old(error) from error.__cause__

    @asynccontextmanager
    async def _begun(
        self, engine: AsyncEngine, user_id: UUID | None, *, keep_plans: bool = False
    ) -> AsyncIterator[AsyncConnection]:
        """A transaction for this user, which ends with the block."""
        with plainly():
            async with engine.begin() as connection:
                if user_id is not None:
                    await self.bind(connection, user_id, keep_plans=keep_plans)
                yield connection

    async def read(
        self, user_id: UUID, work: Callable[[AsyncConnection], Awaitable[Result]], *, wait_s: float = 0
    ) -> Result:
        """Do work that only reads in one transaction, on a replica if one may serve it (``memsvc.db.replicas``).

        Args:
            user_id: whose memories may be read.
            work: receives the connection. If it fails on a replica, the primary does it again from the beginning.
            wait_s: how long to wait for a replica that shows all that this process has stored for the user.

        Raises:
            As ``transaction``, except OutcomeUnknownError.
        """

        async def by(engine: AsyncEngine) -> Result:
            async with self._begun(engine, user_id) as connection:
                return await work(connection)

        try:
            replica = await self.replicas.wait(user_id, wait_s)
            with await self.recalls.share(user_id):
                if replica is not None:
                    with suppress(*NOT_THERE):
                        found = await by(replica.engine)
                        replica.served += 1
                        return found
                return await by(self.engine)
        except DatabaseTooOldError as error:
            raise await self._which_is_old(error) from error.__cause__

    async def _which_is_old(self, error: DatabaseTooOldError) -> DatabaseTooOldError:
        """The error for something missing in the database: UpgradedError if the database is newer than this process."""
        if isinstance(error, UpgradedError):
            return error
        with suppress(*DRIVERS_ERRORS):
            if await self._age.database_is_newer():
                return UpgradedError()
        return error

    def _stored(self, user_id: UUID | None) -> None:
        """Note that a transaction of this user was committed, which may have stored something."""
        note_stored()
        if user_id is not None:
            self.replicas.wrote(user_id)

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[AsyncConnection]:
        """A connection for one statement without a user; it is a transaction of its own, in one round trip.

        Use it only for statements that read or count, which are safe to repeat if the connection is lost.

        Raises:
            DatabaseUnavailableError, OverloadedError, StorageFullError, DatabaseTooOldError: the driver failed.
        """
        try:
            with plainly():
                async with self.engine.connect() as plain:
                    yield await plain.execution_options(isolation_level="AUTOCOMMIT")
        except DatabaseTooOldError as error:
            raise await self._which_is_old(error) from error.__cause__

    @asynccontextmanager
    async def line(
        self,
        *,
        user_id: UUID | None = None,
        stores: bool = True,
        replica: Replica | None = None,
        in_turn: bool = False,
    ) -> AsyncIterator[Line]:
        """A connection of the pool without SQLAlchemy's ``Connection``, which costs as much as a short statement.

        If the block fails, the connection may have unread results, so it is closed.

        Args:
            user_id: for whom it stores.
            stores: False: the block only reads or counts, so a lost connection leaves no outcome unknown.
            replica: the server to read from; None: the primary.
            in_turn: True: the caller has waited for the user's turn.

        Raises:
            DatabaseUnavailableError, OverloadedError, StorageFullError, DatabaseTooOldError: the driver failed.
            OutcomeUnknownError: the connection was lost in an exchange that stores.
        """
        try:
            with nullcontext() if in_turn else await self.recalls.share(user_id), plainly():
                pooled = await (replica.engine if replica else self.engine).raw_connection()
                driver = cast("psycopg.AsyncConnection[Any]", pooled.driver_connection)
                line: Line = pooled.info.get(Line) or pooled.info.setdefault(Line, Line(driver))
                try:
                    with in_doubt() if stores else nullcontext():
                        yield line
                except BaseException:
                    await greenlet_spawn(pooled.invalidate)
                    raise
                # Safe outside a greenlet only because an exchange leaves the connection idle, so the pool does no I/O.
                # SQLAlchemy would close it in a greenlet of its own.
                pooled.close()
            if stores:
                self._stored(user_id)
        except DatabaseTooOldError as error:
            raise await self._which_is_old(error) from error.__cause__

    async def attempt(self, user_id: UUID | None, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        """Do work in one transaction; repeat it after a deadlock or a serialization failure.

        Args:
            user_id: as in ``transaction``.
            work: receives the connection. It must be safe to repeat: no effects outside the database.

        Raises:
            ContendedError: all tries failed.
        """

        async def once() -> Result:
            async with self.transaction(user_id) as connection:
                return await work(connection)

        return await self.again(once)

    async def again(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do work that is one transaction, and repeat it as ``attempt`` does.

        Only this function retries deadlocks and serialization failures: up to five tries, with growing random pauses.

        Raises:
            ContendedError: all tries failed.
        """
        for number in range(1, TRIES):
            try:
                return await work()
            except ContendedError:
                await asyncio.sleep(PAUSE_S * 2**number * random.uniform(0.5, 1))  # noqa: S311 - no secret
        return await work()

    def notify(self, channel: str) -> None:
        """Notify the listeners of a channel soon, about what is committed by now; does not wait.

        NOTIFY within a transaction would serialize all commits on one lock, so it gets a transaction of its own, at
        most one every fifty milliseconds. It is lost if this process dies; listeners also poll every second.
        """
        self._channels.add(channel)
        if self._teller is None or self._teller.done():
            self._teller = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        while self._channels:
            channels, self._channels = sorted(self._channels), set()
            with suppress(MemsvcError):
                async with self.line() as line:
                    await line.exchange([(TELL, {"channels": channels})])
            await asyncio.sleep(TELL_EVERY_S)

    @asynccontextmanager
    async def holding(self, name: str) -> AsyncIterator[bool]:
        """Hold an advisory lock outside any transaction; yields False if another session holds it.

        It takes one connection until the block ends, and no transaction. The lock ends with the connection, so a
        killed process holds nothing.

        Raises:
            DatabaseUnavailableError, OverloadedError: no connection is available.
        """
        async with AsyncExitStack() as stack:
            with plainly():
                plain = await stack.enter_async_context(self.direct.connect())
                connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
                held: bool = (await connection.execute(TRY_LOCK, {"name": name})).scalar_one()
            try:
                yield held
            finally:
                if held:
                    try:
                        await connection.execute(UNLOCK, {"name": name})
                    except BaseException as error:
                        await connection.invalidate()  # closing it releases the lock
                        if not isinstance(error, DRIVERS_ERRORS):
                            raise

    @asynccontextmanager
    async def listening(self, channels: Sequence[str]) -> AsyncIterator[Callable[[float], Awaitable[bool]]]:
        """Listen to notifications outside any transaction, with one connection until the block ends.

        It yields a function that waits for the next notification, up to a number of seconds, and returns whether one
        came.

        Raises:
            DatabaseUnavailableError, OverloadedError: no connection is available, or it broke; also while waiting.
        """
        async with AsyncExitStack() as stack:
            with plainly():
                plain = await stack.enter_async_context(self.direct.connect())
                connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
                stack.push_async_callback(connection.invalidate)  # no other user may get a connection that listens
                for channel in channels:
                    await connection.exec_driver_sql(sql.SQL("LISTEN {}").format(sql.Identifier(channel)).as_string())
                driver: Any = (await connection.get_raw_connection()).driver_connection

            async def heard(seconds: float) -> bool:
                with plainly():
                    return bool([notice async for notice in driver.notifies(timeout=seconds, stop_after=1)])

            yield heard

    async def bind(
        self, connection: AsyncConnection, user_id: UUID, *, erasing: bool = False, keep_plans: bool = False
    ) -> None:
        """Act for this user until the end of the running transaction.

        Args:
            connection: a connection in a transaction.
            user_id: the user to act for.
            erasing: also accept a user who is being erased, or was; for code that erases.
            keep_plans: as in ``transaction``.

        Raises:
            UserUnknownError: the user does not exist or was erased.
            ConfigurationError: the database does not accept our signature.
        """
        statement, values = self.binding(user_id, erasing=erasing, keep_plans=keep_plans)
        with plainly():
            await connection.execute(statement, values)

    def binding(
        self, user_id: UUID, *, erasing: bool = False, keep_plans: bool = False
    ) -> tuple[TextClause, dict[str, Any]]:
        """The statement that binds a transaction, and its values with a new token; arguments as in ``bind``."""
        token = self.signer.token(user_id, epoch=epoch_of(user_id))
        values: dict[str, Any] = {"user_id": user_id, "token": token, "keep_plans": keep_plans, "erasing": erasing}
        around = traces.traceparent()
        statement = BIND
        if around is not None:  # for jobs that this transaction requests
            statement, values = BIND_TRACED, {**values, "traceparent": around}
        if self._timeout_ms is not None:
            statement, values = _bounded(statement), {**values, "timeout": str(self._timeout_ms)}
        return statement, values

    def closes_first(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have something closed just before this database is: what was opened for it, and is of no use without it.

        Raises:
            UserMovingError: it is closed already: a process does so with a cell's database that it finds gone.
        """
        if self._is_closed:
            raise UserMovingError(retry_after=1)
        self._first.append(close)

    async def close(self, *, patience_s: float = 0.0) -> None:
        """Close all connections, after what was to be closed first.

        Args:
            patience_s: how long transactions that have begun may go on, unless somebody closes it again meanwhile.
        """
        self._is_closed = True
        while self._first:
            await self._first.pop()()
        if self._teller is not None:
            self._teller.cancel()
            with suppress(asyncio.CancelledError):
                await self._teller
        loop = asyncio.get_running_loop()
        self._patient_until = loop.time() + patience_s
        pool = cast("QueuePool", self.engine.pool)
        while pool.checkedout() and loop.time() < self._patient_until:  # noqa: ASYNC110 - another task ends it
            await asyncio.sleep(LOOK_EVERY_S)
        if self._own_home is not None:
            await self._own_home.close()
        await self.replicas.close()
        await self.engine.dispose()
        await self.direct.dispose()
