"""Connections as they leave the pool and come back: which are of no use any more, and what one left open.

The former are found before they are used, and ended where they must not go on; the latter is rolled back. After a
rollback the connection's ``Line`` asks which of its prepared statements are still there.

A server that ends, restarts or sends somebody away closes its sockets. While a connection rests in the pool nothing
else is sent to it but a rare notice, so its socket can be read only then; that costs one system call to see. A server
that really has to be asked is asked as SQLAlchemy's own pre-ping would, which took a fifth of a transaction's time.
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
    """Look at each connection of a pool before it is used; all of them are made anew where its server has gone."""

    @event.listens_for(engine.sync_engine, "checkout")
    def look(connection: Any, _record: Any, _proxy: Any) -> None:
        if not has_news(connection.driver_connection.pgconn.socket):
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise exc.InvalidatePoolError from error


def close_failed(engine: AsyncEngine) -> None:
    """Where the database has Apache AGE, end sessions whose transaction has failed instead of rolling them back.

    A session that has loaded AGE 1.8 looks for it in a catalog in front of every statement, ROLLBACK too, once
    PostgreSQL has emptied the session's caches (much was created or dropped meanwhile). In a failed transaction that
    must not be: ROLLBACK fails, and the session is of no use any more. New sessions of that server were seen to die
    afterwards, by a lock that was left behind, it seems. A session that simply ends needs no ROLLBACK. Triggers load
    AGE at any time, so it counts whether the database has it.
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
    """Roll back what a connection left open when it goes back to the pool; SQLAlchemy would ask each one for that.

    The driver knows without asking the server, so one at rest goes back without having to wait.
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
        _doubt(connection)


def _doubt(connection: Any) -> None:
    """Tell the line on a connection, if there is one, that psycopg may have the server forget what it has prepared."""
    line: Line | None = connection.info.get(Line)
    if line is not None:
        line.doubt()


def has_news(descriptor: int) -> bool:
    """Whether something can be read from a socket, be it its end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
