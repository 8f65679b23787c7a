"""Copies the rows of one user from one database to another, table by table, while the user goes on.

What is copied is read from the catalog: every table with a column ``user_id`` that is not named in ``LEFT``. Rows keep
their ids. They travel in PostgreSQL's binary COPY format, so numbers, times and vectors arrive bit for bit. The first
round copies all rows of a snapshot; later rounds copy rows that were written since (``Table.since``). ``mend`` makes a
table equal to a snapshot, whatever it holds; it finds deleted rows, and continues after a kill. ``sums`` compares: the
number of rows and the sum of a hash of each row, on both sides at once.

The target writes with ``session_replication_role = replica``: triggers and foreign keys do nothing, so rows of
different moments may stand beside each other until the last round; ``orphans`` then checks every foreign key.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

LEFT = frozenset({"users", "api_keys", "moves", "outbox", "dramatiq_queue"})
"""Tables with rows of users that are not copied: the user's row is written by the mover; keys and moves belong to the
directory; events carry transaction numbers of their database; messages of the queue are sent anew by the target."""
LATE = frozenset({"jobs", "schedules", "feeds"})
"""Tables from which workers take what is due, whoever's it is: copied last, so that they find nothing of a user who is
not there yet."""
FIRST_OF_OTHERS = 16_384
"""The first oid that is not the same in all databases (FirstNormalObjectId)."""
HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
"""Before the rows of a binary COPY: the signature, no flags, no extension."""
TRAILER = b"\xff\xff"
CHUNK = 20_000
"""Rows that one transaction of the first round writes."""
BLOCK = 1 << 16
COLUMNS = """
SELECT c.relname, a.attname, k.position, s.nspname, p.proname, a.atttypid::bigint, e.oid::bigint,
  format_type(a.atttypid, a.atttypmod)
FROM memsvc.user_tables() WITH ORDINALITY AS t (name, unreferred, place)
INNER JOIN pg_class AS c ON c.relnamespace = 'memsvc'::regnamespace AND c.relname = t.name
INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attgenerated = '' AND a.attidentity = ''
INNER JOIN pg_type AS y ON y.oid = a.atttypid
INNER JOIN pg_proc AS p ON p.oid = y.typsend
INNER JOIN pg_namespace AS s ON s.oid = p.pronamespace
LEFT JOIN pg_type AS e ON e.oid = y.typelem
LEFT JOIN LATERAL (
  SELECT u.position FROM pg_constraint AS n, unnest(n.conkey) WITH ORDINALITY AS u (number, position)
  WHERE n.conrelid = c.oid AND n.contype = 'p' AND u.number = a.attnum
) AS k ON true
WHERE t.name <> ALL (%s)
ORDER BY t.place DESC, a.attnum
"""
FOREIGN_KEYS = """
SELECT c.relname, p.relname, x.here, x.there
FROM pg_constraint AS f
INNER JOIN pg_class AS c ON c.oid = f.conrelid
INNER JOIN pg_class AS p ON p.oid = f.confrelid
CROSS JOIN LATERAL (
  SELECT array_agg(a.attname::text ORDER BY u.place) AS here, array_agg(b.attname::text ORDER BY u.place) AS there
  FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS u (here, there, place)
  INNER JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = u.here
  INNER JOIN pg_attribute AS b ON b.attrelid = f.confrelid AND b.attnum = u.there
) AS x
WHERE f.contype = 'f' AND f.conparentid = 0 AND c.relname = ANY (%s) AND c.relnamespace = 'memsvc'::regnamespace
ORDER BY c.relname, f.conname
"""
Rows = Mapping[str, tuple[int, int]]
"""By table: the number of rows, and the sum of their hashes."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is copied."""

    name: str
    kind: str
    """Its type, as SQL writes it."""
    sent: tuple[str, str] | None
    """The function that writes its binary form; None: it has a type that all databases number alike."""
    textual: bool
    """Whether only its text is the same in all databases."""

    def value(self, models: Mapping[int, int] | None) -> sql.Composable:
        """The column of the row r, with the model's number in the target where it names an embedding model."""
        plain = sql.SQL("r.{}").format(sql.Identifier(self.name))
        if self.name != "model_id" or models is None:
            return plain
        cases = sql.SQL(" ").join(
            sql.SQL("WHEN {} THEN {}").format(sql.Literal(old), sql.Literal(new)) for old, new in models.items()
        )
        return sql.SQL("(CASE {} {} END)::smallint").format(plain, cases) if models else sql.SQL("NULL::smallint")

    def hashed(self, models: Mapping[int, int] | None) -> sql.Composable:
        """The value in a form that is the same in all databases."""
        value = self.value(models)
        if self.textual:
            return sql.SQL("({})::text").format(value)
        return sql.SQL("{}({})").format(sql.Identifier(*self.sent), value) if self.sent else value


@dataclass(frozen=True, slots=True)
class Table:
    """A table with rows of users, and how its rows are read."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[Column, ...]
    """Of its primary key, without ``user_id``."""

    @property
    def named(self) -> sql.Composable:
        """Its name in SQL."""
        return sql.Identifier("memsvc", self.name)

    @property
    def names(self) -> sql.Composable:
        """The names of its columns."""
        return _listed(sql.Identifier(column.name) for column in self.columns)

    @property
    def keys(self) -> sql.Composable:
        """The names of the columns of its key."""
        return _listed(sql.Identifier(column.name) for column in self.key)

    def of(self, user_id: UUID, models: Mapping[int, int] | None) -> sql.Composable:
        """The condition for a user's rows; on the source only those with a model that the target has."""
        mine = sql.SQL("r.user_id = {}").format(sql.Literal(user_id))
        if models is None or all(column.name != "model_id" for column in self.columns):
            return mine
        return sql.SQL("{} AND r.model_id = ANY ({}::smallint[])").format(mine, sql.Literal(list(models)))

    def values(self, models: Mapping[int, int] | None) -> sql.Composable:
        """Its columns, as they are copied."""
        return _listed(column.value(models) for column in self.columns)

    def key_values(self, models: Mapping[int, int] | None) -> sql.Composable:
        """The columns of its key, as they are copied."""
        return _listed(column.value(models) for column in self.key)

    def hash(self, models: Mapping[int, int] | None) -> sql.Composable:
        """64 bits of the row r: of the binary form of what is copied."""
        values = _listed(column.hashed(models) for column in self.columns)
        return sql.SQL("hashbyteaextended(record_send(ROW({})), 0)").format(values)

    def matched(self, other: str, models: Mapping[int, int] | None = None) -> sql.Composable:
        """The condition that the rows r and ``other`` have the same key."""
        return sql.SQL(" AND ").join(
            sql.SQL("{} = {}").format(column.value(models), sql.Identifier(other, column.name)) for column in self.key
        )

    @staticmethod
    def since(seen: int) -> sql.Composable:
        """The condition for rows r that transactions from ``seen`` on have written.

        A row has only the lower 32 bits of its transaction's number, so they are compared as PostgreSQL compares them:
        the later one is at most 2^31 ahead. Rows that are older than that may be taken for new ones, and are copied
        again.
        """
        low = sql.Literal(seen % 2**32)
        return sql.SQL("(r.xmin::text::bigint - {} + 4294967296) % 4294967296 < 2147483648").format(low)


def _listed(parts: Iterable[sql.Composable]) -> sql.Composable:
    return sql.SQL(", ").join(parts)


def tables_of(connection: psycopg.Connection) -> list[Table]:
    """The tables that are copied, referred tables before those that refer to them."""
    found: dict[str, tuple[list[Column], dict[int, Column]]] = {}
    for name, column, place, schema, function, kind, element, written in connection.execute(COLUMNS, [list(LEFT)]):
        textual = element is not None and element >= FIRST_OF_OTHERS
        sent = (schema, function) if kind >= FIRST_OF_OTHERS and not textual else None
        one = Column(column, written, sent, textual)
        columns, key = found.setdefault(name, ([], {}))
        columns.append(one)
        if place is not None and column != "user_id":
            key[place] = one
    return [
        Table(name, tuple(columns), tuple(key[place] for place in sorted(key)))
        for name, (columns, key) in found.items()
    ]


@contextmanager
def snapshot(connection: psycopg.Connection) -> Iterator[int]:
    """One view of the source until the block ends; yields a number below which no transaction was running.

    Whatever is not visible in the snapshot was written by a transaction with this number or a later one.
    """
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield int(one(connection, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"))


def one(connection: psycopg.Connection, query: str | sql.Composed, parameters: Sequence[object] = ()) -> Any:
    """The first value of the first row; None without a row."""
    asked = query.encode() if isinstance(query, str) else query
    row = connection.execute(asked, parameters or None).fetchone()
    return row[0] if row else None


@dataclass(frozen=True)
class Copier:
    """Copies one user's rows. The source is in a ``snapshot`` whenever a method reads it."""

    source: psycopg.Connection
    target: psycopg.Connection
    user_id: UUID
    models: Mapping[int, int]
    """Numbers of embedding models in the source, and in the target; of others no vectors are copied."""
    projected: Mapping[int, int]
    """The same for token vectors: both sides make them smaller by the same projection."""
    wrote: Callable[[str, int], None] = field(default=lambda _table, _rows: None)
    """Called with a table and how many rows were written to it."""

    @cached_property
    def tables(self) -> list[Table]:
        """The tables that are copied."""
        return tables_of(self.target)

    def _models(self, table: Table) -> Mapping[int, int]:
        return self.projected if table.name == "token_vectors" else self.models

    def first(self, table: Table) -> int:
        """Copy all rows of a table, some thousand a transaction; if it has rows of the user, only what differs."""
        if self._there(table):
            with self.target.transaction():
                return self.mend(table)
        return self._write(table, self._all(table), chunk=CHUNK)

    def changed(self, table: Table, seen: int) -> int:
        """Copy the rows that were written since a snapshot; within a transaction of the target."""
        where = sql.SQL("{} AND {}").format(table.of(self.user_id, self._models(table)), table.since(seen))
        rows = self._read(
            sql.SQL("COPY (SELECT {} FROM {} AS r WHERE {}) TO STDOUT (FORMAT binary)").format(
                table.values(self._models(table)), table.named, where
            )
        )
        moved = sql.Identifier("memsvc_moved")
        self.target.execute(
            sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
                moved, table.names, table.named
            )
        )
        copied = self._fill(sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(moved), rows)
        try:
            with self.target.transaction():
                self.target.execute(
                    sql.SQL("DELETE FROM {} AS r USING {} WHERE r.user_id = {} AND {}").format(
                        table.named, moved, sql.Literal(self.user_id), table.matched("memsvc_moved")
                    )
                )
                self.target.execute(
                    sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(
                        table.named, table.names, table.names, moved
                    )
                )
        except psycopg.errors.UniqueViolation:  # a row that was deleted in the source is in the way
            copied += self.mend(table)
        self.target.execute(sql.SQL("DROP TABLE {}").format(moved))
        self.wrote(table.name, copied)
        return copied

    def written(self, tables: Sequence[Table], seen: int) -> list[Table]:
        """The tables with rows that were written since a snapshot: one question about all of them."""
        if not tables:
            return []
        query = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {} AS r WHERE {} AND {})").format(
                sql.Literal(table.name), table.named, table.of(self.user_id, self._models(table)), table.since(seen)
            )
            for table in tables
        )
        names = {name for (name,) in self.source.execute(query)}
        return [table for table in tables if table.name in names]

    def replace(self, table: Table) -> int:
        """Copy all rows of a small table, whatever the target has; within a transaction of the target."""
        self.target.execute(sql.SQL("DELETE FROM {} AS r WHERE {}").format(table.named, table.of(self.user_id, None)))
        return self._write(table, self._all(table))

    def mend(self, table: Table) -> int:
        """Make a table's rows equal to the snapshot's, within a transaction of the target; how many were copied."""
        listed, wanted = sql.Identifier("memsvc_keys"), sql.Identifier("memsvc_wanted")
        keys = _listed(
            sql.SQL("{} {}").format(sql.Identifier(column.name), sql.SQL(column.kind)) for column in table.key
        )
        self.target.execute(
            sql.SQL("CREATE TEMP TABLE {} ({}, memsvc_hash bigint) ON COMMIT DROP").format(listed, keys)
        )
        self._fill(
            sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(listed),
            self._read(
                sql.SQL("COPY (SELECT {}, {} FROM {} AS r WHERE {}) TO STDOUT (FORMAT binary)").format(
                    table.key_values(self._models(table)),
                    table.hash(self._models(table)),
                    table.named,
                    table.of(self.user_id, self._models(table)),
                )
            ),
        )
        self.target.execute(sql.SQL("ANALYZE {}").format(listed))
        same = sql.SQL("SELECT FROM {} WHERE {}").format(listed, table.matched("memsvc_keys"))
        self.target.execute(
            sql.SQL("DELETE FROM {} AS r WHERE {} AND NOT EXISTS ({} AND memsvc_hash = {})").format(
                table.named, table.of(self.user_id, None), same, table.hash(None)
            )
        )
        self.source.execute(sql.SQL("CREATE TEMP TABLE {} ({}) ON COMMIT DROP").format(wanted, keys))
        missing = _copied(
            self.target,
            sql.SQL(
                "COPY (SELECT {} FROM {} WHERE NOT EXISTS (SELECT FROM {} AS r WHERE {} AND {})) TO STDOUT "
                "(FORMAT binary)"
            ).format(table.keys, listed, table.named, table.of(self.user_id, None), table.matched("memsvc_keys")),
        )
        _fill(self.source, sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(wanted), missing)
        self.source.execute(sql.SQL("ANALYZE {}").format(wanted))
        copied = self._write(
            table,
            self._read(
                sql.SQL("COPY (SELECT {} FROM {} AS r, {} WHERE {} AND {}) TO STDOUT (FORMAT binary)").format(
                    table.values(self._models(table)),
                    table.named,
                    wanted,
                    table.of(self.user_id, self._models(table)),
                    table.matched("memsvc_wanted", self._models(table)),
                )
            ),
        )
        self.source.execute(sql.SQL("DROP TABLE {}").format(wanted))
        self.target.execute(sql.SQL("DROP TABLE {}").format(listed))
        return copied

    def sums(self, tables: Sequence[Table]) -> tuple[Rows, Rows]:
        """Rows and hashes on both sides: the source's in its snapshot, the target's in its transaction."""
        return self._both(tables, lambda table, models: sql.SQL("coalesce(sum({}), 0)").format(table.hash(models)))

    def counts(self, tables: Sequence[Table]) -> tuple[Rows, Rows]:
        """Rows on both sides, without hashes."""
        return self._both(tables, lambda _table, _models: sql.SQL("0"))

    def _both(
        self, tables: Sequence[Table], figure: Callable[[Table, Mapping[int, int] | None], sql.Composable]
    ) -> tuple[Rows, Rows]:
        if not tables:
            return {}, {}

        def asked(models: Callable[[Table], Mapping[int, int] | None]) -> sql.Composed:
            return sql.SQL(" UNION ALL ").join(
                sql.SQL("SELECT {}, count(*), {} FROM {} AS r WHERE {}").format(
                    sql.Literal(table.name),
                    figure(table, models(table)),
                    table.named,
                    table.of(self.user_id, models(table)),
                )
                for table in tables
            )

        def answered(connection: psycopg.Connection, query: sql.Composed) -> Rows:
            found = connection.execute(query, prepare=True)  # asked again while the user is stopped
            return {name: (rows, int(total)) for name, rows, total in found}

        with ThreadPoolExecutor(1) as other:
            theirs = other.submit(answered, self.source, asked(self._models))
            mine = answered(self.target, asked(lambda _table: None))
            return theirs.result(), mine

    def differing(self, tables: Sequence[Table]) -> list[Table]:
        """The tables that are not equal on both sides."""
        theirs, mine = self.sums(tables)
        return [table for table in tables if theirs[table.name] != mine[table.name]]

    def orphans(self) -> dict[str, int]:
        """Copied rows by table whose foreign keys lead nowhere, or to a row that is not this user's."""
        found: dict[str, int] = {}
        names = [table.name for table in self.tables]
        keys = self.target.execute(FOREIGN_KEYS, [names]).fetchall()
        asked = [
            sql.SQL(
                "SELECT {}, count(*) FROM {} AS r WHERE r.user_id = {} AND {} AND NOT EXISTS (SELECT FROM {} AS p "
                "WHERE {})"
            ).format(
                sql.Literal(child),
                sql.Identifier("memsvc", child),
                sql.Literal(self.user_id),
                sql.SQL(" AND ").join(sql.SQL("r.{} IS NOT NULL").format(sql.Identifier(name)) for name in here),
                sql.Identifier("memsvc", parent),
                sql.SQL(" AND ").join(
                    # The user's id itself, so that no other user's rows are read, whatever the plan.
                    sql.SQL("p.{} = {}").format(
                        sql.Identifier(b),
                        sql.Literal(self.user_id) if a == "user_id" else sql.SQL("r.{}").format(sql.Identifier(a)),
                    )
                    for a, b in zip(here, there, strict=True)
                ),
            )
            for child, parent, here, there in keys
        ]
        for name, rows in self.target.execute(sql.SQL(" UNION ALL ").join(asked)):
            if rows:
                found[name] = found.get(name, 0) + rows
        return found

    def _there(self, table: Table) -> bool:
        query = sql.SQL("SELECT EXISTS (SELECT FROM {} AS r WHERE {})").format(
            table.named, table.of(self.user_id, None)
        )
        return bool(one(self.target, query))

    def _all(self, table: Table) -> Generator[bytes]:
        return self._read(
            sql.SQL("COPY (SELECT {} FROM {} AS r WHERE {}) TO STDOUT (FORMAT binary)").format(
                table.values(self._models(table)), table.named, table.of(self.user_id, self._models(table))
            )
        )

    def _read(self, query: sql.Composed) -> Generator[bytes]:
        return _copied(self.source, query)

    def _write(self, table: Table, rows: Generator[bytes], *, chunk: int | None = None) -> int:
        """Write rows to the table itself, each chunk in a transaction of its own (None: in the running one)."""
        into = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table.named, table.names)
        copied = 0
        with closing(rows):
            for begin in rows:
                written = self._fill(into, _with(begin, islice(rows, None if chunk is None else chunk - 1)))
                copied += written
                self.wrote(table.name, written)
        return copied

    def _fill(self, into: sql.Composed, rows: Generator[bytes]) -> int:
        return _fill(self.target, into, rows)


def _with(begin: bytes, rows: Iterable[bytes]) -> Generator[bytes]:
    yield begin
    yield from rows


def _copied(connection: psycopg.Connection, query: sql.Composed) -> Generator[bytes]:
    """The rows of a binary COPY; the server sends each as one message, the first one after the header.

    It must be closed: until then, the connection can do nothing else.
    """
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        skipped = len(HEADER)
        for message in copy:
            row = bytes(message)[skipped:]
            skipped = 0
            if row != TRAILER:
                yield row


def _fill(connection: psycopg.Connection, into: sql.Composed, rows: Generator[bytes]) -> int:
    """Write rows by binary COPY, and close them; how many."""
    copied, size, waiting = 0, 0, [HEADER]
    with closing(rows), connection.cursor() as cursor, cursor.copy(into) as copy:
        for row in rows:
            copied += 1
            size += len(row)
            waiting.append(row)
            if size >= BLOCK:
                copy.write(b"".join(waiting))
                size, waiting = 0, []
        copy.write(b"".join([*waiting, TRAILER]))
    return copied
