"""Whoever listens for a user is sent away as soon as the user is being erased."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import httpx
import pytest
from websockets.asyncio.client import connect

from memsvc.access.keys import create_key
from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.erasing.users import BEGIN, erase_user
from memsvc.settings import Settings
from tests.api.test_live import Client, listening, person, serving

AT_ONCE_S = 3.0
Erase = Callable[[UUID], Awaitable[object]]


@pytest.fixture(scope="module")
async def address(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A server."""
    async with serving(db, settings) as where:
        yield where


@pytest.fixture(params=["erased", "begun elsewhere"])
def erase(request: pytest.FixtureRequest, db: Database, app: UUID) -> Erase:
    """Erases a user here, or only begins to, in another process that tells nobody."""

    async def erased(user_id: UUID) -> None:
        await erase_user(db, app, str(user_id), requested_by="tests")

    async def begun(user_id: UUID) -> None:
        async with db.transaction() as connection:
            await connection.execute(BEGIN, {"app": app, "ref": str(user_id), "by": "tests"})

    return erased if request.param == "erased" else begun


async def test_open_sockets_of_an_erased_user_close_at_once(
    address: str, db: Database, app: UUID, owner: Owner, erase: Erase
) -> None:
    going = (await add_user(db, app, name="Gustav")).owner
    key = await create_key(db, app, user_id=going.user_id)
    bearer = {"Authorization": f"Bearer {key}"}
    async with (
        listening(address, db, going) as by_ticket,
        connect(f"ws://{address}/ws", additional_headers=bearer) as connection,
        listening(address, db, owner) as stays,
        httpx.AsyncClient(base_url=f"http://{address}", headers=bearer, timeout=60) as http,
    ):
        by_key = Client(connection)
        await by_key.hear("READY")
        waiting = asyncio.create_task(http.get("/v1/events", params={"cursor": "now", "wait": 30}))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        begun = time.monotonic()
        await erase(going.user_id)
        for client in (by_ticket, by_key):
            said = await asyncio.wait_for(client.hear("ERROR"), 20)
            assert (said["code"], await client.closed()) == ("user_erased", 4404)
        told = await waiting
        assert (told.status_code, told.json()["code"]) == (404, "user_erased")
        assert time.monotonic() - begun < AT_ONCE_S
        change = await person(db, owner, "Ines")
        assert (await stays.hear("GRAPH_UPDATE"))["change_id"] == str(change.change_id)
