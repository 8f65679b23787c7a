"""Parameters of addresses: lists go on by ``cursor`` everywhere, and what an operation does not have is refused."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import httpx
import pytest

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.test_documentation import is_keyed, operations, references, target

WHOLE = {
    "listSchedules", "listSleepTasks", "getLinkedNotes", "search", "listKeyUse", "listCosts", "listDeadLetters",
    "listFigures", "previewAnonymising", "listCells",
}  # fmt: skip
"""They have the form of a page and are always whole: all schedules; all tasks of sleep; the nearest notes, or the best
memories, as many as asked for (of POST /v1/recall there are more, in the mode deliberate); the use of keys and the
costs of as many days as asked for; the newest dead letters; sums by month of who was anonymised; the cells."""
LENIENT = {"createChatCompletion", "createResponse", "createAnthropicMessage", "listModels"}
"""OpenAI's and Anthropic's clients add parameters of their own."""
RENAMED = ("/v1/users", "/v1/conversations", "/v1/jobs", "/v1/erasures", "/v1/sleep/runs")
"""Their place was called ``after``."""


@pytest.fixture
async def document(anybody: httpx.AsyncClient) -> dict[str, Any]:
    """The OpenAPI document."""
    found: dict[str, Any] = (await anybody.get("/schema/openapi.json")).json()
    return found


@pytest.fixture
async def anything(connect: Connect) -> httpx.AsyncClient:
    """Somebody who may do everything for everybody of the app."""
    return await connect("read", "write", "forget", "admin")


def has_pages(document: dict[str, Any], operation: dict[str, Any]) -> bool:
    """Whether the answer itself, not something within it, says where the next page begins."""
    good = [answer for status, answer in operation["responses"].items() if status < "3"]
    schemas = [target(document, reference) for reference in references(good)]
    return any("next_cursor" in schema.get("properties", {}) for schema in schemas)


def body_fields(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    """Names of the fields that an operation takes in its body."""
    schemas = [target(document, reference) for reference in references(operation.get("requestBody", {}))]
    return {name for schema in schemas for name in schema.get("properties", {})}


async def test_every_list_goes_on_by_cursor(document: dict[str, Any]) -> None:
    paged = {
        operation["operationId"]: {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        | body_fields(document, operation)
        for _, _, operation in operations(document)
        if has_pages(document, operation)
    }
    assert {"listUsers", "listKeys", "listChanges", "listNotes", "pageGraph", "listEvents", "recall"} <= set(paged)
    assert {name for name, parameters in paged.items() if "cursor" not in parameters} == WHOLE


async def test_a_parameter_that_an_operation_does_not_have_is_refused(
    ada: httpx.AsyncClient, document: dict[str, Any]
) -> None:
    asked = 0
    for method, path, operation in operations(document):
        if is_keyed(path) and operation["operationId"] not in LENIENT:
            address = re.sub(r"{\w+}", str(uuid4()), path)
            answer = await ada.request(method, address, params={"crusor": "1"})
            place = f"{method} {path}: {answer.text[:200]}"
            assert (answer.status_code, answer.json().get("field")) == (400, "crusor"), place
            asked += 1
    assert asked > 100


async def test_foreign_parameters_of_openais_clients_are_passed_over(chatting: object, ada: httpx.AsyncClient) -> None:
    assert (await ada.get("/v1/models", params={"api-version": "1"})).status_code == 200
    said = {"messages": [{"role": "user", "content": "Hello."}]}
    assert (await ada.post("/v1/chat/completions", params={"api-version": "1"}, json=said)).status_code == 200


@pytest.mark.parametrize("path", RENAMED)
async def test_the_older_name_of_cursor_still_works(path: str, anything: httpx.AsyncClient, owner: Owner) -> None:
    one, other = str(uuid4()), str(uuid4())
    anything.headers["X-Memsvc-User"] = str(owner.user_id)
    by_name = [await anything.get(path, params={name: one}) for name in ("cursor", "after")]
    assert by_name[0].status_code == by_name[1].status_code in {200, 404}
    both = await anything.get(path, params={"cursor": one, "after": one})
    assert both.status_code == by_name[0].status_code
    differ = await anything.get(path, params={"cursor": one, "after": other})
    assert (differ.status_code, differ.json()["code"], differ.json()["field"]) == (400, "invalid_request", "cursor")
    assert "after" in differ.json()["hint"]


@pytest.mark.parametrize("name", ["cursor", "after"])
async def test_conversations_and_jobs_are_read_page_by_page(name: str, ada: httpx.AsyncClient) -> None:
    for conversation in "abc":
        body = {"conversation": conversation, "text": f"Oak {conversation}."}
        assert (await ada.post("/v1/messages", json=body)).status_code == 202
    for path, key in (("/v1/conversations", "conversation_id"), ("/v1/jobs", "job_id")):
        everything = [item[key] for item in (await ada.get(path)).json()["items"]]
        found: list[str] = []
        place: dict[str, str] = {}
        for _ in everything:
            page = (await ada.get(path, params={"limit": 1, **place})).json()
            found += [item[key] for item in page["items"]]
            place = {name: page["next_cursor"]}
        assert found == everything
        assert len(everything) >= (3 if key == "conversation_id" else 1)


async def test_histories_go_on_by_cursor_below_a_time_that_was_asked_for(ada: httpx.AsyncClient) -> None:
    for label in ("Ines", "Bea", "Zoë"):
        await ada.post("/v1/nodes", json={"type": "Person", "label": label})
    newest, middle, oldest = (await ada.get("/v1/changes")).json()["items"][:3]
    first = (await ada.get("/v1/changes", params={"limit": 1})).json()
    second = (await ada.get("/v1/changes", params={"limit": 1, "cursor": first["next_cursor"]})).json()
    assert [first["items"], second["items"]] == [[newest], [middle]]
    asked = {"limit": 1, "before": newest["recorded_at"]}
    below = (await ada.get("/v1/changes", params=asked)).json()
    assert below["items"] == [middle]
    assert (await ada.get("/v1/changes", params=asked | {"cursor": below["next_cursor"]})).json()["items"] == [oldest]
    wrong = await ada.get("/v1/changes", params={"cursor": "soon"})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "cursor")
