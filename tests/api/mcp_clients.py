"""The official MCP client on the application under test, in the test's own event loop."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
from litestar import Litestar
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextResourceContents

from memsvc.text.fence import find_blocks

URL = "http://memsvc.test/mcp"
RECALL_ID = re.compile(r"\nrecall_id: [0-9a-f-]{36}\Z")
OLD, NEW = "legacy", "2026-07-28"
"""How a client begins: with the handshake of 2024 and 2025, or without one."""


@asynccontextmanager
async def mcp_client(api: Litestar, rest: httpx.AsyncClient, mode: str = NEW) -> AsyncIterator[Client]:
    """An MCP client with the key, and the user, of a client of REST."""
    headers = {name: rest.headers[name] for name in ("Authorization", "X-Memsvc-User") if name in rest.headers}
    transport = httpx2.ASGITransport(app=api)  # type: ignore[arg-type]
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


async def use(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """What a tool answers: its text and its structured content; it must not be an error."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return said(answer), answer.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The code by which a tool refuses."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer
    code = answer.structured_content["code"]
    assert said(answer).startswith(f"{code}: ")
    return str(code)


async def read(client: Client, uri: str) -> str:
    """The text of a resource."""
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


def said(answer: Any) -> str:
    """The text of an answer."""
    [content] = answer.content
    return str(content.text)


def is_fenced(text: str) -> bool:
    """Whether the whole text is one block of quotes, but for the id of the recall behind it."""
    quotes = RECALL_ID.sub("", text)
    return find_blocks(quotes) == [(0, len(quotes))]
