"""Nodes through the doors: searched, looked at, corrected, named, merged and taken apart."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.graphs import NEVER, batch, good, homes, refused


async def found(client: httpx.AsyncClient, **parameters: Any) -> list[tuple[str, str, str]]:
    """What a search finds by names, as (label, the name that matched, how)."""
    page = good(await client.get("/v1/nodes", params=parameters))
    assert page["degraded"] == []
    return [(node["label"], node["name"], node["match"]) for node in page["items"] if node["matched"] == "name"]


async def labelled(client: httpx.AsyncClient, *labels: str, kind: str = "Concept") -> list[str]:
    """Make nodes; their ids."""
    change = await batch(client, *({"op": "node", "type": kind, "label": label} for label in labels))
    return [result["node_id"] for result in change["results"]]


async def test_the_same_comes_before_what_begins_so_and_what_holds_it(ada: httpx.AsyncClient) -> None:
    await labelled(ada, "moak", "Red oaks", "oak tree", "OÁK", "Oaken", "elm")
    assert await found(ada, q=" oak ") == [
        ("OÁK", "OÁK", "exact"),
        ("oak tree", "oak tree", "prefix"),
        ("Oaken", "Oaken", "prefix"),
        ("Red oaks", "Red oaks", "word"),
        ("moak", "moak", "part"),
    ]
    for nothing in ("oakx", "%", "_", "o%k", "\\", "'", '"; DROP TABLE nodes; --'):
        assert await found(ada, q=nothing) == [], nothing


async def test_a_node_comes_once_by_the_best_of_its_names(ada: httpx.AsyncClient) -> None:
    [tree] = await labelled(ada, "The great oak")
    names = {"aliases": ["oak", "oak of the village", "soak"]}
    good(await ada.post(f"/v1/nodes/{tree}/aliases", json=names))
    assert await found(ada, q="oak") == [("The great oak", "oak", "exact")]
    assert await found(ada, q="OAK OF") == [("The great oak", "oak of the village", "prefix")]


async def test_every_node_is_on_one_page_whatever_its_size(ada: httpx.AsyncClient) -> None:
    labels = [f"{begin}oak {n}" for n in range(6) for begin in ("", "x ", "s")]
    nodes = await labelled(ada, *labels)
    for node in nodes[::2]:
        good(await ada.post(f"/v1/nodes/{node}/aliases", json={"aliases": ["oaks", f"the oak {node}", "cork-oak"]}))
    good(await ada.post(f"/v1/nodes/{nodes[0]}/merge", json={"into": nodes[5]}))
    for wanted in ("oak", ""):
        whole = [node["node_id"] for node in good(await ada.get("/v1/nodes", params={"q": wanted}))["items"]]
        assert len(whole) == len(set(whole)) == 17 + (wanted == "")  # and the user's own
        for size in (1, 3, 5):
            seen: list[str] = []
            parameters: dict[str, Any] = {"q": wanted, "limit": size}
            while True:
                page = good(await ada.get("/v1/nodes", params=parameters))
                seen += [node["node_id"] for node in page["items"]]
                if page["next_cursor"] is None:
                    break
                assert len(page["items"]) == size
                parameters["cursor"] = page["next_cursor"]
            assert seen == whole, (wanted, size)


async def test_the_search_goes_by_type_and_by_both_times(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    assert await found(ada, type="Place") == [("Lyon", "Lyon", "prefix"), ("Porto", "Porto", "prefix")]
    assert await found(ada, q="o", type="Place") == [("Lyon", "Lyon", "part"), ("Porto", "Porto", "part")]
    assert await found(ada, q="o", type="Emotion") == []
    assert await found(ada, q="lyon", known_at="2020-01-01") == []
    assert await found(ada, q="lyon", known_at=world.times[0]) == [("Lyon", "Lyon", "exact")]
    renamed = {"label": "Lugdunum"}
    change = good(await ada.patch(f"/v1/nodes/{world.lyon}", json=renamed))
    assert await found(ada, q="lyon") == []
    assert await found(ada, q="lyon", known_at=world.times[1]) == [("Lyon", "Lyon", "exact")]
    assert await found(ada, q="lugdunum", known_at=world.times[1]) == []
    assert await found(ada, q="lugdunum", known_at=change["recorded_at"]) == [("Lugdunum", "Lugdunum", "exact")]
    alias = {"aliases": ["Lutetia"], "valid_from": "1000-01-01", "valid_to": "1500-01-01"}
    good(await ada.post(f"/v1/nodes/{world.lyon}/aliases", json=alias))
    assert await found(ada, q="lutetia") == []
    assert await found(ada, q="lutetia", as_of="1200-01-01") == [("Lugdunum", "Lutetia", "exact")]
    assert await found(ada, q="lutetia", as_of="always") == [("Lugdunum", "Lutetia", "exact")]


async def test_a_merged_node_is_found_as_the_one_that_stands_for_it(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    [twin] = await labelled(ada, "I. Albrecht", kind="Organization")
    good(await ada.post(f"/v1/nodes/{twin}/merge", json={"into": world.ines, "reason": "same handwriting"}))
    page = good(await ada.get("/v1/nodes", params={"q": "albrecht"}))
    assert [(node["node_id"], node["label"]) for node in page["items"]] == [(world.ines, "Ines Albrecht")]
    assert await found(ada, q="i. albrecht", type="Person") == [("Ines Albrecht", "I. Albrecht", "exact")]
    assert await found(ada, q="i. albrecht", type="Organization") == []
    good(await ada.post(f"/v1/nodes/{twin}/unmerge"))
    assert await found(ada, q="i. albrecht") == [("I. Albrecht", "I. Albrecht", "exact")]


async def test_a_node_shows_everything_that_is_known_of_it(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    evidence = [{"passage_id": world.passage, "span": [0, 4]}]
    patch = {"description": "A carpenter in Lyon.", "evidence": evidence}
    good(await ada.patch(f"/v1/nodes/{world.ines}", json=patch))
    node = good(await ada.get(f"/v1/nodes/{world.ines}", params={"facts": 1}))
    assert (node["asked"], node["node_id"], node["merged_into"], node["same"]) == (world.ines, world.ines, None, [])
    assert (node["type"], node["label"], node["description"], node["holds"]) == (
        "Person", "Ines Albrecht", "A carpenter in Lyon.", True,
    )  # fmt: skip
    [version] = node["versions"]
    assert [source["quote"] for source in version["sources"]] == ["Ines"]
    assert [name["alias"] for name in node["aliases"]] == ["Nessa"]
    assert [fact["fact"] for fact in node["facts"]] == ["Ines lives in Lyon."]
    more = good(await ada.get("/v1/facts", params={"about": world.ines, "cursor": node["facts_cursor"]}))
    assert [fact["fact"] for fact in more["items"]] == ["Rui knows Ines."]
    then = good(await ada.get(f"/v1/nodes/{world.ines}", params={"known_at": world.times[1]}))
    assert (then["description"], then["facts_cursor"]) == ("A carpenter.", None)
    past = good(await ada.get(f"/v1/nodes/{world.ines}", params={"as_of": "2015-01-01"}))
    assert {fact["fact"] for fact in past["facts"]} == {"Ines lives in Porto.", "Rui knows Ines."}


async def test_an_old_id_is_answered_with_the_node_that_stands_for_it(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    [twin] = await labelled(ada, "I. Albrecht", kind="Person")
    evidence = [{"passage_id": world.passage}]
    body = {"into": world.ines, "reason": "same handwriting", "confidence": 0.8, "evidence": evidence}
    good(await ada.post(f"/v1/nodes/{twin}/merge", json=body))
    node = good(await ada.get(f"/v1/nodes/{twin}"))
    assert (node["asked"], node["merged_into"], node["node_id"]) == (twin, world.ines, world.ines)
    assert node["label"] == "Ines Albrecht"
    [same] = node["same"]
    assert (same["node_id"], same["canonical_id"], same["reason"]) == (twin, world.ines, "same handwriting")
    assert {version["label"] for version in node["versions"]} == {"Ines Albrecht", "I. Albrecht"}
    assert len(good(await ada.get("/v1/facts", params={"about": twin}))["items"]) == 2
    good(await ada.post(f"/v1/nodes/{twin}/unmerge"))
    assert good(await ada.get(f"/v1/nodes/{twin}"))["merged_into"] is None
    assert good(await ada.post(f"/v1/nodes/{twin}/unmerge"))["results"][0]["outcome"] == "unchanged"


async def test_a_node_made_with_an_id_of_ones_own_can_be_sent_again(ada: httpx.AsyncClient) -> None:
    node = str(uuid4())
    body = {"node_id": node, "type": "Person", "label": "Teo", "aliases": ["T."], "data": {"shoe": 43}}
    outcomes = []
    for _ in range(2):
        change = good(await ada.post("/v1/nodes", json=body))
        assert [result["node_id"] for result in change["results"]] == [node, node]
        outcomes.append([result["outcome"] for result in change["results"]])
    assert outcomes == [["written", "written"], ["known", "known"]]
    fresh = [good(await ada.post("/v1/nodes", json={"type": "Person", "label": "Teo"})) for _ in range(2)]
    assert len({change["results"][0]["node_id"] for change in fresh} | {node}) == 3
    rows = [{"op": "node", "node_id": str(uuid4()), "type": "Person", "label": "Nobody"}]
    refused(await ada.post("/v1/changes", json={"operations": rows}), 404, "node_unknown")
    await batch(ada, rows[0] | {"make": True})


async def test_a_correction_refuses_what_somebody_changed_meanwhile(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    place = f"/v1/nodes/{world.ines}"
    seen = good(await ada.get(place))["versions"][0]["version_id"]
    good(await ada.patch(place, json={"importance": 8, "version_id": seen}))
    refused(await ada.patch(place, json={"importance": 7, "version_id": seen}), 409, "version_superseded")
    node = good(await ada.get(place))
    assert (node["importance"], node["label"], node["description"]) == (8, "Ines Albrecht", "A carpenter.")
    other = good(await ada.get(f"/v1/nodes/{world.rui}"))["versions"][0]["version_id"]
    refused(await ada.patch(place, json={"importance": 7, "version_id": other}), 404, "fact_unknown")
    refused(await ada.patch(place, json={"importance": 7, "version_id": NEVER}), 404, "fact_unknown")


async def test_names_come_go_and_are_listed(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    place = f"/v1/nodes/{world.ines}/aliases"
    good(await ada.post(place, json={"aliases": ["Frau Albrecht", "IA"], "valid_from": "2020-01-01"}))
    good(await ada.post(f"{place}/retract", json={"aliases": ["nessa"]}))
    good(await ada.post(f"{place}/retract", json={"aliases": ["IA"], "ended_at": "2022-01-01"}))

    async def names(**parameters: Any) -> list[str]:
        return [name["alias"] for name in good(await ada.get("/v1/aliases", params=parameters))["items"]]

    assert await names(node=world.ines) == ["Frau Albrecht"]
    assert sorted(await names(node="Ines Albrecht", as_of="2021-01-01")) == ["Frau Albrecht", "IA"]
    assert await names(node=world.ines, known_at=world.times[1]) == ["Nessa"]
    assert await names(name="frau  ALBRECHT") == ["Frau Albrecht"]
    assert await names(name="frau albrecht", node=world.rui) == []
    assert await names(name="Nessa") == []
    pages = []
    parameters: dict[str, Any] = {"node": world.ines, "as_of": "always", "limit": 1}
    while True:
        page = good(await ada.get("/v1/aliases", params=parameters))
        pages.append([name["alias"] for name in page["items"]])
        if page["next_cursor"] is None:
            break
        parameters["cursor"] = page["next_cursor"]
    assert sorted(pages) == [["Frau Albrecht"], ["IA"]]


async def test_the_history_of_a_node_is_paged_by_whole_changes(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    for label in ("Ines A.", "Ines B.", "Ines C."):
        good(await ada.patch(f"/v1/nodes/{world.ines}", json={"label": label}))
    place = f"/v1/nodes/{world.ines}/history"
    whole = good(await ada.get(place, params={"limit": 1_000}))
    assert whole["next_cursor"] is None
    seen: list[dict[str, Any]] = []
    parameters: dict[str, Any] = {"limit": 2}
    while True:
        page = good(await ada.get(place, params=parameters))
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        parameters["before"] = page["next_cursor"]
    assert seen == whole["items"]
    assert {event["change_id"] for event in seen} >= set(world.changes)
    assert [event["content"]["label"] for event in seen if event["kind"] == "node" and event["event"] == "written"] == [
        "Ines C.", "Ines B.", "Ines A.", "Ines Albrecht",
    ]  # fmt: skip
    refused(await ada.get(f"/v1/nodes/{NEVER}/history"), 404, "node_unknown")


async def said(client: httpx.AsyncClient, text: str, day: str) -> str:
    """Store a message that was said on a day; its passage."""
    body = {"conversation": "talk", "text": text, "said_at": f"{day}T12:00:00Z"}
    answer = await client.post("/v1/messages", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["messages"][0]["passage_id"])


async def seen(client: httpx.AsyncClient, node: str, **parameters: Any) -> tuple[str | None, str | None]:
    """The days on which a node was first and last seen; its list says the same."""
    shown = good(await client.get(f"/v1/nodes/{node}", params=parameters))
    days = tuple(shown[name] and shown[name][:10] for name in ("first_seen", "last_seen"))
    listed = good(await client.get("/v1/nodes", params=parameters))["items"]
    [item] = [item for item in listed if item["node_id"] == shown["node_id"]]
    assert (item["first_seen"], item["last_seen"]) == (shown["first_seen"], shown["last_seen"])
    return days[0], days[1]


async def test_a_node_was_seen_when_what_supports_it_was_said(ada: httpx.AsyncClient) -> None:
    early, middle, late = [await said(ada, f"Luz, {day}", day) for day in ("2025-02-01", "2025-06-01", "2025-09-01")]
    luz, faro, lulu = await labelled(ada, "Luz", "Faro", "Lulu")
    assert await seen(ada, luz) == (None, None)
    fact = {"op": "edge", "from_node": luz, "type": "RELATED_TO", "to_node": faro, "fact": "x"}
    known = await batch(ada, fact | {"evidence": [{"passage_id": middle}]})
    assert await seen(ada, luz) == await seen(ada, faro) == ("2025-06-01", "2025-06-01")
    await batch(ada, {"op": "alias", "node_id": luz, "alias": "Lucy", "evidence": [{"passage_id": late}]})
    await batch(ada, {"op": "alias", "node_id": lulu, "alias": "Lu", "evidence": [{"passage_id": early}]})
    assert await seen(ada, luz) == ("2025-06-01", "2025-09-01")
    assert await seen(ada, faro) == ("2025-06-01", "2025-06-01")
    good(await ada.post(f"/v1/nodes/{lulu}/merge", json={"into": luz}))
    assert await seen(ada, lulu) == await seen(ada, luz) == ("2025-02-01", "2025-09-01")
    assert await seen(ada, luz, known_at=known["recorded_at"]) == ("2025-06-01", "2025-06-01")
    # What is not true any more was seen; what was never true, or is known to have ended by a message, was not.
    edge = known["results"][0]["edge_id"]
    await batch(ada, {"op": "retract", "edge_id": edge, "evidence": [{"passage_id": late}]})
    assert await seen(ada, faro) == (None, None)
    assert await seen(ada, faro, known_at=known["recorded_at"]) == ("2025-06-01", "2025-06-01")
    assert await seen(ada, luz) == ("2025-02-01", "2025-09-01")


async def test_an_erased_message_was_never_seen(connect: Connect, owner: Owner, bob: httpx.AsyncClient) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    first, last = [await said(ada, f"Luz, {day}", day) for day in ("2025-02-01", "2025-06-01")]
    [luz] = await labelled(ada, "Luz")
    for passage in (first, last):
        await batch(ada, {"op": "alias", "node_id": luz, "alias": "Lucy", "evidence": [{"passage_id": passage}]})
    assert await seen(ada, luz) == ("2025-02-01", "2025-06-01")
    refused(await bob.get(f"/v1/nodes/{luz}"), 404, "node_unknown")
    assert (await ada.delete(f"/v1/passages/{first}")).status_code == 200
    assert await seen(ada, luz) == ("2025-06-01", "2025-06-01")
