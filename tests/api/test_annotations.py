"""Facts that somebody validates or disputes: evidence with a stance, and contested wherever the fact is shown."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from litestar import Litestar
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Merge, Node
from memsvc.sources.annotating import CONVERSATION
from tests.api.conftest import Connect
from tests.api.graphs import refused
from tests.api.mcp_clients import mcp_client, use

PLAIN: dict[str, Any] = {"salient": 0, "chance": False, "elapsed": False}


@pytest.fixture
async def fact(db: Database, owner: Owner) -> str:
    """The edge that says where Ines lives."""
    made = await write(
        db,
        owner,
        [
            Node(type="Person", label="Ines"),
            Node(type="Place", label="Porto"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Ines lives in Porto."),
        ],
        asserted_by="tests",
    )
    return str(made.results[2].edge_id)


async def mark(client: httpx.AsyncClient, fact: str, stance: str, reason: str = "She moved.", **more: Any) -> Any:
    answer = await client.post(f"/v1/facts/{fact}/annotations", json={"stance": stance, "reason": reason, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def contested(client: httpx.AsyncClient, fact: str) -> set[bool]:
    """What recall, the context, the list of facts and the fact itself say."""
    [recalled] = (await client.post("/v1/recall", json={"query": "Where does Ines live?"})).json()["memories"]
    context = (await client.post("/v1/context", json={"query": "Where does Ines live?", **PLAIN})).json()
    [listed] = (await client.get("/v1/facts", params={"about": "Ines"})).json()["items"]
    shown = (await client.get(f"/v1/facts/{fact}")).json()["versions"][0]
    return {
        recalled["fact"]["contested"], "contested" in context["text"], listed["contested"], shown["contested"],
    }  # fmt: skip


async def test_a_disputed_fact_is_contested_wherever_it_is_shown(
    api: Litestar, ada: httpx.AsyncClient, db: Database, owner: Owner, fact: str
) -> None:
    assert await contested(ada, fact) == {False}
    await mark(ada, fact, "validated", "I was there.")
    assert await contested(ada, fact) == {False}
    change = await mark(ada, fact, "disputed")
    assert await contested(ada, fact) == {True}
    async with db.transaction(owner.user_id) as connection:
        assert await connection.scalar(text("SELECT contested FROM memsvc.facts_current"))
    shown = (await ada.get(f"/v1/facts/{fact}")).json()["versions"][0]
    assert [(one["stance"], one["quote"], one["asserted_by"]) for one in shown["sources"]] == [
        ("validated", "I was there.", "user"), ("disputed", "She moved.", "user"),
    ]  # fmt: skip
    async with mcp_client(api, ada) as client:
        told, content = await use(client, "recall", query="Where does Ines live?")
        opened, _ = await use(client, "open_source", id=content["memories"][0]["id"])
    assert "contested" in told
    assert "disputed by" in opened
    undone = await ada.post(f"/v1/changes/{change['change_id']}/undo")
    assert undone.status_code < 300, undone.text
    assert await contested(ada, fact) == {False}, "the mark before counts again"
    await mark(ada, fact, "disputed", "She did move.")
    await mark(ada, fact, "validated", "She moved back.")
    assert await contested(ada, fact) == {False}, "of each author the last mark counts"


async def test_the_reason_is_kept_but_not_recalled_and_takes_the_mark_along(
    connect: Connect, owner: Owner, fact: str
) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    await mark(ada, fact, "disputed", "She told Rui about zebras.")
    assert (await ada.post("/v1/recall", json={"query": "zebras"})).json()["memories"] == []
    [kept] = (await ada.get(f"/v1/conversations/{CONVERSATION}/messages")).json()["items"]
    assert (kept["text"], kept["role"], kept["metadata"]) == (
        "She told Rui about zebras.", "system", {"stance": "disputed", "edge_id": fact},
    )  # fmt: skip
    assert await contested(ada, fact) == {True}
    assert (await ada.delete(f"/v1/passages/{kept['passage_id']}")).status_code < 300
    assert await contested(ada, fact) == {False}
    await mark(ada, fact, "disputed")
    assert (await ada.delete(f"/v1/facts/{fact}")).status_code < 300
    refused(await ada.get(f"/v1/facts/{fact}"), 404, "fact_unknown")


async def test_a_mark_stays_while_the_fact_says_the_same(ada: httpx.AsyncClient, fact: str) -> None:
    await mark(ada, fact, "disputed")
    assert (await ada.patch(f"/v1/facts/{fact}", json={"ended_at": "2035-01-01"})).status_code == 200
    assert await contested(ada, fact) == {True}
    assert (await ada.patch(f"/v1/facts/{fact}", json={"fact": "Ines lives in Porto, by the sea."})).status_code == 200
    assert await contested(ada, fact) == {False}, "a correction answers what was disputed"


async def test_a_repeated_request_marks_once(ada: httpx.AsyncClient, fact: str) -> None:
    body = {"stance": "disputed", "reason": "She moved."}
    made = [
        (await ada.post(f"/v1/facts/{fact}/annotations", json=body, headers={"Idempotency-Key": "one"})).json()
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert len((await ada.get(f"/v1/conversations/{CONVERSATION}/messages")).json()["items"]) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"stance": "doubted", "reason": "x"}, 400, "invalid_request"),
        ({"stance": "supports", "reason": "x"}, 400, "invalid_request"),
        ({"stance": "disputed"}, 400, "invalid_request"),
        ({"stance": "disputed", "reason": " "}, 400, "invalid_request"),
        ({"stance": "disputed", "reason": "a\0b"}, 400, "invalid_text"),
        ({"stance": "disputed", "reason": "x" * 8_001}, 413, "text_too_long"),
        ({"stance": "disputed", "reason": "x", "version_id": str(uuid4())}, 404, "fact_unknown"),
    ],
)
async def test_what_is_no_mark_is_refused_and_leaves_nothing(
    ada: httpx.AsyncClient, fact: str, body: dict[str, Any], status: int, code: str
) -> None:
    refused(await ada.post(f"/v1/facts/{fact}/annotations", json=body), status, code)
    assert (await ada.get("/v1/conversations")).json()["items"] == []


async def test_an_unknown_or_retracted_fact_cannot_be_marked(ada: httpx.AsyncClient, fact: str) -> None:
    body = {"stance": "disputed", "reason": "x"}
    refused(await ada.post(f"/v1/facts/{uuid4()}/annotations", json=body), 404, "fact_unknown")
    assert (await ada.post(f"/v1/facts/{fact}/retract", json={})).status_code == 200
    refused(await ada.post(f"/v1/facts/{fact}/annotations", json=body), 409, "version_superseded")


async def test_a_least_score_leaves_out_what_has_less(ada: httpx.AsyncClient) -> None:
    for said in ("Oak, oak and oak.", "The worktop is oak.", "Beech and oak and ash and elm and fir and pine."):
        assert (await ada.post("/v1/messages", json={"conversation": "wood", "text": said})).status_code == 202
    every = (await ada.post("/v1/recall", json={"query": "oak"})).json()["memories"]
    least = every[1]["score"]
    told = (await ada.post("/v1/recall", json={"query": "oak", "least_score": least, "explain": True})).json()
    assert [one["memory_id"] for one in told["memories"]] == [one["memory_id"] for one in every[:2]]
    assert [(cut["memory"]["memory_id"], cut["reason"]) for cut in told["explanation"]["cut"]] == [
        (every[2]["memory_id"], "below the threshold")
    ]
    none = (await ada.post("/v1/recall", json={"query": "oak", "least_score": 1e9, "mode": "deliberate"})).json()
    assert (none["memories"], none["relevant"], none["next_cursor"]) == ([], False, None)
    refused(await ada.post("/v1/recall", json={"query": "oak", "least_score": "high"}), 400, "invalid_request")


async def test_undoing_a_mark_takes_it_from_versions_that_carried_it_on(ada: httpx.AsyncClient, fact: str) -> None:
    change = await mark(ada, fact, "disputed")
    ended = await ada.patch(f"/v1/facts/{fact}", json={"ended_at": "2031-01-01T00:00:00Z"})
    assert ended.status_code == 200, ended.text
    assert (await ada.get(f"/v1/facts/{fact}")).json()["versions"][0]["contested"]
    undone = await ada.post(f"/v1/changes/{change['change_id']}/undo")
    assert undone.status_code < 300, undone.text
    assert not (await ada.get(f"/v1/facts/{fact}")).json()["versions"][0]["contested"]


async def undo(client: httpx.AsyncClient, change: dict[str, Any]) -> dict[str, Any]:
    undone = await client.post(f"/v1/changes/{change['change_id']}/undo")
    assert undone.status_code < 300, undone.text
    return dict(undone.json())


async def marked(client: httpx.AsyncClient, fact: str) -> list[tuple[bool, list[str]]]:
    """The versions of a fact, newest first: whether each is contested, and the marks that stand."""
    versions = (await client.get(f"/v1/facts/{fact}")).json()["versions"]
    return [(one["contested"], [source["stance"] for source in one["sources"]]) for one in versions]


async def test_undoing_the_undo_of_a_mark_brings_it_back(ada: httpx.AsyncClient, fact: str) -> None:
    """Also on versions that carried it on, and on one written while the mark was away."""
    change = await mark(ada, fact, "disputed")
    assert (await ada.patch(f"/v1/facts/{fact}", json={"ended_at": "2036-01-01T00:00:00Z"})).status_code == 200
    first = await undo(ada, change)
    assert await marked(ada, fact) == [(False, []), (False, [])]
    again = await undo(ada, first)
    assert await marked(ada, fact) == [(True, ["disputed"]), (True, ["disputed"])]
    assert await contested(ada, fact) == {True}
    away = await undo(ada, again)
    assert await marked(ada, fact) == [(False, []), (False, [])]
    assert (await ada.patch(f"/v1/facts/{fact}", json={"ended_at": "2035-01-01T00:00:00Z"})).status_code == 200
    await undo(ada, away)
    assert await marked(ada, fact) == [(True, ["disputed"])] * 3
    assert await contested(ada, fact) == {True}
    await undo(ada, change)
    assert await marked(ada, fact) == [(False, [])] * 3


async def test_a_mark_that_comes_back_does_not_come_back_to_a_correction(ada: httpx.AsyncClient, fact: str) -> None:
    first = await undo(ada, await mark(ada, fact, "disputed"))
    assert (await ada.patch(f"/v1/facts/{fact}", json={"fact": "Ines lives in Porto, by the sea."})).status_code == 200
    await undo(ada, first)
    assert await marked(ada, fact) == [(False, []), (True, ["disputed"])]


async def test_a_mark_that_comes_back_has_its_old_place(ada: httpx.AsyncClient, fact: str) -> None:
    first = await undo(ada, await mark(ada, fact, "disputed"))
    await mark(ada, fact, "validated", "I asked her.")
    await undo(ada, first)
    assert await marked(ada, fact) == [(False, ["validated", "disputed"])]
    assert await contested(ada, fact) == {False}, "what was said last counts, not what was written last"


async def test_undoing_the_undo_of_evidence_brings_it_back(
    ada: httpx.AsyncClient, db: Database, owner: Owner, fact: str
) -> None:
    """Evidence that a change added to a fact that was known already."""
    answer = await ada.post("/v1/messages", json={"conversation": "walk", "text": "Ines lives in Porto, she says."})
    [said] = answer.json()["messages"]
    shown = (await ada.get(f"/v1/facts/{fact}")).json()
    same = Edge(
        from_node=UUID(shown["from_node"]),
        type="LIVES_IN",
        to_node=UUID(shown["to_node"]),
        fact="Ines lives in Porto.",
        evidence=[Evidence(passage_id=UUID(said["passage_id"]))],
    )
    change = await write(db, owner, [same], asserted_by="tests")
    assert await marked(ada, fact) == [(False, ["supports"])]
    first = await undo(ada, {"change_id": str(change.change_id)})
    assert await marked(ada, fact) == [(False, [])]
    await undo(ada, first)
    assert await marked(ada, fact) == [(False, ["supports"])]


async def test_a_superseded_version_is_contested_by_what_stood_when_it_was_known(
    ada: httpx.AsyncClient, db: Database, owner: Owner, fact: str
) -> None:
    """Merged nodes contradict a fact until it is corrected: its old version says so, the new one does not."""
    ines = UUID((await ada.get(f"/v1/facts/{fact}")).json()["from_node"])
    made = await write(
        db,
        owner,
        [
            Node(type="Person", label="Nessa"),
            Node(type="Place", label="Lyon"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Nessa lives in Lyon."),
        ],
        asserted_by="tests",
    )
    nessa = made.results[0].node_id
    assert nessa is not None
    merged = await write(db, owner, [Merge(node=nessa, canonical=ines, reason="a nickname")], asserted_by="tests")
    assert await marked(ada, fact) == [(True, [])]
    corrected = {"fact": "Ines lives in the middle of Porto."}
    assert (await ada.patch(f"/v1/facts/{fact}", json=corrected)).status_code == 200
    await undo(ada, {"change_id": str(merged.change_id)})
    assert await marked(ada, fact) == [(False, []), (True, [])]
    known = {"known_at": (merged.recorded_at - timedelta(microseconds=1)).isoformat()}
    [before] = (await ada.get(f"/v1/facts/{fact}", params=known)).json()["versions"]
    assert not before["contested"]


async def test_only_marks_that_stand_count_for_a_superseded_version(ada: httpx.AsyncClient, fact: str) -> None:
    made = await mark(ada, fact, "disputed")
    change = (await ada.get(f"/v1/changes/{made['change_id']}")).json()
    assert (await ada.patch(f"/v1/facts/{fact}", json={"fact": "Ines lives in Porto, by the sea."})).status_code == 200
    assert await marked(ada, fact) == [(False, []), (True, ["disputed"])]
    await undo(ada, made)
    assert await marked(ada, fact) == [(False, []), (False, [])]
    for later, expected in ((-1, False), (0, True)):
        then = datetime.fromisoformat(change["recorded_at"]) + timedelta(microseconds=later)
        asked = await ada.get(f"/v1/facts/{fact}", params={"known_at": then.isoformat()})
        assert [one["contested"] for one in asked.json()["versions"]] == [expected]
