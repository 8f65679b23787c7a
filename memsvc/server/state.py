"""Statistics of the database itself, for operators: size, sessions, oldest transaction, dead rows."""

from __future__ import annotations

import msgspec

from memsvc.db.engine import Database
from memsvc.db.files import query


class TableRows(msgspec.Struct, frozen=True, kw_only=True):
    """A table, as PostgreSQL's statistics estimate it."""

    name: str
    live: int
    dead: int
    """Not vacuumed yet."""


class DatabaseState(msgspec.Struct, frozen=True, kw_only=True):
    """The database at one moment."""

    bytes: int
    """On disk, with its indexes."""
    connections: int
    """Sessions of the whole server."""
    connections_max: int
    oldest_transaction_seconds: float
    """Of the transactions that our login may see: only its own, unless it is a member of pg_read_all_stats."""
    xid_age: int
    """Age of the oldest unfrozen transaction of any database of the server; at 2 billion the server stops."""
    tables: list[TableRows]
    """In order of their names."""


async def database_state(db: Database) -> DatabaseState:
    """Read the database's statistics: counts, sizes and ages only.

    Raises:
        DatabaseUnavailableError, OverloadedError: the database cannot be read.
    """
    async with db.transaction() as connection:
        state = (await connection.execute(query("database_state"))).one()
        tables = (await connection.execute(query("table_rows"))).all()
    return DatabaseState(**state._mapping, tables=[TableRows(**row._mapping) for row in tables])  # noqa: SLF001
