"""Takes exclusive locks on tables in use, all or none, so that nobody waits long and nobody ends as a victim.

Two rules make it come soon beside a busy service, and safely. Every door's transaction reads ``identity_keys`` before
anything else, so that table is locked first: while we wait for it we hold nothing that those before us could need, and
those behind us queue up holding nothing that we need. And all locks together come within ``TOGETHER_MS``, below
deadlock_timeout (1 s): who waits for us while we wait for one of theirs would end as the victim of a deadlock.
"""

from __future__ import annotations

from typing import Any, Protocol

GATE = "identity_keys"
TOGETHER_MS = 800

# Tables before views: a view's lock takes those of its tables. The error's context names the table that was busy.
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
    """What takes a statement as it is: a connection, or who writes one down."""

    def exec_driver_sql(self, statement: str) -> Any:
        """Run a statement without values."""


def lock(connection: Driven, *tables: str) -> None:
    """Lock these tables of ours and the gate until the end of the transaction; without any, all tables and views.

    Raises:
        sqlalchemy.exc.OperationalError: by psycopg's LockNotAvailable; ``memsvc.server.upgrade`` asks again then.
    """
    names = ", ".join(f"'{name}'" for name in (GATE, *tables))
    wanted = f"c.relname IN ({names})" if tables else "true"
    connection.exec_driver_sql(LOCK.format(together=TOGETHER_MS, gate=GATE, wanted=wanted))
