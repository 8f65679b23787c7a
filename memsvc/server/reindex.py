"""Rebuilds indexes while they are used, which removes erased words from the files, and bloat.

It runs ``REINDEX INDEX CONCURRENTLY`` on one index after the other, smallest first; readers and writers do not wait. A
killed run leaves an invalid index whose name ends in ``_ccnew`` or ``_ccold``, which slows writers down and is of no
use; such leftovers are dropped first. A comment on each index says when it was rebuilt, so that the next run continues
after it. Backups and upgrades wait for a run, and a run waits for them.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
from psycopg import sql

from memsvc.errors import (
    ContendedError,
    DatabaseUnavailableError,
    InvalidRequestError,
    NotFoundError,
    StorageFullError,
)
from memsvc.server.exclusive import take_turn

PATIENCE = "10min"
"""How long the rebuild of an index waits for older transactions."""
RECENTLY = timedelta(days=1)
"""An index that was rebuilt within this time is skipped, unless it is named; so a new run continues a killed one."""
MARK = "rebuilt at "
"""The text before the time in the comment on an index."""
LOOK_S = 5.0
"""How often the progress of an index is reported."""
PROGRESS = """
SELECT p.phase, CASE WHEN p.blocks_total > 0 THEN 100 * p.blocks_done / p.blocks_total
  WHEN p.tuples_total > 0 THEN 100 * p.tuples_done / p.tuples_total END
FROM pg_stat_progress_create_index AS p WHERE p.pid = %s
"""
LEFTOVER = re.compile(r"_cc(?:new|old)\d*$")
KINDS = ("gin", "hnsw")
"""Kinds of indexes that keep erased words longest and grow most; other kinds are rebuilt only if all are requested."""
INDEXES = """
SELECT c.relname, t.relname, m.amname, pg_relation_size(c.oid), i.indisvalid, obj_description(c.oid, 'pg_class')
FROM pg_index AS i
INNER JOIN pg_class AS c ON c.oid = i.indexrelid AND c.relkind = 'i'
INNER JOIN pg_class AS t ON t.oid = i.indrelid
INNER JOIN pg_am AS m ON m.oid = c.relam
WHERE c.relnamespace = 'memsvc'::regnamespace AND NOT i.indisexclusion
ORDER BY pg_relation_size(c.oid), c.relname
"""


@dataclass(frozen=True, slots=True)
class Index:
    """An index that can be rebuilt while it is used; those of exclusion constraints cannot."""

    name: str
    table: str
    kind: str
    """Its access method: btree, gin, gist, hnsw."""
    size: int
    """Bytes."""
    valid: bool
    comment: str | None = None

    def rebuilt_since(self, moment: datetime) -> bool:
        """Whether its comment says so."""
        _, marked, time = (self.comment or "").rpartition(MARK)
        with suppress(ValueError):
            return bool(marked) and datetime.fromisoformat(time) >= moment
        return False


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """An index before and after."""

    name: str
    before: int
    after: int
    seconds: float


def indexes(connection: psycopg.Connection) -> list[Index]:
    """All indexes of memsvc that can be rebuilt while they are used, including leftovers, smallest first."""
    return [Index(*row) for row in connection.execute(INDEXES)]


def chosen(found: Sequence[Index], names: Sequence[str] = (), *, everything: bool = False) -> list[Index]:
    """The indexes to rebuild: those that are named, else those of ``KINDS`` or all, without recently rebuilt ones.

    Raises:
        NotFoundError: there is no index with one of the names.
    """
    whole = [index for index in found if not LEFTOVER.search(index.name)]
    if unknown := sorted(set(names) - {index.name for index in whole}):
        raise NotFoundError(f"There is no index {', '.join(unknown)} that can be rebuilt while it is used.")
    if names:
        return [index for index in whole if index.name in names]
    moment = datetime.now(UTC) - RECENTLY
    return [index for index in whole if (everything or index.kind in KINDS) and not index.rebuilt_since(moment)]


def reindex(
    admin_url: str,
    names: Sequence[str] = (),
    *,
    everything: bool = False,
    memory: str | None = None,
    report: Callable[[str], None] = lambda _line: None,
) -> Iterator[Rebuilt]:
    """Rebuild indexes, each in transactions of its own; if the run is killed, finished indexes stay rebuilt.

    Args:
        admin_url: URL of the database; its login may act as memsvc_owner.
        names: names of the indexes; empty: those that keep erased words and grow most.
        everything: rebuild all indexes that can be rebuilt while they are used.
        memory: maintenance_work_mem for the run ("1GB"); None: the server's setting.
        report: called with a line before each step.

    Yields:
        Each index when it is done.

    Raises:
        NotFoundError: there is no index with one of the names.
        ContendedError: an older transaction did not end in time; the next run drops the half-built index.
        StorageFullError: there is no space for a second copy.
        DatabaseUnavailableError: the database cannot be reached.
    """
    with _session(admin_url, memory) as connection:
        with _patience("leftovers"):
            _drop_leftovers(connection, report)
        wanted = chosen(indexes(connection), names, everything=everything)
        for number, index in enumerate(wanted, 1):
            report(f"{number} of {len(wanted)}: {index.name} ({index.kind}, {index.size / 1e6:,.1f} MB)")
            started = time.monotonic()
            name = sql.Identifier("memsvc", index.name)
            with _patience(index.name), _watched(connection, admin_url, report):
                connection.execute(sql.SQL("REINDEX INDEX CONCURRENTLY {}").format(name))
            mark = sql.Literal(f"{MARK}{datetime.now(UTC):%Y-%m-%dT%H:%M:%S%z}")
            connection.execute(sql.SQL("COMMENT ON INDEX {} IS {}").format(name, mark))
            size = next((found.size for found in indexes(connection) if found.name == index.name), 0)
            yield Rebuilt(index.name, index.size, size, time.monotonic() - started)


@contextmanager
def _patience(what: str) -> Iterator[None]:
    """Turn errors of a rebuild into ours; a half-built copy stays as a leftover."""
    try:
        yield
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
        raise ContendedError(
            f"{what}: an older transaction is still open.",
            hint="'memsvc db health' shows the oldest. Run this again later: it first drops the half-built index.",
        ) from error
    except psycopg.errors.DiskFull as error:
        raise StorageFullError(
            f"{what}: there is no room for a second copy.",
            hint="Free disk space and run the command again: it drops the half-built copy first.",
        ) from error


@contextmanager
def _watched(connection: psycopg.Connection, admin_url: str, report: Callable[[str], None]) -> Iterator[None]:
    """Report the progress of a session's rebuild, read in another session, until the block ends."""
    done = threading.Event()
    worker = connection.info.backend_pid

    def watch() -> None:
        with suppress(psycopg.Error):  # nothing depends on these reports
            while not done.wait(LOOK_S):
                with psycopg.connect(admin_url, autocommit=True) as looking:
                    row = looking.execute(PROGRESS, [worker]).fetchone()
                if row is not None and row[0] is not None:
                    report(f"  {row[0]}" + ("" if row[1] is None else f", {row[1]:.0f} %"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _session(admin_url: str, memory: str | None) -> Iterator[psycopg.Connection]:
    """The administrator acting as memsvc_owner, in autocommit; upgrades and backups wait until the block ends."""
    try:
        connection = psycopg.connect(admin_url, autocommit=True)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"The database cannot be reached: {error}".strip()) from error
    with connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        take_turn(connection)
        connection.execute("SELECT set_config('lock_timeout', %s, false)", [PATIENCE])
        if memory is not None:
            try:
                connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
            except psycopg.errors.InvalidParameterValue as error:
                raise InvalidRequestError(
                    f"{memory!r} is not a size.", field="memory", hint="Use PostgreSQL's form: 512MB or 1GB."
                ) from error
        connection.execute("SET ROLE memsvc_owner")
        yield connection


def _drop_leftovers(connection: psycopg.Connection, report: Callable[[str], None]) -> None:
    for index in indexes(connection):
        if not index.valid and LEFTOVER.search(index.name):
            report(f"leftover {index.name} is dropped")
            connection.execute(
                sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS memsvc.{}").format(sql.Identifier(index.name))
            )
