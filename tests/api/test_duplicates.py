"""Pairs that may be the same, over REST."""

from __future__ import annotations

from uuid import UUID

import httpx

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.operations import Node
from memsvc.identity.candidates import Suspicion, note
from tests.api.conftest import Connect
from tests.sql.test_resolving import made


async def suspected(db: Database, owner: Owner, *labels: str) -> tuple[UUID, UUID]:
    """Two nodes that may be the same, the smaller id first."""
    one, two = sorted(await made(db, owner, *(Node(type="Person", label=label) for label in labels)))
    async with db.transaction(owner.user_id) as connection:
        await note(connection, owner, [Suspicion(node=one, other=two, score=0.5)], found_by="tests")
    return one, two


async def test_a_pair_is_listed_accepted_and_gone(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    one, two = await suspected(db, owner, "Ana", "Anna")
    listed = (await ada.get("/v1/duplicates")).json()
    assert [(item["a"]["node_id"], item["b"]["node_id"]) for item in listed["items"]] == [(str(one), str(two))]
    answer = await ada.post(f"/v1/duplicates/{two}/{one}/accept")
    assert (answer.status_code, answer.json()["canonical_id"]) == (200, str(one))
    assert (await ada.get("/v1/duplicates")).json() == {"items": [], "next_cursor": None}
    undone = await ada.post(f"/v1/changes/{answer.json()['change_id']}/undo")
    assert undone.status_code in {200, 201}, undone.text


async def test_a_rejected_pair_cannot_be_accepted(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    one, two = await suspected(db, owner, "Ana", "Anna")
    assert (await ada.post(f"/v1/duplicates/{one}/{two}/reject")).json()["state"] == "rejected"
    answer = await ada.post(f"/v1/duplicates/{one}/{two}/accept")
    assert (answer.status_code, answer.json()["code"]) == (409, "pair_decided")
    kept = (await ada.get("/v1/duplicates", params={"status": "rejected"})).json()
    assert [item["decided_by"] for item in kept["items"]] == ["user"]


async def test_bad_requests_are_refused(ada: httpx.AsyncClient, db: Database, owner: Owner, connect: Connect) -> None:
    one, two = await suspected(db, owner, "Ana", "Anna")
    reader = await connect("read", user=owner)
    for client, call, body, status in (
        (ada, f"{one}/{one}/accept", None, 404), (ada, f"{one}/x/accept", None, 404),
        (ada, f"{one}/split", {"sources": []}, 400), (ada, f"{one}/split", {"sources": [str(two)]}, 409),
        (ada, f"{UUID(int=1)}/split", {"sources": [str(two)]}, 404), (reader, f"{one}/{two}/accept", None, 403),
    ):  # fmt: skip
        answer = await client.post(f"/v1/duplicates/{call}", json=body)
        assert answer.status_code == status, (call, answer.text)
    assert (await ada.get("/v1/duplicates", params={"status": "other"})).status_code == 400
    assert (await ada.get("/v1/duplicates", params={"cursor": "x"})).status_code == 400
    assert (await ada.get("/v1/duplicates", params={"state": "merged"})).json()["field"] == "state"


async def test_what_a_key_for_all_users_decides_is_the_apps(
    ada: httpx.AsyncClient, db: Database, owner: Owner, connect: Connect
) -> None:
    app = await connect(**{"X-Memsvc-User": str(owner.user_id)})
    await ada.post("/v1/ontology/node-types", json={"name": "Pet", "description": "An animal."})
    for client, who in ((ada, "user"), (app, "app")):
        decided = (await client.post("/v1/ontology/node-types/Pet/approve")).json()
        assert decided["decided_by"] == who
        await ada.post("/v1/ontology/node-types/Pet/deprecate")
        one, two = await suspected(db, owner, "Ana", "Anna")
        assert (await client.post(f"/v1/duplicates/{one}/{two}/accept")).status_code == 200
        assert (await ada.get("/v1/changes", params={"limit": 1})).json()["items"][0]["asserted_by"] == who
        one, two = await suspected(db, owner, "Mila", "Milla")
        assert (await client.post(f"/v1/duplicates/{one}/{two}/reject")).status_code == 200
        for status in ("merged", "rejected"):
            kept = (await ada.get("/v1/duplicates", params={"status": status})).json()["items"]
            assert {one["decided_by"] for one in kept} == {"user", who}, status
