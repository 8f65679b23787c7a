"""Two users with the same texts never see each other, through any route."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.graphs import batch
from tests.api.routes import EVERY_ROUTE, NOTHING

pytestmark = pytest.mark.server
SECRET = {"conversation": "kitchen", "session": "1", "ordinal": 0, "id": "m1", "text": "The safe opens with 4711."}


async def fill(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.post("/v1/messages", json=SECRET)
    assert answer.status_code == 202
    receipt: dict[str, Any] = answer.json()["messages"][0]
    return receipt


async def test_the_same_message_of_two_users_is_stored_twice(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    mine, his = await fill(ada), await fill(bob)
    assert mine["outcome"] == his["outcome"] == "created"
    assert mine["conversation_id"] != his["conversation_id"]
    assert mine["passage_id"] != his["passage_id"]


async def test_lists_and_recall_show_only_ones_own(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    mine, his = await fill(ada), await fill(bob)
    for client, own, foreign in ((ada, mine, his), (bob, his, mine)):
        everything = [
            await client.get("/v1/conversations"),
            await client.get("/v1/conversations", params={"identifier": "kitchen"}),
            await client.get("/v1/conversations/kitchen/messages"),
            await client.get(f"/v1/sources/{own['conversation_id']}"),
            await client.get("/v1/jobs"),
            await client.post("/v1/recall", json={"query": "What opens the safe?", "limit": 1000}),
            await client.post("/v1/context", json={"query": "What opens the safe?"}),
            await client.post("/v1/recall", json={"query": "safe", "conversations": ["kitchen"]}),
        ]
        for answer in everything:
            assert answer.status_code == 200
            assert any(str(own[name]) in answer.text for name in ("conversation_id", "passage_id", "job_id"))
            assert not any(str(foreign[name]) in answer.text for name in ("conversation_id", "passage_id", "job_id"))


async def test_a_user_without_memories_recalls_nothing(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await fill(bob)
    assert (await ada.post("/v1/recall", json={"query": "safe 4711"})).json()["memories"] == []
    assert "4711" not in (await ada.post("/v1/context", json={"query": "safe 4711"})).text


async def test_anothers_ids_look_as_if_they_did_not_exist(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    his = await fill(bob)
    attempts = [
        ("GET", "/v1/conversations/{}/messages", his["conversation_id"], None),
        ("GET", "/v1/sources/{}", his["conversation_id"], None),
        ("GET", "/v1/sources/{}?around=" + his["passage_id"], his["conversation_id"], None),
        ("GET", "/v1/jobs/{}", his["job_id"], None),
        ("POST", "/v1/jobs/{}/retry", his["job_id"], None),
        ("POST", "/v1/jobs/{}/cancel", his["job_id"], None),
        ("POST", "/v1/recall", his["conversation_id"], {"query": "safe", "conversations": ["{}"]}),
        ("POST", "/v1/recall", his["conversation_id"], {"query": "safe", "not_conversations": ["{}"]}),
        ("POST", "/v1/context", his["conversation_id"], {"query": "safe", "conversations": ["{}"]}),
    ]
    for method, path, theirs, body in attempts:
        seen = []
        for place in (theirs, str(uuid4())):
            filled = {
                name: [place] if isinstance(value, list) else value for name, value in (body or {}).items()
            } or None
            answer = await ada.request(method, path.format(place), json=filled)
            seen.append(
                (answer.status_code, answer.text.replace(place, "ID").replace(answer.headers["X-Request-Id"], ""))
            )
        assert seen[0] == seen[1], path
        assert seen[0][0] == 404, path
    assert (await bob.get(f"/v1/jobs/{his['job_id']}")).json()["state"] == "pending"


async def test_anothers_passage_opens_nothing_of_ones_own_source(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    mine, his = await fill(ada), await fill(bob)
    answer = await ada.get(f"/v1/sources/{mine['conversation_id']}", params={"around": his["passage_id"]})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_anothers_cursors_lead_nowhere(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    mine, his = await fill(ada), await fill(bob)
    for path in ("/v1/conversations", "/v1/jobs"):
        for after in (his["conversation_id"], his["job_id"]):
            answer = await ada.get(path, params={"after": after})
            assert answer.status_code in {200, 404}
            assert not any(str(his[name]) in answer.text for name in ("conversation_id", "job_id")), mine


async def test_writing_with_anothers_conversation_id_makes_a_conversation_of_ones_own(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    his = await fill(bob)
    answer = await ada.post("/v1/messages", json={"conversation": his["conversation_id"], "text": "mine"})
    assert answer.json()["messages"][0]["conversation_id"] != his["conversation_id"]
    [only] = (await bob.get("/v1/conversations/kitchen/messages")).json()["items"]
    assert only["text"] == SECRET["text"]


async def test_a_key_of_the_app_sees_one_user_at_a_time(
    connect: Any, ada: httpx.AsyncClient, owner: Owner, other: Owner
) -> None:
    await fill(ada)
    client = await connect()
    for user, count in ((owner, 1), (other, 0)):
        answer = await client.post("/v1/recall", json={"query": "safe"}, headers={"X-Memsvc-User": str(user.user_id)})
        assert len(answer.json()["memories"]) == count


FORMS: dict[str, dict[str, Any]] = {
    "/location": {"latitude": 1, "longitude": 2}, "/aliases": {"aliases": ["x"]}, "/aliases/retract": {"alias": "x"},
    "/merge": {"into": NOTHING}, "/feedback": {"used": [NOTHING]}, "/split": {"sources": [NOTHING]},
}  # fmt: skip
"""What routes with an id want, by the end of their path."""


async def test_no_route_tells_anothers_ids_from_nobodys(
    connect: Connect, owner: Owner, other: Owner, admin: psycopg.Connection, record_property: Any
) -> None:
    """By each id of Bob's that a route could want, Ada hears what she hears of an id that nobody has."""
    ada, bob = await connect("read", "write", "forget", user=owner), await connect("read", "write", user=other)
    his = await fill(bob)
    node = {"op": "node", "type": "Person", "label": "Zyzzyva"}
    change = await batch(
        bob, node, node, {"op": "edge", "from_node": 0, "type": "KNOWS", "to_node": 1, "fact": "Zyzzyva"}
    )
    assert (await bob.post("/v1/analysis/hubs", json={})).status_code == 202
    ids = admin.execute(
        "SELECT edge_id FROM memsvc.edges WHERE user_id = %(bob)s UNION ALL "
        "SELECT run_id FROM memsvc.analysis_runs WHERE user_id = %(bob)s UNION ALL "
        "(SELECT node_id FROM memsvc.nodes WHERE user_id = %(bob)s ORDER BY gid DESC LIMIT 1)",
        {"bob": other.user_id},
    ).fetchall()
    theirs = [
        his["passage_id"],
        his["conversation_id"],
        his["job_id"],
        change["change_id"],
        *(str(row[0]) for row in ids),
    ]
    tried = 0
    for method, path, scope in EVERY_ROUTE:
        if NOTHING not in path or scope == "admin":
            continue
        form = next((body for end, body in FORMS.items() if path.endswith(end)), {})
        heard = {}
        for place in (*theirs, str(uuid4())):
            body = json.loads(json.dumps(form).replace(NOTHING, place)) if method in {"POST", "PUT", "PATCH"} else None
            answer = await ada.request(method, path.replace(NOTHING, place), json=body)
            text = answer.text.replace(place, "ID").replace(answer.headers["X-Request-Id"], "")
            heard[answer.status_code, text] = place
        assert len(heard) == 1, f"{method} {path}: {heard}"
        assert "Zyzzyva" not in str(heard), path
        tried += 1
    assert tried > 30
    record_property("routes of REST that told nothing of any id of Bob's", tried)
