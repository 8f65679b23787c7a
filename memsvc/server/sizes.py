"""How large the tables and indexes are, for all users together. Operators only: it needs the administrator's login."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from memsvc.errors import DatabaseUnavailableError

TABLES = """
SELECT c.relname, pg_total_relation_size(c.oid), pg_table_size(c.oid), pg_indexes_size(c.oid),
  greatest(c.reltuples, 0)::bigint
FROM pg_class AS c
WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'm')
ORDER BY 2 DESC, 1
"""
# Also those of exclusion constraints. idx_scan counts since the statistics were reset, on this server alone.
INDEXES = """
SELECT c.relname, t.relname, m.amname, pg_relation_size(c.oid), coalesce(s.idx_scan, 0)
FROM pg_index AS i
INNER JOIN pg_class AS c ON c.oid = i.indexrelid AND c.relkind = 'i'
INNER JOIN pg_class AS t ON t.oid = i.indrelid
INNER JOIN pg_am AS m ON m.oid = c.relam
LEFT JOIN pg_stat_all_indexes AS s ON s.indexrelid = c.oid
WHERE c.relnamespace = 'memsvc'::regnamespace
ORDER BY 4 DESC, 1
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The size of a table or of a partition, in bytes."""

    name: str
    total: int
    rows: int
    """Of the rows, with long values and the maps of free space."""
    indexes: int
    live: int
    """Number of rows, as the server estimates it."""


@dataclass(frozen=True, slots=True)
class IndexSize:
    """The size of an index, in bytes."""

    name: str
    table: str
    kind: str
    """Its access method: btree, gin, gist, hnsw."""
    total: int
    scans: int
    """How often it was read since the server's statistics began."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a database; the largest tables and indexes first."""

    database: int
    """Of all files, also those of the catalog, of extensions and of the graph that Cypher sees."""
    tables: list[TableSize]
    indexes: list[IndexSize]


def sizes(admin_url: str) -> Sizes:
    """Measure the database, with its administrator's login.

    Raises:
        DatabaseUnavailableError: the database cannot be reached.
    """
    try:
        connection = psycopg.connect(admin_url, autocommit=True)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"The database cannot be reached: {error}".strip()) from error
    with connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return Sizes(
            database=row[0] if row is not None else 0,
            tables=[TableSize(*row) for row in connection.execute(TABLES)],
            indexes=[IndexSize(*row) for row in connection.execute(INDEXES)],
        )
