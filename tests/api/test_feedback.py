"""Feedback on recalls, and what is salient, by REST: what clients send, and what they are told when it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.recall.signals import new_recall_id, record_recall
from memsvc.settings import Settings
from tests.api.test_messages_and_recall import said


@dataclass(frozen=True)
class Given:
    """An answer of a door."""

    memories: list[Memory]
    recall_id: UUID | None


async def given(db: Database, owner: Owner, settings: Settings, question: str) -> tuple[str, list[str]]:
    """A recorded recall; its id and its memories'."""
    found = (await recall(db, owner, question, settings)).memories
    recall_id = await record_recall(db, owner, Given(found, new_recall_id()), door="recall", mode="balanced")
    return str(recall_id), [str(memory.memory_id) for memory in found]


async def test_feedback_counts_once_and_ranks_what_is_salient(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    receipts = await said(ada, "The worktop shall be oak.", "The lamp is of oak too.")
    oak, lamp = (receipt["passage_id"] for receipt in receipts)
    recall_id, _ = await given(db, owner, settings, "oak")
    route = f"/v1/recalls/{recall_id}/feedback"
    for changed in (2, 0):
        answer = await ada.post(route, json={"used": [lamp], "irrelevant": [oak]})
        assert (answer.status_code, answer.json()) == (
            200,
            {"recall_id": recall_id, "used": [lamp], "irrelevant": [oak], "changed": changed, "erased": []},
        )
    top = (await ada.get("/v1/top-of-mind")).json()["memories"]
    assert [(memory["memory_id"], memory["why"]) for memory in top] == [
        (lamp, "salient: said earlier today, used once"),
        (oak, "salient: said earlier today, irrelevant once"),
    ]
    assert top[0]["factors"]["usefulness"] == pytest.approx(1 / 6)
    answer = await ada.post(route, json={"used": [oak]})
    assert answer.json()["changed"] == 1
    assert len((await ada.get("/v1/top-of-mind", params={"limit": 1})).json()["memories"]) == 1
    past = await ada.get("/v1/top-of-mind", params={"as_of": "2000-01-01", "known_at": "2000-01-01"})
    assert past.json() == {"memories": []}


async def test_bad_feedback_is_refused_with_a_stable_code(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    [receipt] = await said(ada, "The worktop shall be oak.")
    recall_id, _ = await given(db, owner, settings, "oak")
    oak, nothing = receipt["passage_id"], str(uuid4())
    cases: list[tuple[httpx.AsyncClient, str, Any, int, str]] = [
        (bob, recall_id, {"used": [oak]}, 404, "recall_unknown"),
        (ada, nothing, {"used": [oak]}, 404, "recall_unknown"),
        (ada, recall_id, {"used": [oak], "irrelevant": [nothing]}, 400, "not_recalled"),
        (ada, recall_id, {"used": [oak], "irrelevant": [oak]}, 400, "invalid_request"),
        (ada, recall_id, {"used": ["oak"]}, 400, "invalid_request"),
        (ada, recall_id, {"used": oak}, 400, "invalid_request"),
        (ada, recall_id, {"useful": [oak]}, 400, "invalid_request"),
        (ada, recall_id, {"used": [oak] * 1_001}, 400, "invalid_request"),
        (ada, recall_id, None, 400, "invalid_request"),
    ]
    for client, recalled, body, status, code in cases:
        answer = await client.post(f"/v1/recalls/{recalled}/feedback", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (body, answer.text)
        if code == "not_recalled":
            assert answer.json()["memory_ids"] == [nothing]
    assert (await ada.post(f"/v1/recalls/{recall_id}/feedback", json={"used": [oak]})).json()["changed"] == 1
    assert (await ada.post("/v1/recalls/oak/feedback", json={})).status_code in {400, 404}


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"limit": 0}, "invalid_request"), ({"limit": 201}, "invalid_request"), ({"as_of": "soon"}, "invalid_time"),
        ({"as_of": "always"}, "invalid_time"), ({"known_at": "2999-01-01"}, "invalid_time"),
        ({"query": "oak"}, "invalid_request"), ({"facts": "perhaps"}, "invalid_request"),
    ],
)  # fmt: skip
async def test_bad_parameters_are_refused(ada: httpx.AsyncClient, parameters: dict[str, Any], code: str) -> None:
    answer = await ada.get("/v1/top-of-mind", params=parameters)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
