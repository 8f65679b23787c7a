"""Arbitrary JSON and arbitrary bytes at the doors: never a 5xx, and every refusal is a problem with a code."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litestar import Litestar

from memsvc.access.keys import create_key
from memsvc.access.users import add_user
from memsvc.api.problems import MEDIA_TYPE
from memsvc.db.engine import Database
from memsvc.recall.options import GivenFilters
from tests.api.conftest import client_of
from tests.examples import some_of

# Lone surrogates too: json.dumps writes them as escapes.
TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NUMBERS = st.integers() | st.floats() | st.integers(-(2**80), 2**80)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
TIMES = st.datetimes(timezones=st.sampled_from([None, UTC])).map(datetime.isoformat) | TEXT
MESSAGE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT,
    "caption": st.none() | TEXT,
    "speaker": TEXT,
    "role": st.sampled_from(["user", "assistant", "other", "system", "tool", "thinking", "god"]),
    "session": st.sampled_from(["", "1"]) | TEXT,
    "ordinal": st.none() | st.integers(-1, 5) | st.integers(),
    "id": st.none() | st.sampled_from(["1", "2"]) | TEXT,
    "said_at": st.none() | TIMES,
    "metadata": st.dictionaries(TEXT, ANY_JSON, max_size=3),
}
MESSAGES = st.fixed_dictionaries({"conversation": st.sampled_from(["a", "b"]) | TEXT}, optional=MESSAGE_FIELDS)
QUERIES = st.fixed_dictionaries(
    {"query": TEXT},
    optional={
        **dict.fromkeys(GivenFilters.__struct_fields__, ANY_JSON),
        "limit": st.integers(0, 1001) | st.integers(),
        "form": st.sampled_from(["stemmed", "simple", "x"]),
        "conversations": st.lists(TEXT, max_size=2),
        "not_conversations": st.lists(TEXT, max_size=2),
        "said_from": st.none() | TIMES,
        "said_to": st.none() | TIMES,
        "traces": st.booleans(),
        "facts": st.booleans(),
        "as_of": st.none() | TIMES,
        "asked_at": st.none() | TIMES,
        "known_at": st.none() | TIMES,
        "mode": st.sampled_from(["eager", "balanced", "deliberate", "x"]),
        "cursor": st.none() | TEXT,
        "diversity": st.floats(-0.1, 1.1) | st.sampled_from([0, 1]),
        "explain": st.booleans(),
        "kinds": st.lists(st.sampled_from(["message", "fact", "x"]), max_size=2),
        "speakers": st.lists(TEXT, max_size=2),
        "source_kinds": st.lists(st.sampled_from(["conversation", "graph", "x"]), max_size=2),
        "types": st.lists(TEXT, max_size=2),
        "least_importance": st.none() | st.floats() | st.integers(0, 11),
        "metadata": st.none() | st.dictionaries(TEXT, ANY_JSON, max_size=2),
        "preset": st.sampled_from(["learnt", "70-20-10"]) | TEXT,
        "weights": st.dictionaries(st.sampled_from(["recency", "words", "x"]), NUMBERS, max_size=2),
    },
)
IDS = st.sampled_from(["01a200c9-0000-7000-8000-000000000001", "x", ""]) | st.integers(-1, 3)
DATA = st.dictionaries(TEXT, ANY_JSON, max_size=2)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["node", "edge", "alias", "close", "retract", "correct", "merge", "unmerge", "x"])},
    optional={
        "type": st.sampled_from(["Person", "Place", "KNOWS", "LIVES_IN", "x"]),
        "label": TEXT,
        "fact": TEXT,
        "alias": TEXT,
        **dict.fromkeys(["from_node", "to_node", "node_id", "canonical_id", "edge_id", "version_id"], IDS),
        "content": st.dictionaries(st.sampled_from(["label", "fact", "confidence", "x"]), ANY_JSON, max_size=2),
        "data": DATA,
        "confidence": st.floats() | st.integers(0, 1),
        "importance": st.floats() | st.integers(0, 11),
        "valid_from": st.none() | TIMES,
        "valid_to": st.none() | TIMES,
        "ended_at": TIMES,
        "make": st.booleans(),
    },
)
NODE = {"op": "node", "type": "Person", "label": "A"}
NEARLY = st.one_of(
    st.fixed_dictionaries({"op": st.just("node"), "type": st.just("Person"), "label": TEXT, "data": DATA}),
    st.fixed_dictionaries({"op": st.just("alias"), "node_id": st.just(0), "alias": TEXT}),
    st.fixed_dictionaries(
        {"op": st.just("edge"), "from_node": st.just(0), "to_node": st.just(0), "type": st.just("KNOWS"), "fact": TEXT},
        optional={"valid_from": TIMES, "valid_to": TIMES, "weight": st.floats(), "key": TEXT, "data": DATA},
    ),
    OPERATIONS,
)
QUESTIONS = {
    "/v1/nodes": ("q", "type", "as_of", "known_at", "cursor", "limit"),
    "/v1/facts": ("about", "type", "as_of", "known_at", "cursor", "side"),
    "/v1/aliases": ("name", "node", "cursor"),
    "/v1/changes": ("before", "limit"),
    "/v1/graph/diff": ("from", "to", "axis", "known_at", "kind", "cursor"),
}
NEEDED = {"/v1/facts": {"about": "I"}, "/v1/graph/diff": {"from": "2020-01-01"}}
fuzzed = settings(max_examples=some_of(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
async def client(api: Litestar, db: Database, app: UUID) -> AsyncIterator[httpx.AsyncClient]:
    """One user for all examples."""
    user = await add_user(db, app, name="Fuzz", external_id=f"fuzz-{uuid4()}")
    async with client_of(api, Authorization=f"Bearer {await create_key(db, app, user_id=user.user_id)}") as found:
        yield found


async def post(client: httpx.AsyncClient, path: str, body: bytes) -> httpx.Response:
    answer = await client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, (answer.text, body)
    if answer.status_code >= 400:
        assert answer.headers["Content-Type"] == MEDIA_TYPE
        assert answer.json()["code"] not in {"internal", "error"}
    return answer


@fuzzed
@given(body=ANY_JSON)
@pytest.mark.parametrize(
    "path",
    [
        *("/v1/messages", "/v1/recall", "/v1/context", "/v1/notes", "/v1/links", "/v1/ontology/edge-types"),
        *("/v1/changes", "/v1/nodes", "/v1/facts"),
    ],
)
async def test_arbitrary_json_is_refused_politely(client: httpx.AsyncClient, path: str, body: Any) -> None:
    await post(client, path, json.dumps(body).encode())


@fuzzed
@given(body=st.binary(max_size=200))
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/recall"])
async def test_arbitrary_bytes_are_refused_politely(client: httpx.AsyncClient, path: str, body: bytes) -> None:
    assert (await post(client, path, body)).status_code == 400


@fuzzed
@given(batch=st.lists(MESSAGES, max_size=4))
async def test_batches_that_are_nearly_right_are_stored_or_refused(
    client: httpx.AsyncClient, batch: list[dict[str, Any]]
) -> None:
    answer = await post(client, "/v1/messages", json.dumps({"messages": batch}).encode())
    if answer.status_code == 202:
        receipts = answer.json()["messages"]
        assert [receipt["index"] for receipt in receipts] == list(range(len(batch)))
        assert all(receipt["passage_id"] for receipt in receipts)


@fuzzed
@given(body=QUERIES)
async def test_queries_that_are_nearly_right_are_answered_or_refused(
    client: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    answer = await post(client, "/v1/recall", json.dumps(body).encode())
    if answer.status_code == 200:
        assert len(answer.json()["memories"]) <= body.get("limit", 10)


@fuzzed
@given(batch=st.lists(NEARLY, max_size=4))
async def test_operations_that_are_nearly_right_are_done_or_refused(
    client: httpx.AsyncClient, batch: list[dict[str, Any]]
) -> None:
    answer = await post(client, "/v1/changes", json.dumps({"operations": [NODE, *batch]}).encode())
    if answer.status_code == 201:
        assert [result["index"] for result in answer.json()["results"]] == list(range(len(batch) + 1))


@settings(fuzzed, max_examples=some_of(30))
@given(value=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
async def test_arbitrary_questions_to_the_graph_are_answered_or_refused(client: httpx.AsyncClient, value: str) -> None:
    for path, names in QUESTIONS.items():
        for name in names:
            answer = await client.get(path, params=NEEDED.get(path, {}) | {name: value})
            assert answer.status_code in {200, 400, 404}, answer.text


@fuzzed
@given(query=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), name=TEXT.filter(bool))
async def test_arbitrary_parameters_are_answered_or_refused(client: httpx.AsyncClient, query: str, name: str) -> None:
    for path in ("/v1/conversations", "/v1/jobs", "/v1/schedules", "/v1/conversations/a/messages"):
        answer = await client.get(path, params={"limit": query, "after": query, "cursor": query, "state": query})
        assert answer.status_code in {200, 400, 404}, answer.text
    raw = "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass"))
    answer = await client.get(f"/v1/conversations/{raw}/messages")
    assert answer.status_code in {200, 400, 404, 405}, answer.text  # 405: a slash makes it the address of another
