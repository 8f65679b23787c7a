"""The ontology over REST: types are listed, proposed, decided and used."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from memsvc.access.users import Owner
from tests.api.conftest import Connect

PET = {"name": "Pet", "description": "An animal that lives with people.", "parent": "Person", "reason": "Bello."}
FEEDS = {"name": "FEEDS", "description": "A feeds B.", "to_types": ["Pet"], "functional": True, "approve": True}


async def own(client: httpx.AsyncClient, **wanted: str) -> dict[str, dict[str, Any]]:
    answer = await client.get("/v1/ontology", params=wanted)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return {t["name"]: t for t in (*found["node_types"], *found["edge_types"]) if t["status"] != "core"}


async def test_the_core_comes_with_counts(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/notes", json={"title": "x"})
    found = (await ada.get("/v1/ontology", params={"status": "core"})).json()
    counts = {t["name"]: t["nodes"] for t in found["node_types"]}
    assert (counts["Person"], counts["Note"], counts["Place"]) == (1, 1, 0)
    lives = next(t for t in found["edge_types"] if t["name"] == "LIVES_IN")
    assert (lives["from_types"], lives["to_types"], lives["functional"], lives["facts"]) == (
        ["Person"], ["Place"], True, 0,
    )  # fmt: skip


async def test_a_type_is_proposed_approved_used_and_deprecated(ada: httpx.AsyncClient) -> None:
    made = await ada.post("/v1/ontology/node-types", json=PET | {"proposed_by": "extractor"})
    assert made.status_code == 201
    assert (made.json()["status"], made.json()["proposed_by"], made.json()["nodes"]) == ("proposed", "extractor", 0)
    assert await own(ada, status="proposed") == {"Pet": made.json()}
    waits = await ada.post("/v1/ontology/edge-types", json=FEEDS)
    assert (waits.status_code, waits.json()["code"]) == (409, "type_state")
    for decision, status in (("approve", "approved"), ("deprecate", "deprecated"), ("approve", "approved")):
        answer = await ada.post(f"/v1/ontology/node-types/Pet/{decision}")
        assert (answer.status_code, answer.json()["status"], answer.json()["decided_by"]) == (200, status, "user")
    feeds = await ada.post("/v1/ontology/edge-types", json=FEEDS)
    assert (feeds.status_code, feeds.json()["status"], feeds.json()["functional"]) == (201, "approved", True)
    renamed = await ada.patch("/v1/ontology/edge-types/FEEDS", json={"description": "A gives food to B."})
    assert renamed.json() == feeds.json() | {"description": "A gives food to B."}


async def test_proposals_are_withdrawn_and_what_was_approved_is_not(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/ontology/node-types", json=PET)
    assert (await ada.post("/v1/ontology/node-types/Pet/reject")).json()["status"] == "rejected"
    assert (await ada.delete("/v1/ontology/node-types/Pet")).status_code == 204
    assert await own(ada) == {}
    await ada.post("/v1/ontology/node-types", json=PET | {"approve": True})
    answer = await ada.delete("/v1/ontology/node-types/Pet")
    assert (answer.status_code, answer.json()["code"]) == (409, "type_state")
    assert list(await own(ada)) == ["Pet"]


REFUSED: tuple[tuple[str, str, Any, int, str], ...] = (
    ("POST", "node-types", {"name": "Person", "description": "x"}, 409, "already_exists"),
    ("POST", "node-types", {"name": "pERSON", "description": "x"}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "<b>", "description": "x"}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "X'; --", "description": "x"}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "Pet"}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "Pet", "description": ""}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "Pet", "description": "x", "functional": True}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "Pet", "description": "x", "proposed_by": ""}, 400, "invalid_request"),
    ("POST", "node-types", {"name": "Pet", "description": "x", "parent": "Animal"}, 400, "type_unknown"),
    ("POST", "edge-types", {"name": "FEEDS", "description": "x", "to_types": ["Animal"]}, 400, "type_unknown"),
    ("POST", "node-types/Person/approve", None, 409, "type_state"),
    ("POST", "node-types/Nothing/approve", None, 404, "not_found"),
    ("POST", "node-types/%3Cb%3E/approve", None, 404, "not_found"),
    ("POST", "node-types/%00/approve", None, 404, "not_found"),
    ("POST", "node-types/Person/praise", None, 400, "invalid_request"),
    ("POST", "colours/Person/approve", None, 400, "invalid_request"),
    ("DELETE", "edge-types/LIVES_IN", None, 409, "type_state"),
    ("DELETE", "edge-types/NOTHING", None, 404, "not_found"),
    ("PATCH", "edge-types/LIVES_IN", {"description": "x"}, 404, "not_found"),
    ("PATCH", "edge-types/LIVES_IN", {"functional": False}, 400, "invalid_request"),
)


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_is_refused(ada: httpx.AsyncClient, case: tuple[str, str, Any, int, str]) -> None:
    method, path, body, status, code = case
    answer = await ada.request(method, f"/v1/ontology/{path}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["hint"]
    assert await own(ada) == {}


async def test_types_of_others_are_not_there(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await ada.post("/v1/ontology/node-types", json=PET)
    assert await own(bob) == {}
    for method, path in (
        ("POST", "node-types/Pet/approve"), ("DELETE", "node-types/Pet"), ("PATCH", "node-types/Pet"),
    ):  # fmt: skip
        body = {"description": "x"} if method == "PATCH" else None
        assert (await bob.request(method, f"/v1/ontology/{path}", json=body)).status_code == 404
    assert (await own(ada))["Pet"]["status"] == "proposed"


async def test_proposing_and_deciding_need_the_scope_write(connect: Connect, owner: Owner) -> None:
    reader = await connect("read", user=owner)
    assert await own(reader) == {}
    for method, path, body in (
        ("POST", "node-types", PET), ("POST", "edge-types", FEEDS), ("POST", "node-types/Pet/approve", None),
        ("PATCH", "node-types/Pet", {"description": "x"}), ("DELETE", "node-types/Pet", None),
    ):  # fmt: skip
        answer = await reader.request(method, f"/v1/ontology/{path}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), path
