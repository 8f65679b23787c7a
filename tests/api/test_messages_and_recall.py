"""What clients come for: messages go in, and come out again with reason and source."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.short_ids import short_id
from memsvc.queue.execution import run_job

pytestmark = pytest.mark.server
OAK = {
    "conversation": "kitchen",
    "speaker": "Ada",
    "text": "The worktop shall be oak.",
    "said_at": "2026-03-14T09:30:00Z",
}


async def said(client: httpx.AsyncClient, *texts: str, conversation: str = "kitchen") -> list[dict[str, Any]]:
    """Store these texts in order and return the receipts."""
    batch = [{"conversation": conversation, "session": "1", "ordinal": i, "text": text} for i, text in enumerate(texts)]
    answer = await client.post("/v1/messages", json={"messages": batch})
    assert answer.status_code == 202, answer.text
    receipts: list[dict[str, Any]] = answer.json()["messages"]
    return receipts


async def test_one_message_is_accepted_with_a_receipt(ada: httpx.AsyncClient) -> None:
    answer = await ada.post("/v1/messages", json=OAK)
    assert answer.status_code == 202
    [receipt] = answer.json()["messages"]
    assert receipt["outcome"] == "created"
    assert receipt["index"] == 0
    assert receipt["ordinal"] == 0
    assert receipt["zone_assumed"] is None
    assert receipt["passage_id"]
    assert receipt["job_id"]


async def test_a_batch_is_accepted_in_order(ada: httpx.AsyncClient) -> None:
    receipts = await said(ada, "one", "two", "three")
    assert [receipt["ordinal"] for receipt in receipts] == [0, 1, 2]


async def test_a_time_without_an_offset_is_read_on_the_users_clock_and_the_receipt_says_so(
    ada: httpx.AsyncClient,
) -> None:
    answer = await ada.post("/v1/messages", json=OAK | {"said_at": "2026-03-14T09:30:00"})
    assert answer.json()["messages"][0]["zone_assumed"] == "UTC"


async def test_the_same_request_with_an_idempotency_key_stores_once(ada: httpx.AsyncClient) -> None:
    first = await ada.post("/v1/messages", json=OAK, headers={"Idempotency-Key": "k1"})
    again = await ada.post("/v1/messages", json=OAK, headers={"Idempotency-Key": "k1"})
    another = await ada.post("/v1/messages", json=OAK, headers={"Idempotency-Key": "k2"})
    outcomes = [answer.json()["messages"][0]["outcome"] for answer in (first, again, another)]
    assert outcomes == ["created", "existing", "created"]


async def test_other_words_under_the_same_id_are_refused_with_the_row(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/messages", json=OAK | {"id": "m1"})
    answer = await ada.post(
        "/v1/messages", json={"messages": [OAK | {"id": "m2"}, OAK | {"id": "m1", "text": "Beech, then."}]}
    )
    assert answer.status_code == 409
    assert answer.json()["code"] == "message_conflict"
    assert answer.json()["row"] == 1
    found = await ada.get("/v1/conversations/kitchen/messages")
    assert [message["message_id"] for message in found.json()["items"]] == ["m1"]


async def test_written_is_found_at_once_with_score_reason_and_source(ada: httpx.AsyncClient) -> None:
    [oak, _] = await said(ada, "The worktop shall be oak.", "The lamp is blue.")
    answer = await ada.post("/v1/recall", json={"query": "What wood is the worktop?"})
    assert answer.status_code == 200
    best = answer.json()["memories"][0]
    assert best["passage_id"] == oak["passage_id"]
    assert best["conversation"] == "kitchen"
    assert best["score"] == pytest.approx(sum(best["factors"].values()))
    assert "worktop" in best["why"]


async def test_recall_keeps_to_conversations_and_times(ada: httpx.AsyncClient) -> None:
    for day, place in ((1, "a"), (2, "b"), (3, "c")):
        message = {"conversation": place, "text": "oak", "said_at": f"2026-03-0{day}T12:00:00"}
        assert (await ada.post("/v1/messages", json=message)).status_code == 202

    async def found(**filters: object) -> list[str]:
        answer = await ada.post("/v1/recall", json={"query": "oak", **filters})
        assert answer.status_code == 200, answer.text
        return sorted(memory["conversation"] for memory in answer.json()["memories"])

    assert await found() == ["a", "b", "c"]
    assert await found(conversations=["a", "c"]) == ["a", "c"]
    assert await found(not_conversations=["a"]) == ["b", "c"]
    assert await found(said_from="2026-03-02") == ["b", "c"]
    assert await found(said_to="2026-03-02T12:00:00+00:00") == ["a"]
    assert await found(said_from="2026-03-02T13:00:00+01:00", said_to="2026-03-03") == ["b"]
    assert len(await found(limit=1)) == 1


async def test_what_tools_said_is_recalled_only_when_asked_for(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/messages", json={"conversation": "a", "role": "tool", "text": "oak"})
    assert (await ada.post("/v1/recall", json={"query": "oak"})).json()["memories"] == []
    assert len((await ada.post("/v1/recall", json={"query": "oak", "traces": True})).json()["memories"]) == 1


async def test_a_context_block_keeps_its_budget_and_names_its_sources(ada: httpx.AsyncClient) -> None:
    await said(ada, *[f"The worktop number {i} is made of oak." for i in range(30)])
    answer = await ada.post("/v1/context", json={"query": "oak worktop", "budget_tokens": 300})
    assert answer.status_code == 200
    block = answer.json()
    assert block["tokens"] <= block["budget_tokens"] == 300
    assert block["memories"]
    assert block["left_out"] > 0
    assert short_id(UUID(block["memories"][0]["passage_id"])) in block["text"]


async def test_conversations_are_listed_in_pages_newest_first(ada: httpx.AsyncClient) -> None:
    for name in ("a", "b", "c"):
        await said(ada, "hello", conversation=name)
    first = (await ada.get("/v1/conversations", params={"limit": 2})).json()
    second = (await ada.get("/v1/conversations", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [item["identifier"] for item in first["items"] + second["items"]] == ["c", "b", "a"]
    assert second["next_cursor"] is None
    only = (await ada.get("/v1/conversations", params={"identifier": "b"})).json()
    assert [item["identifier"] for item in only["items"]] == ["b"]


async def test_messages_are_read_in_pages_by_identifier_and_by_id(ada: httpx.AsyncClient) -> None:
    receipts = await said(ada, "one", "two", "three")
    texts, cursor = [], None
    while True:
        page = (
            await ada.get(
                "/v1/conversations/kitchen/messages", params={"limit": 2} | ({"cursor": cursor} if cursor else {})
            )
        ).json()
        texts += [message["text"] for message in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert texts == ["one", "two", "three"]
    by_id = await ada.get(f"/v1/conversations/{receipts[0]['conversation_id']}/messages")
    assert [message["text"] for message in by_id.json()["items"]] == texts


async def test_a_source_is_opened_around_a_passage(ada: httpx.AsyncClient) -> None:
    receipts = await said(ada, *"abcdefg")
    middle = receipts[3]
    answer = await ada.get(
        f"/v1/sources/{middle['conversation_id']}",
        params={"around": middle["passage_id"], "before": 1, "after": 2},
    )
    assert answer.status_code == 200
    assert [message["text"] for message in answer.json()["messages"]] == ["c", "d", "e", "f"]


async def test_a_job_is_listed_cancelled_and_retried(ada: httpx.AsyncClient) -> None:
    [receipt] = await said(ada, "hello")
    job = f"/v1/jobs/{receipt['job_id']}"
    assert (await ada.get(job)).json()["state"] == "pending"
    listed = (await ada.get("/v1/jobs", params={"state": "pending"})).json()
    assert [item["job_id"] for item in listed["items"]] == [receipt["job_id"]]
    assert (await ada.post(f"{job}/retry")).json()["code"] == "job_state"
    assert (await ada.post(f"{job}/cancel")).json()["state"] == "cancelled"
    assert (await ada.get("/v1/jobs", params={"state": "pending"})).json()["items"] == []
    assert (await ada.post(f"{job}/retry")).json()["state"] == "pending"


async def test_a_job_says_when_it_was_begun_and_done(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    [receipt] = await said(ada, "hello")
    [waiting] = (await ada.get("/v1/jobs")).json()["items"]
    assert (waiting["started_at"], waiting["finished_at"]) == (None, None)
    assert await run_job(db, "process", owner.user_id, UUID(receipt["job_id"])) == "done"
    [done] = (await ada.get("/v1/jobs")).json()["items"]
    assert done["job_id"] == receipt["job_id"]
    assert done["created_at"] <= done["started_at"] <= done["finished_at"]
    assert (await ada.get(f"/v1/jobs/{receipt['job_id']}")).json() == done


async def test_me_is_the_user_with_the_names_under_which_the_memory_knows_the_user(ada: httpx.AsyncClient) -> None:
    me = (await ada.get("/v1/me")).json()
    assert me["user"]["name"] == me["label"] == "Ada"
    assert {"Ada", "AL", "I"} <= set(me["aliases"])
    assert me["scopes"] == ["read", "write"]


async def test_times_are_told_on_the_speakers_clock(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/messages", json=OAK | {"said_at": "2026-03-14T09:30:00+05:45"})
    [message] = (await ada.get("/v1/conversations/kitchen/messages")).json()["items"]
    assert datetime.fromisoformat(message["said_at"]).isoformat() == "2026-03-14T09:30:00+05:45"


async def test_what_is_not_there_is_not_found(ada: httpx.AsyncClient) -> None:
    unknown = [
        (f"/v1/jobs/{uuid4()}", "not_found"),
        ("/v1/jobs/17", "not_found"),
        (f"/v1/sources/{uuid4()}", "not_found"),
        ("/v1/conversations/nowhere/messages", "conversation_unknown"),
        ("/v1/nothing", "not_found"),
        ("/nothing", "not_found"),
    ]
    for path, code in unknown:
        answer = await ada.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, code), path
