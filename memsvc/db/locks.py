"""Takes exclusive locks on tables in use, all or none, without long waits and without deadlocks.

Two rules make this fast and safe while the service is busy. Every transaction of a service process reads
``identity_keys`` first, so that table is locked first. While we wait for it, we hold no lock that a running transaction
may need. Transactions that begin later wait at that table and hold no lock that we need. Second, we take all locks
within ``TOGETHER_MS``, which is less than deadlock_timeout (1 s). Otherwise a transaction that waits for us, while we
wait for one of its locks, would be cancelled as the victim of a deadlock.
"""

from __future__ import annotations

from typing import Any, Protocol

GATE = "identity_keys"
TOGETHER_MS = 800

# Tables before views: locking a view also locks its tables. The error's context names the table that was busy.
LOCK = """
DO $lock$
DECLARE
  deadline CONSTANT timestamptz := clock_timestamp() + interval '{together} ms';
  name text;
BEGIN
  FOR name IN
    SELECT c.oid::regclass::text FROM pg_class AS c
    WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND {wanted}
    ORDER BY c.relname <> '{gate}', c.relkind = 'v', c.relname
  LOOP
    PERFORM set_config(
      'lock_timeout', greatest(1, ceil(extract(epoch FROM deadline - clock_timestamp()) * 1000))::text, true
    );
    EXECUTE 'LOCK TABLE ' || name || ' IN ACCESS EXCLUSIVE MODE';
  END LOOP;
  SET LOCAL lock_timeout = '100ms';
END
$lock$
"""


class Driven(Protocol):
    """Takes a statement as it is: a connection, or a writer of scripts."""

    def exec_driver_sql(self, statement: str) -> Any:
        """Run a statement without parameters."""


def lock(connection: Driven, *tables: str) -> None:
    """Lock ``identity_keys`` and these tables, or all tables and views if none are given, until the transaction ends.

    Raises:
        sqlalchemy.exc.OperationalError: caused by psycopg's LockNotAvailable; ``memsvc.server.upgrade`` then retries.
    """
    names = ", ".join(f"'{name}'" for name in (GATE, *tables))
    wanted = f"c.relname IN ({names})" if tables else "true"
    connection.exec_driver_sql(LOCK.format(together=TOGETHER_MS, gate=GATE, wanted=wanted))
