"""The state of the database's files: dead rows, old transactions, wraparound, archiving, broken indexes.

Each result is a ``Check``, as in ``memsvc doctor``. The limits tell an operator to look long before anything stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import psycopg

from memsvc.errors import DatabaseUnavailableError
from memsvc.server.capabilities import Check
from memsvc.server.reindex import indexes

TABLES = """
SELECT s.relname, pg_total_relation_size(s.relid), s.n_live_tup, s.n_dead_tup,
  greatest(s.last_vacuum, s.last_autovacuum)
FROM pg_stat_all_tables AS s
WHERE s.schemaname = 'memsvc'
ORDER BY s.n_dead_tup DESC, pg_total_relation_size(s.relid) DESC, s.relname
"""
SEES_SESSIONS = """
SELECT has_table_privilege('pg_catalog.pg_stat_activity', 'SELECT') AND pg_has_role('pg_read_all_stats', 'USAGE')
"""
OLDEST_SESSION = """
SELECT coalesce(extract(epoch FROM max(clock_timestamp() - a.xact_start)), 0)::float8
FROM pg_stat_activity AS a WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
"""
# Prepared transactions that were forgotten outlive their sessions, and hold vacuum back for ever.
OLDEST_PREPARED = """
SELECT coalesce(extract(epoch FROM max(clock_timestamp() - p.prepared)), 0)::float8
FROM pg_prepared_xacts AS p WHERE p.database = current_database()
"""
AGE = """
SELECT greatest(age(d.datfrozenxid), mxid_age(d.datminmxid)) FROM pg_database AS d WHERE d.datname = current_database()
"""
SLOTS = """
SELECT s.slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint
FROM pg_replication_slots AS s WHERE s.restart_lsn IS NOT NULL ORDER BY 2 DESC LIMIT 1
"""
ARCHIVING = """
SELECT current_setting('archive_mode') <> 'off',
  coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false), a.last_failed_wal
FROM pg_stat_archiver AS a
"""
LONG_TRANSACTION_S = 3_600
DEAD_SHARE = 0.3
FEW_ROWS = 10_000
"""Up to this number of dead rows, their share does not matter."""
WRAPAROUND = 2_000_000_000
WRAPAROUND_SHARE = 0.5
RETAINED_BYTES = 10_000_000_000
"""The most bytes of log that may be kept for a replica or an archive before the check warns."""


@dataclass(frozen=True, slots=True)
class TableCare:
    """The state of a table or a partition, from the server's own statistics, which are estimates."""

    name: str
    size: int
    """Bytes, with indexes and long values."""
    live: int
    dead: int
    vacuumed_at: datetime | None

    @property
    def worn(self) -> bool:
        """Whether so many rows are dead that vacuum seems not to run."""
        return self.dead > FEW_ROWS and self.dead > DEAD_SHARE * (self.live + self.dead)


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the database."""

    tables: list[TableCare]
    """Those with the most dead rows first."""
    checks: list[Check]

    @property
    def good(self) -> bool:
        """Whether all checks are ok."""
        return all(check.state == "ok" for check in self.checks)


def look(admin_url: str) -> Health:
    """Check the database, with its administrator's login.

    Raises:
        DatabaseUnavailableError: the database cannot be reached.
    """
    try:
        connection = psycopg.connect(admin_url, autocommit=True)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"The database cannot be reached: {error}".strip()) from error
    with connection:
        tables = [TableCare(*row) for row in connection.execute(TABLES)]
        return Health(tables, [_dead(tables), *_server(connection)])


def _dead(tables: list[TableCare]) -> Check:
    if worn := [table.name for table in tables if table.worn]:
        return Check("dead rows", "warning", f"many in {', '.join(worn)}: does a transaction or slot hold vacuum back?")
    return Check("dead rows", "ok", f"{sum(table.dead for table in tables):,} in all")


def _server(connection: psycopg.Connection) -> Iterator[Check]:
    yield _oldest(connection)
    age = _value(connection, AGE)
    used = f"{age / WRAPAROUND:.0%} of the transaction numbers are used since the oldest row was frozen"
    yield (
        Check("wraparound", "ok", used)
        if age < WRAPAROUND * WRAPAROUND_SHARE
        else Check("wraparound", "warning", f"{used}: is autovacuum on, and does nothing hold it back?")
    )
    broken = [index.name for index in indexes(connection) if not index.valid]
    yield (
        Check("indexes", "warning", f"{', '.join(broken)}: left half-built; 'memsvc db reindex' drops or mends them")
        if broken
        else Check("indexes", "ok", "all valid")
    )
    slot = connection.execute(SLOTS).fetchone()
    if slot is not None:
        kept = f"slot {slot[0]} keeps {slot[1] / 1e9:,.1f} GB of log"
        yield Check("replication", "ok" if slot[1] < RETAINED_BYTES else "warning", kept)
    on, failing, file = connection.execute(ARCHIVING).fetchone() or (False, False, None)
    if failing:
        yield Check("archive", "warning", f"{file} cannot be archived: see the server's log before its disk is full")
    else:
        yield Check("archive", "ok", "works" if on else "off: only backups bring back what is lost")


def _oldest(connection: psycopg.Connection) -> Check:
    prepared = _value(connection, OLDEST_PREPARED)
    if _value(connection, SEES_SESSIONS):
        session = _value(connection, OLDEST_SESSION)
    elif prepared < LONG_TRANSACTION_S:
        return Check("oldest transaction", "ok", "not shown to this login: it must be a member of pg_monitor")
    else:
        session = 0.0
    seconds, what = max((session, "a session's"), (prepared, "a prepared one"))
    if seconds < LONG_TRANSACTION_S:
        return Check("oldest transaction", "ok", f"{seconds:,.0f} s")
    return Check("oldest transaction", "warning", f"{seconds / 3600:,.1f} h, {what}: dead rows stay until it ends")


def _value(connection: psycopg.Connection, query: str) -> float:
    row = connection.execute(query.encode()).fetchone()
    return row[0] if row and row[0] is not None else 0
