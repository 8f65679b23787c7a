"""Checks connections when they leave the pool and when they come back.

A dead connection is found before it is used; a connection that must not go on is closed. An open transaction is rolled
back when its connection returns. After a rollback, the connection's ``Line`` asks the server which of its prepared
statements still exist.

A server that stops, restarts or ends a session closes its sockets. It sends an idle connection nothing else but a rare
notice, so only one of the two makes the socket readable. One system call shows that. Only then is the server pinged, as
SQLAlchemy's pre-ping does each time, at the cost of a fifth of a transaction's time.
"""

from __future__ import annotations

import select
from typing import Any

from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, event, exc
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import PoolResetState

from memsvc.db.wire import Line


def watch(engine: AsyncEngine) -> None:
    """Check each connection of a pool before it is used; if its server is gone, replace all connections."""

    @event.listens_for(engine.sync_engine, "checkout")
    def look(connection: Any, _record: Any, _proxy: Any) -> None:
        if not has_news(connection.driver_connection.pgconn.socket):
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise exc.InvalidatePoolError from error


def close_failed(engine: AsyncEngine) -> None:
    """If the database has Apache AGE, end sessions whose transaction has failed instead of rolling them back.

    A session that has loaded AGE 1.8 looks AGE up in a catalog before every statement, including ROLLBACK, once
    PostgreSQL has emptied the session's caches (because many objects were created or dropped). A failed transaction may
    not read catalogs, so ROLLBACK fails and the session cannot be used again. New sessions of that server were then
    seen to die, apparently because of a lock that was never released. A session that simply ends needs no ROLLBACK.
    Triggers can load AGE at any time, so this applies whenever the database has the extension.
    """
    loaded = False

    @event.listens_for(engine.sync_engine, "connect")
    def ask(connection: Any, _record: Any) -> None:
        nonlocal loaded
        cursor = connection.cursor()
        cursor.execute("SELECT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'age')")
        (loaded,) = cursor.fetchone()
        cursor.close()
        connection.rollback()

    @event.listens_for(engine.sync_engine, "rollback")
    def end(connection: Connection) -> None:
        if loaded and not connection.invalidated:
            driver: Any = connection.connection.driver_connection
            if driver.info.transaction_status == TransactionStatus.INERROR:
                connection.invalidate()


def roll_back(engine: AsyncEngine) -> None:
    """Roll back an open transaction when its connection returns to the pool; SQLAlchemy would send ROLLBACK each time.

    The driver knows the transaction's status without asking the server, so an idle connection returns without waiting.
    """

    @event.listens_for(engine.sync_engine, "reset")
    def end(connection: Any, record: Any, state: PoolResetState) -> None:
        if state.asyncio_safe and connection.driver_connection.info.transaction_status != TransactionStatus.IDLE:
            _doubt(record)
            connection.rollback()

    @event.listens_for(engine.sync_engine, "rollback")
    def rolled_back(connection: Connection) -> None:
        if not connection.invalidated:
            driver: Any = connection.connection.driver_connection
            if driver.info.transaction_status != TransactionStatus.IDLE:
                _doubt(connection)

    @event.listens_for(engine.sync_engine, "rollback_savepoint")
    def rolled_back_to(connection: Connection, _name: str, _context: None) -> None:
        if not connection.invalidated:
            _doubt(connection)


def _doubt(connection: Any) -> None:
    """Tell a connection's ``Line``, if there is one, that psycopg may have deallocated its prepared statements."""
    line: Line | None = connection.info.get(Line)
    if line is not None:
        line.doubt()


def has_news(descriptor: int) -> bool:
    """Whether a socket is readable; it also is when the server has closed it."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
