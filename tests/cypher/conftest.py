"""A database with a graph for Cypher. These tests are collected on the full server only, which has Apache AGE."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from litestar import Litestar

from memsvc.access.keys import create_key
from memsvc.access.users import Owner, add_user, app_id
from memsvc.api.app import create_app
from memsvc.db.engine import Database, role_url
from memsvc.server import projection
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from tests.api.conftest import client_of, running
from tests.cluster import Cluster
from tests.sql.world import Logins

_numbers = count()


def upgraded(cluster: Cluster, url: str, settings: Settings) -> None:
    """Bring a database up, one at a time: roles are the whole server's, and two that change them collide."""
    with cluster.alone():
        upgrade(url, settings)


@pytest.fixture(scope="session")
def cypher_url(cluster: Cluster, template: str, worker_id: str) -> Iterator[str]:
    """The administrator's URL of a database whose graph Cypher can ask."""
    name = f"memsvc_test_cypher_{worker_id}"
    with psycopg.connect(cluster.base_url, autocommit=True) as admin:
        lacks = projection.state(admin).lacks
    assert not lacks
    yield cluster.clone(name, template)
    cluster.drop(name)


@pytest.fixture(scope="session")
def cypher_settings(cluster: Cluster, cypher_url: str, folder: Path) -> Settings:
    """Settings with Cypher on, for the database that they name; it is brought up by them."""
    chosen = Settings.model_validate(
        {
            "data_dir": folder,
            "database_url": cypher_url,
            "extractor": "none",
            "cypher": "on",
            "cypher_timeout_ms": 1_500,
        }
    )
    upgraded(cluster, cypher_url, chosen)
    return chosen


@pytest.fixture(scope="session")
def cypher_logins(cypher_url: str, cypher_settings: Settings) -> Logins:
    """The real logins of that database."""
    return Logins(cypher_url, cypher_settings)


@pytest.fixture(scope="session")
async def cypher_db(cypher_url: str, cypher_settings: Settings) -> AsyncIterator[Database]:
    """That database as the application sees it."""
    url = role_url(cypher_url, "memsvc_app", cypher_settings.secret("app_password"))
    database = Database(url, cypher_settings)
    await app_id(database, "tests")
    yield database
    await database.close()


@pytest.fixture
def cypher_admin(cypher_url: str, cypher_settings: Settings) -> Iterator[psycopg.Connection]:
    """The administrator in that database, in autocommit: sees everything."""
    with psycopg.connect(cypher_url, autocommit=True) as connection:
        connection.execute("LOAD 'age'")  # else ROLLBACK of a transaction that loads it fails: memsvc/db/liveness.py
        yield connection


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who asks in Cypher."""

    client: httpx.AsyncClient
    owner: Owner

    async def post(self, query: str, parameters: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        """Send it."""
        body = {"query": query, "parameters": parameters or {}, **more}
        return await self.client.post("/v1/graph/cypher", json=body)

    async def rows(self, query: str, **parameters: Any) -> list[list[Any]]:
        """The rows of a query that must work."""
        answer = await self.post(query, parameters)
        assert answer.status_code == 200, answer.text
        rows: list[list[Any]] = answer.json()["rows"]
        return rows

    async def code(self, query: str, **parameters: Any) -> str:
        """The code of a query that must not work; what others have is never in the answer."""
        answer = await self.post(query, parameters)
        assert answer.status_code in {400, 503}, answer.text
        assert "secret" not in answer.text.replace(query, "")
        return str(answer.json()["code"])


@pytest.fixture(scope="session")
async def cypher_api(cypher_db: Database, cypher_settings: Settings) -> AsyncIterator[Litestar]:
    """The application on that database."""
    async with running(create_app(cypher_settings, cypher_db)) as app:
        yield app


@pytest.fixture
async def asker(cypher_api: Litestar, cypher_db: Database) -> AsyncIterator[Callable[[str], Awaitable[Asker]]]:
    """Makes a fresh user with a key that may only read."""
    async with AsyncExitStack() as stack:

        async def make(name: str) -> Asker:
            app = await app_id(cypher_db, "tests")
            owner = (await add_user(cypher_db, app, name=name, external_id=f"{name}-{next(_numbers)}")).owner
            key = await create_key(cypher_db, app, scopes=["read"], user_id=owner.user_id)
            client = await stack.enter_async_context(client_of(cypher_api, Authorization=f"Bearer {key}"))
            return Asker(client, owner)

        yield make
