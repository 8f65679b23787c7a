"""Corrections that come back as lessons, the instructions they become, and plans with what came of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from litestar import Litestar
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import NodeUnknownError
from memsvc.graph.history import undo
from memsvc.lessons.critiques import get_critique, list_critiques
from memsvc.lessons.plans import list_plans
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.signals import record_recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.api.conftest import Connect
from tests.api.mcp_clients import NEW, mcp_client

WEDDING = {
    "question": "When is the wedding of Ines and Jonas?", "answer": "On 13 June 2026.",
    "correction": "It was moved to Saturday, 5 September 2026.",
    "lesson": "Before you give a date, look for a later message that moves it.", "id": "correction-7",
}  # fmt: skip
USED = text("SELECT instruction_id, conversation, contexts FROM memsvc.instructions_used WHERE user_id = :user_id")
CARRIED = text("SELECT instructions FROM memsvc.recall_events WHERE user_id = :user_id")
STEPS = ["Have a photo taken", "Make an appointment", "Fetch the passport"]


async def _context(db: Database, owner: Owner, settings: Settings, query: str) -> Context:
    options = ContextOptions(budget_tokens=600, salient=0, chance=False)
    return await build_context(db, owner, query, settings, options=options)


def _texts(context: Context, section: str) -> list[str]:
    return [item.text for one in context.sections if one.name == section for item in one.items]


@pytest.fixture
async def client(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    return await connect("read", "write", "forget", user=owner)


async def test_a_correction_is_stored_once_and_given_as_a_lesson(
    client: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    said = MessageIn(conversation="a", text="The wedding is moved to Saturday, 5 September 2026.", speaker="Ines")
    [stored] = await append(db, owner, [said], settings)
    given = {**WEDDING, "source": f"m:{stored.passage_id}"}
    first = (await client.post("/v1/critique", json=given)).json()
    assert (await client.post("/v1/critique", json=given)).json() == first
    assert first["source"].startswith("m:")
    other = await client.post("/v1/critique", json={**given, "correction": "In October."})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    context = await _context(db, owner, settings, "On which date do Ines and Jonas have their wedding?")
    [lesson] = _texts(context, "lessons")
    assert "5 September" in lesson
    assert lesson.index("Right is") < lesson.index("13 June")
    assert "# Learnt from mistakes\n" in context.text
    assert stored.passage_id is not None
    await erase(
        db, owner, "message", stored.passage_id, requested_by="user"
    )  # its correction was in words of this message
    with pytest.raises(NodeUnknownError):
        await get_critique(db, owner, first["critique_id"])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"question": " \u200b", "correction": "b"}, "question"),
        ({"question": "a", "correction": ""}, "correction"),
        ({"question": "a", "correction": "b" * 2001}, "correction"),
        ({"question": "a", "correction": "b", "id": ""}, "id"),
        ({"question": "a", "correction": "b\0"}, "correction"),
    ],
)
async def test_what_cannot_be_a_correction_is_refused(
    client: httpx.AsyncClient, given: dict[str, Any], field: str
) -> None:
    answer = await client.post("/v1/critique", json=given)
    assert (400 <= answer.status_code < 500, answer.json()["field"]) == (True, field)


async def test_a_lesson_counts_once_a_person_accepts_it(
    client: httpx.AsyncClient, connect: Connect, db: Database, owner: Owner, settings: Settings
) -> None:
    one = (await client.post("/v1/critique", json=WEDDING)).json()["critique_id"]
    waiting = (await client.get("/v1/lessons", params={"state": "proposed"})).json()["items"]
    assert [item["critique_id"] for item in waiting] == [one]
    report = (await client.get("/v1/sleep/report")).json()
    assert report["lessons_to_review"] == 1
    assert _texts(await _context(db, owner, settings, "Hello"), "instructions") == []
    accepted = (await client.post(f"/v1/lessons/{one}/accept", json={"text": "Look for later dates."})).json()
    assert (accepted["state"], accepted["lesson"]) == ("accepted", "Look for later dates.")
    context = await _context(db, owner, settings, "Hello")
    assert _texts(context, "instructions") == ["Look for later dates."]
    assert "[memsvc rules" in context.text
    again = await client.post(f"/v1/lessons/{one}/reject")
    assert (again.status_code, again.json()["code"]) == (409, "review_decided")
    changes = (await client.get("/v1/changes")).json()["items"]
    await undo(db, owner, changes[0]["change_id"], asserted_by="user")
    assert _texts(await _context(db, owner, settings, "Hello"), "instructions") == []
    assert [item.state for item in (await list_critiques(db, owner)).items] == ["proposed"]
    rejected = (await client.post(f"/v1/lessons/{one}/reject")).json()
    assert (rejected["state"], rejected["instruction"]) == ("rejected", None)
    nobody = await (await connect("read", "write")).get("/v1/lessons")
    assert nobody.status_code == 400 or nobody.json()["items"] == []


async def test_a_plan_comes_back_with_its_outcome_and_its_history(
    client: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    given = {"task": "Renew the passport before the trip to Lisbon", "steps": STEPS, "id": "passport"}
    plan = (await client.post("/v1/plans", json=given)).json()
    assert (await client.post("/v1/plans", json=given)).json() == plan
    at = f"/v1/plans/{plan['plan_id']}"
    photo = {"step": 1, "outcome": "Two photos, 12 euros"}
    await client.patch(at, json={"results": [photo]})
    await client.patch(at, json={"results": [photo]})  # no news, no revision
    steps = [{"text": STEPS[0], "state": "done"}, {"text": "Go to the consulate"}]
    await client.patch(at, json={"steps": steps, "reason": "The town hall was full."})
    whole = {"state": "failed", "outcome": "The consulate needs eight weeks."}
    now = (await client.patch(at, json=whole)).json()
    assert [len(one["steps"]) for one in now["revisions"]] == [3, 3, 2, 2]
    assert [one["reason"] for one in now["revisions"]] == ["", "", "The town hall was full.", ""]
    assert now["revisions"][1]["steps"][0] == {"text": STEPS[0], "state": "done", "outcome": "Two photos, 12 euros"}
    assert (await client.get(at)).json() == now
    assert (await client.get("/v1/plans", params={"state": "open"})).json()["items"] == []
    context = await _context(db, owner, settings, "I need to renew my passport again")
    [plan_] = _texts(context, "memories")
    assert "It failed: The consulate needs eight weeks." in plan_
    assert "] plan, " in context.text
    wrong = await client.patch(at, json={"results": [{"step": 3}]})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "results")


async def test_lessons_and_plans_of_others_do_not_exist(
    api: Litestar, client: httpx.AsyncClient, connect: Connect, other: Owner
) -> None:
    del api
    one = (await client.post("/v1/critique", json=WEDDING)).json()["critique_id"]
    plan = (await client.post("/v1/plans", json={"task": "Oak"})).json()["plan_id"]
    stranger = await connect("read", "write", user=other)
    for path in (f"/v1/lessons/{one}", f"/v1/plans/{plan}"):
        assert (await stranger.get(path)).status_code == 404
    assert (await stranger.post(f"/v1/lessons/{one}/accept", json={})).status_code == 404
    assert (await stranger.patch(f"/v1/plans/{plan}", json={"state": "done"})).status_code == 404
    for path in ("/v1/lessons", "/v1/plans"):
        assert (await stranger.get(path)).json()["items"] == []


async def test_it_is_known_which_conversations_instructions_were_used_in(
    client: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    said = [MessageIn(conversation=name, text="Ines likes tea.", id=name) for name in ("a", "b")]
    stored = await append(db, owner, said, settings)
    made = (await client.post("/v1/nodes", json={"type": "Instruction", "label": "Say du, always."})).json()
    rule = UUID(made["results"][0]["node_id"])
    again = {**settings.model_dump(), "record_recalls": True}
    options = ContextOptions(budget_tokens=600, salient=0, chance=False, conversation="a")
    for _ in range(2):
        context = await build_context(db, owner, "tea", Settings.model_validate(again), options=options)
        await record_recall(db, owner, context, door="tests", mode="balanced")

    async def used() -> list[tuple[Any, ...]]:
        async with db.transaction(owner.user_id) as connection:
            rows = await connection.execute(USED, {"user_id": owner.user_id})
            return [tuple(row) for row in rows]

    assert await used() == [(rule, "a", 2)]
    assert stored[0].conversation_id is not None
    await erase(db, owner, "source", stored[0].conversation_id, requested_by="user")
    assert await used() == []
    options = replace(options, conversation="b")
    context = await build_context(db, owner, "tea", Settings.model_validate(again), options=options)
    await record_recall(db, owner, context, door="tests", mode="balanced")
    assert await used() == [(rule, "b", 1)]
    await erase(db, owner, "node", rule, requested_by="user")
    assert await used() == []
    async with db.transaction(owner.user_id) as connection:
        left = (await connection.execute(CARRIED, {"user_id": owner.user_id})).scalars().all()
    assert left == [[], [], []]


async def test_an_assistant_corrects_itself_and_keeps_a_plan_by_one_tool(
    api: Litestar, client: httpx.AsyncClient, db: Database, owner: Owner
) -> None:
    async with mcp_client(api, client, NEW) as assistant:
        for text in ("1. Have a photo taken\n2. Fetch it", "[x] Have a photo taken: 12 euros\n[-] Fetch it: too late"):
            written = await assistant.call_tool("create_note", {"title": "A passport", "kind": "plan", "text": text})
            assert not written.is_error
        right = {"title": "Who bakes the cake?", "kind": "critique", "text": "Aunt Philippa."}
        assert not (await assistant.call_tool("create_note", right)).is_error
    [plan] = (await list_plans(db, owner)).items
    steps = [(one.text, one.state, one.outcome) for one in plan.steps]
    assert steps == [("Have a photo taken", "done", "12 euros"), ("Fetch it", "failed", "too late")]
    assert plan.state == "failed"
    [critique] = (await list_critiques(db, owner)).items
    assert (critique.question, critique.correction) == ("Who bakes the cake?", "Aunt Philippa.")
