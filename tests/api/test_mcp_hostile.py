"""MCP over HTTP: hostile calls get an error of the protocol, change nothing, and are not logged."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from litestar import Litestar
from mcp.shared.exceptions import MCPError

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.mcp_clients import OLD, mcp_client, refused, use
from tests.api.test_mcp import HEADERS


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "1999-01-01", "\x7f"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"\xff", b"[" * 5_000, b"null"])
async def test_garbage_gets_an_error_of_the_protocol(ada: httpx.AsyncClient, body: bytes, version: str) -> None:
    answer = await ada.post("/mcp", content=body, headers=HEADERS | {"MCP-Protocol-Version": version})
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"x": inner}
    return inner


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("recall", {}),
    ("recall", {"query": ""}),
    ("recall", {"query": "oak", "limit": 10**30}),
    ("recall", {"query": "oak", "limit": "5.5"}),
    ("recall", {"query": "oak", "user_id": "01900000-0000-7000-8000-000000000000"}),
    ("recall", {"query": "a\0b"}),
    ("recall", {"query": "oak", "said_from": "yesterday; DROP TABLE memsvc.passages"}),
    ("recall", {"query": ["oak"]}),
    ("recall", {"query": "oak", "kinds": ["rumour"]}),
    ("recall", {"query": "oak", "least_importance": 11}),
    ("recall", {"query": "oak", "least_score": "high"}),
    ("recall", {"query": "oak", "speakers": ["a\0b"]}),
    ("recall", {"query": "oak", "metadata": []}),
    ("recall", {"query": "oak", "known_at": "2999-01-01"}),
    ("recall", {"query": "oak", "as_of": "' OR true"}),
    ("recall", {"query": "oak", "near": {"lat": 91, "lon": 0, "radius_m": 1}}),
    ("recall", {"query": "oak", "near": {"lat": 0, "lon": 0}}),
    ("recall", {"query": "oak", "near": "Lisbon"}),
    ("recall", {"query": "oak", "conversations": ["nowhere"]}),
    ("recall", {"query": "oak", "not_conversations": ["a\0b"]}),
    ("get_context", {"query": "oak", "conversations": ["' OR 1=1 --"], "conversation": "home"}),
    ("get_context", {"query": "oak", "salient": 10**30}),
    ("get_context", {"query": "oak", "chance": "perhaps"}),
    ("recall", {"query": "oak", "metadata": {"x": "y" * 1_000_000}}),
    ("recall", {"query": "oak", "metadata": nested(150)}),
    ("get_context", {"query": "oak", "metadata": {"x": "y" * 1_000_000}}),
    ("recall_memory", {"query": "oak", "thread_id": "' OR 1=1 --"}),
    ("get_context", {"query": "oak", "budget_tokens": -1}),
    ("get_context", {"query": "oak", "recent_turns": 5}),
    ("open_source", {"id": "m:' OR true"}),
    ("open_source", {"id": "n:zzzzzzzzzzz"}),
    ("open_source", {"id": "../../etc/passwd"}),
    ("explore", {"node": "Ada", "cursor": "WzEsIjIwMjYi"}),
    ("explore", {"node": "Ada", "edge_types": ["NOT_A_TYPE"]}),
    ("explore", {"node": "nobody at all"}),
    ("remember", {"text": "   "}),
    ("remember_document", {}),
    ("remember_document", {"text": "a", "url": "https://example.org"}),
    ("remember_document", {"url": "https://example.org"}),
    ("remember_document", {"text": "a", "title": "x\0"}),
    ("remember", {"text": "x" * 2_000_001}),
    ("remember", {"text": "oak", "said_by": "system"}),
    ("create_note", {"title": "Oak", "about": ["nobody at all"]}),
    ("create_note", {"title": "Oak", "sources": ["n:0"]}),
    ("create_link", {"from_node": "Ada", "to_node": "Ada", "relation": "supports"}),
    ("forget", {}),
    ("change_graph", {}),
    ("change_graph", {"action": "drop"}),
    ("change_graph", {"action": "undo", "id": "' OR true"}),
    ("change_graph", {"action": "undo", "id": "01900000-0000-7000-8000-000000000000"}),
    ("change_graph", {"action": "add_node", "type": "NotAType", "name": "x"}),
    ("change_graph", {"action": "add_node", "type": "Person", "name": "a\0b"}),
    ("change_graph", {"action": "add_node", "type": "Person", "name": "x", "text": "y" * 8_001}),
    ("change_graph", {"action": "add_node", "type": "Person", "name": "x", "valid_from": "soon"}),
    ("change_graph", {"action": "assert", "node": "Ada", "type": "KNOWS", "other": "nobody at all", "text": "x"}),
    ("change_graph", {"action": "assert", "node": "Ada", "type": "x; DROP", "other": "Ada", "text": "x"}),
    ("change_graph", {"action": "correct", "id": "m:0", "text": "x"}),
    ("change_graph", {"action": "end", "id": "f:zzz", "valid_to": "2026-01-01"}),
    ("change_graph", {"action": "end", "valid_to": "2026-01-01"}),
    ("change_graph", {"action": "retract", "id": "f:zzz", "name": "x"}),
    ("change_graph", {"action": "alias", "node": "Ada", "name": " "}),
    ("change_graph", {"action": "propose_merge", "node": "Ada", "other": "nobody at all"}),
    ("list_facts", {"about": []}),
    ("list_facts", {"about": "Ada"}),
    ("list_facts", {"about": ["Ada"] * 21}),
    ("list_facts", {"about": ["Ada"], "types": ["NOT_A_TYPE"]}),
    ("list_facts", {"about": ["Ada"], "cursor": "WzEsIjIwMjYi"}),
    ("list_facts", {"about": ["Ada"], "known_at": "2999-01-01"}),
    ("list_facts", {"about": ["Ada"], "side": "inside"}),
    ("search_notes", {"query": "a\0b"}),
    ("search_notes", {"query": "x" * 1_001}),
    ("search_notes", {"cursor": "r.WzEsIjIwMjYi"}),
    ("search_notes", {"kind": "rumour"}),
    ("give_feedback", {"recall_id": "' OR true"}),
    ("give_feedback", {"recall_id": "01900000-0000-7000-8000-000000000000", "used": ["x; DROP"]}),
    ("give_feedback", {"recall_id": "01900000-0000-7000-8000-000000000000", "used": ["m:0"] * 101}),
]


async def test_what_users_write_is_not_logged(
    api: Litestar, ada: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    word = "Rumpelstilzchen"
    async with mcp_client(api, ada) as client, mcp_client(api, ada, OLD) as older:
        for one in (client, older):
            await use(one, "remember", text=f"The name is {word}.")
            await use(one, "recall", query=word)
            await refused(one, "recall", query=[word])
            await refused(one, "open_source", id=word)
            await refused(one, "explore", node=word)
            await refused(one, "list_facts", about=[word])
            await refused(one, "change_graph", action="assert", node=word, type="KNOWS", other=word, text=word)
            await use(one, "search_notes", query=word)
            await refused(one, "give_feedback", recall_id=word, used=[word])
            with pytest.raises(MCPError):
                await one.read_resource(f"memsvc://{word}")
            with pytest.raises(MCPError):
                await one.get_prompt(word)
    await ada.post("/mcp", content=f'{{"{word}":'.encode(), headers=HEADERS)
    assert word not in caplog.text
    assert word not in "".join(capsys.readouterr())


async def test_hostile_arguments_are_refused_and_change_nothing(api: Litestar, connect: Connect, owner: Owner) -> None:
    async with mcp_client(api, await connect("read", "write", "forget", user=owner)) as client:
        before = (await use(client, "memory_status"))[1]
        for tool, arguments in HOSTILE:
            code = await refused(client, tool, **arguments)
            assert code != "internal", (tool, arguments)
        with pytest.raises(MCPError, match="No tool has this name"):
            await client.call_tool("drop_everything", {})
        after = (await use(client, "memory_status"))[1]
        assert {**after, "today": ""} == {**before, "today": ""}


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", '{"x":' * 1_000 + "1" + "}" * 1_000, "[" * 50_000 + "]" * 50_000]
)
@pytest.mark.parametrize("field", ["least_importance", "metadata", "limit"])
async def test_numbers_that_are_none_and_deep_values_are_refused(
    ada: httpx.AsyncClient, value: str, field: str
) -> None:
    given = f'{{"x": {value}}}' if field == "metadata" else value
    call = '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": {%s}}}'
    answer = await ada.post("/mcp", content=call % f'"query": "oak", "{field}": {given}', headers=HEADERS)
    told = answer.json()
    assert "error" in told or told["result"]["isError"], told
    assert "internal" not in answer.text
