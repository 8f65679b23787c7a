"""The doors of the graph, whatever is sent to them: a clear error with a code, nothing half done, no other's rows."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.graphs import NEVER, batch, good, homes, refused

READS: dict[str, tuple[str, dict[str, Any], int, str, str | None]] = {
    "an unknown parameter": ("/v1/facts", {"about": "I", "as_off": "2020"}, 400, "invalid_request", "as_off"),
    "a parameter of ours": ("/v1/nodes", {"reader": "x"}, 400, "invalid_request", "reader"),
    "one where there are none": ("/v1/changes/{}", {"x": "1"}, 400, "invalid_request", "x"),
    "facts about nothing": ("/v1/facts", {}, 400, "invalid_request", None),
    "facts about an empty name": ("/v1/facts", {"about": " "}, 400, "invalid_alias", None),
    "facts about a long name": ("/v1/facts", {"about": "x" * 201}, 400, "invalid_alias", None),
    "facts about too many": ("/v1/facts", {"about": [f"n{n}" for n in range(101)]}, 400, "invalid_request", None),
    "facts about nobody": ("/v1/facts", {"about": "Nobody"}, 404, "node_unknown", None),
    "facts about an unknown id": ("/v1/facts", {"about": NEVER}, 404, "node_unknown", None),
    "a name with NUL": ("/v1/facts", {"about": "a\0b"}, 400, "invalid_text", "name"),
    "an unknown fact type": ("/v1/facts", {"about": "I", "type": "HATES"}, 400, "type_unknown", "type"),
    "an unknown node type": ("/v1/nodes", {"type": "Ghost"}, 400, "type_unknown", "type"),
    "an unknown side": ("/v1/facts", {"about": "I", "side": "up"}, 400, "invalid_request", "side"),
    "a limit of nothing": ("/v1/nodes", {"limit": 0}, 400, "invalid_request", "limit"),
    "a limit of too much": ("/v1/facts", {"about": "I", "limit": 1001}, 400, "invalid_request", "limit"),
    "a cursor of one's own": ("/v1/nodes", {"cursor": "abc"}, 400, "bad_cursor", "cursor"),
    "a cursor of another list": ("/v1/facts", {"about": "I", "cursor": "WzEsMl0"}, 400, "bad_cursor", "cursor"),
    "a long search": ("/v1/nodes", {"q": "x" * 201}, 400, "invalid_request", "q"),
    "a search with NUL": ("/v1/nodes", {"q": "\0"}, 400, "invalid_text", "q"),
    "no such day": ("/v1/facts", {"about": "I", "as_of": "2026-02-30"}, 400, "invalid_time", "as_of"),
    "the year 10000": ("/v1/facts", {"about": "I", "as_of": "10000-01-01"}, 400, "invalid_time", "as_of"),
    "the year 1": ("/v1/nodes", {"as_of": "0001-01-01"}, 400, "invalid_time", "as_of"),
    "always known": ("/v1/facts", {"about": "I", "known_at": "always"}, 400, "invalid_time", "known_at"),
    "known in the future": ("/v1/facts", {"about": "I", "known_at": "2199-01-01"}, 400, "invalid_time", "known_at"),
    "aliases of nothing": ("/v1/aliases", {}, 400, "invalid_request", "name"),
    "an alias that is a space": ("/v1/aliases", {"name": " "}, 400, "invalid_alias", None),
    "a diff from nowhere": ("/v1/graph/diff", {}, 400, "invalid_request", None),
    "a diff backwards": ("/v1/graph/diff", {"from": "2026-01-01", "to": "2025-01-01"}, 400, "invalid_interval", "to"),
    "a diff with the future": ("/v1/graph/diff", {"from": "2199-01-01"}, 400, "invalid_time", "from"),
    "a diff on no axis": ("/v1/graph/diff", {"from": "2026-01-01", "axis": "x"}, 400, "invalid_request", "axis"),
    "a diff of no kind": ("/v1/graph/diff", {"from": "2026-01-01", "kind": "x"}, 400, "invalid_request", "kind"),
    "a diff known twice": (
        "/v1/graph/diff", {"from": "2026-01-01", "known_at": "2026-02-01"}, 400, "invalid_request", "known_at",
    ),
    "an unknown node": ("/v1/nodes/{}", {}, 404, "node_unknown", None),
    "a node that is no id": ("/v1/nodes/ines", {}, 404, "not_found", None),
}  # fmt: skip


@pytest.mark.parametrize("case", READS)
async def test_a_question_that_cannot_be_asked_is_refused(ada: httpx.AsyncClient, case: str) -> None:
    path, parameters, status, code, field = READS[case]
    problem = refused(await ada.get(path.format(NEVER), params=parameters), status, code)
    if field is not None:
        assert problem["field"] == field


async def test_an_offset_survives_a_url_that_made_its_plus_a_space(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    for time, count in (("2026-03-01T00:30:00 02:00", "Porto"), ("2026-03-01T00:30:00 00:00", "Lyon")):
        page = await ada.get(f"/v1/facts?about={world.ines}&type=LIVES_IN&as_of={time}")
        assert [fact["to_label"] for fact in good(page)["items"]] == [count]


NODE = {"op": "node", "type": "Person", "label": "A"}
EDGE = {"op": "edge", "from_node": 0, "type": "KNOWS", "to_node": 0, "fact": "x"}
BATCHES: dict[str, tuple[list[dict[str, Any]], int, str, int | None]] = {
    "nothing": ([], 400, "invalid_request", None),
    "too much": ([NODE] * 1_001, 413, "batch_too_large", None),
    "an unknown operation": ([NODE, {"op": "drop"}], 400, "invalid_request", 1),
    "no operation": ([NODE, {"type": "Person"}], 400, "invalid_request", 1),
    "an unknown field": ([NODE, NODE | {"labl": "B"}], 400, "invalid_request", 1),
    "an end before the begin": (
        [NODE, EDGE | {"valid_from": "2026-02-01", "valid_to": "2026-01-01"}], 400, "invalid_interval", 1,
    ),
    "an empty span": (
        [NODE, EDGE | {"valid_from": "2026-02-01", "valid_to": "2026-02-01"}], 400, "invalid_interval", 1,
    ),
    "the year 10000": ([NODE, EDGE | {"valid_to": "10000-01-01"}], 400, "invalid_time", 1),
    "a close before its begin": (
        [NODE, NODE | {"valid_from": "2026-02-01"}, {"op": "close", "node_id": NEVER, "ended_at": "2026-01-01"}],
        404, "node_unknown", 2,
    ),
    "a close of nothing": ([NODE, {"op": "close", "ended_at": "2026-01-01"}], 400, "invalid_request", 1),
    "a node that nobody makes": ([NODE, EDGE | {"to_node": 7}], 404, "node_unknown", 1),
    "an unknown node": ([NODE, EDGE | {"to_node": NEVER}], 404, "node_unknown", 1),
    "an unknown edge type": ([NODE, EDGE | {"type": "HATES"}], 400, "type_unknown", 1),
    "an unknown node type": ([NODE | {"type": "Ghost"}], 400, "type_unknown", 0),
    "ends that the type forbids": ([NODE, EDGE | {"type": "LIVES_IN"}], 400, "endpoint_forbidden", 1),
    "an alias that is a space": ([NODE, {"op": "alias", "node_id": 0, "alias": " "}], 400, "invalid_alias", 1),
    "an alias of no letters": ([NODE, {"op": "alias", "node_id": 0, "alias": "\u3000"}], 400, "invalid_alias", 1),
    "a long alias": ([NODE, {"op": "alias", "node_id": 0, "alias": "x" * 201}], 400, "invalid_alias", 1),
    "a label with NUL": ([NODE, NODE | {"label": "a\0"}], 400, "invalid_text", 1),
    "a long fact": ([NODE, EDGE | {"fact": "x" * 8_001}], 413, "text_too_long", 1),
    "an empty fact": ([NODE, EDGE | {"fact": " "}], 400, "invalid_request", 1),
    "no confidence": ([NODE, EDGE | {"confidence": 0}], 400, "invalid_request", 1),
    "a weight below nothing": ([NODE, EDGE | {"weight": -1}], 400, "invalid_request", 1),
    "importance beyond all": ([NODE | {"importance": 11}], 400, "invalid_request", 0),
    "an unknown passage": ([NODE | {"evidence": [{"passage_id": NEVER}]}], 404, "passage_unknown", 0),
    "a merge with itself": ([{"op": "merge", "node_id": NEVER, "canonical_id": NEVER}], 409, "merge_cycle", 0),
    "a merge of the unknown": (
        [{"op": "merge", "node_id": NEVER, "canonical_id": NEVER.replace("d", "e")}], 404, "node_unknown", 0,
    ),
    "a correction of nothing": (
        [{"op": "correct", "version_id": NEVER, "content": {"fact": "x"}}], 404, "fact_unknown", 0,
    ),
    "a correction that says nothing": (
        [{"op": "correct", "version_id": NEVER, "content": {}}], 400, "invalid_request", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCHES)
async def test_a_bad_batch_is_refused_whole_and_its_row_is_named(ada: httpx.AsyncClient, case: str) -> None:
    operations, status, code, row = BATCHES[case]
    problem = refused(await ada.post("/v1/changes", json={"operations": operations}), status, code)
    assert problem.get("row") == row
    assert good(await ada.get("/v1/changes"))["items"] == []
    assert good(await ada.get("/v1/nodes", params={"q": "A", "type": "Person"}))["items"][0]["label"] == "Ada"


async def test_impossible_changes_of_what_is_there_are_refused(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    place = f"/v1/facts/{world.lyon_edge}"
    refused(await ada.patch(place, json={"ended_at": "2026-03-01T00:00:00Z"}), 400, "invalid_interval")
    refused(await ada.patch(place, json={"ended_at": "tomorrow"}), 400, "invalid_time")
    refused(await ada.patch(place, json={}), 400, "invalid_request")
    refused(await ada.patch(place, json={"type": "KNOWS"}), 400, "invalid_request")
    refused(await ada.patch(f"/v1/facts/{NEVER}", json={"fact": "x"}), 404, "fact_unknown")
    refused(await ada.patch(f"/v1/nodes/{world.ines}", json={}), 400, "invalid_request")
    refused(await ada.patch(f"/v1/nodes/{world.ines}", json={"type": "Ghost"}), 400, "type_unknown")
    refused(await ada.patch(f"/v1/nodes/{NEVER}", json={"label": "x"}), 404, "node_unknown")
    many = {"aliases": [f"name {n}" for n in range(10_000)]}
    refused(await ada.post(f"/v1/nodes/{world.ines}/aliases", json=many), 413, "batch_too_large")
    refused(await ada.post(f"/v1/nodes/{world.ines}/aliases", json={"aliases": []}), 400, "invalid_request")
    good(await ada.post(f"/v1/nodes/{world.rui}/merge", json={"into": world.ines}))
    refused(await ada.post(f"/v1/nodes/{world.ines}/merge", json={"into": world.rui}), 409, "merge_cycle")
    refused(await ada.post(f"/v1/nodes/{world.rui}/merge", json={"into": world.lyon}), 409, "already_merged")
    refused(await ada.post(f"/v1/nodes/{world.rui}/merge", json={"into": NEVER}), 404, "node_unknown")
    version = good(await ada.get(f"/v1/nodes/{world.lyon}"))["versions"][0]["version_id"]
    wrong = [{"op": "correct", "version_id": version, "content": {"fact": "x"}}]
    refused(await ada.post("/v1/changes", json={"operations": wrong}), 400, "invalid_request")
    span = [{"passage_id": world.passage, "span": [0, 10_000]}]
    refused(await ada.patch(place, json={"fact": "x", "evidence": span}), 400, "invalid_span")


async def test_reading_may_not_write(connect: Any, ada: httpx.AsyncClient, owner: Any) -> None:
    world = await homes(ada)
    reader = await connect("read", user=owner)
    good(await reader.get("/v1/facts", params={"about": world.ines}))
    for method, path, body in (
        ("POST", "/v1/changes", {"operations": [NODE]}),
        ("POST", "/v1/nodes", {"type": "Person", "label": "A"}),
        ("PATCH", f"/v1/nodes/{world.ines}", {"label": "A"}),
        ("PATCH", f"/v1/facts/{world.lyon_edge}", {"fact": "A"}),
        ("POST", f"/v1/nodes/{world.ines}/merge", {"into": world.rui}),
        ("POST", f"/v1/changes/{world.changes[0]}/undo", None),
    ):
        refused(await reader.request(method, path, json=body), 403, "forbidden")


async def test_anothers_graph_looks_as_if_it_were_not_there(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    his = await homes(bob)
    version = good(await bob.get(f"/v1/facts/{his.lyon_edge}"))["versions"][0]["version_id"]
    mine = good(await ada.post("/v1/nodes", json={"type": "Person", "label": "A"}))["results"][0]["node_id"]
    attempts: list[tuple[str, str, str, Any]] = [
        ("GET", "/v1/nodes/{}", his.ines, None),
        ("GET", "/v1/nodes/{}/history", his.ines, None),
        ("GET", "/v1/facts?about={}", his.ines, None),
        ("GET", "/v1/aliases?node={}", his.ines, None),
        ("GET", "/v1/facts/{}", his.lyon_edge, None),
        ("GET", "/v1/changes/{}", his.changes[0], None),
        ("POST", "/v1/changes/{}/undo", his.changes[0], None),
        ("PATCH", "/v1/nodes/{}", his.ines, {"label": "x"}),
        ("PATCH", "/v1/facts/{}", his.lyon_edge, {"fact": "x"}),
        ("POST", "/v1/facts/{}/retract", his.lyon_edge, {}),
        ("POST", "/v1/facts/{}/annotations", his.lyon_edge, {"stance": "disputed", "reason": "x"}),
        ("POST", "/v1/nodes/{}/aliases", his.ines, {"aliases": ["x"]}),
        ("POST", "/v1/nodes/{}/aliases/retract", his.ines, {"aliases": ["Nessa"]}),
        ("POST", "/v1/nodes/{}/merge", his.ines, {"into": mine}),
        ("POST", f"/v1/nodes/{mine}/merge", his.ines, {"into": "{}"}),
        ("POST", "/v1/nodes/{}/unmerge", his.ines, None),
        ("POST", "/v1/facts", his.ines, {"from_node": mine, "type": "KNOWS", "to_node": "{}", "fact": "x"}),
    ]
    for method, path, theirs, body in attempts:
        seen = []
        for place in (theirs, NEVER):
            filled = {name: place if value == "{}" else value for name, value in body.items()} if body else body
            answer = await ada.request(method, path.format(place), json=filled)
            seen.append(
                (answer.status_code, answer.text.replace(place, "ID").replace(answer.headers["X-Request-Id"], ""))
            )
        assert seen[0] == seen[1], path
        assert seen[0][0] == 404, path
    correct = [{"op": "correct", "version_id": version, "content": {"fact": "x"}}]
    refused(await ada.post("/v1/changes", json={"operations": correct}), 404, "fact_unknown")
    evidence = [{"passage_id": his.passage}]
    body = {"type": "Person", "label": "B", "evidence": evidence}
    refused(await ada.post("/v1/nodes", json=body), 404, "passage_unknown")
    for path, parameters in (
        ("/v1/nodes", {"q": "Ines"}),
        ("/v1/aliases", {"name": "Nessa"}),
        ("/v1/graph/diff", {"from": "2020-01-01"}),
        ("/v1/graph/diff", {"from": "2020-01-01", "axis": "valid", "to": "2030-01-01"}),
        ("/v1/changes", {}),
    ):
        answer = await ada.get(path, params=parameters)
        assert answer.status_code == 200
        assert "Ines" not in answer.text
        assert his.changes[0] not in answer.text
    good(await ada.post("/v1/nodes", json={"node_id": his.ines, "type": "Person", "label": "Mine"}))
    assert good(await bob.get(f"/v1/nodes/{his.ines}"))["label"] == "Ines Albrecht"
    await batch(bob, {"op": "alias", "node_id": his.ines, "alias": "still his"})
