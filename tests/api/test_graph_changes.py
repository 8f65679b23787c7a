"""Changes through the doors: batches, what they did, undo, and what differs between two moments."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.graphs import NEVER, batch, good, homes, refused


async def test_a_batch_makes_nodes_and_what_joins_them(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    listed = good(await ada.get("/v1/changes"))["items"]
    assert [change["change_id"] for change in listed] == world.changes[::-1]
    assert listed[1]["operations"] == ["alias", "edge", "node"]
    assert [change["asserted_by"] for change in listed] == ["user", "user"]
    page = good(await ada.get("/v1/changes", params={"limit": 1}))
    rest = good(await ada.get("/v1/changes", params={"limit": 1, "before": page["next_cursor"]}))
    assert [change["change_id"] for change in page["items"] + rest["items"]] == world.changes[::-1]


async def test_a_change_shows_what_it_wrote_and_closed(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    change = good(await ada.get(f"/v1/changes/{world.changes[1]}"))
    told = {(item["content"]["fact"], item["written"], item["closed"], item["valid_to"]) for item in change["items"]}
    assert told == {
        ("Ines lives in Porto.", False, True, None),
        ("Ines lives in Porto.", True, False, "2026-03-01T00:00:00Z"),
        ("Ines lives in Lyon.", True, False, None),
    }
    assert {item["content"]["to_node"] for item in change["items"]} == {world.porto, world.lyon}
    seen: list[dict[str, Any]] = []
    parameters: dict[str, Any] = {"limit": 2}
    while True:
        page = good(await ada.get(f"/v1/changes/{world.changes[1]}", params=parameters))
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        parameters["cursor"] = page["next_cursor"]
    assert seen == change["items"]
    refused(await ada.get(f"/v1/changes/{NEVER}"), 404, "change_unknown")


async def test_a_change_can_be_undone_and_the_undoing_too(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)

    async def home() -> list[str]:
        page = good(await ada.get("/v1/facts", params={"about": world.ines, "type": "LIVES_IN"}))
        return [fact["fact"] for fact in page["items"]]

    undone = good(await ada.post(f"/v1/changes/{world.changes[1]}/undo"))
    assert await home() == ["Ines lives in Porto."]
    shown = good(await ada.get(f"/v1/changes/{world.changes[1]}"))
    assert shown["undone_by"] == undone["change_id"]
    assert good(await ada.get(f"/v1/changes/{undone['change_id']}"))["undoes"] == world.changes[1]
    good(await ada.post(f"/v1/changes/{undone['change_id']}/undo"))
    assert await home() == ["Ines lives in Lyon."]
    good(await ada.patch(f"/v1/facts/{world.lyon_edge}", json={"fact": "In Lyon lives Ines."}))
    refused(await ada.post(f"/v1/changes/{world.changes[1]}/undo"), 409, "change_built_upon")
    refused(await ada.post(f"/v1/changes/{NEVER}/undo"), 404, "change_unknown")


async def test_every_operation_can_stand_in_a_batch(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    version = good(await ada.get(f"/v1/facts/{world.lyon_edge}"))["versions"][0]["version_id"]
    change = await batch(
        ada,
        {"op": "node", "node_id": world.ines, "type": "Person", "label": "Ines K.", "valid_from": "2026-05-01"},
        {"op": "correct", "version_id": version, "content": {"confidence": 0.5}},
        {"op": "close", "edge_id": world.lyon_edge, "ended_at": "2026-08-01"},
        {"op": "alias", "node_id": world.ines, "alias": "IK"},
        {"op": "retract", "node_id": world.ines, "alias": "Nessa"},
        {"op": "merge", "node_id": world.rui, "canonical_id": world.ines},
        {"op": "unmerge", "node_id": world.rui},
    )
    assert [result["outcome"] for result in change["results"]] == [
        "written", "written", "closed", "written", "closed", "written", "closed",
    ]  # fmt: skip
    node = good(await ada.get(f"/v1/nodes/{world.ines}"))
    assert (node["label"], {name["alias"] for name in node["aliases"]}) == ("Ines K.", {"IK"})


async def differences(client: httpx.AsyncClient, **parameters: Any) -> set[tuple[str, str, str]]:
    """What differs, as (kind, change, what it is about)."""
    page = good(await client.get("/v1/graph/diff", params=parameters))
    return {
        (one["kind"], one["change"], one["label"] or f"{one['edge']['from_label']} {one['edge']['to_label']}")
        for one in page["items"]
    }


async def test_the_diff_says_what_memsvc_learnt(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    first, second = world.times
    assert await differences(ada, **{"from": first, "to": second}) == {
        ("edge", "ended", "Ines Albrecht Porto"),
        ("edge", "added", "Ines Albrecht Lyon"),
    }
    good(await ada.patch(f"/v1/nodes/{world.ines}", json={"label": "Ines K."}))
    good(await ada.post(f"/v1/nodes/{world.ines}/aliases/retract", json={"aliases": ["Nessa"]}))
    good(await ada.post(f"/v1/nodes/{world.rui}/merge", json={"into": world.ines}))
    learnt = {
        ("node", "corrected", "Ines K."),
        ("alias", "retracted", "Ines K."),
        ("merge", "added", "Ines K."),
    }
    assert await differences(ada, **{"from": second}) == learnt
    assert await differences(ada, **{"from": second, "kind": ["node", "merge"]}) == {
        one for one in learnt if one[0] != "alias"
    }
    passing = good(await ada.post(f"/v1/nodes/{world.lyon}/aliases", json={"aliases": ["Lugdunum"]}))
    good(await ada.post(f"/v1/changes/{passing['change_id']}/undo"))
    renamed = good(await ada.patch(f"/v1/nodes/{world.lyon}", json={"label": "Lyons"}))
    good(await ada.post(f"/v1/changes/{renamed['change_id']}/undo"))
    assert await differences(ada, **{"from": second}) == learnt
    whole = good(await ada.get("/v1/graph/diff", params={"from": "2020-01-01"}))
    assert whole["next_cursor"] is None
    seen: list[dict[str, Any]] = []
    parameters: dict[str, Any] = {"from": "2020-01-01", "limit": 2}
    while True:
        page = good(await ada.get("/v1/graph/diff", params=parameters))
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        parameters["cursor"] = page["next_cursor"]
    assert seen == whole["items"]
    assert {one["kind"] for one in seen} == {"node", "alias", "edge", "merge"}


async def test_the_diff_says_what_changed_in_the_world(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    march = {"axis": "valid", "from": "2026-02-01", "to": "2026-04-01"}
    assert await differences(ada, **march) == {
        ("edge", "ended", "Ines Albrecht Porto"),
        ("edge", "began", "Ines Albrecht Lyon"),
    }
    assert await differences(ada, **march, known_at=world.times[0]) == set()
    assert await differences(ada, **march | {"from": "2026-03-01T00:00:00Z"}) == set()
    assert await differences(ada, **march | {"from": "2009-01-01", "to": "2011-01-01"}) == {
        ("edge", "began", "Rui Tavares Ines Albrecht")
    }
    await batch(
        ada,
        {
            "op": "node", "node_id": world.lyon, "type": "Place", "label": "Lyon Nouveau",
            "valid_from": "2026-03-15T00:00:00Z",
        },
        {
            "op": "alias", "node_id": world.lyon, "alias": "Springtown", "valid_from": "2026-03-10T00:00:00Z",
            "valid_to": "2026-03-20T00:00:00Z",
        },
    )  # fmt: skip
    assert await differences(ada, **march, kind=["node", "alias"]) == {
        ("node", "changed", "Lyon Nouveau"),
        ("alias", "passed", "Lyon Nouveau"),
    }
    [node] = good(await ada.get("/v1/graph/diff", params=march | {"kind": "node"}))["items"]
    assert [node[side][0]["content"]["label"] for side in ("before", "after")] == ["Lyon", "Lyon Nouveau"]
