"""The moment of asking: what "today" is, which ages are told and what had been said by then, at every door."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.settings import Settings
from memsvc.sources.moments import read_asked_at
from tests.api.graphs import batch, good, refused
from tests.api.mcp_clients import mcp_client, use

THEN = "2026-03-02T09:00:00+01:00"
WOOD = {1: "The oak is cheap, call the joiner tomorrow.", 5: "The oak is dear now."}


@pytest.fixture
async def shop(ada: httpx.AsyncClient) -> httpx.AsyncClient:
    """Two messages, before and after the moment of asking."""
    for day, text in WOOD.items():
        message = {"conversation": "shop", "id": f"m{day}", "text": text, "said_at": f"2026-03-0{day}T12:00:00+01:00"}
        assert (await ada.post("/v1/messages", json=message)).status_code == 202
    return ada


async def answers(client: httpx.AsyncClient, api: Litestar, asked_at: str) -> dict[str, str]:
    """What each door says of the oak."""
    asked: dict[str, Any] = {"query": "What is the oak?", "asked_at": asked_at}
    chatted = {"conversation": "talk", "text": "What is the oak?", "store": False, "asked_at": asked_at}
    async with mcp_client(api, client) as mcp:
        tools = {name: (await use(mcp, name, **asked))[0] for name in ("recall", "get_context")}
    return tools | {
        "recall by REST": (await client.post("/v1/recall", json=asked)).text,
        "context": good(await client.post("/v1/context", json=asked))["text"],
        "short": good(await client.get("/context", params=asked))["text"],
        "answer": (await client.post("/v1/answer", json=asked)).text,
        "hook": good(await client.post("/v1/hooks/message", json=chatted))["text"],
    }


async def test_every_door_gives_what_had_been_said_by_then(shop: httpx.AsyncClient, api: Litestar) -> None:
    for door, told in (await answers(shop, api, THEN)).items():
        assert "cheap" in told, door
        assert "dear" not in told, door
    for door, told in (await answers(shop, api, "2026-03-09T09:00:00Z")).items():
        assert "dear" in told, door


async def test_the_first_line_and_the_ages_are_those_of_then(shop: httpx.AsyncClient) -> None:
    block = good(await shop.post("/v1/context", json={"query": "oak", "asked_at": THEN}))["text"]
    assert "* It is Monday, 2 March 2026, 08:00. " in block, "on the user's clock"
    assert "1 March 2026 (yesterday)" in block
    assert "tomorrow [2 March 2026]" in block


async def test_today_in_the_question_is_the_day_of_asking(shop: httpx.AsyncClient) -> None:
    async def told(asked_at: str, **more: str) -> dict[str, float]:
        asked = {"query": "What did I say of the oak yesterday?", "asked_at": asked_at, **more}
        found = good(await shop.post("/v1/recall", json=asked))
        return {memory["message_id"]: memory["factors"]["time"] for memory in found["memories"]}

    assert (await told("2026-03-02T09:00:00Z"))["m1"] > 0
    later = await told("2026-03-06T09:00:00Z")
    assert later["m5"] > later.get("m1", 0.0)
    both = await told("2026-03-02T09:00:00Z", as_of="2026-03-09T00:00:00Z")
    assert set(both) == {"m1", "m5"}, "as_of says what counts"
    assert both["m1"] > both["m5"], "and asked_at what yesterday is"


async def test_a_moment_without_a_zone_is_refused(shop: httpx.AsyncClient, api: Litestar) -> None:
    naive = "2026-03-02T09:00:00"
    asked = {"query": "oak", "asked_at": naive}
    chatted = {"conversation": "talk", "text": "oak", "asked_at": naive}
    for answer in (
        await shop.post("/v1/recall", json=asked),
        await shop.post("/v1/context", json=asked),
        await shop.get("/context", params=asked),
        await shop.post("/v1/answer", json=asked),
        await shop.post("/v1/hooks/message", json=chatted),
    ):
        problem = refused(answer, 400, "invalid_time")
        assert (problem["field"], problem["detail"]) == ("asked_at", "asked_at has no time zone.")
    async with mcp_client(api, shop) as mcp:
        told = await mcp.call_tool("recall", asked)
        assert told.is_error
    assert good(await shop.get("/context?query=oak&asked_at=2026-03-02T09:00:00+01:00"))["text"], (
        "a plus became a space"
    )


async def test_a_fact_that_had_ended_is_found_for_a_time_that_the_question_names(ada: httpx.AsyncClient) -> None:
    await batch(
        ada,
        {"op": "node", "type": "Person", "label": "Ines Albrecht"},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "edge", "type": "LIVES_IN", "from_node": 0, "to_node": 1, "fact": "Ines lives in Porto.",
         "valid_from": "2020-01-01", "valid_to": "2022-01-01"},
    )  # fmt: skip

    async def found(**asked: str) -> list[str]:
        query = {"query": "Where did Ines live in 2021?", "kinds": ["fact"], **asked}
        return [memory["text"] for memory in good(await ada.post("/v1/recall", json=query))["memories"]]

    assert await found(asked_at="2025-01-01T00:00:00Z") == ["Ines lives in Porto."]
    assert await found(as_of="2025-01-01T00:00:00Z") == []
    assert await found(asked_at="2019-01-01T00:00:00Z") == [], "it had not begun"


async def test_conditions_of_instructions_count_when_is_asked(
    db: Database, owner: Owner, settings: Settings, ada: httpx.AsyncClient
) -> None:
    await batch(ada, {"op": "node", "type": "Instruction", "label": "Rest", "data": {"when": {"weekdays": ["sun"]}}})

    async def block(asked_at: str, as_of: str | None = None) -> str:
        filters = Filters(asked_at=read_asked_at(asked_at), as_of=read_asked_at(as_of))
        return (await build_context(db, owner, "oak", settings, options=ContextOptions(filters=filters))).text

    assert "Rest" in await block("2027-03-07T09:00:00Z")
    assert "Rest" not in await block("2027-03-08T09:00:00Z")
    assert "Rest" in await block("2027-03-07T09:00:00Z", as_of="2027-03-08T09:00:00Z")
