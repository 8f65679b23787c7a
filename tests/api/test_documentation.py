"""The API explains itself: an OpenAPI 3.1 document that is true, and a page that works without the internet."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from jobs.steps import all_steps
from memsvc.access.budgets import Limits, set_budget
from memsvc.access.policies import set_app_policy
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.operations import Evidence, Node
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn
from tests.api.conftest import Connect
from tests.api.graphs import homes
from tests.api.test_feedback import given
from tests.api.test_messages_and_recall import said
from tests.sql.test_resolving import made
from tests.sql.test_resolving import said as in_conversation

OF_THE_APP = ("/v1/users", "/v1/keys", "/v1/audit", "/v1/budgets", "/v1/operations", "/v1/policy", "/v1/figures")
"""Addresses for administrators, who act for no user."""
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(autouse=True)
async def app_as_before(db: Database, app: UUID) -> AsyncIterator[None]:
    """Examples set what holds for all users of the app, which other tests share."""
    yield
    await set_app_policy(db, app, {})
    await set_budget(db, app, "app", Limits())
    await set_budget(db, app, "each", Limits())


def is_keyed(path: str) -> bool:
    """Whether who calls there needs a key; a push is signed instead."""
    if path.endswith("/push"):
        return False
    return path.startswith(("/v1/", "/anthropic/v1/")) or path in {"/memory", "/search", "/graph", "/context"}


@pytest.fixture
async def document(anybody: httpx.AsyncClient) -> dict[str, Any]:
    answer = await anybody.get("/schema/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for inner in node.values():
            yield from references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from references(inner)


def target(document: dict[str, Any], reference: str) -> Any:
    node: Any = document
    for key in reference.removeprefix("#/").split("/"):
        node = node[key]
    return node


async def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "memsvc"
    assert document["info"]["description"]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert document["security"] == [{"bearer": []}]


async def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = set(references(document))
    assert found
    for reference in found:
        assert isinstance(target(document, reference), dict), reference


async def test_every_operation_says_what_it_does_and_how_it_fails(document: dict[str, Any]) -> None:
    ids = []
    named = [tag["name"] for tag in document["tags"]]
    tags = set(named)
    assert len(named) == len(tags)
    for method, path, operation in operations(document):
        place = f"{method} {path}"
        ids.append(operation["operationId"])
        assert operation["summary"], place
        assert operation["description"].endswith((".", ".)")), place
        assert set(operation["tags"]) <= tags, place
        errors = {status: answer for status, answer in operation["responses"].items() if status >= "4"}
        assert errors, place
        if is_keyed(path):
            assert {"400", "401", "403", "503", "507"} <= set(errors), place
            for status, answer in errors.items():
                schema = answer["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, (place, status)
        else:
            assert operation["security"] == [{}], place
        good = [answer for status, answer in operation["responses"].items() if status < "3"]
        assert good, place
        assert all(answer["description"] for answer in operation["responses"].values()), place
    assert len(ids) == len(set(ids)) >= 36


async def test_every_parameter_of_a_path_is_declared(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        declared = {item["name"] for item in operation.get("parameters", []) if item["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", path)), (method, path)


async def test_acting_for_a_user_is_documented_where_it_is_possible(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        names = {item["name"] for item in operation.get("parameters", [])}
        personal = is_keyed(path) and not path.startswith(OF_THE_APP)
        assert ("X-Memsvc-User" in names) == personal, (method, path)


async def test_fields_carry_the_words_of_the_source_code(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["MessageIn"]
    assert schema["description"] == MessageIn.__doc__
    assert "ISO 8601" in schema["properties"]["said_at"]["description"]
    assert "ISO 8601" in document["components"]["schemas"]["RecallIn"]["properties"]["said_from"]["description"]


# They need a chat server (tests/api/test_chat.py, test_chat_apis.py) or a graph for Cypher (tests/cypher).
ASKED_ELSEWHERE = {
    "/v1/chat/completions", "/v1/responses", "/anthropic/v1/messages", "/v1/graph/cypher", "/v1/feeds",
    "/v1/feeds/{feed_id}",
}  # fmt: skip


@pytest.fixture
async def forgetter(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """Ada, who may forget."""
    return await connect("forget", user=owner)


@pytest.fixture
async def example_ids(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings, reading: Settings
) -> dict[str, str]:
    """What stands in examples for things of one's own, and what is meant by it here."""
    notes = [(await ada.post("/v1/notes", json={"title": title})).json()["note_id"] for title in ("one", "other")]
    ends = {"from_node": notes[0], "to_node": notes[1]}
    link = (await ada.post("/v1/links", json={**ends, "relation": "relates_to"})).json()["link_id"]
    await ada.post("/v1/ontology/node-types", json={"name": "Documented", "description": "In examples."})
    await said(ada, "an oak", "the oak")
    recall_id, [first, second] = await given(db, owner, settings, "oak")
    source, passage = await in_conversation(db, owner, settings, "office", "Tom came.")
    _, elsewhere = await in_conversation(db, owner, settings, "boat", "Tom went.")
    evidence = [Evidence(passage_id=passage), Evidence(passage_id=elsewhere)]
    [tom] = await made(db, owner, Node(type="Person", label="Tom", evidence=evidence))
    await said(ada, "maybe Ines LIVES_IN Lisbon.", conversation="moves")
    looked = (await ada.post("/v1/documents", json={"text": '{"text": "I like oak."}\n', "dry_run": True})).json()
    await run_due(db, all_steps(reading, None))
    [review] = (await ada.get("/v1/reviews")).json()["items"]
    wrong = {"question": "Is it an oak?", "correction": "An elm.", "lesson": "Look at the bark."}
    critique = (await ada.post("/v1/critique", json=wrong)).json()["critique_id"]
    plan = (await ada.post("/v1/plans", json={"task": "Plant an oak", "steps": ["Dig", "Plant"]})).json()["plan_id"]
    return {
        "{ingest_id}": looked["ingest_id"], "{split}": str(tom), "01a2007c-7edb-7c15-9f1d-6b0a1d2f8e44": str(source),
        "{recall_id}": recall_id, "{memory_id}": first, "01a201b6-4ab1-7969-ac06-ffbb0c5e7975": first,
        "01a201b6-4abd-7c15-9f1d-6b0a1d2f8e44": second,
        "01a2007c-7ed4-7af6-abd2-0a5dd06857e7": notes[0], "01a2007c-7eda-79b5-9796-f9665ec27871": notes[1],
        "01a2007c-7eda-7cfc-8e66-461d27fa4b50": link, "{note_id}": notes[0],
        "{types}": "node-types", "{name}": "Documented", "{review_id}": review["review_id"],
        "{critique_id}": critique, "{plan_id}": plan,
    }  # fmt: skip


async def test_every_documented_example_of_a_request_is_accepted(
    document: dict[str, Any],
    ada: httpx.AsyncClient,
    chief: httpx.AsyncClient,
    forgetter: httpx.AsyncClient,
    example_ids: dict[str, str],
) -> None:
    tried = 0
    for method, path, operation in operations(document):
        if "requestBody" not in operation or path in ASKED_ELSEWHERE:
            continue
        examples = operation["requestBody"]["content"]["application/json"]["schema"]["examples"]
        assert examples, path
        client = chief if path.startswith(OF_THE_APP) else ada
        client = forgetter if path == "/v1/hooks/session-end" else client
        for example in examples:
            world = await homes(ada)
            filled = {"from_node": world.ines, "to_node": world.porto, "into": world.ines}
            if not path.startswith(("/v1/notes", "/v1/links")):
                example |= {name: there for name, there in filled.items() if name in example}
            told = {"/profile/{name}": "/profile/preferences"} | example_ids
            told |= {"{kind}": "tidy", "{task}": "duplicates", "{edge_id}": world.lyon_edge, "{node_id}": world.rui}
            if path.endswith(("/limits", "/scopes")):
                key_id = (await chief.post("/v1/keys", json={})).json()["key"]["key_id"]
                told["{key_id}"] = key_id
            if path.startswith("/v1/analysis"):
                told["{kind}"] = "habits"
            if path.endswith("/split"):
                told["{node_id}"] = told["{split}"]
            body, place = json.dumps(example), path
            for sign, meant in told.items():
                body, place = body.replace(sign, meant), place.replace(sign, meant)
            dry = {"dry_run": True} if path == "/v1/extract" and "text" in example else None
            answer = await client.request(method.upper(), place, json=json.loads(body), params=dry)
            if path == "/v1/users" and answer.status_code == 409:
                continue  # an earlier run of this very test in this worker's database
            assert answer.status_code < 300, (path, answer.text)
            assert str(answer.status_code) in operation["responses"], path
            await ada.delete("/v1/me/pause")  # one of them paused
            tried += 1
    assert tried >= 16


@pytest.mark.usefixtures("reading")
async def test_every_question_is_answered_with_its_examples(
    document: dict[str, Any], ada: httpx.AsyncClient, chief: httpx.AsyncClient
) -> None:
    world = await homes(ada)
    for _, path, operation in ((m, p, o) for m, p, o in operations(document) if m == "get" and "{" not in p):
        if path == "/v1/models":  # asks the chat server: tests/api/test_chat.py has one
            continue
        asked = {}
        for parameter in operation.get("parameters", []):
            examples = list((parameter.get("examples") or {}).values())
            assert examples or not parameter["required"], (path, parameter["name"])
            if examples:
                asked[parameter["name"]] = examples[0]["value"]
        asked = {name: world.ines if value == "Ines Albrecht" else value for name, value in asked.items()}
        client = chief if path.startswith(OF_THE_APP) else ada
        answer = await client.get(path, params=asked)
        assert answer.status_code == 200, (path, answer.text)


async def test_answers_have_the_documented_fields(document: dict[str, Any], ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})
    world = await homes(ada)
    personal = ("/v1/conversations", "/v1/conversations/{}/messages", "/v1/jobs", "/v1/schedules", "/v1/me")
    graph = ("/v1/nodes", "/v1/facts", "/v1/aliases", "/v1/changes", "/v1/graph/diff")
    asked = {"/v1/facts": {"about": world.ines}, "/v1/aliases": {"node": world.ines}}
    for path in (*personal, *graph):
        parameters = asked.get(path, {"from": "2020-01-01"} if path == "/v1/graph/diff" else {})
        answer = (await ada.get(path.format("a"), params=parameters)).json()
        operation = document["paths"][path.format("{conversation}") if "{}" in path else path]["get"]
        schema = target(document, operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"])
        assert set(answer) == set(schema["properties"]), path
        if "items" in answer:
            item = target(document, schema["properties"]["items"]["items"]["$ref"])
            assert set(answer["items"][0]) == set(item["properties"]), path


async def test_the_page_needs_nothing_from_outside(anybody: httpx.AsyncClient) -> None:
    answer = await anybody.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "/schema/openapi.json" in answer.text
    assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", answer.text, re.IGNORECASE)
    assert not re.search(r"<(?:script|img|iframe)[^>]+src=|<link|@import|url\(", answer.text)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


async def test_the_pages_policy_allows_the_pages_own_script(anybody: httpx.AsyncClient) -> None:
    import base64  # noqa: PLC0415
    import hashlib  # noqa: PLC0415

    answer = await anybody.get("/docs")
    for element in ("script", "style"):
        body = answer.text.split(f"<{element}>")[1].split(f"</{element}>")[0]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in answer.headers["Content-Security-Policy"]
    assert " on" + "click=" not in answer.text, "inline handlers would be refused by the policy"
    assert not re.search(r'\sstyle="', answer.text)
