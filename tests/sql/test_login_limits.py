"""What a login cannot take off: whoever goes on for too long is ended, and nobody fills the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import pytest
from psycopg import errors
from structlog.testing import capture_logs

from memsvc.db.engine import Database
from memsvc.server.watchdog import LATE_S, end_long_sessions
from tests.sql.inventory import LOGINS
from tests.sql.world import ANALYST, CYPHER, READER, Logins, value

pytestmark = pytest.mark.server
LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout")
MOMENT_S = 0.3


class Case(NamedTuple):
    """What a session does that has taken its limits off, and which of them it passes first."""

    limit_s: float
    reason: str


CASES = {
    **{
        f"{role}: {what}": (role, case)
        for role, statement_s in ((READER, 30.0), (CYPHER, 10.0), (ANALYST, 60.0))
        for what, case in {
            "a statement": Case(statement_s, "statement"),
            "an idle transaction": Case(60.0, "idle in transaction"),
            "a transaction that does something now and then": Case(300.0, "transaction"),
        }.items()
    },
}


@contextmanager
def without_limits(logins: Logins, role: str) -> Iterator[psycopg.Connection]:
    """A session that has taken its limits off, in a transaction that has a number of its own."""
    with logins.enter(role) as connection:
        for name in LIMITS:
            connection.execute(f"SET {name} = 0".encode())
        connection.commit()
        connection.execute("SELECT pg_current_xact_id()")
        yield connection


@pytest.mark.parametrize("name", CASES)
async def test_who_takes_a_limit_off_is_ended_all_the_same(name: str, logins: Logins, db: Database) -> None:
    role, (limit_s, reason) = CASES[name]
    with without_limits(logins, role) as connection:
        seconds = 60 if reason == "statement" else 0
        asleep = asyncio.create_task(asyncio.to_thread(connection.execute, f"SELECT pg_sleep({seconds})".encode()))
        await asyncio.sleep(2 * MOMENT_S)
        assert await end_long_sessions(db) == 0, "not before its time"
        with capture_logs() as said:
            assert await end_long_sessions(db, MOMENT_S - limit_s) == 1
        assert [(line["login"], line["too_long"]) for line in said] == [(role, reason)]
        if reason == "statement":
            with pytest.raises(errors.AdminShutdown):
                await asleep
        else:
            await asleep
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


async def test_sessions_of_the_service_and_of_administrators_are_not_ended(
    logins: Logins, db: Database, admin: psycopg.Connection
) -> None:
    with admin.transaction(), logins.enter(READER) as resting:
        resting.commit()
        async with db.transaction():
            await asyncio.sleep(MOMENT_S)
            assert await end_long_sessions(db, -300.0) == 0
        assert value(admin, "SELECT 1") == 1
        assert value(resting, "SELECT 1") == 1, "a session that has no transaction is nobody's burden"


def test_limits_are_checked_after_the_error_that_postgresql_gives(admin: psycopg.Connection) -> None:
    set_for: dict[str, str] = dict(
        admin.execute(
            "SELECT r.rolname || '.' || split_part(s, '=', 1), split_part(s, '=', 2) "
            "FROM pg_roles AS r CROSS JOIN unnest(r.rolconfig) AS s WHERE r.rolname = ANY (%s)",
            [[READER, CYPHER, ANALYST]],
        ).fetchall()
    )
    for role, (limit_s, reason) in CASES.values():
        if reason == "statement":
            assert set_for[f"{role}.statement_timeout"] == f"{limit_s:.0f}s"
        assert set_for[f"{role}.idle_in_transaction_session_timeout"] == "60s"
        assert set_for[f"{role}.transaction_timeout"] == "5min"
    assert LATE_S > 0


@pytest.mark.parametrize("role", LOGINS)
def test_no_login_makes_large_objects_or_endless_files(role: str, logins: Logins, admin: psycopg.Connection) -> None:
    large = """
        SELECT p.oid::regprocedure::text FROM pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^(lo_|loread$|lowrite$)'
    """
    everything = {row[0] for row in admin.execute(large)}
    assert {"lo_from_bytea(oid,bytea)", "lowrite(integer,bytea)", "loread(integer,integer)"} <= everything
    may = admin.execute(f"{large} AND has_function_privilege(%s, p.oid, 'EXECUTE')".encode(), [role]).fetchall()
    assert may == []
    for statement in ("SELECT lo_from_bytea(0, 'x')", "SELECT lo_creat(-1)"):
        with logins.enter(role) as connection, pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement.encode())
    with logins.enter(role) as connection:
        assert value(connection, "SHOW temp_file_limit") in {"1GB", "8GB"}
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("SET temp_file_limit = -1")
