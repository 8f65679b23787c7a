"""Messages of MCP as clients and models write them: what cannot be answered is refused, and near misses are taken."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from litestar import Litestar

from tests.api.conftest import Connect
from tests.api.mcp_clients import NEW, OLD, mcp_client, refused, use
from tests.api.test_mcp import HEADERS

VERSIONS = [None, "2025-03-26", "2025-11-25", "2026-07-28"]
CALL = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}}
INVALID_REQUEST, PARSE_ERROR = -32600, -32700
ODD: dict[str, dict[str, Any]] = {
    "null": {"id": None},
    "a number with a point": {"id": 1.5},
    "an integer with a point": {"id": 1.0},
    "an object": {"id": {"id": 1}},
    "a list": {"id": [1]},
    "a truth": {"id": True},
    "none": {},
    "one of a result": {"id": 1, "result": {}},
    "one of an error": {"id": 1, "error": {"code": 1, "message": "x"}},
}


async def post(client: httpx.AsyncClient, message: Any, version: str | None) -> httpx.Response:
    """Send anything."""
    headers = HEADERS | ({"MCP-Protocol-Version": version} if version else {})
    return await client.post(
        "/mcp", content=message if isinstance(message, bytes) else json.dumps(message), headers=headers
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ODD)
async def test_a_call_with_an_odd_id_is_refused(ada: httpx.AsyncClient, name: str, version: str | None) -> None:
    answer = await post(ada, CALL | ODD[name], version)
    told = answer.json()
    assert (answer.status_code, told["error"]["code"], told["error"]["data"]["code"]) == (
        400, INVALID_REQUEST, "invalid_request"
    )  # fmt: skip
    assert told["id"] == (1 if "result" in ODD[name] or "error" in ODD[name] else None)
    assert told["error"]["data"]["hint"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_is_no_message_is_refused_in_one_form(ada: httpx.AsyncClient, version: str | None) -> None:
    wrong: list[Any] = [
        5, "x", None, {}, {"jsonrpc": "2.0", "id": 7}, {"jsonrpc": "1.0", "id": 7, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 7, "method": 5}, {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": [1]},
    ]  # fmt: skip
    for message in wrong:
        answer = await post(ada, message, version)
        told = answer.json()
        assert (answer.status_code, told["error"]["code"]) == (400, INVALID_REQUEST), message
        assert told["error"]["data"]["code"] == "invalid_request"
        assert told["id"] == (message.get("id") if isinstance(message, dict) else None)
    for raw in (b"", b"{", b"[" * 5_000, b"\xff"):
        answer = await post(ada, raw, version)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, PARSE_ERROR), raw[:20]


@pytest.mark.parametrize("version", VERSIONS)
async def test_batches_are_refused_by_name(ada: httpx.AsyncClient, version: str | None) -> None:
    for batch in ([], [CALL | {"id": 1}], [CALL | {"id": 1}, CALL | {"id": 2}], [CALL | {"id": 1}] * 500):
        answer = await post(ada, batch, version)
        told = answer.json()
        assert (answer.status_code, told["id"], told["error"]["code"]) == (400, None, INVALID_REQUEST)
        assert told["error"]["data"]["code"] == "batch_unsupported"
        assert "its own request" in told["error"]["data"]["hint"]


async def test_notifications_and_calls_go_on_as_before(ada: httpx.AsyncClient) -> None:
    told = await post(ada, {"jsonrpc": "2.0", "method": "notifications/initialized"}, "2025-06-18")
    assert (told.status_code, told.content) == (202, b"")
    for identity in (0, -1, "", "call-1", 2**40):
        answer = await post(ada, CALL | {"id": identity}, "2025-06-18")
        assert answer.status_code == 200
        assert answer.json()["id"] == identity
        assert "Ada" in answer.text


@pytest.mark.parametrize("mode", [OLD, NEW])
async def test_near_misses_of_arguments_are_taken(api: Litestar, ada: httpx.AsyncClient, mode: str) -> None:
    async with mcp_client(api, ada, mode) as client:
        for number in range(3):
            await use(client, "remember", text=f"Oak number {number}.", conversation="oaks", said_by=None, said_at=None)
        for limit in ("2", 2.0, "+2", "02", 2):
            _, found = await use(client, "recall", query="Which oak?", limit=limit, conversations=None, mode=None)
            assert len(found["memories"]) == 2, limit
        _, found = await use(client, "recall", query="Which oak?", limit=None)
        assert len(found["memories"]) == 3
        await use(client, "get_context", query="oak", budget_tokens="400", recent_turns=2.0, conversation="oaks")
        await use(client, "explore", node="Ada", hops="1", edge_types=None, cursor=None)


@pytest.mark.parametrize("mode", [OLD, NEW])
async def test_other_misses_of_arguments_are_refused(api: Litestar, connect: Connect, owner: Any, mode: str) -> None:
    async with mcp_client(api, await connect(user=owner), mode) as client:
        for limit in (
            "5.5", 5.5, "abc", "", " 5", "5 ", "5.0", "0x5", "٥", "1_0", True, False, [5], {"n": 5}, "9" * 30,
            1e300, -1, "-1", "1000000",
        ):  # fmt: skip
            assert await refused(client, "recall", query="Which oak?", limit=limit) == "invalid_request", limit
        for arguments in ({"query": None}, {"query": 5}, {"query": "oak", "mode": 5}, {"query": "oak", "other": None}):
            assert await refused(client, "recall", **arguments) == "invalid_request", arguments
