"""Analyses over REST."""

from __future__ import annotations

from uuid import uuid4

import httpx

from memsvc.access.users import Owner
from memsvc.analysis.runs import analyse
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Node


async def test_analyses_are_asked_for_listed_and_read(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, db: Database, owner: Owner
) -> None:
    made = [Node(type="Person", label=f"Person {number}") for number in range(4)]
    known = [Edge(from_node=number, type="KNOWS", to_node=3, fact="They know each other.") for number in range(3)]
    await write(db, owner, [*made, *known], asserted_by="tests")

    asked = await ada.post("/v1/analysis/hubs", json={})
    assert asked.status_code == 202, asked.text
    run = asked.json()["run"]
    assert (run["kind"], run["state"]) == ("hubs", "open")
    again = (await ada.post("/v1/analysis/hubs", json={})).json()
    assert (again["job_id"], again["run"]["run_id"]) == (asked.json()["job_id"], run["run_id"])
    place = f"/v1/analysis/runs/{run['run_id']}"
    assert (await ada.get(f"{place}/results")).json() == {"items": [], "next_cursor": None}

    await analyse(db, owner, "hubs")  # as its job does
    assert (await ada.get(place)).json()["found"] == 4
    assert [one["run_id"] for one in (await ada.get("/v1/analysis/runs?kind=hubs")).json()["items"]] == [run["run_id"]]
    assert (await ada.get("/v1/analysis/runs?kind=habits")).json()["items"] == []
    first = (await ada.get(f"{place}/results?limit=1")).json()
    assert first["items"][0]["nodes"][0]["label"] == "Person 3"
    assert first["items"][0]["figures"] == {"facts": 3, "neighbours": 3}
    rest = (await ada.get(f"{place}/results", params={"cursor": first["next_cursor"]})).json()
    assert [item["place"] for item in rest["items"]] == [1, 2, 3]

    for path in (place, f"{place}/results"):
        assert (await bob.get(path)).status_code == 404
    assert (await bob.get("/v1/analysis/runs")).json()["items"] == []


async def test_bad_requests_for_analyses_name_their_field(ada: httpx.AsyncClient, owner: Owner) -> None:
    for kind, body, status, code in (
        ("dreams", {}, 400, "invalid_request"), ("hubs", {"seeds": [str(uuid4())]}, 400, "invalid_request"),
        ("pagerank", {"seeds": [str(uuid4())]}, 404, "node_unknown"), ("hubs", {"x": 1}, 400, "invalid_request"),
        ("pagerank", {"seeds": ["x"]}, 400, "invalid_request"),
        ("pagerank", {"seeds": [str(uuid4())] * 21}, 400, "invalid_request"),
    ):  # fmt: skip
        answer = await ada.post(f"/v1/analysis/{kind}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (kind, answer.text)
    for params, field in (({"limit": 0}, "limit"), ({"cursor": "x"}, "cursor"), ({"kind": "x"}, "kind")):
        answer = await ada.get("/v1/analysis/runs", params=params)
        assert (answer.status_code, answer.json().get("field")) == (400, field), answer.text
    missing = f"/v1/analysis/runs/{uuid4()}"
    assert (await ada.get(missing)).status_code == (await ada.get(f"{missing}/results")).status_code == 404
