"""MCP as clients have it: the official client over a real server's HTTP, and starting ``memsvc mcp`` itself."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import MEMSVC, Rig
from tests.api.mcp_clients import NEW, OLD, is_fenced, refused, use

pytestmark = pytest.mark.acceptance
PAGE = Path(__file__).resolve().parents[2] / "docs" / "mcp.md"


@dataclass(frozen=True, slots=True)
class Served:
    """A running server with the users Ada and Bob."""

    rig: Rig
    admin: httpx2.Client

    @property
    def address(self) -> str:
        """Where MCP is."""
        return f"{self.rig.url}/mcp"

    def key(self, user: str, *scopes: str) -> str:
        """A new key of one user."""
        made = self.admin.post("/v1/keys", json={"user": user, "scopes": scopes or ("read", "write")})
        return str(made.raise_for_status().json()["secret"])

    @asynccontextmanager
    async def client(self, key: str, mode: str = NEW) -> AsyncIterator[Client]:
        """The official client over HTTP."""
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
            Client(streamable_http_client(self.address, http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def served(prepared: Path) -> Iterator[Served]:
    """The server of this module."""
    with private_folder(prepared) as data, Rig(data, embedding_model="", extractor="none") as rig, rig.admin():
        key = rig.ok("key", "create", "--scope", "admin").strip()
        rig.serve("api")
        with httpx2.Client(base_url=rig.url, headers={"Authorization": f"Bearer {key}"}) as admin:
            for name in ("Ada", "Bob", "Marcel"):
                admin.post("/v1/users", json={"name": name}).raise_for_status()
            yield Served(rig, admin)


def blocks(language: str) -> list[str]:
    """The examples of docs/mcp.md in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def server_of(served: Served, *arguments: str) -> StdioServerParameters:
    """How a client starts ``memsvc mcp``."""
    return StdioServerParameters(
        command=str(MEMSVC), args=["mcp", "--no-worker", *arguments], env=served.rig.environment, cwd=served.rig.cwd
    )


async def talk(client: Client, word: str) -> None:
    """A short conversation with the memory."""
    _, stored = await use(client, "remember", text=f"The bicycle is called {word}.")
    for _ in range(3):
        text, _ = await use(client, "recall", query="What is the bicycle called?")
        assert word in text
        assert is_fenced(text)
    assert word in (await use(client, "open_source", id=stored["id"]))[0]


@pytest.mark.parametrize("mode", [OLD, NEW])
async def test_two_users_at_once_over_http(served: Served, mode: str) -> None:
    async def talking(user: str, word: str, foreign: str) -> None:
        async with served.client(served.key(user), mode) as client:
            await talk(client, f"{word}-{mode}")
            assert foreign not in (await use(client, "get_context", query="What is the bicycle called?"))[0]
            assert await refused(client, "forget", conversation="assistant") == "forbidden"

    await asyncio.gather(talking("Ada", "Rosalinde", "Cesare"), talking("Bob", "Cesare", "Rosalinde"))


@pytest.mark.parametrize("mode", [OLD, NEW])
async def test_a_client_starts_it_as_the_page_says(served: Served, mode: str) -> None:
    arguments = json.loads(blocks("json")[0])["mcpServers"]["memory"]["args"]
    assert arguments[0] == "mcp"
    async with Client(stdio_client(server_of(served, *arguments[1:])), mode=mode) as client:
        await talk(client, f"Walburga-{mode}")
        assert "Marcel" in (await use(client, "memory_status"))[0]
        assert "forget" not in {tool.name for tool in (await client.list_tools()).tools}


async def test_the_example_in_python_runs(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = blocks("python")
    body = textwrap.indent(code.replace("http://localhost:8765", served.rig.url), "    ")
    names: dict[str, Any] = {}
    exec(compile(f"async def example(key):\n{body}", "docs/mcp.md", "exec"), names)
    await names["example"](served.key("Marcel"))
    assert "Lindenhof" in capsys.readouterr().out


async def test_a_key_decides_over_standard_input_too(served: Served) -> None:
    async with Client(stdio_client(server_of(served, "--key", served.key("Bob", "read")))) as client:
        assert "Bob" in (await use(client, "memory_status"))[0]
        assert await refused(client, "remember", text="No.") == "forbidden"
    bad = served.rig.run("mcp", "--key", "mk_0.wrong")
    assert (bad.returncode, bad.stdout) == (4, "")


def test_standard_output_carries_the_protocol_alone_and_a_signal_ends_it(served: Served) -> None:
    with subprocess.Popen(
        [str(MEMSVC), "mcp", "--user", "Ada"],  # with its worker
        cwd=served.rig.cwd,
        env=served.rig.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked: dict[str, Any] = {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        for line in (
            "nonsense",
            "\ud7ff",
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}),
        ):
            process.stdin.write(f"{line}\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        while answer.get("id") != 1:  # nonsense may be answered, but only by the protocol
            answer = json.loads(process.stdout.readline())
        assert answer["result"]["protocolVersion"] == "2024-11-05"
        call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}}
        odd = [
            call,
            *({**call, "id": identity} for identity in (None, 1.5, True, [1], {"a": 1})),
            {**call, "jsonrpc": "1"},
        ]
        for message in (*odd, [call], "\udcff", {**call, "id": "good"}):
            process.stdin.write(f"{json.dumps(message)}\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(10)]
        assert [one["error"]["data"]["code"] for one in answers[:9]] == [
            *["invalid_request"] * 7, "batch_unsupported", "invalid_request"
        ]  # fmt: skip
        assert [one["id"] for one in answers] == [None] * 9 + ["good"]
        assert "Ada" in json.dumps(answers[9]["result"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stdout.read() == ""


async def test_clients_that_stop_half_way_hold_up_nobody(served: Served) -> None:
    key = served.key("Ada")
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.rig.port}\r\nAuthorization: Bearer {key}\r\n"
        "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
    ).encode()
    halves = [socket.create_connection(("127.0.0.1", served.rig.port)) for _ in range(40)]
    try:
        for half in halves:
            half.sendall(head)
        for half in halves[:20]:
            half.close()
        begun = time.monotonic()
        async with served.client(key) as client:
            await use(client, "memory_status")
        assert time.monotonic() - begun < 5
        big = httpx2.post(served.address, headers={"Authorization": f"Bearer {key}"}, content=b"x" * 100_000_000)
        assert (big.status_code, big.json()["code"]) == (413, "body_too_large")
    finally:
        for half in halves:
            half.close()
    logged = served.rig.parts[-1].errors.read_text()
    assert "Traceback" not in logged
    assert "internal" not in logged
