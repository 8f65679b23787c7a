"""A process closes what it opened for a cell that is gone or has another address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import make_url, text

from memsvc.cells.directory import Cells
from memsvc.errors import UserMovingError
from tests.cells.application import Application, served
from tests.cells.pair import Deployment
from tests.cells.served import found, tell

pytestmark = pytest.mark.slow

SESSIONS = (
    "SELECT usename FROM pg_stat_activity WHERE datname = %s AND usename IN ('memsvc_app', 'memsvc_cypher') ORDER BY 1"
)
MOVED = "UPDATE memsvc.cells SET url = url || CASE WHEN url LIKE '%%?%%' THEN '&' ELSE '?' END || %s WHERE cell_id = 1"


@pytest.fixture(scope="module")
async def serving(deployment: Deployment) -> AsyncIterator[Application]:
    async with served(deployment) as running:
        yield running


@pytest.fixture
async def both(deployment: Deployment, serving: Application) -> AsyncIterator[Application]:
    """What serves both databases; afterwards the directory knows the cell again."""
    [row] = deployment.rows("home", "SELECT name, url FROM memsvc.cells WHERE cell_id = 1")
    yield serving
    deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id = 1")
    deployment.run("home", "INSERT INTO memsvc.cells (cell_id, name, url) VALUES (1, %s, %s)", *row)
    await serving.service.cells.read()
    assert await none_is_left(deployment), "later tests would count them"


def sessions(deployment: Deployment) -> list[str]:
    """The logins of the application's sessions in the cell."""
    name = make_url(deployment.north).database
    return [login for (login,) in deployment.rows("home", SESSIONS, name)]


async def none_is_left(deployment: Deployment) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if not await asyncio.to_thread(sessions, deployment):
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.parametrize("how", ["moved", "removed"])
async def test_pools_and_live_clients_of_a_cell_that_is_gone_are_closed(
    deployment: Deployment, both: Application, how: str
) -> None:
    _, client = await both.person(f"Zoe {how}", "north")
    assert (await tell(client, "The heron is at the lock.")).status_code == 202
    cells = both.service.cells
    [_, (_, north)] = await cells.all()
    cypher = both.service.cypher_of(north)
    assert cypher is not None
    assert both.service.cypher_of(north) is cypher
    async with cypher.engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
    listening = asyncio.create_task(client.get("/v1/events", params={"cursor": "now", "wait": 25}))
    await asyncio.sleep(0.3)
    assert not listening.done()
    assert {"memsvc_app", "memsvc_cypher"} == set(sessions(deployment))
    await cells.read()  # nothing is closed while the directory says the same
    await asyncio.sleep(0.3)
    assert (await cells.all())[1][1] is north
    assert not listening.done()

    if how == "moved":
        deployment.run("home", MOVED, "target_session_attrs=any")
    else:
        deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id = 1")
    await cells.read()
    told = await asyncio.wait_for(listening, 5)
    assert (told.status_code, told.json()["code"]) == (503, "user_moving"), told.text
    assert await none_is_left(deployment), sessions(deployment)
    for again in (both.service.cypher_of, both.api.state["live"].of):  # by a request that began before
        with pytest.raises(UserMovingError):
            again(north)
    if how == "moved":
        assert await found(client, "heron") == ["The heron is at the lock."]
        [_, (_, north)] = await cells.all()
        assert both.service.cypher_of(north) is not cypher
    else:
        gone = await client.post("/v1/recall", json={"query": "heron"})
        assert (gone.status_code, gone.json()["code"]) == (503, "database_unavailable")


async def test_a_transaction_that_has_begun_in_a_cell_that_is_gone_may_end(both: Application) -> None:
    cells = Cells(both.db, both.settings)
    [_, (_, north)] = await cells.all()
    async with north.transaction() as connection:
        both.deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id = 1")
        await cells.read()
        await asyncio.sleep(0.2)
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    assert await none_is_left(both.deployment), sessions(both.deployment)
    await cells.close()


async def test_a_process_that_ends_waits_for_no_transaction_of_a_cell_that_is_gone(both: Application) -> None:
    cells = Cells(both.db, both.settings)
    [_, (_, north)] = await cells.all()
    async with north.engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
        both.deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id = 1")
        await cells.read()
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await cells.close()
        assert time.monotonic() - began < 2
        await connection.invalidate()
