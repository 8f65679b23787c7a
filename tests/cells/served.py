"""A home, a cell and the application that serves their users, and requests to it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import psycopg
from litestar import Litestar
from psycopg import sql
from sqlalchemy import make_url

from memsvc.access.keys import create_key
from memsvc.access.users import app_id
from memsvc.cells.managing import weigh_cell
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.conftest import client_of

HOME, EAST = 0, 1


@dataclass(frozen=True, slots=True)
class Served:
    """A home and a cell, and what serves them."""

    urls: tuple[str, str]
    """The administrators' URLs of the home and of the cell east."""
    settings: Settings
    db: Database
    """The home, with the application's login."""
    api: Litestar
    stack: AsyncExitStack

    def run(self, cell: int, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.urls[cell], autocommit=True) as connection:
            done = connection.execute(statement.encode(), values or None)
            return done.fetchall() if done.description else []

    def rows(self, cell: int, user: UUID | str) -> dict[str, int]:
        """Rows of a user in the tables that erasing knows."""
        found = {}
        for (table,) in self.run(cell, "SELECT name FROM memsvc.user_tables()"):
            [(count,)] = self.run(cell, f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", user)
            if count:
                found[table] = count
        return found

    def weigh(self, home: int, east: int) -> None:
        weigh_cell(self.urls[HOME], "home", home)
        weigh_cell(self.urls[HOME], "east", east)

    async def client(self, *scopes: str, **headers: str) -> httpx.AsyncClient:
        key = await create_key(self.db, await app_id(self.db, "cells"), scopes=scopes or ("read", "write", "admin"))
        return await self.stack.enter_async_context(client_of(self.api, Authorization=f"Bearer {key}", **headers))

    async def bearer(self, credential: str) -> httpx.AsyncClient:
        return await self.stack.enter_async_context(client_of(self.api, Authorization=f"Bearer {credential}"))

    async def person(self, name: str, cell: int) -> tuple[str, httpx.AsyncClient]:
        """Add a user to a cell; the user's id, and a client that acts for the user."""
        self.weigh(int(cell == HOME), int(cell == EAST))
        chief = await self.client()
        added = await chief.post("/v1/users", json={"name": name})
        assert added.status_code == 201, added.text
        return added.json()["user_id"], await self.client(**{"X-Memsvc-User": name})


async def tell(client: httpx.AsyncClient, text: str) -> httpx.Response:
    return await client.post("/v1/messages", json={"conversation": "pond", "text": text})


async def found(client: httpx.AsyncClient, question: str) -> list[str]:
    answer = await client.post("/v1/recall", json={"query": question})
    assert answer.status_code == 200, answer.text
    return [one["text"] for one in answer.json()["memories"]]


class gone:  # noqa: N801 - reads as a sentence
    """While the block runs, nobody can connect to a database, and nobody is connected."""

    def __init__(self, url: str) -> None:
        self._name = str(make_url(url).database)
        self._server = make_url(url).set(database="postgres").render_as_string(hide_password=False)

    def __enter__(self) -> None:
        self._allow(False)
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [self._name]
            )

    def __exit__(self, *_: object) -> None:
        self._allow(True)

    def _allow(self, allowed: bool) -> None:
        statement = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(statement.format(sql.Identifier(self._name), sql.Literal(allowed)))
