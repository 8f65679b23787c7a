"""Facts through the doors: at two times, by id and by name, page by page, with their sources."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.graphs import NEVER, batch, good, homes, refused


async def facts(client: httpx.AsyncClient, **parameters: Any) -> list[tuple[str, str, str]]:
    """What is known, as (type, end, fact)."""
    page = good(await client.get("/v1/facts", params=parameters))
    return [(fact["type"], fact["to_label"], fact["fact"]) for fact in page["items"]]


LYON = ("LIVES_IN", "Lyon", "Ines lives in Lyon.")
PORTO = ("LIVES_IN", "Porto", "Ines lives in Porto.")
KNOWS = ("KNOWS", "Ines Albrecht", "Rui knows Ines.")


async def test_facts_answer_for_now_for_then_and_for_what_was_known_then(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    about = {"about": world.ines}
    assert await facts(ada, **about) == [LYON, KNOWS]
    assert await facts(ada, **about, as_of="2026-02-28") == [KNOWS, PORTO]
    assert await facts(ada, **about, as_of="2026-03-01T00:00:00Z", type="LIVES_IN") == [LYON]
    assert await facts(ada, **about, as_of="always", type="LIVES_IN") == [LYON, PORTO]
    assert await facts(ada, **about, known_at=world.times[0]) == [KNOWS, PORTO]
    assert await facts(ada, **about, known_at="2020-01-01") == []
    assert await facts(ada, **about, side="to") == [KNOWS]
    assert await facts(ada, **about, side="from", type=["LIVES_IN", "KNOWS"]) == [LYON]


async def test_a_fact_shows_its_four_times_its_ends_and_its_source(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    page = good(await ada.get("/v1/facts", params={"about": world.lyon}))
    [fact] = page["items"]
    assert (fact["from_node"], fact["from_label"], fact["from_type"]) == (world.ines, "Ines Albrecht", "Person")
    assert (fact["to_node"], fact["to_label"], fact["to_type"]) == (world.lyon, "Lyon", "Place")
    assert (fact["valid_from"], fact["valid_to"]) == ("2026-03-01T00:00:00Z", None)
    assert (fact["recorded_from"], fact["recorded_to"]) == (world.times[1], None)
    assert (round(fact["confidence"], 6), fact["contested"], fact["asserted_by"]) == (0.9, False, "user")
    [source] = fact["sources"]
    assert (source["passage_id"], source["span"], source["quote"]) == (world.passage, [11, 31], "I have moved to Lyon")
    assert fact["sources_total"] == 1
    opened = await ada.get(f"/v1/sources/{source['source_id']}", params={"around": world.passage})
    assert "moved to Lyon" in opened.text


async def test_a_quote_is_short_and_the_first_sources_stand_for_many(ada: httpx.AsyncClient) -> None:
    long = "x" * 1_000
    stored = (
        await ada.post(
            "/v1/messages", json={"messages": [{"conversation": "c", "text": long + str(n)} for n in range(7)]}
        )
    ).json()["messages"]
    evidence = [{"passage_id": message["passage_id"]} for message in stored]
    change = await batch(
        ada,
        {"op": "node", "type": "Person", "label": "A"},
        {"op": "edge", "from_node": 0, "type": "RELATED_TO", "to_node": 0, "fact": "x", "evidence": evidence},
    )
    page = good(await ada.get("/v1/facts", params={"about": change["results"][0]["node_id"]}))
    [fact] = page["items"]
    assert fact["sources_total"] == 7
    assert [source["quote"] for source in fact["sources"]] == ["x" * 240] * 5
    assert fact["sources"][0]["span"] is None


async def test_names_find_facts_and_ambiguous_ones_those_of_all(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    for name in ("Ines Albrecht", "  ines ALBRECHT ", "nessa", world.ines):
        assert await facts(ada, about=name) == [LYON, KNOWS], name
    other = await batch(
        ada,
        {"op": "node", "type": "Person", "label": "Agnes Berg"},
        {"op": "alias", "node_id": 0, "alias": "Nessa"},
        {"op": "edge", "from_node": 0, "type": "LIVES_IN", "to_node": world.porto, "fact": "Agnes lives in Porto."},
    )
    agnes = other["results"][0]["node_id"]
    page = good(await ada.get("/v1/facts", params={"about": "Nessa", "type": "LIVES_IN"}))
    assert {fact["fact"] for fact in page["items"]} == {"Agnes lives in Porto.", "Ines lives in Lyon."}
    [ambiguous] = page["ambiguous"]
    assert (ambiguous["name"], set(ambiguous["nodes"])) == ("Nessa", {world.ines, agnes})
    assert {(node["asked"], node["label"]) for node in page["about"]} == {
        ("Nessa", "Ines Albrecht"),
        ("Nessa", "Agnes Berg"),
    }
    both = good(await ada.get("/v1/facts", params={"about": [world.ines, "Agnes Berg"], "type": "LIVES_IN"}))
    assert (len(both["items"]), both["ambiguous"]) == (2, [])


async def test_pages_look_at_one_moment_and_give_each_fact_once(ada: httpx.AsyncClient) -> None:
    change = await batch(
        ada,
        {"op": "node", "type": "Person", "label": "Hub"},
        *({"op": "node", "type": "Object", "label": f"Thing {n}"} for n in range(23)),
        *(
            {"op": "edge", "from_node": 0, "type": "OWNS", "to_node": n + 1, "fact": f"owns {n}"}
            | ({"valid_from": f"2020-01-{n % 5 + 1:02}"} if n % 3 else {})
            for n in range(23)
        ),
    )
    hub, edges = change["results"][0]["node_id"], [result["edge_id"] for result in change["results"][24:]]
    expected = [fact["fact"] for fact in good(await ada.get("/v1/facts", params={"about": hub}))["items"]]
    assert sorted(expected) == sorted(f"owns {n}" for n in range(23))
    seen: list[str] = []
    cursor = None
    for page_number in range(10):
        parameters = {"about": hub, "limit": 5} | ({"cursor": cursor} if cursor else {})
        page = good(await ada.get("/v1/facts", params=parameters))
        seen += [fact["fact"] for fact in page["items"]]
        cursor = page["next_cursor"]
        good(await ada.patch(f"/v1/facts/{edges[page_number]}", json={"fact": f"OWNS {page_number}"}))
        if cursor is None:
            break
    assert seen == expected


async def test_a_fact_shows_all_its_versions(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    edge = good(await ada.get(f"/v1/facts/{world.porto_edge}"))
    assert (edge["type"], edge["from_label"], edge["to_label"]) == ("LIVES_IN", "Ines Albrecht", "Porto")
    ended, always = edge["versions"]
    assert (ended["valid_from"], ended["valid_to"]) == (None, "2026-03-01T00:00:00Z")
    assert (always["valid_to"], always["recorded_to"]) == (None, world.times[1])
    then = good(await ada.get(f"/v1/facts/{world.porto_edge}", params={"known_at": world.times[0]}))
    assert [version["version_id"] for version in then["versions"]] == [always["version_id"]]
    few = good(await ada.get(f"/v1/facts/{world.porto_edge}", params={"limit": 1}))
    assert (len(few["versions"]), few["truncated"], edge["truncated"]) == (1, True, False)
    refused(await ada.get(f"/v1/facts/{world.lyon_edge}", params={"known_at": world.times[0]}), 404, "fact_unknown")
    refused(await ada.get(f"/v1/facts/{NEVER}"), 404, "fact_unknown")


async def test_a_fact_is_corrected_ended_and_taken_back(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    place = f"/v1/facts/{world.lyon_edge}"
    seen = good(await ada.get(place))["versions"][0]["version_id"]
    good(await ada.patch(place, json={"fact": "Ines has her home in Lyon.", "version_id": seen}))
    refused(await ada.patch(place, json={"fact": "No.", "version_id": seen}), 409, "version_superseded")
    assert (await facts(ada, about=world.ines, type="LIVES_IN"))[0][2] == "Ines has her home in Lyon."
    good(await ada.patch(place, json={"ended_at": "2026-06-01"}))
    assert await facts(ada, about=world.ines, type="LIVES_IN", as_of="2026-07-01") == []
    assert len(await facts(ada, about=world.ines, type="LIVES_IN", as_of="2026-05-01")) == 1
    good(await ada.post(f"{place}/retract", json={}))
    assert await facts(ada, about=world.ines, type="LIVES_IN", as_of="2026-05-01") == []
    refused(await ada.patch(place, json={"fact": "No."}), 409, "version_superseded")
    change = good(await ada.post(f"{place}/retract", json={}))
    assert change["results"][0]["outcome"] == "unchanged"
    porto = good(await ada.get(f"/v1/facts/{world.porto_edge}"))["versions"][0]["version_id"]
    refused(await ada.patch(place, json={"fact": "No.", "version_id": porto}), 404, "fact_unknown")


async def test_a_fact_by_hand_closes_the_old_value_and_is_safe_to_send_again(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    body = {
        "from_node": world.ines, "type": "LIVES_IN", "to_node": world.porto, "fact": "Ines lives in Porto again.",
        "valid_from": "2026-09-01",
    }  # fmt: skip
    first = good(await ada.post("/v1/facts", json=body))
    again = good(await ada.post("/v1/facts", json=body))
    assert (first["results"][0]["outcome"], again["results"][0]["outcome"]) == ("written", "known")
    assert first["results"][0]["edge_id"] == again["results"][0]["edge_id"] == world.porto_edge
    assert [fact for _, _, fact in await facts(ada, about=world.ines, type="LIVES_IN", as_of="2026-10-01")] == [
        "Ines lives in Porto again."
    ]


async def test_who_says_so_is_told_by_the_key(ada: httpx.AsyncClient, connect: Any, owner: Any) -> None:
    world = await homes(ada)
    app = await connect(**{"X-Memsvc-User": str(owner.user_id)})
    good(await app.patch(f"/v1/facts/{world.lyon_edge}", json={"fact": "The app says so."}))
    newest, first = good(await ada.get(f"/v1/facts/{world.lyon_edge}"))["versions"]
    assert (newest["asserted_by"], first["asserted_by"]) == ("app", "user")
