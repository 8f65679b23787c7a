"""``memsvc mcp`` serves one user for days: each call finds the cell in which the user is then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from mcp import Client

from memsvc.access.keys import Principal
from memsvc.access.users import app_id, owner_of
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.server import make_server
from memsvc.cells.directory import Cells, Followed
from memsvc.errors import DatabaseUnavailableError, UserUnknownError
from tests.api.mcp_clients import refused, use
from tests.cells.application import APP, Application, served
from tests.cells.pair import Deployment

pytestmark = pytest.mark.slow

DOOR = "UPDATE memsvc.users SET moving = %s WHERE user_id = %s"


@dataclass(frozen=True, slots=True)
class Assistant:
    """A program with ``memsvc mcp`` for one user."""

    client: Client
    user: UUID
    find: Followed


@pytest.fixture(scope="module")
async def both(deployment: Deployment) -> AsyncIterator[Application]:
    async with served(deployment) as running:
        yield running


@asynccontextmanager
async def assisting(both: Application, name: str) -> AsyncIterator[Assistant]:
    """Serve a new user of the home."""
    user, _ = await both.person(name, "home")
    owner = await owner_of(both.db, user)
    cells = Cells(both.db, both.settings)
    find = Followed(cells, user)
    principal = Principal(await app_id(both.db, APP), frozenset({"read", "write"}), owner, user)
    server = make_server(lambda _ctx: Asker(both.db, both.settings, None, principal, None, find))
    async with Client(server) as client:
        yield Assistant(client, user, find)
    await cells.close()


async def test_calls_go_on_in_the_new_cell_after_a_move_there_and_back(both: Application) -> None:
    async with assisting(both, "Fred") as assistant:
        client, user = assistant.client, assistant.user
        await use(client, "remember", text="The heron is at the mill.")
        for number, cell in enumerate(("north", "home", "north")):
            await asyncio.to_thread(both.deployment.move, user, cell, APP)
            assert "at the mill" in (await use(client, "recall", query="heron"))[0]
            await use(client, "remember", text=f"The crane number {number} sleeps.")
            assert f"number {number}" in (await use(client, "recall", query="crane"))[0]
            assert both.deployment.content(cell, user)["passages"], "the call went to the other cell"
        assert "messages" not in both.deployment.left("home", user)


async def test_a_call_waits_for_the_end_of_a_move_and_is_refused_after_a_while(both: Application) -> None:
    async with assisting(both, "Fritz") as assistant:
        client, user = assistant.client, assistant.user
        both.deployment.run("home", DOOR, "closing", user)
        waiting = asyncio.create_task(use(client, "remember", text="The pike is asleep."))
        await asyncio.sleep(0.5)
        assert not waiting.done(), "a call of a moving user went on"
        both.deployment.run("home", DOOR, None, user)
        await waiting
        both.deployment.run("home", DOOR, "closing", user)
        assert await refused(client, "recall", query="pike") == "user_moving"
        assert len((await client.list_tools()).tools) > 5, "what needs no memory waits for nothing"
        both.deployment.run("home", DOOR, None, user)
        assert "asleep" in (await use(client, "recall", query="pike"))[0]


async def test_a_user_who_is_erased_is_not_served_any_more(both: Application) -> None:
    async with assisting(both, "Frieda") as assistant:
        chief = await both.client(await both.key("admin"))
        assert (await chief.delete(f"/v1/users/{assistant.user}")).status_code == 200
        assert await refused(assistant.client, "recall", query="pike") == "user_unknown"
        with pytest.raises(UserUnknownError):
            await assistant.find()


async def test_without_the_directory_a_user_of_another_cell_goes_on(
    both: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with assisting(both, "Franz") as assistant:
        await asyncio.to_thread(both.deployment.move, assistant.user, "north", APP)
        await use(assistant.client, "remember", text="The swan is back.")

        async def no_answer(*_: object) -> None:
            raise DatabaseUnavailableError

        monkeypatch.setattr("memsvc.cells.directory.find_place", no_answer)
        assert "swan is back" in (await use(assistant.client, "recall", query="swan"))[0]
        monkeypatch.undo()
        await asyncio.to_thread(both.deployment.move, assistant.user, "home", APP)
        await use(assistant.client, "recall", query="swan")
        monkeypatch.setattr("memsvc.cells.directory.find_place", no_answer)
        assert await refused(assistant.client, "recall", query="swan") == "database_unavailable"
