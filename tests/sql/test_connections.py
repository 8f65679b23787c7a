"""A connection of the pool is looked at before it is used, and asked only where its server said something meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import text
from sqlalchemy.util import greenlet_spawn

from memsvc.access.users import Owner
from memsvc.db.engine import Database, role_url
from memsvc.settings import Settings
from tests.conftest import Cluster

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


async def test_what_was_left_open_does_not_go_back_to_the_pool(pool: Database) -> None:
    pooled = await pool.engine.raw_connection()
    driver: Any = pooled.driver_connection
    await driver.execute("CREATE TEMPORARY TABLE left_open ()")
    await greenlet_spawn(pooled.close)
    assert driver.info.transaction_status == TransactionStatus.IDLE
    async with pool.driver() as again:
        [found] = await (await again.execute("SELECT to_regclass('left_open')")).fetchall()
        assert (again, found) == (driver, (None,))


async def test_a_connection_at_rest_goes_back_without_being_asked(pool: Database) -> None:
    async with pool.driver() as first:
        pass
    with patch.object(psycopg.AsyncConnection, "rollback", side_effect=AssertionError("asked")):
        async with pool.driver() as second:
            assert second is first
