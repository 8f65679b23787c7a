"""Answers rest on packed memories alone, each claim on one at least; else it is not in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest
from litestar import Litestar

from memsvc.chat import answering
from memsvc.chat.answering import NOT_IN_MEMORY, claims_of
from memsvc.llm.answers import UnfitError
from memsvc.recall.context import build_context
from memsvc.recall.items import Context
from tests.fakes.chat_server import ChatServer, Hangs, Say, Status, serving

TEXT = "My sister Ines lives in Porto."


@pytest.fixture
def model(api: Litestar) -> Iterator[ChatServer]:
    """A scripted language model that the application asks."""
    service = api.state["service"]
    with serving(ChatServer()) as server:
        chosen = {"llm_url": server.url, "llm_model": "m-1", "llm_timeout_s": 2.0}  # on a busy machine, too
        api.state["service"] = replace(service, settings=service.settings.model_copy(update=chosen))
        yield server
    api.state["service"] = service


async def fill(client: httpx.AsyncClient, *texts: str) -> None:
    messages = [{"conversation": "a", "text": text} for text in texts or (TEXT, "The garden needs water.")]
    assert (await client.post("/v1/messages", json={"messages": messages})).status_code == 202


async def asked(client: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/v1/answer", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def first_id(body: dict[str, Any]) -> str:
    """The id of the first memory that the model was given."""
    block = next(one["content"] for one in body["messages"] if one["role"] == "user")
    return str(block.split("\n[m:")[1].split("]")[0])


async def test_without_a_model_memories_are_quoted(ada: httpx.AsyncClient) -> None:
    await fill(ada)
    told = await asked(ada, "Where does Ines live?")
    assert (told["found"], told["by"], told["degraded"]) == (True, "quotes", [])
    [claim] = told["claims"]
    assert TEXT in claim["text"]
    assert claim["sources"] == [told["sources"][0]["id"]]
    assert (await ada.get(f"/v1/memories/{claim['sources'][0]}")).json()["text"] == TEXT
    assert told["answer"] == f"{claim['text']} [{claim['sources'][0]}]"
    nothing = await asked(ada, "Quantum chromodynamics?")
    assert (nothing["found"], nothing["answer"], nothing["claims"]) == (False, NOT_IN_MEMORY, [])


async def test_a_models_claims_name_their_memories(ada: httpx.AsyncClient, model: ChatServer) -> None:
    await fill(ada)

    def answers(body: dict[str, Any]) -> str:
        good = f"m:{first_id(body)}"
        claims = [
            {"text": "Ines lives in Porto.", "sources": [f"[{good}]", "m:00000000000"]},
            {"text": "Porto is in Portugal.", "sources": []},
            {"text": "She likes it.", "sources": ["m:00000000000"]},
        ]
        return json.dumps({"claims": claims})

    model.otherwise = Say(answers)
    told = await asked(ada, "Where does Ines live?")
    assert told["by"] == "model"
    assert [claim["text"] for claim in told["claims"]] == ["Ines lives in Porto."]
    assert [source["text"] for source in told["sources"]] == [TEXT]
    system, user = model.requests[0]["messages"]
    assert TEXT not in system["content"]
    assert user["content"].startswith("[memsvc context ")
    assert user["content"].endswith('Question: "Where does Ines live?"')
    model.otherwise = Say('{"claims": []}')
    assert (await asked(ada, "Does Ines like Porto?"))["answer"] == NOT_IN_MEMORY
    before = len(model)
    assert not (await asked(ada, "Quantum chromodynamics?"))["found"]
    assert (await asked(ada, "Where does Ines live?", model=False))["by"] == "quotes"
    assert len(model) == before, "nobody is asked where nothing is recalled, or none is wanted"


async def test_what_is_no_longer_true_is_quoted_where_nothing_else_answers(ada: httpx.AsyncClient) -> None:
    async def made(path: str, body: dict[str, Any]) -> Any:
        answer = await ada.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    said = {"conversation": "a", "text": "Kim lives in Lyon.", "said_at": "2026-03-02T12:00:00Z"}
    [message] = (await made("/v1/messages", said))["messages"]
    kim, lyon, graz = [
        (await made("/v1/nodes", {"type": type_, "label": label}))["results"][0]["node_id"]
        for type_, label in (("Person", "Kim"), ("Place", "Lyon"), ("Place", "Graz"))
    ]
    lives = {"from_node": kim, "type": "LIVES_IN"}
    evidence = [{"passage_id": message["passage_id"]}]
    was = {"to_node": lyon, "fact": "Kim lives in Lyon.", "valid_from": "2026-03-02", "evidence": evidence}
    await made("/v1/facts", lives | was)
    await made("/v1/facts", lives | {"to_node": graz, "fact": "Kim lives in Graz.", "valid_from": "2026-04-02"})
    recalled = (await made("/v1/recall", {"query": "Where does Kim live?"}))["memories"]
    assert {one["text"] for one in recalled if one["stale"]} == {"Kim lives in Lyon."}
    now = await asked(ada, "Where does Kim live?")
    assert "Graz" in now["answer"]
    assert "Lyon" not in now["answer"]
    before = await asked(ada, "Where does Kim live?", said_to="2026-03-15", facts=False)
    assert "“Kim lives in Lyon.”" in before["answer"], "it is all there is"


@pytest.mark.parametrize("step", [Status(500), Say("I think it is Porto."), Hangs()], ids=["down", "words", "hangs"])
async def test_a_model_that_fails_costs_claims_and_no_answer(
    ada: httpx.AsyncClient, model: ChatServer, step: Any
) -> None:
    await fill(ada)
    model.otherwise = step
    told = await asked(ada, "Where does Ines live?")
    assert (told["by"], told["degraded"], told["found"]) == ("quotes", ["llm"], True)
    assert TEXT in told["answer"]


async def keep(client: httpx.AsyncClient, text: str, name: str = "preferences") -> str:
    """Write a core block; gives its short id."""
    answer = await client.put(f"/v1/profile/{name}", json={"text": text})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


async def test_the_profile_answers_though_nothing_is_recalled(ada: httpx.AsyncClient) -> None:
    block = await keep(ada, "Meetings after ten.\nDrinks green tea without sugar.\nIs allergic to nuts.")
    told = await asked(ada, "Which tea do I drink?")
    assert (told["found"], told["by"]) == (True, "quotes")
    assert told["claims"] == [{"text": "“Drinks green tea without sugar.” (preferences)", "sources": [block]}]
    [source] = told["sources"]
    assert (source["id"], source["kind"], source["speaker"]) == (block, "block", "preferences")
    assert (await ada.get(f"/v1/memories/{block}")).json()["text"] == source["text"]
    for other in ("Which tea does my uncle sell?", "Where does Ines live?"):
        assert (await asked(ada, other))["answer"] == NOT_IN_MEMORY
    assert (await asked(ada, "What are my preferences?"))["found"], "the block is called so"
    await ada.post("/v1/messages", json={"conversation": "a", "text": TEXT})
    for filters in ({"conversations": ["a"]}, {"not_conversations": ["a"]}):
        found = (await asked(ada, "Which tea do I drink?", **filters))["found"]
        assert not found, "nobody knows which conversation it is of"


async def test_what_is_recalled_stands_beside_the_profile(ada: httpx.AsyncClient) -> None:
    await fill(ada)
    block = await keep(ada, "My sister Ines lives near the river.", "family")
    told = await asked(ada, "Where does my sister Ines live?")
    assert told["claims"][0]["sources"] == [block]
    assert TEXT in told["claims"][1]["text"]


async def test_a_model_is_given_the_profile_as_a_source(ada: httpx.AsyncClient, model: ChatServer) -> None:
    block = await keep(ada, "Drinks green tea without sugar.")
    model.otherwise = Say(json.dumps({"claims": [{"text": "You drink green tea.", "sources": [block]}]}))
    told = await asked(ada, "What is my favourite beverage?")
    assert (told["by"], told["answer"]) == ("model", f"You drink green tea. [{block}]")
    assert [source["text"] for source in told["sources"]] == ["Drinks green tea without sugar."]
    assert f"[{block}]" in model.requests[0]["messages"][1]["content"]
    model.otherwise = Status(500)
    assert not (await asked(ada, "What is my favourite beverage?"))["found"]
    assert (await asked(ada, "Which tea do I drink?"))["by"] == "quotes"


async def test_a_model_gets_no_memories_that_are_not_likely_to_answer(
    ada: httpx.AsyncClient, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def doubtful(*args: Any, **more: Any) -> Context:
        context = await build_context(*args, **more)
        return msgspec.structs.replace(context, relevant=False) if more["options"].memories else context

    await fill(ada)
    block = await keep(ada, "Drinks green tea without sugar.")
    memory = (await asked(ada, "Where does Ines live?", model=False))["sources"][0]["id"]
    monkeypatch.setattr(answering, "build_context", doubtful)
    claims = [{"text": "She lives in Porto.", "sources": [memory]}, {"text": "Tea.", "sources": [block]}]
    model.otherwise = Say(json.dumps({"claims": claims}))
    told = await asked(ada, "Where does Ines live?")
    assert (told["by"], told["answer"]) == ("model", f"Tea. [{block}]")
    shown = model.requests[0]["messages"][1]["content"]
    assert "green tea" in shown
    assert "Porto" not in shown


def test_claims_that_name_nothing_are_sent_back() -> None:
    with pytest.raises(UnfitError):
        claims_of({"claims": [{"text": "Porto.", "sources": ["Ines"]}]}, {})
    assert claims_of({"claims": []}, {}) == []


async def test_two_users_share_nothing(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await asyncio.gather(fill(ada), fill(bob, "The garden needs water."))
    hers, his = await asyncio.gather(*(asked(one, "Where does Ines live?") for one in (ada, bob)))
    assert hers["found"]
    assert "Porto" not in json.dumps(his)
    refused = await ada.post("/v1/answer", json={"query": " "})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
