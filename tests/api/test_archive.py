"""Blocks that went to the archive over REST and MCP: asked for, opened, taken back and forgotten."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.mcp_clients import mcp_client, use

BOAT = "Rosinante has two masts.\nHer keel is of oak."


@pytest.fixture
async def writer(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """Ada, who may do everything with what is hers, and has a block in the archive."""
    client = await connect("read", "write", "forget", user=owner)
    assert (await client.put("/v1/profile/boat", json={"text": BOAT})).is_success
    assert (await client.post("/v1/profile/boat/demote", json={})).json()["kind"] == "archival"
    return client


async def found(client: httpx.AsyncClient, query: str = "What is the keel of?", **more: Any) -> list[dict[str, Any]]:
    """What recall gives."""
    answer = await client.post("/v1/recall", json={"query": query, **more})
    assert answer.is_success, answer.text
    memories: list[dict[str, Any]] = answer.json()["memories"]
    return memories


async def test_what_is_archived_is_found_by_asking(writer: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    block = (await writer.get("/v1/profile/boat")).json()
    [shown] = await found(writer)
    assert (shown["kind"], shown["text"], shown["block_id"]) == ("block", BOAT, block["block_id"])
    assert shown["why"].startswith("from the archived block boat: says “keel”")
    assert (await writer.get("/search", params={"q": "keel"})).json()["memories"][0]["block_id"] == block["block_id"]
    for asked in (shown["memory_id"], block["id"]):
        opened = (await writer.get(f"/v1/memories/{asked}")).json()
        assert (opened["kind"], opened["block"]) == ("block", block)
    context = (await writer.get("/context", params={"query": "keel"})).json()["text"]
    assert f"[{block['id']}] boat: Rosinante has two masts." in context
    assert await found(bob) == []
    assert (await bob.get(f"/v1/memories/{shown['memory_id']}")).status_code == 404
    assert (await writer.get("/v1/conversations")).json()["items"] == []
    assert await found(writer, traces=True) == [shown]


async def test_what_left_the_archive_is_not_found(writer: httpx.AsyncClient) -> None:
    changed = {"change": {"op": "set", "text": "Rosinante was sold."}}
    [before] = await found(writer)
    assert (await writer.patch("/v1/profile/boat", json=changed)).is_success
    assert await found(writer) == []
    [now] = await found(writer, "What was sold?")
    assert now["text"] == "Rosinante was sold."
    [then] = await found(writer, known_at=before["recorded_at"])
    assert (then["kind"], then["text"]) == ("block", BOAT)
    assert (await writer.post("/v1/profile/boat/promote", json={})).json()["kind"] == "core"
    assert await found(writer, "What was sold?") == []
    assert (await writer.post("/v1/profile/boat/demote", json={})).is_success
    [again] = await found(writer, "What was sold?")
    # Who forgets what recall showed forgets the block.
    preview = (await writer.delete(f"/v1/messages/{again['memory_id']}", params={"preview": True})).json()
    assert preview["counts"]["profile_versions"] > 1
    receipt = (await writer.delete(f"/v1/messages/{again['memory_id']}")).json()
    assert (receipt["kind"], receipt["verified"]) == ("block", True)
    assert await found(writer, "What was sold?") == []
    assert (await writer.get("/v1/profile/boat")).json()["code"] == "block_unknown"


async def test_an_assistant_finds_what_it_put_away(api: Litestar, writer: httpx.AsyncClient) -> None:
    block = (await writer.get("/v1/profile/boat")).json()
    async with mcp_client(api, writer) as client:
        _, answer = await use(client, "recall", query="What is the keel of?")
        [shown] = answer["memories"]
        assert (shown["id"], shown["kind"], shown["name"], shown["text"]) == (block["id"], "block", "boat", BOAT)
        assert shown["why"].startswith("from the archived block boat")
        opened, _ = await use(client, "open_source", id=shown["id"])
        assert "Her keel is of oak." in opened
