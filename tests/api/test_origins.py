"""Doors that a browser can open without asking take known names alone: Host and Origin of /mcp and /ws."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.connection import ASGIConnection
from pydantic import ValidationError
from websockets.asyncio.client import connect

from memsvc.access.tickets import issue_ticket
from memsvc.access.users import Owner
from memsvc.api.origins import check_origin
from memsvc.db.engine import Database
from memsvc.errors import HostRefusedError, OriginRefusedError
from memsvc.settings import Settings
from tests.api.test_live import Client, serving, socket_of_few_bytes
from tests.api.test_mcp import HEADERS, handshake

OWN = [
    "localhost", "LOCALHOST:8765", "localhost.", "127.0.0.1:8765", "127.8.9.1", "[::1]", "[::1]:8765",
    "memory.example.org", "Memory.Example.org:443", "memory.example.org.", "10.0.0.7:8765", "inner.test",
    "[fd00::7]:80",
]  # fmt: skip
FOREIGN = [
    "", "evil.test", "evil.test:8765", "localhost.evil.test", "evil-localhost", "localhost:8765.evil.test",
    "localhost@evil.test", "evil.test#localhost", "127.0.0.1.evil.test", "128.0.0.1", "0.0.0.0", "[::2]", "::1", "[::1",
    "localhost:123456",
    "localhost evil.test", "localhost,evil.test", "xn--lcalhost-n1a", "10.0.0.8", "evilmemory.example.org",
    "sub.inner.test",
]  # fmt: skip


def connection(*headers: tuple[str, str]) -> ASGIConnection[Any, Any, Any, Any]:
    """A request with these headers."""
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return ASGIConnection({"type": "http", "headers": raw})  # type: ignore[arg-type]


@pytest.fixture
def named() -> Settings:
    """A service behind a proxy, with further names, that listens on one address."""
    return Settings(
        public_url="https://memory.example.org:8443/memory", host="10.0.0.7", allowed_hosts="inner.test, [fd00::7]"
    )


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_let_in(named: Settings, host: str) -> None:
    check_origin(connection(("host", host)), named)
    for scheme in ("http", "https"):
        check_origin(connection(("host", host), ("origin", f"{scheme}://{host}")), named)


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_names_are_refused(named: Settings, host: str) -> None:
    for headers in ([("host", host)], [("host", "localhost"), ("host", host)], [("host", host), ("host", "localhost")]):
        with pytest.raises(HostRefusedError):
            check_origin(connection(*headers), named)
    with pytest.raises(OriginRefusedError):
        check_origin(connection(("host", "localhost"), ("origin", f"http://{host}")), named)


@pytest.mark.parametrize(
    "origin",
    ["null", "localhost", "file://", "file://localhost", "http://", "http://localhost/x", "http://a@localhost"],
)
def test_what_is_no_origin_of_ours_is_refused(named: Settings, origin: str) -> None:
    with pytest.raises(OriginRefusedError):
        check_origin(connection(("host", "localhost"), ("origin", origin)), named)


def test_a_request_without_a_host_is_refused() -> None:
    with pytest.raises(HostRefusedError):
        check_origin(connection(), Settings())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_listening_everywhere_lets_no_name_in(host: str) -> None:
    for name in ("0.0.0.0", "[::]", "192.168.1.5", "evil.test"):
        with pytest.raises(HostRefusedError):
            check_origin(connection(("host", name)), Settings(host=host))


@pytest.mark.parametrize("hosts", ["https://a.test", "a.test/x", "a.test b.test", "*.a.test", "a.test:80", "a@b.test"])
def test_a_list_that_cannot_be_meant_is_refused(hosts: str) -> None:
    with pytest.raises(ValidationError, match="names of hosts"):
        Settings(allowed_hosts=hosts)


async def test_mcp_answers_to_its_names_alone(api: Litestar, ada: httpx.AsyncClient) -> None:
    allowed = {"Host": "memsvc.test"}
    for headers, status, code in (
        ({"Host": "evil.test"}, 403, "host_refused"),
        ({"Host": "evil.test", "Origin": "http://evil.test"}, 403, "host_refused"),
        (allowed | {"Origin": "http://evil.test"}, 403, "origin_refused"),
        (allowed | {"Origin": "null"}, 403, "origin_refused"),
        (allowed, 200, None),
        (allowed | {"Origin": "http://memsvc.test:3000"}, 200, None),
        ({"Host": "localhost:8765"}, 200, None),
    ):
        answer = await ada.post("/mcp", json=handshake("2025-11-25"), headers=HEADERS | headers)
        assert (answer.status_code, answer.json().get("code")) == (status, code), headers
        assert status == 200 or "MEMSVC_ALLOWED_HOSTS" in answer.json()["hint"]
    stranger = await ada.post("/mcp", headers=HEADERS | {"Host": "evil.test", "Authorization": "Bearer mk_x.y"})
    assert stranger.json()["code"] == "host_refused", "before the key is looked at"


@pytest.fixture(scope="module")
async def address(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A server."""
    async with serving(db, settings) as where:
        yield where


async def test_ws_answers_to_its_names_alone(address: str, db: Database, owner: Owner) -> None:
    ticket = issue_ticket(db, owner).ticket
    for name, origin, told in (
        ("evil.test", "http://evil.test", ("host_refused", 4403)),
        ("evil.test", None, ("host_refused", 4403)),
        (address, "http://evil.test", ("origin_refused", 4403)),
        (address, "null", ("origin_refused", 4403)),
        (address, "http://localhost:3000", ("READY", None)),
        (address, None, ("ticket_invalid", 4401)),  # it was used now, and by none of the refused ones
    ):
        line = socket_of_few_bytes(address)
        async with connect(f"ws://{name}/ws?ticket={ticket}", sock=line, origin=origin) as connection:  # type: ignore[arg-type]
            client = Client(connection)
            first = await asyncio.wait_for(client.hear(), 10)
            assert (first.get("code", first["type"]), None if told[1] is None else await client.closed()) == told
