"""Erases the rows of a user whose memory is, or will be, in another cell, in batches with a receipt.

Both ends of a move use it: what is left in the old cell after the switch, and the copy in the new one if the move is
given up. Nobody can act for the user in this database meanwhile. Foreign keys need no check, because all of the user's
rows go; so rows are deleted with ``session_replication_role = replica``. Counts are added up in ``users.erased_rows``,
in the transactions that delete, so a kill loses none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from uuid import UUID

import psycopg
from psycopg import sql

from memsvc.cells.copying import LATE, one

BATCH = 10_000
STAYS_HOME = frozenset({"users", "api_keys", "moves"})
"""Tables whose rows belong to the directory, wherever the user's memory is."""
TABLES = "SELECT t.name FROM memsvc.user_tables() AS t"
PROJECTION = ("_ag_label_edge", "_ag_label_vertex")
ADD = """
UPDATE memsvc.users AS u SET erased_rows = coalesce(u.erased_rows, '{}') || jsonb_build_object(
  %(table)s::text, coalesce((u.erased_rows ->> %(table)s)::bigint, 0) + %(rows)s
)
WHERE u.user_id = %(user)s
"""
COUNTS = "SELECT coalesce(u.erased_rows, '{}')::text FROM memsvc.users AS u WHERE u.user_id = %s"
AUDIT = (
    "SELECT memsvc.audit(%s, u.app_id, u.user_id, u.user_id::text, %s::jsonb) FROM memsvc.users AS u WHERE user_id = %s"
)


def quiet(connection: psycopg.Connection, user_id: UUID) -> None:
    """Delete first what workers would find: jobs, their messages, schedules and feeds; in a transaction."""
    for table in ("dramatiq_queue", *sorted(LATE)):
        _delete(connection, table, user_id, None)


def erase_copy(
    connection: psycopg.Connection,
    user_id: UUID,
    *,
    home: bool,
    progress: Callable[[str, int], None] = lambda _table, _rows: None,
) -> None:
    """Delete all rows of a user but the user's own, some thousand a transaction; may be killed and called again.

    Args:
        connection: the administrator's, in autocommit, that may see all rows.
        user_id: whose rows.
        home: this database is the directory, which keeps keys and the move.
        progress: called with a table and how many of its rows were deleted.
    """
    stays = STAYS_HOME if home else frozenset({"users"})
    with connection.transaction():
        quiet(connection, user_id)
    for name in PROJECTION:
        if one(connection, "SELECT to_regclass(%s)", [f"memory.{name}"]) is not None:
            with connection.transaction():
                connection.execute(
                    sql.SQL("DELETE FROM {} WHERE user_id = %s").format(sql.Identifier("memory", name)), [user_id]
                )
    for (table,) in connection.execute(TABLES).fetchall():
        while table not in stays:
            with connection.transaction():
                deleted = _delete(connection, table, user_id, BATCH)
            progress(table, deleted)
            if deleted < BATCH:
                break


def counted(connection: psycopg.Connection, user_id: UUID) -> dict[str, int]:
    """Rows that were deleted so far, by table."""
    found: dict[str, int] = json.loads(one(connection, COUNTS, [user_id]) or "{}")
    return dict(sorted(found.items()))


def note(connection: psycopg.Connection, user_id: UUID, action: str, details: Mapping[str, object]) -> None:
    """Write to the audit log of this database, in the running transaction."""
    connection.execute(AUDIT, [action, json.dumps(details, default=str), user_id])


def close(connection: psycopg.Connection, user_id: UUID, action: str, *, home: bool) -> dict[str, int]:
    """End an erasure in the running transaction: the receipt, and the user's own row unless this is the directory.

    With that row goes the user's budget: a session without triggers does not delete it by itself.

    Returns:
        The rows that were deleted, by table.
    """
    with connection.transaction():
        connection.execute("SELECT FROM memsvc.users WHERE user_id = %s FOR UPDATE", [user_id])
        counts = counted(connection, user_id)
        note(connection, user_id, action, {"rows": counts})
        if home:
            connection.execute("UPDATE memsvc.users SET erased_rows = '{}' WHERE user_id = %s", [user_id])
        else:
            connection.execute("DELETE FROM memsvc.budgets WHERE of_user = %s", [user_id])
            connection.execute("DELETE FROM memsvc.users WHERE user_id = %s", [user_id])
    return counts


def _delete(connection: psycopg.Connection, table: str, user_id: UUID, limit: int | None) -> int:
    """Delete at most ``limit`` rows of a user, and count them; in the running transaction.

    All rows of a user in a partitioned table are in one partition, so a ctid is unique.
    """
    connection.execute("SET LOCAL session_replication_role = replica")
    deleted = connection.execute(
        sql.SQL(
            "DELETE FROM {0} AS d WHERE d.user_id = %(user)s AND d.ctid = ANY (ARRAY("
            "SELECT r.ctid FROM {0} AS r WHERE r.user_id = %(user)s LIMIT %(limit)s))"
        ).format(sql.Identifier("memsvc", table)),
        {"user": user_id, "limit": limit},
    ).rowcount
    if deleted > 0:
        connection.execute(ADD, {"table": table, "rows": deleted, "user": user_id})
    return max(deleted, 0)
