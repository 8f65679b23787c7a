"""A connection of the pool is looked at before it is used, and asked only where its server said something meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from pgvector import HalfVector
from psycopg import sql
from psycopg.pq import TransactionStatus
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.util import greenlet_spawn

from memsvc.access.users import Owner
from memsvc.db import wire
from memsvc.db.engine import Database, role_url
from memsvc.db.vectors import Vectors
from memsvc.errors import DatabaseUnavailableError
from memsvc.settings import Settings
from tests.cluster import Cluster

pytestmark = pytest.mark.server
PID = text("SELECT pg_backend_pid()")


@pytest.fixture
async def pool(cluster: Cluster, database_name: str, settings: Settings) -> AsyncIterator[Database]:
    """A pool of its own, of two connections."""
    url = role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))
    pool = Database(url, settings, pool_size=2)
    yield pool
    await pool.close()


async def pids(pool: Database, user: Owner) -> list[int]:
    """Backends of two transactions at the same time."""
    async with pool.transaction(user.user_id) as one, pool.statement() as two:
        return [(await connection.execute(PID)).scalar_one() for connection in (one, two)]


async def test_who_was_sent_away_costs_nobody_an_error(pool: Database, owner: Owner, admin: psycopg.Connection) -> None:
    before = await pids(pool, owner)
    admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s::int[]) AS t (pid)", [before])
    after = await pids(pool, owner)
    assert set(before).isdisjoint(after)


async def test_a_quiet_connection_is_not_asked(pool: Database, owner: Owner) -> None:
    before = await pids(pool, owner)
    with patch.object(pool.engine.dialect, "do_ping", side_effect=AssertionError("asked")):
        assert sorted(await pids(pool, owner)) == sorted(before)


async def test_one_that_said_something_is_asked_and_kept(pool: Database, owner: Owner) -> None:
    before = await pids(pool, owner)
    asked = 0
    does = pool.engine.dialect.do_ping

    def counted(connection: Any) -> bool:
        nonlocal asked
        asked += 1
        return does(connection)

    with (
        patch("memsvc.db.liveness.has_news", return_value=True),
        patch.object(pool.engine.dialect, "do_ping", side_effect=counted),
    ):
        assert sorted(await pids(pool, owner)) == sorted(before)
    assert asked == 2


async def test_a_statement_is_committed_by_itself_and_its_connection_goes_back_as_it_was(
    pool: Database,
) -> None:
    async with pool.statement() as connection:
        await connection.execute(text("SELECT set_config('memsvc.identity', 'nobody', true)"))
        assert (await connection.execute(text("SELECT current_setting('memsvc.identity', true)"))).scalar() in {
            None,
            "",
        }
    async with pool.transaction() as connection:
        await connection.execute(text("SELECT set_config('memsvc.identity', 'nobody', true)"))
        kept = await connection.execute(text("SELECT current_setting('memsvc.identity', true)"))
        assert kept.scalar() == "nobody"


async def test_what_a_commit_refuses_is_told_as_it_is(pool: Database) -> None:
    async def twice() -> None:
        async with pool.transaction() as connection:
            await connection.execute(text("CREATE TEMPORARY TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)"))
            await connection.execute(text("INSERT INTO once VALUES (1), (1)"))

    with pytest.raises(IntegrityError):
        await twice()
    async with pool.transaction() as connection:
        assert (await connection.execute(text("SELECT to_regclass('once')"))).scalar() is None


async def test_what_was_left_open_does_not_go_back_to_the_pool(pool: Database) -> None:
    pooled = await pool.engine.raw_connection()
    driver: Any = pooled.driver_connection
    await driver.execute("CREATE TEMPORARY TABLE left_open ()")
    await greenlet_spawn(pooled.close)
    assert driver.info.transaction_status == TransactionStatus.IDLE
    async with pool.line() as again:
        [[found]] = await again.exchange([(text("SELECT to_regclass('left_open') AS found"), {})])
        assert (again.driver, found.found) == (driver, None)


async def test_a_connection_at_rest_goes_back_without_being_asked(pool: Database) -> None:
    async with pool.line() as first:
        pass
    with patch.object(psycopg.AsyncConnection, "rollback", side_effect=AssertionError("asked")):
        async with pool.line() as second:
            assert second is first


@pytest.mark.parametrize("savepoint", [False, True])
async def test_after_a_rollback_no_statement_is_asked_for_that_the_server_has_forgotten(
    pool: Database, monkeypatch: pytest.MonkeyPatch, *, savepoint: bool
) -> None:
    """psycopg has it forget all of them where one is its own; to be told so by an error would fill the server's log."""
    monkeypatch.setattr(wire, "InvalidSqlStatementName", psycopg.errors.FeatureNotSupported)
    found = set()
    async with pool.line() as line:
        [[who]] = await line.exchange([(PID, {})])
    found.add(who.pg_backend_pid)
    with suppress(DBAPIError):
        async with pool.engine.connect() as connection, connection.begin():
            for _ in range(7):  # often enough for psycopg to prepare it
                found.add((await connection.execute(PID)).scalar_one())
            nested = await connection.begin_nested() if savepoint else None
            with suppress(DBAPIError):
                await connection.execute(text("SELECT 1 / 0"))
            if nested is not None:
                await nested.rollback()
            else:
                await connection.execute(PID)
    async with pool.line() as line:
        [[who]] = await line.exchange([(PID, {})])
        [prepared] = await line.exchange([(text("SELECT name FROM pg_prepared_statements"), {})])
    assert {*found, who.pg_backend_pid} == {who.pg_backend_pid}, "on the same connection"
    assert len(prepared) == 2, "psycopg had the server forget its own and ours"


async def test_statements_that_the_server_has_forgotten_are_prepared_anew(pool: Database) -> None:
    """As a pooler does, which gives a session to others in between."""
    found = set()
    for _ in range(2):
        async with pool.line() as line:
            [[who]] = await line.exchange([(PID, {})])
        found.add((line.driver, who.pg_backend_pid))
        async with pool.statement() as connection:
            await connection.exec_driver_sql("DEALLOCATE ALL")
    assert len(found) == 1, "on the same connection"


async def test_a_connection_keeps_the_statements_that_were_asked_last(
    pool: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_PREPARED", 3)
    names = text("SELECT name FROM pg_prepared_statements WHERE name LIKE 'memsvc%' ORDER BY prepare_time")
    number = text("SELECT :number AS number")
    async with pool.line() as line:
        for values in ({"number": 1}, {"number": 70_000}, {"number": 5_000_000_000}, {"number": "one"}, {"number": 2}):
            [[found], kept] = await line.exchange([(number, values), (names, {})])
            assert found.number == values["number"]
            assert len(kept) <= 3
        [kept] = await line.exchange([(names, {})])
        assert len(kept) == 3


async def test_a_statement_that_gives_other_columns_after_an_upgrade_is_prepared_anew(
    pool: Database, admin: psycopg.Connection
) -> None:
    everything = text("SELECT * FROM memsvc.upgraded()")
    try:
        for columns, values in (("one int", "1"), ("one int, two int", "1, 2")):
            admin.execute("DROP FUNCTION IF EXISTS memsvc.upgraded")
            admin.execute(
                f"CREATE FUNCTION memsvc.upgraded() RETURNS TABLE ({columns}) LANGUAGE sql AS 'SELECT {values}'"
            )
            admin.execute("GRANT EXECUTE ON FUNCTION memsvc.upgraded TO memsvc_app")
            async with pool.line() as line:
                [[found]] = await line.exchange([(everything, {})])
            assert found._fields == tuple(column.split()[0] for column in columns.split(", "))
    finally:
        admin.execute("DROP FUNCTION IF EXISTS memsvc.upgraded")


async def test_nothing_is_sent_within_a_transaction_that_is_open(pool: Database) -> None:
    async def within() -> None:
        async with pool.line() as line:
            await line.driver.execute("SELECT 1")
            await line.exchange([(PID, {})])

    with pytest.raises(DatabaseUnavailableError):
        await within()


async def test_columns_without_a_name_of_their_own_are_no_failure(pool: Database) -> None:
    async with pool.line() as line:
        [[found]] = await line.exchange([(text("SELECT 1, 2 AS two, 3"), {})])
    assert (tuple(found), found.two) == ((1, 2, 3), 2)


async def test_a_pool_from_before_the_upgrade_takes_vectors_after_it(
    cluster: Cluster, database_name: str, settings: Settings
) -> None:
    """The type's number is read when a connection begins; there was none then."""
    name = f"{database_name}_bare"
    cluster.recreate(name)
    bare = Database(role_url(cluster.admin_url(name), "memsvc_app", settings.secret("app_password")), settings)
    asked = text("SELECT CAST(:one AS public.halfvec) <#> (CAST(:several AS public.halfvec[]))[2] AS found")
    values = {"one": HalfVector([1.0, 2.0]), "several": Vectors([HalfVector([0.0, 0.0]), HalfVector([0.5, 0.25])])}
    try:
        async with bare.statement() as connection:
            assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
        cluster.execute(sql.SQL("CREATE EXTENSION vector SCHEMA public"), name)
        async with bare.statement() as connection:
            assert (await connection.execute(asked, values)).scalar_one() == -1
        async with bare.line() as line:
            [[row]] = await line.exchange([(asked, values)])
        assert row.found == -1
    finally:
        await bare.close()
        cluster.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
