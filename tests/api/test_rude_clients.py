"""Clients that send too much, too slowly, or go in the middle, over real sockets: others notice nothing of them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import LARGEST_BODIES, create_app
from memsvc.api.serving import HEAD_S
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served

HEADER_S = 1.0
BODY_S = 1.0
PATIENCE_S = 20.0
HUGE = 100_000_000
PIECE = b" " * 65_536
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture(scope="module")
async def address(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A server that waits a second for heads and bodies."""
    chosen = settings.model_copy(update={"body_timeout_s": BODY_S})
    async with served(create_app(chosen, db), header_timeout_s=HEADER_S) as found:
        yield found


@pytest.fixture
async def key(db: Database, app: UUID, owner: Owner) -> str:
    """Ada's key."""
    return await create_key(db, app, user_id=owner.user_id)


@pytest.fixture
async def ada(address: str, key: str) -> AsyncIterator[httpx.AsyncClient]:
    """Ada, who is polite."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE_S) as client:
        yield client


@asynccontextmanager
async def socket_to(address: str) -> AsyncIterator[Streams]:
    """A plain connection."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def head(path: str, key: str, *more: str) -> bytes:
    """The head of a POST."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {key}",
        "Content-Type: application/json",
    ]
    return "\r\n".join([*lines, "Accept: application/json, text/event-stream", *more, "", ""]).encode()


async def heard(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes the connection."""
    answer = b""
    async with asyncio.timeout(PATIENCE_S):
        while piece := await _piece(reader):
            answer += piece
    return answer


async def _piece(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65_536)
    except ConnectionError:
        return b""


def told(answer: bytes) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    top, _, body = answer.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(body)


def resident_mb() -> float:
    """Memory of this process, which serves: the client's part of it is a few pieces."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/hooks/message", "/mcp"])
async def test_a_huge_body_is_refused_before_it_is_sent(address: str, key: str, path: str) -> None:
    async with socket_to(address) as (reader, writer):
        writer.write(head(path, key, f"Content-Length: {HUGE}", "Connection: close"))
        status, problem = told(await heard(reader))
    assert (status, problem["code"]) == (413, "body_too_large")


async def test_endless_bodies_are_cut_off_and_fill_no_memory(address: str, key: str) -> None:
    async def send() -> bytes:
        async with socket_to(address) as (reader, writer):
            writer.write(head("/v1/messages", key, "Transfer-Encoding: chunked", "Connection: close"))
            chunk = b"%x\r\n%s\r\n" % (len(PIECE), PIECE)
            answering = asyncio.create_task(heard(reader))
            try:
                for _ in range(HUGE // len(PIECE)):
                    if answering.done():
                        break
                    writer.write(chunk)
                    await writer.drain()
            except ConnectionError:
                pass
            return await answering

    first = await send()
    assert not first or told(first)[1]["code"] in {"body_too_large", "body_too_slow"}
    before = resident_mb()
    for _ in range(4):
        await send()
    assert resident_mb() - before < 60


async def test_many_who_say_nothing_or_little_keep_nobody_out(db: Database, settings: Settings) -> None:
    async with served(create_app(settings, db)) as address, AsyncExitStack() as stack:
        there = [await stack.enter_async_context(socket_to(address)) for _ in range(600)]
        for _, writer in there[::2]:
            writer.write(b"GET /health HTTP/1.1\r\nHost:")
        async with httpx.AsyncClient(base_url=address, timeout=HEAD_S / 2) as polite:
            assert (await polite.get("/health")).status_code == 200
        assert not any(reader.at_eof() for reader, _ in there)  # all of that time


async def test_who_says_nothing_is_hung_up_on(address: str) -> None:
    async with socket_to(address) as (first, _), socket_to(address) as (second, asks):
        asks.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await heard(first) == b""
        assert b" 200 " in await heard(second)  # and then says no more


async def test_heads_that_never_end_are_hung_up_on(address: str, ada: httpx.AsyncClient) -> None:
    async with socket_to(address) as (reader, writer):
        writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        waiting = asyncio.create_task(heard(reader))
        while not waiting.done():
            try:
                writer.write(b"a")
                await writer.drain()
            except ConnectionError:
                break
            assert (await ada.get("/health")).status_code == 200
            await asyncio.sleep(HEADER_S / 10)
        assert b"202" not in await waiting


async def test_bodies_that_never_end_are_given_up(address: str, key: str, ada: httpx.AsyncClient) -> None:
    async def drip(path: str) -> tuple[int, Any]:
        async with socket_to(address) as (reader, writer):
            writer.write(head(path, key, "Content-Length: 1000", "Connection: close") + b"{")
            waiting = asyncio.create_task(heard(reader))
            while not waiting.done():
                writer.write(b" ")
                await asyncio.sleep(BODY_S / 10)
            return told(await waiting)

    dripping = [asyncio.create_task(drip(path)) for path in ("/v1/messages", "/mcp") for _ in range(15)]
    await asyncio.sleep(BODY_S / 4)
    polite = await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})
    assert polite.status_code == 202
    async with asyncio.timeout(20 * BODY_S):
        answers = await asyncio.gather(*dripping)
    for status, problem in answers:
        assert (status, problem["code"]) == (408, "body_too_slow")


async def test_large_bodies_together_have_bounded_room(
    db: Database, settings: Settings, app: UUID, owner: Owner
) -> None:
    most = 1_000_000
    said = json.dumps({"conversation": "a", "text": "oak", "metadata": {"filling": "x" * (most - 1_000)}}).encode()
    keys = [await create_key(db, app, user_id=owner.user_id) for _ in range(6)]
    share = LARGEST_BODIES // 4

    def begin(key: str) -> bytes:
        return head("/v1/messages", key, f"Content-Length: {len(said)}", "Connection: close")

    async with served(create_app(settings.model_copy(update={"max_body_bytes": most}), db)) as address:
        async with AsyncExitStack() as stack:
            hearing = []
            for key in keys:
                for _ in range(2 * share):
                    reader, writer = await stack.enter_async_context(socket_to(address))
                    writer.write(begin(key) + said[:-1])
                    hearing.append(asyncio.create_task(heard(reader)))
            async with asyncio.timeout(PATIENCE_S):
                while sum(task.done() for task in hearing) < len(hearing) - LARGEST_BODIES:  # noqa: ASYNC110 - over HTTP
                    await asyncio.sleep(0.02)
            refused = [told(task.result()) for task in hearing if task.done()]
            assert {(status, problem["code"]) for status, problem in refused} == {(503, "overloaded")}
            for first in range(0, len(hearing), 2 * share):
                assert sum(not task.done() for task in hearing[first : first + 2 * share]) <= share  # of a key
            async with httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {keys[0]}"}) as polite:
                small = await polite.post("/v1/messages", json={"conversation": "a", "text": "oak " * 1_000})
            assert small.status_code == 202  # needs no room
        async with socket_to(address) as (reader, writer):  # what others held is free again
            writer.write(begin(keys[0]) + said)
            assert told(await heard(reader))[1]["code"] == "text_too_long"  # it was read


async def test_half_closed_sockets_hold_nothing(address: str, key: str, ada: httpx.AsyncClient) -> None:
    whole = json.dumps({"conversation": "half", "text": "oak"}).encode()
    for body in (whole[:10], b"", whole):
        async with socket_to(address) as (reader, writer):
            writer.write(head("/v1/messages", key, f"Content-Length: {len(whole)}", "Connection: close") + body)
            writer.write_eof()
            answer = await heard(reader)
            assert not answer or told(answer)[0] == (202 if body == whole else 400)
    stored = (await ada.get("/v1/conversations")).json()["items"]
    assert [one["identifier"] for one in stored] in ([], ["half"])


async def test_a_client_that_goes_before_its_answer_disturbs_nobody(
    address: str, key: str, ada: httpx.AsyncClient
) -> None:
    whole = json.dumps({"query": "oak"}).encode()
    for _ in range(40):
        async with socket_to(address) as (_, writer):
            writer.write(head("/v1/recall", key, f"Content-Length: {len(whole)}") + whole)
            writer.transport.abort()
    assert (await ada.post("/v1/recall", json={"query": "oak"})).status_code == 200


async def test_what_is_no_http_is_hung_up_on(address: str, ada: httpx.AsyncClient) -> None:
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"\0" * 1_000, b"GET / HTTP/9.9\r\n\r\n", b"A" * 600_000):
        async with socket_to(address) as (reader, writer):
            writer.write(garbage)
            with suppress(OSError):  # it has hung up already
                writer.write_eof()
            assert b"200 OK" not in await heard(reader)
    assert (await ada.get("/health")).status_code == 200
