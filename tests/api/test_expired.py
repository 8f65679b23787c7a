"""What has expired opens no door: keys, tokens and tickets that are in order but for their time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import jwt
import psycopg
import pytest
from litestar import Litestar
from mcp.shared.exceptions import MCPError

from memsvc.access.keys import JWT_ALGORITHM, create_key
from memsvc.access.tickets import issue_ticket
from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, RefusedError
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.conftest import client_of
from tests.api.mcp_clients import mcp_client, use
from tests.api.routes import EVERY_ROUTE, ask
from tests.api.test_client import Line
from tests.api.test_live import refusal, serving
from tests.api.test_mcp import HEADERS, handshake

SCOPES = ("read", "write", "forget")
LONG_AGO, SOON = timedelta(seconds=-1), timedelta(minutes=5)
KINDS = ("key", "token")


class Credentials:
    """Keys and tokens of one user."""

    def __init__(self, db: Database, app: UUID, owner: Owner, admin: psycopg.Connection, api: Litestar) -> None:
        self.db, self.app, self.owner, self.admin, self.api = db, app, owner, admin, api

    async def make(self, kind: str, life: timedelta) -> str:
        """A key or a token that ends so long from now."""
        key = await create_key(self.db, self.app, scopes=SCOPES, user_id=self.owner.user_id, ttl=timedelta(hours=1))
        if kind == "key":
            self.admin.execute(
                "UPDATE memsvc.api_keys SET expires_at = now() + %s::interval WHERE key_id = %s",
                [life, key.partition(".")[0]],
            )
            return key
        async with client_of(self.api, Authorization=f"Bearer {key}") as client:
            token = (await client.post("/v1/token")).json()["token"]
        secret = self.db.signer.derived("jwt")
        claims = jwt.decode(token, secret, algorithms=[JWT_ALGORITHM])
        return jwt.encode(claims | {"exp": datetime.now(UTC) + life}, secret, JWT_ALGORITHM)


@pytest.fixture
def credentials(db: Database, app: UUID, owner: Owner, admin: psycopg.Connection, api: Litestar) -> Credentials:
    """Of Ada."""
    return Credentials(db, app, owner, admin, api)


@pytest.fixture(scope="module")
async def address(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A server for live connections."""
    async with serving(db, settings) as where:
        yield where


@pytest.fixture(params=KINDS)
async def expired(request: Any, credentials: Credentials) -> str:
    """A credential that worked until a second ago; the same with more time works."""
    kind: str = request.param
    async with client_of(credentials.api, Authorization=f"Bearer {await credentials.make(kind, SOON)}") as client:
        assert (await client.get("/v1/me")).status_code == 200
    return await credentials.make(kind, LONG_AGO)


def closed(answer: httpx.Response) -> None:
    """It asks for a credential that works."""
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), answer.request.url
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def test_no_route_opens_for_what_has_expired(api: Litestar, expired: str, owner: Owner) -> None:
    """REST, hooks, the drop-in door."""
    for more in ({}, {"X-Memsvc-User": str(owner.user_id)}):
        async with client_of(api, Authorization=f"Bearer {expired}", **more) as client:
            for method, path, _ in EVERY_ROUTE:
                closed(await ask(client, method, path))


async def test_mcp_does_not_open_for_what_has_expired(api: Litestar, expired: str) -> None:
    asked = {"name": "recall", "arguments": {"query": "oak"}}
    async with client_of(api, Authorization=f"Bearer {expired}") as client:
        for body in (handshake("2025-11-25"), {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}):
            closed(await client.post("/mcp", json=body, headers=HEADERS))


async def test_a_session_of_mcp_ends_with_its_key(
    api: Litestar, credentials: Credentials, admin: psycopg.Connection
) -> None:
    key = await credentials.make("key", SOON)
    async with client_of(api, Authorization=f"Bearer {key}") as rest, mcp_client(api, rest) as client:
        await use(client, "recall", query="oak")
        admin.execute("UPDATE memsvc.api_keys SET expires_at = now() WHERE key_id = %s", [key.partition(".")[0]])
        with pytest.raises(MCPError):
            await use(client, "recall", query="oak")


async def test_nobody_listens_with_what_has_expired(
    address: str, credentials: Credentials, expired: str, db: Database, owner: Owner
) -> None:
    ws = f"ws://{address}/ws"
    assert await refusal(ws, Authorization=f"Bearer {expired}") == ("unauthenticated", 4401)
    assert await refusal(f"{ws}?ticket={issue_ticket(db, owner, life_s=-1).ticket}") == ("ticket_invalid", 4401)
    assert await refusal(f"{ws}?ticket={expired}") == ("ticket_invalid", 4401)


async def test_the_python_client_says_so(api: Litestar, expired: str) -> None:
    memory = AsyncMemory("http://memsvc.test", expired, transport=Line(api))
    try:
        for call in (memory.recall("oak"), memory.add("The worktop shall be oak."), memory.context("oak")):
            with pytest.raises(RefusedError) as told:
                await call
            assert (told.value.status, told.value.code) == (401, "unauthenticated")
    finally:
        await memory.close()
