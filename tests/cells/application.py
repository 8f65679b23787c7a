"""The application over the directory and the cell ``north``, in the test's own event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
from litestar import Litestar

from memsvc.access.keys import UNLIMITED, Limits, create_key
from memsvc.access.users import app_id
from memsvc.api.app import create_app
from memsvc.api.callers import Service
from memsvc.db.engine import Database, role_url
from memsvc.settings import Settings
from tests.api.conftest import client_of, running
from tests.cells.pair import Deployment

APP = "served"


@dataclass(frozen=True, slots=True)
class Application:
    """What serves the users of both databases."""

    deployment: Deployment
    settings: Settings
    db: Database
    """The home, with the application's login."""
    api: Litestar
    stack: AsyncExitStack

    @property
    def service(self) -> Service:
        """What all requests share."""
        found: Service = self.api.state["service"]
        return found

    async def key(self, *scopes: str, limits: Limits = UNLIMITED) -> str:
        """A new key of the app."""
        chosen = scopes or ("read", "write", "admin")
        return await create_key(self.db, await app_id(self.db, APP), scopes=chosen, limits=limits)

    async def client(self, key: str, **headers: str) -> httpx.AsyncClient:
        """A client with a key."""
        return await self.stack.enter_async_context(client_of(self.api, Authorization=f"Bearer {key}", **headers))

    async def person(self, name: str, cell: str) -> tuple[UUID, httpx.AsyncClient]:
        """Add a user to a cell; the user's id, and a client that acts for the user."""
        self.deployment.run("home", "UPDATE memsvc.cells SET weight = CAST(name = %s AS int)", cell)
        key = await self.key()
        added = await (await self.client(key)).post("/v1/users", json={"name": name})
        assert added.status_code == 201, added.text
        return UUID(added.json()["user_id"]), await self.client(key, **{"X-Memsvc-User": name})


@asynccontextmanager
async def served(deployment: Deployment, **changed: Any) -> AsyncIterator[Application]:
    """Run the application; ``changed``: settings."""
    some = {"allowed_hosts": "memsvc.test", "move_patience_s": 2.0, "connect_timeout_s": 2, **changed}
    own = deployment.settings.model_copy(update=some)
    db = Database(role_url(deployment.home, "memsvc_app", own.secret("app_password")), own)
    try:
        async with running(create_app(own, db)) as api, AsyncExitStack() as stack:
            await api.state["service"].cells.read()
            yield Application(deployment, own, db, api, stack)
    finally:
        await db.close()
        deployment.run("home", "UPDATE memsvc.cells SET weight = 1")
