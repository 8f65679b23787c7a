"""What messages told: a conversation as a graph and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.api.graphs import batch, good, refused

HOSTILE = '"] --> n9["<script>alert(1)</script>%%{init: {}}%%'


@dataclass(frozen=True, slots=True)
class Told:
    """Two conversations; the moves tell that Ines lives in Lyon, and of what is hostile; the trips that Rui is near."""

    passages: list[str]
    nodes: list[str]
    changes: list[dict[str, Any]]


async def say(client: httpx.AsyncClient, conversation: str, text: str) -> str:
    """Store a message; its passage."""
    answer = await client.post("/v1/messages", json={"conversation": conversation, "text": text})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["messages"][0]["passage_id"])


def edge(start: int | str, type_: str, end: int | str, fact: str, passage: str | None, **more: Any) -> dict[str, Any]:
    """A fact that a message supports."""
    evidence = [] if passage is None else [{"passage_id": passage}]
    return {"op": "edge", "from_node": start, "type": type_, "to_node": end, "fact": fact, "evidence": evidence, **more}


@pytest.fixture
async def told(ada: httpx.AsyncClient) -> Told:
    """Write it."""
    passages = [
        await say(ada, "moves", "Ines has moved from Porto to Lyon."),
        await say(ada, "moves", HOSTILE),
        await say(ada, "trips", "Rui knows Ines."),
    ]
    names = {"Ines": "Person", "Porto": "Place", "Lyon": "Place", HOSTILE: "Concept", "Rui": "Person", "Vigo": "Place"}
    first = await batch(
        ada,
        *({"op": "node", "type": kind, "label": label} for label, kind in names.items()),
        edge(0, "LIVES_IN", 1, "Ines lives in Porto.", passages[0]),
        edge(0, "LIKES", 3, "Ines likes it.", passages[1], weight=0.5),
        edge(4, "KNOWS", 0, "Rui knows Ines.", passages[2]),
        edge(4, "LIVES_IN", 5, "Rui lives in Vigo.", None),
    )
    ids = [result["node_id"] for result in first["results"][:6]]
    moved = edge(ids[0], "LIVES_IN", ids[2], "Ines lives in Lyon.", passages[0], valid_from="2026-03-01T00:00:00Z")
    return Told(passages=passages, nodes=ids, changes=[first, await batch(ada, moved)])


async def of_conversation(client: httpx.AsyncClient, **asked: Any) -> tuple[list[str], list[str], bool]:
    """Labels and facts of a conversation's graph, sorted, and whether there is more."""
    found = good(await client.get("/v1/graph/conversation", params={"conversation": "moves", **asked}))
    labels = sorted(node["label"] for node in found["nodes"])
    return labels, sorted(fact["fact"] for fact in found["edges"]), found["truncated"]


async def test_a_conversation_shows_the_facts_that_it_told(ada: httpx.AsyncClient, told: Told) -> None:
    now = (sorted([HOSTILE, "Ines", "Lyon"]), ["Ines likes it.", "Ines lives in Lyon."], False)
    assert await of_conversation(ada) == now
    [listed] = good(await ada.get("/v1/conversations", params={"identifier": "moves"}))["items"]
    assert await of_conversation(ada, conversation=listed["conversation_id"]) == now
    assert await of_conversation(ada, conversation="trips") == (["Ines", "Rui"], ["Rui knows Ines."], False)
    assert await of_conversation(ada, type="LIVES_IN") == (["Ines", "Lyon"], ["Ines lives in Lyon."], False)
    assert await of_conversation(ada, limit=1) == (["Ines", "Lyon"], ["Ines lives in Lyon."], True)
    assert (await of_conversation(ada, as_of="2026-02-01", type="LIVES_IN"))[1] == ["Ines lives in Porto."]
    assert (await of_conversation(ada, as_of="always"))[1] == [
        "Ines likes it.", "Ines lives in Lyon.", "Ines lives in Porto.",
    ]  # fmt: skip
    before = told.changes[0]["recorded_at"]
    assert (await of_conversation(ada, known_at=before, type="LIVES_IN"))[1] == ["Ines lives in Porto."]
    good(await ada.post(f"/v1/nodes/{told.nodes[2]}/merge", json={"into": told.nodes[1]}))
    assert (await of_conversation(ada, type="LIVES_IN"))[0] == ["Ines", "Porto"]
    assert (await of_conversation(ada, type="LIVES_IN", known_at=told.changes[1]["recorded_at"]))[0] == ["Ines", "Lyon"]


@pytest.mark.usefixtures("told")
async def test_a_picture_of_a_conversation_holds_no_syntax_of_others(ada: httpx.AsyncClient) -> None:
    asked = {"conversation": "moves", "format": "mermaid"}
    answer = await ada.get("/v1/graph/conversation", params=asked)
    assert answer.headers["Content-Type"].startswith("text/vnd.mermaid")
    drawn = answer.text
    assert drawn.startswith("flowchart LR\n")
    assert 'n2(["Ines"])' in drawn
    assert 'n2 -->|"lives in<br/>since 2026-03-01"| n3' in drawn
    assert "<script>" not in drawn
    assert "%%" not in drawn
    assert drawn.count("-->") == 2
    assert "Rui" not in drawn
    await say(ada, "empty", "Nothing to see.")
    nothing = await ada.get("/v1/graph/conversation", params={"conversation": "empty"}, headers={"Accept": "text/html"})
    assert nothing.json() == {"nodes": [], "edges": [], "truncated": False}


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({}, 400, "invalid_request"),
        ({"conversation": ""}, 404, "conversation_unknown"),
        ({"conversation": "nowhere"}, 404, "conversation_unknown"),
        ({"conversation": "%"}, 404, "conversation_unknown"),
        ({"conversation": "moves", "source": "x"}, 400, "invalid_request"),
        ({"conversation": "moves", "limit": 0}, 400, "invalid_request"),
        ({"conversation": "moves", "limit": 2_001}, 400, "invalid_request"),
        ({"conversation": "moves", "type": "LOVES_LIVING"}, 400, "type_unknown"),
        ({"conversation": "moves", "known_at": "tomorrow"}, 400, "invalid_time"),
        ({"conversation": "a\0b"}, 400, "invalid_text"),
    ],
)
async def test_what_no_conversation_is_is_refused(
    ada: httpx.AsyncClient, asked: dict[str, Any], status: int, code: str
) -> None:
    refused(await ada.get("/v1/graph/conversation", params=asked), status, code)


async def test_nobody_sees_what_anothers_conversation_told(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, told: Told
) -> None:
    [listed] = good(await ada.get("/v1/conversations", params={"identifier": "moves"}))["items"]
    for name in ("moves", listed["conversation_id"], told.passages[0]):
        refused(await bob.get("/v1/graph/conversation", params={"conversation": name}), 404, "conversation_unknown")
    await say(bob, "moves", "Mine.")
    assert await of_conversation(bob) == ([], [], False)


async def searched(client: httpx.AsyncClient, q: str, **asked: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    """The graph around what a search finds, with its labels and facts, sorted."""
    answer = good(await client.get("/search", params={"q": q, "graph": True, **asked}))
    assert answer["memories"]
    found: dict[str, Any] = answer["graph"]
    return found, sorted(node["label"] for node in found["nodes"]), sorted(fact["fact"] for fact in found["edges"])


async def test_a_search_gives_the_graph_around_its_memories(ada: httpx.AsyncClient, told: Told) -> None:
    found, labels, facts = await searched(ada, "Rui knows Ines", limit=1)
    assert labels == sorted([HOSTILE, "Ines", "Lyon", "Rui", "Vigo"])
    assert facts == ["Ines likes it.", "Ines lives in Lyon.", "Rui knows Ines.", "Rui lives in Vigo."]
    assert {node["label"]: node["hop"] for node in found["nodes"]} == {
        "Ines": 0, "Rui": 0, "Lyon": 1, "Vigo": 1, HOSTILE: 1,
    }  # fmt: skip
    assert found["truncated"] is False
    # A message alone leads to what it supports; one that supports nothing leads nowhere.
    good(await ada.post(f"/v1/nodes/{told.nodes[2]}/merge", json={"into": told.nodes[1]}))
    assert "Porto" in (await searched(ada, "moved from Porto to Lyon"))[1]
    await say(ada, "weather", "Drizzle over the harbour, nothing else.")
    assert (await searched(ada, "drizzle over the harbour", limit=1))[0] == {
        "nodes": [],
        "edges": [],
        "truncated": False,
    }
    plain = good(await ada.get("/search", params={"q": "Rui knows Ines"}))
    assert plain["graph"] is None
    refused(await ada.get("/search", params={"q": "Rui", "graph": "maybe"}), 400, "invalid_request")


async def test_the_graph_around_memories_is_bounded(ada: httpx.AsyncClient) -> None:
    passage = await say(ada, "fair", "Everybody came to the fair at the quay.")
    names = [{"op": "node", "type": "Person", "label": f"Guest {n}"} for n in range(70)]
    fair = {"op": "node", "type": "Event", "label": "The fair"}
    came = [edge(n, "PARTICIPATED_IN", 70, f"Guest {n} came.", passage) for n in range(70)]
    await batch(ada, *names, fair, *came)
    found, _, _ = await searched(ada, "fair at the quay", limit=5)
    assert found["truncated"] is True
    assert 1 < len(found["nodes"]) <= 150
    known = {node["node_id"] for node in found["nodes"]}
    assert all({fact["from_node"], fact["to_node"]} <= known for fact in found["edges"])


@pytest.mark.usefixtures("told")
async def test_the_graph_around_memories_is_ones_own(bob: httpx.AsyncClient) -> None:
    await say(bob, "moves", "Ines has moved from Porto to Lyon.")
    assert (await searched(bob, "Ines moved to Lyon"))[0] == {"nodes": [], "edges": [], "truncated": False}
