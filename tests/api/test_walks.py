"""Walking the graph over REST: names and ids, two times, bounds, drawings, and nobody else's nodes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import NodeUnknownError
from memsvc.graph import history
from memsvc.graph.find import find_node
from memsvc.graph.operations import Alias, Edge, Node, Operation
from tests.examples import some_of

MOVED = datetime(2026, 4, 18, tzinfo=UTC)
WALKS = ("neighbourhood", "subgraph")
PLACES = {"Hamburg": "Place", "Porto": "Place", "Portugal": "Place", "Ines": "Person", "Portó": "Concept"}


@pytest.fixture
async def nodes(db: Database, owner: Owner) -> dict[str, UUID]:
    """Ada lived in Hamburg and moved to Porto, in Portugal; she knows Ines. Nodes by their labels."""
    ada = await find_node(db, owner, "Ada")
    made = [Node(type=kind, label=label) for label, kind in PLACES.items() if label != "Portó"]
    facts: list[Operation] = [
        Edge(from_node=ada, type="LIVES_IN", to_node=0, fact="Ada lives in Hamburg."),
        Edge(from_node=ada, type="LIVES_IN", to_node=1, fact="Ada lives in Porto.", valid_from=MOVED),
        Edge(from_node=1, type="LOCATED_AT", to_node=2, fact="Porto lies in Portugal."),
        Edge(from_node=ada, type="KNOWS", to_node=3, fact="Ada knows Ines.", weight=0.5),
        Alias(node=3, alias="Inês A."),
    ]
    change = await history.write(db, owner, [*made, *facts], asserted_by="tests")
    found = {label: change.results[place].node_id for place, label in enumerate(PLACES) if label != "Portó"}
    return {"Ada": ada, **{label: node for label, node in found.items() if node is not None}}


async def walked(client: httpx.AsyncClient, path: str, **asked: Any) -> dict[str, Any]:
    answer = await client.get(f"/v1/graph{path}", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def refused(client: httpx.AsyncClient, path: str, **asked: Any) -> tuple[int, str, dict[str, Any]]:
    answer = await client.get(f"/v1/graph{path}", params=asked)
    problem = answer.json()
    return answer.status_code, problem["code"], problem


def labels(graph: dict[str, Any]) -> list[str]:
    return sorted(node["label"] for node in graph["nodes"])


def told(graph: dict[str, Any]) -> list[str]:
    return sorted(edge["fact"] for edge in graph["edges"])


# Where one begins


@pytest.mark.parametrize("name", ["Porto", "pórto", " PORTO ", "id"])
@pytest.mark.parametrize("walk", WALKS)
async def test_one_begins_at_an_id_a_name_or_a_label(
    ada: httpx.AsyncClient, nodes: dict[str, UUID], walk: str, name: str
) -> None:
    start = str(nodes["Porto"]) if name == "id" else name
    found = await walked(ada, f"/{walk}", node=start, hops=1)
    assert labels(found) == ["Ada", "Porto", "Portugal"]
    assert {node["label"]: node["hop"] for node in found["nodes"]} == {"Ada": 1, "Porto": 0, "Portugal": 1}
    assert told(found) == ["Ada lives in Porto.", "Porto lies in Portugal."]
    assert found["truncated"] is False


async def test_aliases_and_several_starts(ada: httpx.AsyncClient, nodes: dict[str, UUID]) -> None:
    found = await walked(ada, "/neighbourhood", node=["Inês A.", "Portugal", "ines"], hops=0)
    assert (labels(found), found["edges"]) == (["Ines", "Portugal"], [])
    among = await walked(ada, "/subgraph", node=["me", "Porto", "Portugal"])
    assert (labels(among), told(among)) == (
        ["Ada", "Porto", "Portugal"], ["Ada lives in Porto.", "Porto lies in Portugal."]
    )  # fmt: skip


async def test_what_several_are_called_is_refused_with_their_ids(
    ada: httpx.AsyncClient, db: Database, owner: Owner, nodes: dict[str, UUID]
) -> None:
    change = await history.write(db, owner, [Node(type="Concept", label="Portó")], asserted_by="tests")
    wine = change.results[0].node_id
    for path, asked in (("/neighbourhood", {"node": "porto"}), ("/paths", {"from": "Ada", "to": "porto"})):
        status, code, problem = await refused(ada, path, **asked)
        assert (status, code) == (409, "node_ambiguous")
        assert {item["node_id"] for item in problem["candidates"]} == {str(nodes["Porto"]), str(wine)}
        assert {item["type"] for item in problem["candidates"]} == {"Place", "Concept"}
    assert wine is not None
    await history.merge(db, owner, wine, nodes["Porto"], asserted_by="tests")
    for start in ("porto", str(wine), str(nodes["Porto"])):
        found = await walked(ada, "/neighbourhood", node=start, hops=0)
        assert [node["node_id"] for node in found["nodes"]] == [str(nodes["Porto"])]


async def test_a_text_has_a_name_only_if_nothing_else_has_it(
    ada: httpx.AsyncClient, db: Database, owner: Owner, nodes: dict[str, UUID]
) -> None:
    texts = [Node(type=kind, label="PORTO") for kind in ("Document", "Note", "Task", "ConceptGroup")]
    alone = [
        Node(type="Document", label="Rezept"),
        Node(type="Note", label="Reise"),
        Node(type="Document", label="Reise"),
    ]
    change = await history.write(db, owner, [*texts, *alone], asserted_by="tests")
    document, recipe = change.results[0].node_id, change.results[4].node_id
    for name, node in (("porto", nodes["Porto"]), (str(document), document), ("Rezept", recipe)):
        found = await walked(ada, "/neighbourhood", node=name, hops=0)
        assert [one["node_id"] for one in found["nodes"]] == [str(node)]
    assert (await walked(ada, "/paths", **{"from": "Ada", "to": "porto"}))["paths"]
    assert (await refused(ada, "/neighbourhood", node="Reise"))[:2] == (409, "node_ambiguous")
    assert await find_node(db, owner, "Rezept", else_made="Note") == recipe
    assert await find_node(db, owner, str(recipe), else_made="Person") == recipe
    assert await find_node(db, owner, "porto", else_made="Person") == nodes["Porto"]
    with pytest.raises(NodeUnknownError):
        await find_node(db, owner, "Rezept", else_made="Person")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        *((name, (404, "node_unknown")) for name in ("Nowhere", "%", "01900000-0000-7000-8000-000000000000")),
        *((name, (400, "invalid_alias")) for name in ("", " ", "x" * 201)),
    ],
)
async def test_what_there_is_not_is_refused(
    ada: httpx.AsyncClient, nodes: dict[str, UUID], name: str, answer: tuple[int, str]
) -> None:
    for path, asked in (
        ("/neighbourhood", {"node": ["Ada", name]}),
        ("/subgraph", {"node": name}),
        ("/paths", {"from": name, "to": "Ada"}),
        ("/paths", {"from": "Ada", "to": name}),
    ):
        assert (await refused(ada, path, **asked))[:2] == answer


async def test_anothers_nodes_never_appear(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, nodes: dict[str, UUID]
) -> None:
    for label in ("Hamburg", "Porto", "Ines", str(nodes["Porto"]), str(nodes["Ada"]), str(uuid4())):
        assert (await refused(bob, "/neighbourhood", node=label))[:2] == (404, "node_unknown")
        assert (await refused(bob, "/paths", **{"from": "Bob", "to": label}))[:2] == (404, "node_unknown")
    for path in ("", "?as_of=2026-05-01", "?format=graphml", "?format=mermaid", "?format=dot", "/stats"):
        answer = await bob.get(f"/v1/graph{path}")
        assert answer.status_code == 200
        assert not any(str(node) in answer.text or label in answer.text for label, node in nodes.items())
    everything = [node for page in await pages(bob) for node in page["nodes"]]
    assert labels({"nodes": everything}) == ["Bob"]
    assert (await walked(bob, "/stats"))["nodes"] == 1
    assert (await walked(ada, "/stats"))["nodes"] == len(nodes)


# Times


async def test_the_graph_at_two_times(
    ada: httpx.AsyncClient, db: Database, owner: Owner, nodes: dict[str, UUID]
) -> None:
    async def home(**asked: Any) -> list[str]:
        return told(await walked(ada, "/neighbourhood", node="Ada", hops=1, type="LIVES_IN", **asked))

    assert await home() == ["Ada lives in Porto."]
    assert await home(as_of="2026-04-17") == ["Ada lives in Hamburg."]
    assert await home(as_of="2026-04-18T00:00:00Z") == ["Ada lives in Porto."]
    assert await home(as_of="always") == ["Ada lives in Hamburg.", "Ada lives in Porto."]
    before = datetime.now(UTC).isoformat()
    later = Edge(from_node=nodes["Ada"], type="LIVES_IN", to_node=nodes["Portugal"], fact="Ada lives in Portugal.")
    await history.write(db, owner, [later], asserted_by="tests")
    assert await home() == ["Ada lives in Portugal."]
    assert await home(known_at=before) == ["Ada lives in Porto."]
    assert await home(known_at=before, as_of="2026-04-17") == ["Ada lives in Hamburg."]
    past = await walked(ada, "/paths", **{"from": "Ada", "to": "Hamburg", "known_at": before, "as_of": "2026-04-17"})
    assert [[edge["fact"] for edge in path["edges"]] for path in past["paths"]] == [["Ada lives in Hamburg."]]
    assert (await walked(ada, "/stats", known_at="2020-01-01"))["facts"] == 0


async def test_a_name_of_then_still_leads_to_its_node(
    ada: httpx.AsyncClient, db: Database, owner: Owner, nodes: dict[str, UUID]
) -> None:
    old = Alias(node=nodes["Hamburg"], alias="Hammaburg", valid_to=datetime(1100, 1, 1, tzinfo=UTC))
    await history.write(db, owner, [old], asserted_by="tests")
    assert labels(await walked(ada, "/neighbourhood", node="hammaburg", hops=0)) == ["Hamburg"]


# Bounds


def starts(path: str) -> dict[str, str]:
    """What a walk needs to begin."""
    needed = {"/paths": {"from": "Ada", "to": "Porto"}, "": {}, "/stats": {}, "/conversation": {"conversation": "x"}}
    return needed.get(path, {"node": "Ada"})


@pytest.mark.parametrize(
    ("path", "asked", "field"),
    [
        ("/neighbourhood", {"hops": 5}, "hops"), ("/neighbourhood", {"hops": -1}, "hops"),
        ("/neighbourhood", {"hops": "many"}, "hops"), ("/neighbourhood", {"limit": 2001}, "limit"),
        ("/neighbourhood", {"limit": 0}, "limit"), ("/neighbourhood", {"fan_out": 501}, "fan_out"),
        ("/neighbourhood", {"fan_out": 0}, "fan_out"), ("/neighbourhood", {"side": "left"}, "side"),
        ("/neighbourhood", {"format": "svg"}, "format"), ("/neighbourhood", {"node": ["Ada"] * 101}, "node"),
        ("/subgraph", {"hops": 3}, "hops"), ("/subgraph", {"limit": 2001}, "limit"),
        ("/paths", {"max_hops": 0}, "max_hops"), ("/paths", {"max_hops": 7}, "max_hops"),
        ("/paths", {"limit": 51}, "limit"), ("/paths", {"hops": 2}, "hops"), ("/stats", {"node": "Ada"}, "node"),
        ("", {"limit": 2001}, "limit"), ("", {"cursor": "x"}, "cursor"), ("", {"cursor": "edges.1.2"}, "cursor"),
    ],
)  # fmt: skip
async def test_bounds_are_checked(
    ada: httpx.AsyncClient, nodes: dict[str, UUID], path: str, asked: dict[str, Any], field: str
) -> None:
    status, code, problem = await refused(ada, path, **{**starts(path), **asked})
    expected = "bad_cursor" if field == "cursor" else "invalid_request"
    assert (status, code, problem["field"]) == (400, expected, field)


@pytest.mark.parametrize("path", ["/neighbourhood", "/subgraph", "/paths", ""])
async def test_types_and_times_are_checked(ada: httpx.AsyncClient, nodes: dict[str, UUID], path: str) -> None:
    ends = starts(path)
    assert (await refused(ada, path, **ends, type="LIVES_UNDER"))[:2] == (400, "type_unknown")
    assert (await refused(ada, path, **ends, type="KNOWS\0"))[:2] == (400, "invalid_text")
    for field in ("as_of", "known_at"):
        for wrong in ("yesterday", "", "0001-01-01", "10000-01-01", "2026-02-30", "2026-01-01\0"):
            status, code, problem = await refused(ada, path, **ends, **{field: wrong})
            assert (status, code, problem["field"]) == (400, "invalid_time", field), wrong
    assert (await refused(ada, path, **ends, known_at="2999-01-01"))[:2] == (400, "invalid_time")


@pytest.mark.parametrize("path", ["/neighbourhood", "/subgraph", "/paths", "/paths?from=Ada", "/paths?to=Ada"])
async def test_a_start_is_needed(ada: httpx.AsyncClient, path: str) -> None:
    assert (await refused(ada, path))[:2] == (400, "invalid_request")


async def test_a_supernode_is_bounded(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    me = await find_node(db, owner, "Ada")
    made: list[Operation] = [Node(type="Person", label=f"Friend {n:03}") for n in range(300)]
    know = [
        Edge(from_node=me, type="KNOWS", to_node=n, fact=f"Ada knows {n}.", weight=(n + 1) / 300) for n in range(300)
    ]
    await history.write(db, owner, [*made, *know], asserted_by="tests")
    few = await walked(ada, "/neighbourhood", node="Ada", fan_out=3)
    assert (labels(few), few["truncated"]) == (["Ada", "Friend 297", "Friend 298", "Friend 299"], True)
    some = await walked(ada, "/neighbourhood", node="Ada", fan_out=500, limit=100)
    assert (len(some["nodes"]), some["truncated"]) == (100, True)
    everyone = await walked(ada, "/neighbourhood", node="Ada", fan_out=500, limit=2000)
    assert (len(everyone["nodes"]), len(everyone["edges"]), everyone["truncated"]) == (301, 300, False)
    through = await walked(ada, "/paths", **{"from": "Friend 001", "to": "Friend 002"})
    assert [node["label"] for node in through["paths"][0]["nodes"]] == ["Friend 001", "Ada", "Friend 002"]
    assert through["complete"] is True


# Ways, counts and pages


async def test_ways(ada: httpx.AsyncClient, nodes: dict[str, UUID]) -> None:
    found = await walked(ada, "/paths", **{"from": "Ines", "to": "Portugal"})
    assert [[node["label"] for node in path["nodes"]] for path in found["paths"]] == [
        ["Ines", "Ada", "Porto", "Portugal"]
    ]
    assert [edge["type"] for edge in found["paths"][0]["edges"]] == ["KNOWS", "LIVES_IN", "LOCATED_AT"]
    short = await walked(ada, "/paths", **{"from": "Ines", "to": "Portugal", "max_hops": 2})
    assert (short["paths"], short["complete"]) == ([], True)
    along = await walked(ada, "/paths", **{"from": "Ines", "to": "Portugal", "side": "from"})
    assert along["paths"] == []
    itself = await walked(ada, "/paths", **{"from": "Ines", "to": "Inês A."})
    assert [(len(path["nodes"]), path["edges"]) for path in itself["paths"]] == [(1, [])]
    drawn = await ada.get("/v1/graph/paths", params={"from": "Ines", "to": "Portugal", "format": "mermaid"})
    assert drawn.text.count("-->") == 3


async def test_counts(ada: httpx.AsyncClient, nodes: dict[str, UUID]) -> None:
    found = await walked(ada, "/stats")
    assert (found["nodes"], found["facts"], found["isolated"]) == (5, 3, 1)
    assert found["edge_types"] == {"KNOWS": 1, "LIVES_IN": 1, "LOCATED_AT": 1}
    assert found["types"] == {"Place": 3, "Person": 2}
    assert found["most_connected"][0]["node_id"] == str(nodes["Ada"])


async def pages(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    found = [await walked(client, "", **asked)]
    while found[-1]["next_cursor"] is not None:
        assert len(found) < 50
        found.append(await walked(client, "", cursor=found[-1]["next_cursor"], **asked))
    return found


@pytest.mark.parametrize("limit", [1, 2, 500])
async def test_pages_show_everything_once(ada: httpx.AsyncClient, nodes: dict[str, UUID], limit: int) -> None:
    found = await pages(ada, limit=limit)
    edges = [edge["fact"] for page in found for edge in page["edges"]]
    assert sorted(edges) == ["Ada knows Ines.", "Ada lives in Porto.", "Porto lies in Portugal."]
    assert {node["label"] for page in found for node in page["nodes"]} == set(nodes)
    assert all(len(page["edges"]) <= limit for page in found)
    past = [edge["fact"] for page in await pages(ada, limit=limit, as_of="2026-04-01") for edge in page["edges"]]
    assert "Ada lives in Hamburg." in past


async def test_a_page_can_be_drawn_and_goes_on(ada: httpx.AsyncClient, nodes: dict[str, UUID]) -> None:
    asked: dict[str, Any] = {"format": "mermaid", "limit": 1}
    drawn = []
    while True:
        answer = await ada.get("/v1/graph", params=asked)
        assert answer.text.startswith("flowchart LR\n")
        drawn.append(answer.text)
        if "X-Next-Cursor" not in answer.headers:
            break
        asked["cursor"] = answer.headers["X-Next-Cursor"]
    assert sum(text.count("-->") for text in drawn) == 3


async def test_a_user_without_facts_has_a_graph(ada: httpx.AsyncClient) -> None:
    assert [labels(page) for page in await pages(ada)][-1] == ["Ada"]
    found = await walked(ada, "/neighbourhood", node="me", hops=4)
    assert (labels(found), found["edges"], found["truncated"]) == (["Ada"], [], False)
    for form in ("mermaid", "graphml", "dot"):
        answer = await ada.get("/v1/graph", params={"format": form})
        assert answer.status_code == 200


# Formats


@pytest.mark.parametrize(
    ("form", "media_type", "begins"),
    [
        ("json", "application/json", "{"),
        ("graphml", "application/graphml+xml", "<?xml"),
        ("mermaid", "text/vnd.mermaid; charset=utf-8", "flowchart LR"),
        ("dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
    ],
)
async def test_formats_by_parameter_and_by_header(
    ada: httpx.AsyncClient, nodes: dict[str, UUID], form: str, media_type: str, begins: str
) -> None:
    asked = {"node": "Ada"}
    by_name = await ada.get(
        "/v1/graph/neighbourhood", params={**asked, "format": form}, headers={"Accept": "text/html"}
    )
    by_header = await ada.get("/v1/graph/neighbourhood", params=asked, headers={"Accept": media_type.partition(";")[0]})
    for answer in (by_name, by_header):
        assert answer.headers["Content-Type"] == media_type
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Accept" in answer.headers["Vary"]
        assert answer.text.startswith(begins)
        assert "Porto" in answer.text
    assert by_name.content == by_header.content


@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xml;q=0.9,*/*;q=0.8", "image/png", "", "nonsense"])
async def test_whoever_accepts_something_else_gets_json(
    ada: httpx.AsyncClient, nodes: dict[str, UUID], accept: str
) -> None:
    answer = await ada.get("/v1/graph/neighbourhood", params={"node": "Ada"}, headers={"Accept": accept})
    assert answer.headers["Content-Type"] == "application/json"
    assert labels(answer.json()) == ["Ada", "Ines", "Porto", "Portugal"]


async def test_a_hostile_label_stays_a_label(ada: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    label = '"] --> n9["<script>alert(1)</script>]]>&\n%%{init: {}}%%'
    me = await find_node(db, owner, "Ada")
    batch = [Node(type="Concept", label=label), Edge(from_node=me, type="LIKES", to_node=0, fact=label)]
    await history.write(db, owner, batch, asserted_by="tests")
    found = await walked(ada, "/neighbourhood", node=label, hops=0)
    assert labels(found) == [label]
    drawn = {
        form: (await ada.get("/v1/graph/neighbourhood", params={"node": "Ada", "format": form})).text
        for form in ("mermaid", "graphml", "dot")
    }
    assert "<script>" not in "".join(drawn.values())
    assert "%%" not in drawn["mermaid"]
    assert drawn["mermaid"].count("-->") == drawn["dot"].count("->") - drawn["dot"].count("-->") == 1


# Anything


ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["Ada", "always", "KNOWS", "2026-01-01", "json", "0", "1", "edges", "nodes.1", "%", "'", "\0", "\ud7ff"]
)


@settings(max_examples=some_of(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["", "/neighbourhood", "/subgraph", "/paths", "/stats", "/conversation"]),
    asked=st.dictionaries(
        st.sampled_from(
            [
                "node",
                "conversation",
                "from",
                "to",
                "type",
                "side",
                "as_of",
                "known_at",
                "format",
                "cursor",
                "hops",
                "limit",
            ]
        ),
        ANYTHING | st.lists(ANYTHING, max_size=3),
        max_size=6,
    ),
)
async def test_whatever_is_asked_has_an_answer(ada: httpx.AsyncClient, path: str, asked: dict[str, Any]) -> None:
    answer = await ada.get(f"/v1/graph{path}", params={**starts(path), **asked})
    assert answer.status_code in {200, 400, 404, 409}, answer.text
    if answer.status_code != 200:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] in {
            "invalid_request", "invalid_text", "invalid_alias", "invalid_time", "type_unknown", "node_unknown",
            "node_ambiguous", "bad_cursor", "conversation_unknown",
        }  # fmt: skip


@pytest.mark.parametrize(
    "asked", ["node=%FF", "node=%ED%A0%80", "node=Ada&type=%FF", "node=Ada&cursor=%FF", "node&node="]
)
async def test_bytes_that_are_no_text_are_refused(ada: httpx.AsyncClient, asked: str) -> None:
    answer = await ada.get(f"/v1/graph/neighbourhood?{asked}")
    assert answer.status_code in {400, 404}, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
