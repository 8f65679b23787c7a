"""Notes and links over REST."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from memsvc.access.users import Owner
from tests.api.conftest import Connect

NASTY = "'; DROP TABLE memsvc.nodes; -- <script>alert(1)</script>"


async def made(client: httpx.AsyncClient, title: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/v1/notes", json={"title": title, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_note_is_written_read_and_changed(ada: httpx.AsyncClient) -> None:
    me = (await ada.get("/v1/me")).json()["node_id"]
    note = await made(ada, NASTY, text="x", kind="decision", tags=["#a"], about=[me], importance=8)
    assert (note["title"], note["kind"], note["tags"], note["about"]) == (NASTY, "decision", ["a"], [me])
    place = f"/v1/notes/{note['note_id']}"
    assert (await ada.get(place)).json() == note
    changed = await ada.patch(place, json={"title": "Two"})
    assert changed.status_code == 200
    assert changed.json() == note | {
        "title": "Two", "version_id": changed.json()["version_id"], "recorded_from": changed.json()["recorded_from"],
    }  # fmt: skip
    assert (await ada.get(place)).json() == changed.json()


async def test_notes_are_listed_in_pages_and_filtered(ada: httpx.AsyncClient) -> None:
    for number in range(3):
        await made(ada, f"Note {number}", tags=["odd"] if number % 2 else [], kind="insight" if number else "fact")
    page = (await ada.get("/v1/notes", params={"limit": 2})).json()
    assert [note["title"] for note in page["items"]] == ["Note 2", "Note 1"]
    rest = (await ada.get("/v1/notes", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert ([note["title"] for note in rest["items"]], rest["next_cursor"]) == (["Note 0"], None)
    for wanted, found in (({"tag": "odd"}, 1), ({"kind": "insight"}, 2), ({"q": "note 2"}, 1), ({"q": "%"}, 0)):
        assert len((await ada.get("/v1/notes", params=wanted)).json()["items"]) == found


async def test_notes_are_linked_found_and_unlinked(ada: httpx.AsyncClient) -> None:
    ids = [(await made(ada, title))["note_id"] for title in ("One", "Two", "Three")]
    links = []
    for start, end, relation in ((0, 1, "supports"), (2, 1, "answers")):
        body = {"from_node": ids[start], "to_node": ids[end], "relation": relation, "strength": 0.5}
        answer = await ada.post("/v1/links", json=body)
        assert answer.status_code == 201, answer.text
        assert (await ada.post("/v1/links", json=body)).json() == answer.json()
        links.append(answer.json())
    assert links[0]["fact"] == "One supports Two."
    place = f"/v1/notes/{ids[0]}/linked"
    near = (await ada.get(place, params={"radius": 1})).json()
    assert [note["title"] for note in near["items"]] == ["Two"]
    far = (await ada.get(place)).json()["items"]
    places = [(note["title"], note["distance"], note["strength"]) for note in far]
    assert places == [("Two", 1, 0.5), ("Three", 2, 0.25)]
    assert far[1]["relations"] == ["supports", "answers"]
    assert far[1]["path"] == ids[1:]
    both: dict[str, Any] = {"radius": 2, "relations": ["supports", "extends"]}
    assert len((await ada.get(place, params=both)).json()["items"]) == 1
    assert len((await ada.get(place, params={"radius": 2, "min_strength": 0.3})).json()["items"]) == 1
    for ended in (True, False):
        answer = await ada.post("/v1/links/close", json={"link_id": links[0]["link_id"]})
        assert (answer.status_code, answer.json()["ended"]) == (200, ended)
    assert (await ada.get(place)).json()["items"] == []


async def test_nobody_reaches_notes_of_another(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    mine, foreign = await made(bob, "Mine"), await made(ada, "Foreign")
    ends = {"from_node": mine["note_id"], "to_node": foreign["note_id"], "relation": "supports"}
    own = await made(ada, "Another")
    link = await ada.post("/v1/links", json=ends | {"from_node": own["note_id"]})
    place = f"/v1/notes/{foreign['note_id']}"
    for answer in (
        await bob.get(place),
        await bob.patch(place, json={"title": "x"}),
        await bob.get(place + "/linked"),
        await bob.post("/v1/links", json=ends),
        await bob.post("/v1/notes", json={"title": "x", "about": [foreign["note_id"]]}),
        await bob.post("/v1/links/close", json={"link_id": link.json()["link_id"]}),
    ):
        assert answer.status_code == 404, answer.text
        assert answer.json()["code"] in {"node_unknown", "fact_unknown"}
    assert [note["title"] for note in (await bob.get("/v1/notes")).json()["items"]] == ["Mine"]
    assert (await ada.get(place)).json() == foreign


async def test_writing_needs_the_scope_write(connect: Connect, owner: Owner) -> None:
    reader = await connect("read", user=owner)
    assert (await reader.get("/v1/notes")).status_code == 200
    for path, body in (
        ("/v1/notes", {"title": "x"}),
        ("/v1/links", {"from_node": str(uuid4()), "to_node": str(uuid4()), "relation": "supports"}),
        ("/v1/links/close", {"link_id": str(uuid4())}),
    ):
        answer = await reader.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


NOTES: tuple[tuple[Any, str], ...] = (
    ({}, "title"), ({"title": ""}, "title"), ({"title": "x" * 201}, "title"), ({"title": 1}, "title"),
    ({"title": "x\0"}, "title"), ({"title": "x", "kind": "thought"}, "kind"), ({"title": "x", "tags": [""]}, "tags"),
    ({"title": "x", "tags": "a"}, "tags"), ({"title": "x", "importance": 0}, "importance"),
    ({"title": "x", "about": ["x"]}, "about[0]"), ({"title": "x", "colour": "red"}, "colour"),
    ({"title": "x", "evidence": [{"passage_id": "x"}]}, "evidence[0].passage_id"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "field"), NOTES)
async def test_notes_that_cannot_be_are_refused(ada: httpx.AsyncClient, body: Any, field: str) -> None:
    answer = await ada.post("/v1/notes", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.text
    assert answer.json()["hint"]
    assert (await ada.get("/v1/notes")).json()["items"] == []


async def test_too_much_and_what_is_not_there_is_refused(ada: httpx.AsyncClient) -> None:
    long = await ada.post("/v1/notes", json={"title": "x", "text": "x" * 8_001})
    assert (long.status_code, long.json()["code"], long.json()["field"]) == (413, "text_too_long", "text")
    unknown = await ada.post("/v1/notes", json={"title": "x", "evidence": [{"passage_id": str(uuid4())}]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "passage_unknown")
    note = await made(ada, "x")
    place = f"/v1/notes/{note['note_id']}"
    nothing = await ada.patch(place, json={})
    assert (nothing.status_code, nothing.json()["code"]) == (400, "invalid_request")
    for wanted in ({"radius": 0}, {"radius": 5}, {"relations": "loves"}, {"min_strength": 2}, {"limit": 0}):
        answer = await ada.get(place + "/linked", params=wanted)
        assert (answer.status_code, answer.json()["field"]) == (400, next(iter(wanted))), answer.text
    itself = {"from_node": note["note_id"], "to_node": note["note_id"], "relation": "supports"}
    assert (await ada.post("/v1/links", json=itself)).json()["field"] == "to_node"
    other = await made(ada, "y")
    for wrong in ({"relation": "loves"}, {"strength": 0}, {"strength": 2}):
        answer = await ada.post("/v1/links", json=itself | {"to_node": other["note_id"]} | wrong)
        assert (answer.status_code, answer.json()["field"]) == (400, next(iter(wrong)))


async def test_what_a_key_for_all_users_writes_is_the_apps(
    ada: httpx.AsyncClient, connect: Connect, owner: Owner
) -> None:
    app = await connect(**{"X-Memsvc-User": str(owner.user_id)})
    mine, yours = await made(ada, "Mine"), await made(app, "Yours")
    assert (mine["asserted_by"], yours["asserted_by"]) == ("user", "app")
    for client, who in ((ada, "user"), (app, "app")):
        changed = await client.patch(f"/v1/notes/{mine['note_id']}", json={"text": f"changed by {who}"})
        assert changed.json()["asserted_by"] == who
        body = {"from_node": mine["note_id"], "to_node": yours["note_id"], "relation": "supports", "reason": who}
        link = (await client.post("/v1/links", json=body)).json()
        assert (await client.post("/v1/links/close", json={"link_id": link["link_id"]})).json()["ended"]
        newest = (await ada.get("/v1/changes", params={"limit": 3})).json()["items"]
        assert [one["asserted_by"] for one in newest] == [who] * 3
