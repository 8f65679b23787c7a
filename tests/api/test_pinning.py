"""Pinned memories are always salient, and anybody who may write can say how important a memory is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from memsvc.access.users import Owner
from memsvc.db.short_ids import short_id
from tests.api.conftest import Connect
from tests.api.routes import NOTHING


async def stored(client: httpx.AsyncClient, texts: list[str], said_at: str) -> None:
    messages = [{"conversation": "a", "text": text, "said_at": said_at} for text in texts]
    assert (await client.post("/v1/messages", json={"messages": messages})).status_code == 202


async def salient(client: httpx.AsyncClient, limit: int = 200) -> dict[str, dict[str, Any]]:
    found = (await client.get("/v1/top-of-mind", params={"limit": limit})).json()
    return {memory["text"]: memory for memory in found["memories"]}


async def found(client: httpx.AsyncClient, query: str) -> dict[str, Any]:
    memory: dict[str, Any] = (await client.post("/v1/recall", json={"query": query})).json()["memories"][0]
    return memory


async def test_a_pinned_message_is_salient_until_it_is_unpinned(ada: httpx.AsyncClient) -> None:
    await stored(ada, ["The spare key hangs behind the boiler."], "2020-01-01T10:00:00Z")
    await stored(ada, ["It rained again.", "We had soup."], "2026-11-01T10:00:00Z")
    key = await found(ada, "spare key boiler")
    assert "spare key" not in next(iter(await salient(ada, 1)))
    path = f"/v1/memories/{key['memory_id']}"
    answer = await ada.patch(path, json={"pinned": True})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"memory_id": key["memory_id"], "kind": "message", "pinned": True, "importance": None}
    [(text, memory)] = (await salient(ada, 1)).items()
    assert ("spare key" in text, memory["factors"]["pinned"], "pinned" in memory["why"]) == (True, 2.0, True)
    assert (await ada.patch(path, json={"importance": 8})).json()["pinned"] is True
    again = await ada.patch(path, json={"pinned": False})
    assert (again.json()["pinned"], again.json()["importance"]) == (False, 8)
    assert (await salient(ada))[text]["factors"].get("pinned", 0) == 0


async def test_a_fact_is_pinned_by_its_short_id(ada: httpx.AsyncClient) -> None:
    ids = [
        (await ada.post("/v1/nodes", json={"type": type_, "label": label})).json()["results"][0]["node_id"]
        for type_, label in (("Person", "Ines"), ("Place", "Porto"))
    ]
    fact = {"from_node": ids[0], "type": "LIVES_IN", "to_node": ids[1], "fact": "Ines lives in Porto."}
    edge = (await ada.post("/v1/facts", json=fact)).json()["results"][0]["edge_id"]
    known = await found(ada, "Where does Ines live?")
    answer = await ada.patch(f"/v1/memories/f:{short_id(UUID(known['memory_id']))}", json={"pinned": True})
    assert (answer.json()["kind"], answer.json()["memory_id"]) == ("fact", known["memory_id"])
    assert (await salient(ada))["Ines lives in Porto."]["factors"]["pinned"] == 2.0
    await ada.patch(f"/v1/facts/{edge}", json={"fact": "Ines lives in Porto, by the sea."})
    moved = (await salient(ada))["Ines lives in Porto, by the sea."]
    assert moved["factors"]["pinned"] == 2.0
    await ada.patch(f"/v1/memories/{moved['memory_id']}", json={"pinned": False})
    await ada.patch(f"/v1/facts/{edge}", json={"fact": "Ines lives in Porto, by the river."})
    assert (await salient(ada))["Ines lives in Porto, by the river."]["factors"].get("pinned", 0) == 0
    refused = await ada.patch(f"/v1/memories/n:{short_id(UUID(ids[0]))}", json={"pinned": True})
    assert (refused.status_code, refused.json()["code"], refused.json()["field"]) == (
        400, "invalid_request", "memory_id",
    )  # fmt: skip


async def test_a_note_and_a_node_are_pinned_and_their_next_versions_too(ada: httpx.AsyncClient) -> None:
    note = (await ada.post("/v1/notes", json={"title": "Boiler", "text": "Press twice, then wait."})).json()["note_id"]
    described = {"type": "Person", "label": "Ines", "description": "Ines plays the bassoon."}
    node = (await ada.post("/v1/nodes", json=described)).json()["results"][0]["node_id"]
    assert await salient(ada) == {}  # what nobody marked or recalled is no news
    for node_id in (note, node):
        answer = await ada.patch(f"/v1/memories/n:{short_id(UUID(node_id))}", json={"pinned": True})
        assert (answer.status_code, answer.json()["kind"], answer.json()["pinned"]) == (200, "node", True), answer.text
    minded = await salient(ada)
    assert {text: one["kind"] for text, one in minded.items()} == {
        "Press twice, then wait.": "note", "Ines plays the bassoon.": "card",
    }  # fmt: skip
    assert minded["Ines plays the bassoon."]["why"].startswith("salient: pinned, learnt ")
    changed = await ada.patch(f"/v1/nodes/{node}", json={"description": "Ines plays the oboe."})
    assert changed.status_code == 200, changed.text
    assert {text for text, one in (await salient(ada)).items() if one["factors"].get("pinned")} == {
        "Press twice, then wait.", "Ines plays the oboe.",
    }  # fmt: skip
    await ada.patch(f"/v1/memories/n:{short_id(UUID(node))}", json={"pinned": False})
    assert set(await salient(ada)) == {"Press twice, then wait."}
    await ada.patch(f"/v1/nodes/{node}", json={"description": "Ines plays the harp."})
    assert set(await salient(ada)) == {"Press twice, then wait."}  # an older version's pin does not come back


async def test_an_instruction_is_pinned_by_its_data_alone(ada: httpx.AsyncClient) -> None:
    body = {"type": "Instruction", "label": "tone", "description": "Say du."}
    node = (await ada.post("/v1/nodes", json=body)).json()["results"][0]["node_id"]
    refused = await ada.patch(f"/v1/memories/n:{short_id(UUID(node))}", json={"pinned": True})
    assert (refused.status_code, refused.json()["field"], "data" in refused.json()["hint"]) == (400, "memory_id", True)


@pytest.mark.parametrize("body", [{}, {"importance": 0}, {"importance": 11}, {"pinned": "yes"}, {"sentiment": 1}])
async def test_what_cannot_be_said_is_refused(ada: httpx.AsyncClient, body: dict[str, Any]) -> None:
    await stored(ada, ["The spare key hangs behind the boiler."], "2020-01-01T10:00:00Z")
    key = await found(ada, "spare key")
    answer = await ada.patch(f"/v1/memories/{key['memory_id']}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


async def test_nobody_marks_what_is_not_theirs(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await stored(ada, ["The spare key hangs behind the boiler."], "2020-01-01T10:00:00Z")
    key = await found(ada, "spare key")
    for memory in (key["memory_id"], NOTHING):
        answer = await bob.patch(f"/v1/memories/{memory}", json={"pinned": True})
        assert (answer.status_code, answer.json()["code"]) == (404, "memory_unknown")
    assert (await salient(ada))["The spare key hangs behind the boiler."]["factors"].get("pinned", 0) == 0


async def promoted(client: httpx.AsyncClient, memory: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/v1/memories/{memory}/promote", json=body)
    assert answer.status_code == 200, answer.text
    block: dict[str, Any] = answer.json()
    return block


async def test_a_promoted_memory_is_in_every_context_once_until_it_is_erased(
    ada: httpx.AsyncClient, connect: Connect, owner: Owner
) -> None:
    await stored(ada, ["The spare key hangs\nbehind the boiler."], "2020-01-01T10:00:00Z")
    key = (await found(ada, "spare key"))["memory_id"]
    line = "1 January 2020, user: The spare key hangs behind the boiler."
    first = await promoted(ada, key)
    assert (first["name"], first["kind"], first["text"]) == ("remembered", "core", line)
    assert first["evidence"] == [{"passage_id": key, "lines": [1]}]
    assert (await promoted(ada, f"m:{short_id(UUID(key))}"))["version"] == first["version"]
    block = (await ada.post("/v1/context", json={"query": "What is for lunch?"})).json()["text"]
    assert line in block
    assert (await promoted(ada, key, block="keys"))["name"] == "keys"
    forgetter = await connect("read", "write", "forget", user=owner)
    assert (await forgetter.delete(f"/v1/messages/{key}")).status_code == 200
    assert "boiler" not in (await ada.get("/v1/profile")).text
    assert "boiler" not in (await ada.get("/v1/profile/remembered/history")).text


async def test_a_fact_and_a_node_become_lines_and_a_block_does_not(ada: httpx.AsyncClient) -> None:
    node = {"type": "Person", "label": "Ines", "description": "Marcel's sister."}
    ines = (await ada.post("/v1/nodes", json=node)).json()["results"][0]["node_id"]
    porto = (await ada.post("/v1/nodes", json={"type": "Place", "label": "Porto"})).json()["results"][0]["node_id"]
    fact = {"from_node": ines, "type": "LIVES_IN", "to_node": porto, "fact": "Ines lives in Porto."}
    await ada.post("/v1/facts", json=fact)
    known = (await found(ada, "Where does Ines live?"))["memory_id"]
    await promoted(ada, known)
    block = await promoted(ada, ines)
    assert block["text"] == "Ines lives in Porto.\nInes: Marcel's sister."
    refused = await ada.post(f"/v1/memories/{block['id']}/promote", json={})
    assert (refused.status_code, refused.json()["field"]) == (400, "memory_id")
    unknown = await ada.post(f"/v1/memories/{NOTHING}/promote", json={})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "memory_unknown")
    assert (await ada.post(f"/v1/memories/{ines}/promote", json={"block": "No name"})).status_code == 400
    assert (await ada.put("/v1/profile/boat", json={"text": "Plans.", "kind": "archival"})).status_code == 200
    archived = await ada.post(f"/v1/memories/{ines}/promote", json={"block": "boat"})
    assert (archived.status_code, archived.json()["field"]) == (400, "block")  # it would not be in core memory
