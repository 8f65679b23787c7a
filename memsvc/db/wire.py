"""Sends several statements to the server together, then reads all their rows.

It uses libpq's pipeline mode directly (https://www.postgresql.org/docs/18/libpq-pipeline-mode.html); psycopg adapts
values and rows. psycopg's own pipeline uses a cursor, a lock, a poll of the socket and a write for each statement. That
took a third of the time that the event loop's thread spent on a chat message (docs/adr/0035).
"""

from __future__ import annotations

import secrets
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import count
from typing import Any, NamedTuple

import psycopg
from psycopg import abc
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, error_from_result
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.base import PGDialect

MOST_PREPARED = 100
"""The most prepared statements of a connection; plans are large, and each set of parameter types has its own."""
PREPARED = b"SELECT name FROM pg_catalog.pg_prepared_statements"
DIALECT = PGDialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
Asked = Sequence[tuple[TextClause, Mapping[str, Any]]]
"""Statements that return rows, and their values by name."""


@cache
def _for_server(statement: TextClause) -> tuple[bytes, Sequence[str], Sequence[PyFormat]]:
    """The statement with numbered parameters, the parameters' names in that order, and their formats."""
    compiled = statement.compile(dialect=DIALECT)
    names = tuple(compiled.positiontup or ())
    return str(compiled).encode(), names, [PyFormat.AUTO] * len(names)


@cache
def _row_maker(columns: tuple[bytes, ...]) -> Callable[[Sequence[Any]], Any]:
    """A function that makes rows with columns as attributes."""
    row = namedtuple("Row", [column.decode() for column in columns], rename=True)  # type: ignore[misc]  # noqa: PYI024 - made
    return partial(tuple.__new__, row)


class _Written(NamedTuple):
    """A statement with its values as libpq sends them."""

    text: bytes
    values: Sequence[abc.Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Any]


class Line:
    """A connection and its prepared statements: one for each statement and set of parameter types."""

    def __init__(self, driver: psycopg.AsyncConnection[Any]) -> None:
        """Begin without prepared statements; a driver that prepares none gets none here, either."""
        self.driver = driver
        self._keeps = driver.prepare_threshold is not None
        # Kept, because it caches how each type is read and written; so the session's time zone must not change.
        self._transformer: abc.Transformer = Transformer(driver)
        self._names: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        # Random, because with a pooler the server's session may have prepared statements of another client.
        name = secrets.token_hex(4).encode()
        self._new_names = (b"memsvc_%s_%d" % (name, number) for number in count())
        self._doubted = False

    def doubt(self) -> None:
        """Ask the server which statements it still has prepared, before the next exchange.

        After a rollback, psycopg deallocates all of them if it prepared one itself. Finding that out by an error would
        put the error into the server's log.
        """
        self._doubted = True

    async def exchange(self, asked: Asked) -> list[list[Any]]:
        """Run statements in their order in one transaction, and commit; returns the rows of each.

        If a statement fails, nothing is stored; if the connection is lost, the outcome is unknown. In both cases this
        ``Line`` cannot be used again, because it counts statements as prepared that the server skipped after the
        failure.

        Raises:
            psycopg.Error: the first error.
        """
        written = [self._written(statement, values) for statement, values in asked]
        if self._doubted and self._names:
            await self._forget_what_is_gone()
        self._doubted = False
        try:
            results = await self._results(written)
        # A pooler may have given the session to others; an upgrade may change the columns of a statement.
        except (InvalidSqlStatementName, FeatureNotSupported):
            self._names.clear()
            results = await self._results(written)
        return [self._rows(result) for result in results if result.status == ExecStatus.TUPLES_OK]

    async def _forget_what_is_gone(self) -> None:
        (found,) = await self._results([_Written(PREPARED, (), (), ())])
        there = {found.get_value(row, 0) for row in range(found.ntuples)}
        self._names = {key: name for key, name in self._names.items() if name in there}

    async def _results(self, written: Sequence[_Written]) -> list[PGresult]:
        results = await self.driver.wait(self._exchanged(written))
        for result in results:
            if result.status == ExecStatus.FATAL_ERROR:
                raise error_from_result(result, encoding=self.driver.info.encoding)
        return results

    def _exchanged(self, written: Sequence[_Written]) -> abc.PQGen[list[PGresult]]:
        """Write all, then read all: the results of preparations and of statements."""
        connection = self.driver.pgconn
        if connection.transaction_status != TransactionStatus.IDLE:  # it would not be committed
            raise psycopg.InterfaceError("another transaction is open on this connection")
        connection.enter_pipeline_mode()
        for one in written:
            self._send(connection, one)
        connection.pipeline_sync()
        yield from send(connection)
        results: list[PGresult] = []
        while found := (yield from fetch_many(connection)):
            if found[0].status == ExecStatus.PIPELINE_SYNC:
                break
            results += found
        connection.exit_pipeline_mode()  # fails if the connection ended before all results came
        return results

    def _send(self, connection: PGconn, written: _Written) -> None:
        if written.text is PREPARED:
            connection.send_query_params(PREPARED, None)
            return
        if not self._keeps:
            connection.send_prepare(b"", written.text, written.types)
            connection.send_query_prepared(b"", written.values, written.formats)
            return
        key = written.text, written.types
        name = self._names.pop(key, None)
        if name is None:
            if len(self._names) >= MOST_PREPARED:  # deallocate the least recently used one
                connection.send_query_params(b"DEALLOCATE " + self._names.pop(next(iter(self._names))), None)
            name = next(self._new_names)
            connection.send_prepare(name, written.text, written.types)
        self._names[key] = name
        connection.send_query_prepared(name, written.values, written.formats)

    def _written(self, statement: TextClause, values: Mapping[str, Any]) -> _Written:
        text, names, formats = _for_server(statement)
        dumped = self._transformer.dump_sequence([values[name] for name in names], formats)
        return _Written(text, dumped, self._transformer.types or (), self._transformer.formats or ())

    def _rows(self, result: PGresult) -> list[Any]:
        self._transformer.set_pgresult(result)
        columns = tuple([result.fname(number) or b"" for number in range(result.nfields)])
        return self._transformer.load_rows(0, result.ntuples, _row_maker(columns))
