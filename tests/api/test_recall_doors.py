"""The doors of recall: times, pages that hold whatever happens between them, rerankers, and clear words otherwise."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from litestar import Litestar

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.recall import answer
from memsvc.recall.diversity import POOL, diversify
from memsvc.settings import Settings
from tests.api.conftest import Connect, client_of, running
from tests.api.graphs import homes, refused
from tests.api.mcp_clients import mcp_client, use
from tests.api.test_messages_and_recall import said
from tests.fakes.rerank_server import RerankServer, rerank_server

FAR = "2999-01-01"
JSON = {"Content-Type": "application/json"}


async def recalled(client: httpx.AsyncClient, query: str = "oak", **more: Any) -> dict[str, Any]:
    """An answer that must be good."""
    told = await client.post("/v1/recall", json={"query": query, **more})
    assert told.status_code == 200, told.text
    found: dict[str, Any] = told.json()
    return found


def texts(found: dict[str, Any]) -> list[str]:
    return [memory["text"] for memory in found["memories"]]


# What cannot be asked -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"mode": "fast"}, "invalid_request", "mode"),
        ({"mode": None}, "invalid_request", "mode"),
        ({"limit": 0, "mode": "deliberate"}, "invalid_request", "limit"),
        ({"limit": 10**9}, "invalid_request", "limit"),
        ({"diversity": 1.01}, "invalid_request", "diversity"),
        ({"diversity": -0.1}, "invalid_request", "diversity"),
        ({"diversity": "much"}, "invalid_request", "diversity"),
        ({"explain": "yes"}, "invalid_request", "explain"),
        ({"facts": 1}, "invalid_request", "facts"),
        ({"labels": ["Person"]}, "invalid_request", "labels"),
        ({"kinds": ["rumour"]}, "invalid_request", "kinds[0]"),
        ({"source_kinds": ["rumour"]}, "invalid_request", "source_kinds[0]"),
        ({"least_importance": 11}, "invalid_request", "least_importance"),
        ({"metadata": []}, "invalid_request", "metadata"),
        ({"metadata": {"x": "y" * 10_001}}, "invalid_request", "metadata"),
        ({"filters": {}}, "invalid_request", "filters"),
        ({"as_of": "soon"}, "invalid_time", "as_of"),
        ({"as_of": "always"}, "invalid_time", "as_of"),
        ({"as_of": "0001-01-01"}, "invalid_time", "as_of"),
        ({"asked_at": "soon"}, "invalid_time", "asked_at"),
        ({"asked_at": "2026-03-01T12:00:00"}, "invalid_time", "asked_at"),
        ({"known_at": "2026-02-30"}, "invalid_time", "known_at"),
        ({"known_at": FAR}, "invalid_time", "known_at"),
        ({"rerank": True}, "reranker_missing", "rerank"),
        ({"cursor": "x"}, "bad_cursor", "cursor"),
        ({"cursor": "x", "mode": "eager"}, "bad_cursor", "cursor"),
        ({"cursor": "x", "mode": "deliberate"}, "bad_cursor", "cursor"),
        ({"cursor": "", "mode": "deliberate"}, "bad_cursor", "cursor"),
        ({"cursor": "A" * 40_001, "mode": "deliberate"}, "bad_cursor", "cursor"),
        ({"cursor": 7, "mode": "deliberate"}, "bad_cursor", "cursor"),
    ],
)
async def test_what_cannot_be_asked_is_refused_with_the_field(
    ada: httpx.AsyncClient, body: dict[str, Any], code: str, field: str
) -> None:
    problem = refused(await ada.post("/v1/recall", json={"query": "oak", **body}), 400, code)
    assert problem["field"] == field


async def test_a_query_may_be_a_whole_document_or_in_two_languages(ada: httpx.AsyncClient, settings: Settings) -> None:
    await said(ada, "The worktop is oak.", "Die Lampe ist blau.")
    document = ("The worktop is oak. " * settings.max_query_chars)[: settings.max_query_chars]
    for mode in ("eager", "balanced", "deliberate"):
        assert texts(await recalled(ada, document, mode=mode))[0] == "The worktop is oak."
        assert set(texts(await recalled(ada, "Which Lampe? And the oak?", mode=mode, explain=True))) == {
            "The worktop is oak.", "Die Lampe ist blau.",
        }  # fmt: skip
    problem = refused(await ada.post("/v1/recall", json={"query": document + "x"}), 413, "text_too_long")
    assert f"{settings.max_query_chars:,}" in problem["detail"]


async def test_a_query_that_only_repeats_itself_finds_nothing_and_says_why(
    api: Litestar, ada: httpx.AsyncClient
) -> None:
    await said(ada, "x marks the oak.", "x and y")
    assert len(texts(await recalled(ada, "x"))) == 2
    for query in ("x " * 4_000, "x" * 5_000):
        for more in ({}, {"mode": "deliberate"}, {"explain": True}, {"mode": "eager"}):
            found = await recalled(ada, query, **more)
            assert (found["memories"], found["degraded"], found["relevant"]) == ([], ["words"], False)
        told = (await ada.post("/v1/context", json={"query": query, "salient": 0, "chance": False})).json()
        assert (told["memories"], told["degraded"]) == ([], ["words"])
        assert "Nothing in the question can be looked for" in told["text"]
        async with mcp_client(api, ada) as client:
            text, content = await use(client, "recall", query=query)
        assert (content["memories"], content["degraded"]) == ([], ["words"])
        assert "Nothing in the question can be looked for" in text


async def test_what_cannot_be_looked_for_by_words_is_said(ada: httpx.AsyncClient) -> None:
    await said(ada, "The worktop is oak.", "ꦲꦏ꧀ꦱꦫꦗꦮ")
    for query in ("?!", "😀", "   ", "\u200b", "ꦲꦏ꧀ꦱꦫ"):
        for path in ("/v1/recall", "/v1/context"):
            told = (await ada.post(path, json={"query": query})).json()
            assert told["degraded"] == ["words"], (path, query)
            assert told["memories"] == [] or query == "ꦲꦏ꧀ꦱꦫ", (path, query)
    for query in ("oak", "the", "我住在里斯本", "7"):
        assert (await recalled(ada, query))["degraded"] == [], query
    assert (await ada.post("/v1/context", json={"query": ""})).json()["degraded"] == [], "nothing was asked"


# Times --------------------------------------------------------------------------------------------------------------


async def test_what_was_said_later_or_not_yet_known_is_not_recalled(ada: httpx.AsyncClient) -> None:
    for day, wood in ((1, "oak is cheap"), (2, "oak is dear")):
        message = {"conversation": "shop", "text": wood, "said_at": f"2026-03-0{day}T12:00:00"}
        assert (await ada.post("/v1/messages", json=message)).status_code == 202
    before = datetime.now(UTC) - timedelta(hours=1)
    assert texts(await recalled(ada, as_of="2026-03-01T12:00:00+00:00")) == ["oak is cheap"]
    assert texts(await recalled(ada, as_of="2026-03-01T12:59:59+01:00")) == []
    assert len(texts(await recalled(ada, as_of=FAR))) == 2, "what is true then, as far as known today"
    assert texts(await recalled(ada, known_at=before.isoformat())) == []
    assert len(texts(await recalled(ada, known_at=datetime.now(UTC).isoformat()))) == 2
    assert len(texts(await recalled(ada, facts=False))) == 2


# Pages --------------------------------------------------------------------------------------------------------------


async def test_pages_hold_while_messages_are_added_and_erased_between_them(connect: Connect, owner: Owner) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    receipts = await said(ada, *(f"oak {'and beech ' * number}number{number}" for number in range(24)))
    everything = texts(await recalled(ada, limit=100))
    ids = {text: receipt["passage_id"] for text, receipt in zip(
        (f"oak {'and beech ' * number}number{number}" for number in range(24)), receipts, strict=True
    )}  # fmt: skip
    asked: dict[str, Any] = {"mode": "deliberate", "limit": 5}
    page = await recalled(ada, **asked)
    given, gone = texts(page), set[str]()
    assert given == everything[:5]
    round_number = 0
    while page["next_cursor"] is not None:
        round_number += 1
        # The last that was given is erased, and one that is still to come; new ones match better than all there are.
        for victim in (given[-1], everything[-round_number]):
            if victim not in gone:
                gone.add(victim)
                assert (await ada.delete(f"/v1/passages/{ids[victim]}")).status_code < 300
        await said(ada, *(f"oak oak {round_number} {n}" for n in range(6)), conversation=f"later{round_number}")
        page = await recalled(ada, **asked, cursor=page["next_cursor"], explain=round_number % 2 == 0)
        assert len(page["memories"]) <= 5
        given += texts(page)
    assert round_number >= 3
    assert len(given) == len(set(given)), "something came twice"
    assert set(everything) - gone <= set(given) <= set(everything), "something was passed over, or came from later"


async def test_pages_hold_while_nodes_are_merged_and_erased_between_them(connect: Connect, owner: Owner) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    world = await homes(ada)
    await said(ada, *(f"Ines told Rui of Lyon, letter {number}" for number in range(6)))
    asked: dict[str, Any] = {"query": "Where do Ines and Rui live, Lyon?", "mode": "deliberate"}
    everything = {
        memory["memory_id"]: memory["text"] for memory in (await recalled(ada, **asked, limit=100))["memories"]
    }
    acts = [
        ("POST", f"/v1/nodes/{world.rui}/merge", {"into": world.ines, "reason": "a test"}),
        ("DELETE", f"/v1/nodes/{world.porto}", None),
        ("POST", f"/v1/nodes/{world.rui}/unmerge", None),
    ]
    page = await recalled(ada, **asked, limit=2)
    given = [memory["memory_id"] for memory in page["memories"]]
    while page["next_cursor"] is not None:
        if acts:
            method, path, body = acts.pop(0)
            answer = await ada.request(method, path, json=body)
            assert answer.status_code < 300, answer.text
        page = await recalled(ada, **asked, limit=2, cursor=page["next_cursor"])
        given += [memory["memory_id"] for memory in page["memories"]]
    assert not acts
    assert len(given) == len(set(given)), "something came twice"
    lacking = {everything[memory_id] for memory_id in everything.keys() - set(given)}
    assert lacking <= {"Ines lives in Porto."}, "something was passed over"


async def test_a_cursor_belongs_to_its_question_and_its_user(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    for client in (ada, bob):
        await said(client, *(f"oak number{number}" for number in range(6)))
    asked: dict[str, Any] = {"query": "oak", "mode": "deliberate", "limit": 2}
    cursor = (await recalled(ada, **asked))["next_cursor"]
    assert len((await recalled(ada, **(asked | {"limit": 3}), cursor=cursor))["memories"]) == 3
    others = (
        {"query": "oak tree"}, {"form": "simple"}, {"traces": True}, {"facts": False}, {"diversity": 0.5},
        {"as_of": "2030-01-01"}, {"known_at": "2020-01-01"}, {"said_from": "2020-01-01"},
        {"conversations": ["kitchen"]},
    )  # fmt: skip
    for other in others:
        problem = refused(await ada.post("/v1/recall", json={**asked, **other, "cursor": cursor}), 400, "bad_cursor")
        assert "another question" in problem["detail"], other
    problem = refused(await bob.post("/v1/recall", json={**asked, "cursor": cursor}), 400, "bad_cursor")
    assert problem["field"] == "cursor"
    assert (await recalled(ada, **(asked | {"mode": "balanced"})))["next_cursor"] is None


# The rest -----------------------------------------------------------------------------------------------------------


async def test_an_answer_is_explained_where_that_is_asked_for(ada: httpx.AsyncClient) -> None:
    await said(ada, *(f"oak number{number}" for number in range(5)))
    assert (await recalled(ada))["explanation"] is None
    told = (await recalled(ada, limit=2, explain=True))["explanation"]
    assert told["words"] == ["oak"]
    assert {cut["reason"] for cut in told["cut"]} == {"behind the limit"}
    assert "oak" in told["cut"][0]["memory"]["text"]
    assert told["weights"]["words"] > 0


async def test_what_counts_can_be_chosen_for_one_recall(ada: httpx.AsyncClient) -> None:
    await said(ada, *(f"oak number{number}" for number in range(5)))
    told = await recalled(ada, limit=2, explain=True, preset="70-20-10", weights={"recency": 3, "words": -1})
    weights = told["explanation"]["weights"]
    assert (weights["recency"], weights["words"], weights["importance"]) == (3, -1, 0.1)
    assert "speaker" not in weights
    assert {name for memory in told["memories"] for name, points in memory["factors"].items() if points} <= set(weights)
    for asked, field in (({"preset": "best"}, "preset"), ({"weights": {"charm": 1}}, "weights")):
        problem = refused(await ada.post("/v1/recall", json={"query": "oak", **asked}), 400, "invalid_request")
        assert problem["field"] == field
    assert (await ada.post("/v1/recall", json={"query": "oak", "weights": {"words": "NaN"}})).status_code == 400
    for number in ("NaN", "Infinity", "-1e999", "100.5"):
        body = f'{{"query": "oak", "weights": {{"words": {number}}}}}'
        refused(await ada.post("/v1/recall", content=body, headers=JSON), 400, "invalid_request")


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_metadata_that_is_large_or_deep_is_refused(ada: httpx.AsyncClient, path: str) -> None:
    for value, code in (
        ('"%s"' % ("y" * 1_000_000), "invalid_request"),
        ('{"x":' * 200 + "1" + "}" * 200, "invalid_request"),
        ('{"x":' * 1_000 + "1" + "}" * 1_000, "invalid_request"),
        ("[" * 100_000 + "]" * 100_000, "invalid_request"),
    ):
        body = f'{{"query": "oak", "metadata": {{"x": {value}}}}}'
        problem = refused(await ada.post(path, content=body, headers=JSON), 400, code)
        assert "metadata" in json.dumps(problem) or "nested" in problem["detail"], problem


async def test_an_answer_that_is_explained_is_the_same(ada: httpx.AsyncClient) -> None:
    await said(ada, *(f"oak {'tree ' * (number % 7)}number{number}" for number in range(90)))
    plain, told = [await recalled(ada, "oak tree", limit=60, explain=explain) for explain in (False, True)]
    assert len(plain["memories"]) == 60
    assert [told["memories"], len(told["explanation"]["cut"])] == [plain["memories"], 10]


async def test_many_are_compared_with_each_other_while_others_are_served(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await said(ada, "oak table", "oak chair")
    threads = []

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return diversify(*given)

    monkeypatch.setattr(answer, "diversify", noted)
    for limit in (POOL, POOL + 1):
        assert len(texts(await recalled(ada, "oak", limit=limit, diversity=0.5))) == 2
    assert threads == [True, False]


async def test_diversity_makes_room_for_what_says_something_else(ada: httpx.AsyncClient) -> None:
    await said(ada, "oak table", "oak table", "oak table", "a long story of an oak that fell one day near the old mill")
    assert texts(await recalled(ada, "oak table", limit=2)) == ["oak table", "oak table"]
    found = await recalled(ada, "oak table", limit=2, diversity=1, explain=True)
    assert len(set(texts(found))) == 2
    assert "too like another" in {cut["reason"] for cut in found["explanation"]["cut"]}


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as serving:
        yield serving


@pytest.fixture
async def reranked(
    server: RerankServer, settings: Settings, db: Database, app: UUID, owner: Owner
) -> AsyncIterator[httpx.AsyncClient]:
    """Ada at a service whose reranker prefers short texts."""
    update = {"reranker": "http:fake", "reranker_url": server.url, "reranker_ms": 2_000}
    key = await create_key(db, app, scopes=("read",), user_id=owner.user_id)
    async with (
        running(create_app(settings.model_copy(update=update), db)) as api,
        client_of(api, Authorization=f"Bearer {key}") as client,
    ):
        yield client


async def test_a_reranker_orders_the_best_where_it_is_asked_for(
    ada: httpx.AsyncClient, reranked: httpx.AsyncClient, server: RerankServer
) -> None:
    await said(ada, "oak oak oak, and again: oak", "oak", "oak, some")
    by_itself = texts(await recalled(reranked))
    assert server.requests == [], "nobody asked for it"
    found = await recalled(reranked, rerank=True)
    assert texts(found) == ["oak", "oak, some", "oak oak oak, and again: oak"]
    assert found["memories"][0]["arms"]["reranker"]["rank"] == 1
    assert found["degraded"] == []
    server.modes = ["NaN"]
    found = await recalled(reranked, rerank=True)
    assert (texts(found), found["degraded"]) == (by_itself, ["reranker"])


def test_a_reranker_without_its_address_keeps_the_service_from_starting(settings: Settings, db: Database) -> None:
    with pytest.raises(ConfigurationError, match="MEMSVC_RERANKER_URL"):
        create_app(settings.model_copy(update={"reranker": "http:fake"}), db)


async def test_what_held_at_a_time_in_the_past_answers_a_question_about_it(ada: httpx.AsyncClient) -> None:
    me = (await ada.get("/v1/me")).json()["node_id"]
    lived = {
        "Bristol": ("2019-03-01", "2026-02-10"),
        "Porto": ("2026-02-10", None),
        "Leeds": ("2012-01-01", "2019-03-01"),
    }
    for town, (since, until) in lived.items():
        node = (await ada.post("/v1/nodes", json={"type": "Place", "label": town})).json()["results"][0]["node_id"]
        fact = {"from_node": me, "type": "LIVES_IN", "to_node": node, "fact": f"Ada lives in {town}."}
        made = await ada.post("/v1/facts", json=fact | {"valid_from": since, "valid_to": until})
        assert made.status_code == 201, made.text
    await said(ada, "I like the rain in winter.", "The lamp is broken.")
    asked = {"asked_at": "2026-11-20T10:00:00Z"}
    for question in ("Where did I live last year?", "Where did I live in 2024?"):
        best = (await recalled(ada, question, **asked))["memories"][0]
        assert best["text"] == "Ada lives in Bristol.", question
        assert "true at the time" in best["why"]
        answer = (await ada.post("/v1/answer", json={"query": question, **asked})).json()
        assert answer["found"]
        assert "Bristol" in answer["answer"].splitlines()[0], answer["answer"]
    assert (await recalled(ada, "Where do I live?", **asked))["memories"][0]["text"] == "Ada lives in Porto."
    block = (await ada.post("/v1/context", json={"query": "Where did I live last year?", **asked})).json()["text"]
    assert "Bristol" in block
