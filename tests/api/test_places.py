"""Places through the doors: where a node is, what is near, and what is refused."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.graphs import NEVER, batch, good, refused

pytestmark = pytest.mark.server


async def located(client: httpx.AsyncClient, label: str, lat: float, lon: float, **more: Any) -> str:
    """A place with coordinates; its id."""
    change = await batch(
        client,
        {"op": "node", "type": "Place", "label": label},
        {"op": "place", "node_id": 0, "latitude": lat, "longitude": lon, **more},
    )
    return str(change["results"][0]["node_id"])


async def near(client: httpx.AsyncClient, **parameters: Any) -> list[str]:
    """Labels of what is near."""
    return [item["label"] for item in good(await client.get("/v1/nearby", params=parameters))["items"]]


async def test_a_location_is_written_read_ended_and_taken_back(ada: httpx.AsyncClient) -> None:
    node = good(await ada.post("/v1/nodes", json={"type": "Person", "label": "Ines"}))["results"][0]["node_id"]
    where = f"/v1/nodes/{node}/location"
    home = {"latitude": 52.52, "longitude": 13.405, "radius_m": 25}
    key = {"Idempotency-Key": str(uuid4())}
    first = good(await ada.post(where, json=home, headers=key))
    assert good(await ada.post(where, json=home, headers=key)) == first
    good(await ada.post(where, json={"latitude": 45.76, "longitude": 4.84, "valid_from": "2026-03-01T00:00:00Z"}))
    found = good(await ada.get(where))["items"]
    assert [(one["latitude"], one["valid_from"], one["valid_to"]) for one in found] == [
        (45.76, "2026-03-01T00:00:00Z", None),
        (52.52, None, "2026-03-01T00:00:00Z"),
    ]
    assert [one["radius_m"] for one in good(await ada.get(where, params={"as_of": "2026-02-01"}))["items"]] == [25]
    ended = good(await ada.delete(where, params={"ended_at": "2026-04-01T00:00:00Z"}))
    assert ended["results"][0]["outcome"] == "closed"
    assert good(await ada.get(where))["items"][0]["valid_to"] == "2026-04-01T00:00:00Z"
    good(await ada.delete(where))
    assert good(await ada.get(where)) == {"items": []}
    kinds = {event["kind"] for event in good(await ada.get(f"/v1/nodes/{node}/history"))["items"]}
    assert kinds == {"node", "place"}
    diff = good(await ada.get("/v1/graph/diff", params={"from": "2026-01-01", "kind": "place", "axis": "valid"}))
    assert diff["items"] == []


async def test_what_is_near_by_radius_number_box_type_and_time(ada: httpx.AsyncClient) -> None:
    await located(ada, "Tower", 52.5208, 13.4094)
    await located(ada, "Gate", 52.5163, 13.3777)
    await located(ada, "Fair", 52.5040, 13.2730, valid_from="2026-03-01", valid_to="2026-03-08")
    here = {"lat": 52.52, "lon": 13.405}
    assert await near(ada, **here) == ["Tower", "Gate"]
    assert await near(ada, **here, as_of="2026-03-02") == ["Tower", "Gate", "Fair"]
    assert await near(ada, **here, valid_from="2026-03-07", valid_to="2026-04-01") == ["Tower", "Gate", "Fair"]
    assert await near(ada, **here, valid_from="2026-03-08") == ["Tower", "Gate"]
    assert await near(ada, **here, radius=1000) == ["Tower"]
    assert await near(ada, **here, k=1) == ["Tower"]
    assert await near(ada, **here, type="Person") == []
    assert await near(ada, box="13.3,52.5,13.4,52.6") == ["Gate"]
    found = good(await ada.get("/v1/nearby", params={**here, "k": 1}))
    assert found["truncated"] is True
    assert 200 < found["items"][0]["metres"] < 400
    drawn = await ada.get("/v1/nearby", params={**here, "format": "geojson"})
    assert drawn.headers["content-type"].startswith("application/geo+json")
    assert [one["geometry"] for one in drawn.json()["features"]] == [
        {"type": "Point", "coordinates": [13.4094, 52.5208]},
        {"type": "Point", "coordinates": [13.3777, 52.5163]},
    ]
    assert drawn.json()["features"][0]["properties"]["label"] == "Tower"


async def test_places_of_others_are_nowhere(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    node = await located(ada, "Tower", 1.0, 1.0)
    assert await near(bob, lat=1, lon=1) == []
    where = f"/v1/nodes/{node}/location"
    for answer in (
        await bob.get(where),
        await bob.post(where, json={"latitude": 1, "longitude": 1}),
        await bob.delete(where),
        await ada.get(f"/v1/nodes/{NEVER}/location"),
    ):
        refused(answer, 404, "node_unknown")
    assert await near(ada, lat=1, lon=1) == ["Tower"]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"lat": "91", "lon": "0"}, "invalid_place"),
        ({"lat": "0", "lon": "-180.01"}, "invalid_place"),
        ({"lat": "nan", "lon": "0"}, "invalid_place"),
        ({"lat": "0"}, "invalid_place"),
        ({"radius": "5"}, "invalid_place"),
        ({"lat": "0", "lon": "0", "radius": "-1"}, "invalid_place"),
        ({"lat": "0", "lon": "0", "radius": "inf"}, "invalid_place"),
        ({"box": "1,2,3"}, "invalid_place"),
        ({"box": "1,2,3,x"}, "invalid_place"),
        ({"box": "0,5,1,4"}, "invalid_place"),
        ({}, "invalid_request"),
        ({"lat": "0", "lon": "0", "k": "0"}, "invalid_request"),
        ({"lat": "north", "lon": "0"}, "invalid_request"),
        ({"lat": "0", "lon": "0", "latitude": "0"}, "invalid_request"),
        ({"lat": "0", "lon": "0", "as_of": "2026-01-01", "valid_to": "2026-01-01"}, "invalid_request"),
        ({"lat": "0", "lon": "0", "valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "invalid_interval"),
        ({"lat": "0", "lon": "0", "type": "Plaice"}, "type_unknown"),
    ],
)
async def test_what_cannot_be_is_refused(ada: httpx.AsyncClient, parameters: dict[str, str], code: str) -> None:
    refused(await ada.get("/v1/nearby", params=parameters), 400, code)


@pytest.mark.parametrize(
    "body",
    [
        {"latitude": 90.5, "longitude": 0}, {"latitude": 0, "longitude": 181}, {"latitude": "x", "longitude": 0},
        {"latitude": 1e99, "longitude": 0}, {"latitude": 0, "longitude": 0, "radius_m": -1}, {"latitude": 0},
        {"latitude": 0, "longitude": 0, "altitude": 5}, {"latitude": None, "longitude": 0},
    ],
)  # fmt: skip
async def test_a_node_cannot_be_nowhere(ada: httpx.AsyncClient, body: dict[str, Any]) -> None:
    node = await located(ada, "Tower", 1.0, 1.0)
    answer = await ada.post(f"/v1/nodes/{node}/location", json=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] in {"invalid_place", "invalid_request"}
    both = {"op": "close", "node_id": node, "alias": "x", "place": True, "ended_at": "2026-01-01"}
    refused(await ada.post("/v1/changes", json={"operations": [both]}), 400, "invalid_request")


async def test_recall_and_contexts_keep_to_a_place(ada: httpx.AsyncClient) -> None:
    told = [{"conversation": "c", "text": text} for text in ("The mill grinds rye.", "The kiln fires clay, not rye.")]
    stored = (await ada.post("/v1/messages", json={"messages": told})).json()["messages"]
    mill = await located(ada, "Mill", 52.5, 13.4, evidence=[{"passage_id": stored[0]["passage_id"]}])
    assert mill
    near_it = {"lat": 52.5, "lon": 13.41, "radius_m": 2_000}
    everything = good(await ada.post("/v1/recall", json={"query": "rye"}))
    assert len(everything["memories"]) == 2
    found = good(await ada.post("/v1/recall", json={"query": "rye", "near": near_it}))
    assert [memory["text"] for memory in found["memories"]] == ["The mill grinds rye."]
    context = {"query": "rye", "near": near_it, "recent_turns": 0, "neighbours": False}
    block = good(await ada.post("/v1/context", json=context))
    assert "The mill grinds rye." in block["text"]
    assert "kiln" not in block["text"], "what is on the mind, or drawn, need not speak of the place"
    assert (block["seed"], [section["name"] for section in block["sections"]]) == (None, ["memories"])
    everywhere = good(await ada.post("/v1/context", json={**context, "near": None, "query": "sheep"}))
    assert "kiln" in everywhere["text"]
    nowhere = {**near_it, "lat": 95}
    refused(await ada.post("/v1/recall", json={"query": "rye", "near": nowhere}), 400, "invalid_place")
    refused(await ada.post("/v1/recall", json={"query": "rye", "near": {"lat": 1, "lon": 1}}), 400, "invalid_request")
