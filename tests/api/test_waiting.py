"""What waits for a person's decision: counted, taken back, and facts that exclude each other."""

from __future__ import annotations

from typing import Any

import httpx

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from tests.api.test_duplicates import suspected


async def posted(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    answer = await client.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


async def node(client: httpx.AsyncClient, label: str, kind: str = "Person") -> str:
    made: str = (await posted(client, "/v1/nodes", label=label, type=kind, description=label))["results"][0]["node_id"]
    return made


async def waiting(client: httpx.AsyncClient) -> dict[str, int]:
    """What is not 0."""
    counted: dict[str, int] = (await client.get("/v1/waiting")).json()
    return {name: n for name, n in counted.items() if n}


async def test_what_waits_is_counted_for_its_user_alone(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, db: Database, owner: Owner
) -> None:
    await suspected(db, owner, "Ana", "Anna")
    await posted(ada, "/v1/critique", question="When?", correction="Now.", lesson="Look at the clock.")
    await posted(ada, "/v1/ontology/node-types", name="Pet", description="An animal.", parent="Person")
    assert await waiting(ada) == {"duplicates": 1, "lessons": 1, "types": 1, "total": 3}
    assert await waiting(bob) == {}


async def test_a_decision_on_a_pair_is_taken_back(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    one, two = await suspected(db, owner, "Ana", "Anna")
    path = f"/v1/duplicates/{one}/{two}"
    merged = await posted(ada, f"{path}/accept")
    refused = await ada.post(f"{path}/reopen")
    assert (refused.status_code, refused.json()["code"]) == (409, "pair_decided")
    await posted(ada, f"/v1/changes/{merged['change_id']}/undo")
    assert (await posted(ada, f"{path}/reopen"))["state"] == "open"
    assert await waiting(ada) == {"duplicates": 1, "total": 1}
    await posted(ada, f"{path}/reject")
    assert await waiting(ada) == {}
    for _ in range(2):
        assert (await posted(ada, f"{path}/reopen"))["state"] == "open"
    assert (await posted(ada, f"{path}/accept"))["state"] == "merged"


async def test_values_that_exclude_each_other_are_one_contradiction(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    one, two = [await node(ada, label) for label in ("Nils", "Nils P.")]
    towns = [await node(ada, label, "Place") for label in ("Bonn", "Kiel")]
    edges = [
        (await posted(ada, "/v1/facts", type="LIVES_IN", from_node=who, to_node=town, fact=f"Fact {who}"))["results"][0]
        for who, town in zip((one, two), towns, strict=True)
    ]
    assert (await ada.get("/v1/facts/contested")).json() == {"items": [], "truncated": False}
    await posted(ada, f"/v1/nodes/{two}/merge", into=one)
    [group] = (await ada.get("/v1/facts/contested")).json()["items"]
    assert {fact["fact"] for fact in group["facts"]} == {f"Fact {one}", f"Fact {two}"}
    knows = await posted(ada, "/v1/facts", type="KNOWS", from_node=await node(ada, "Uwe"), to_node=one, fact="Uwe.")
    edge = knows["results"][0]["edge_id"]
    await posted(ada, f"/v1/facts/{edge}/annotations", stance="disputed", reason="They never met.")
    found = (await ada.get("/v1/facts/contested")).json()["items"]
    assert sorted(len(one["facts"]) for one in found) == [1, 2]
    assert (await ada.get("/v1/facts/contested", params={"limit": 1})).json()["truncated"] is True
    assert await waiting(ada) == {"contradictions": 2, "total": 2}
    assert await waiting(bob) == {}
    await posted(ada, f"/v1/facts/{edge}/annotations", stance="validated", reason="They did.")
    await posted(ada, f"/v1/facts/{edges[0]['edge_id']}/retract")
    assert await waiting(ada) == {}


async def test_what_is_pinned_is_shown_as_pinned(ada: httpx.AsyncClient) -> None:
    one, two = await node(ada, "Ines"), await node(ada, "Rui")
    version = (await posted(ada, "/v1/facts", type="KNOWS", from_node=one, to_node=two, fact="They know each other."))[
        "results"
    ][0]["versions"][0]

    async def pinned() -> tuple[bool, bool]:
        shown = (await ada.get(f"/v1/nodes/{one}")).json()
        return shown["pinned"], shown["facts"][0]["pinned"]

    assert await pinned() == (False, False)
    for memory in (one, version):
        assert (await ada.patch(f"/v1/memories/{memory}", json={"pinned": True})).is_success
    assert await pinned() == (True, True)
    await ada.patch(f"/v1/memories/{one}", json={"pinned": False})
    assert await pinned() == (False, True)
