"""POST /v1/graph/cypher: what it answers, and what it says to what it does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest

from memsvc.db.engine import Database
from memsvc.graph.history import assert_facts, merge
from memsvc.graph.operations import Edge, Node
from tests.cypher.conftest import Asker

Ask = Callable[[str], Awaitable[Asker]]


@pytest.fixture
async def ines(asker: Ask, cypher_db: Database) -> Asker:
    """Ines, who knows Jo in Porto."""
    ines = await asker("Ines")
    [[self]] = await ines.rows("MATCH (n:Person) RETURN n.id")
    await assert_facts(
        cypher_db,
        ines.owner,
        [
            Node(type="Person", label="Jo", data={"age": 41, "tags": ["x", None]}),
            Node(type="Place", label="Porto"),
            Edge(from_node=UUID(self), type="KNOWS", to_node=0, fact="Ines knows Jo."),
            Edge(
                from_node=0, type="LIVES_IN", to_node=1, fact="Jo lives in Porto.", confidence=0.5,
                valid_from=datetime(2024, 5, 1, tzinfo=UTC),
            ),
        ],
        asserted_by="tests",
    )  # fmt: skip
    return ines


async def test_a_question_is_answered_with_columns_and_rows(ines: Asker) -> None:
    answer = await ines.post(
        "MATCH (p:Person)-[e:LIVES_IN]->(c:Place) WHERE p.name = $who "
        "RETURN p.name, c.name AS place, e.valid_from AS since, e.confidence AS sure",
        {"who": "Jo"},
    )
    assert answer.json() == {
        "columns": ["p.name", "place", "since", "sure"],
        "rows": [["Jo", "Porto", "2024-05-01T00:00:00.000000Z", 0.5]],
        "truncated": False,
    }


async def test_every_example_of_the_documentation_is_answered(ines: Asker) -> None:
    document = (await ines.client.get("/schema/openapi.json")).json()
    operation = document["paths"]["/v1/graph/cypher"]["post"]
    assert operation["operationId"] == "askCypher"
    examples = operation["requestBody"]["content"]["application/json"]["schema"]["examples"]
    assert len(examples) > 1
    for example in examples:
        answer = await ines.client.post("/v1/graph/cypher", json=example)
        assert answer.status_code == 200, (example, answer.text)


async def test_vertices_edges_paths_and_properties(ines: Asker) -> None:
    [[node, edge, path]] = await ines.rows("MATCH p = (a:Person {name: 'Jo'})-[e]->(b) RETURN a, e, p")
    assert (node["label"], node["properties"]["type"], node["properties"]["name"]) == ("Person", "Person", "Jo")
    assert node["properties"]["data"] == {"age": 41, "tags": ["x", None]}
    assert (edge["label"], edge["properties"]["fact"]) == ("LIVES_IN", "Jo lives in Porto.")
    assert (edge["start_id"], path[1], path[0]) == (node["id"], edge, node)


async def test_two_hops_begin_at_a_node_by_its_id(ines: Asker) -> None:
    [[self]] = await ines.rows("MATCH (n:Person {name: 'Ines'}) RETURN n.id")
    query = "MATCH (a:Person {id: $id})-[:KNOWS]->(b)-[:LIVES_IN]->(c) RETURN b.name, c.name"
    assert await ines.rows(query, id=self) == [["Jo", "Porto"]]
    assert await ines.rows("MATCH (a {id: $id}) RETURN a.name", id=self) == [["Ines"]]


async def test_merged_nodes_are_the_one_that_stands_for_them(ines: Asker, cypher_db: Database) -> None:
    made = await assert_facts(cypher_db, ines.owner, [Node(type="Person", label="Joana")], asserted_by="tests")
    joana = made.results[0].node_id
    jo = (await ines.rows("MATCH (n:Person {name: 'Jo'}) RETURN n.id"))[0][0]
    assert joana is not None
    await merge(cypher_db, ines.owner, UUID(jo), joana, asserted_by="tests")
    query = "MATCH (a)-[:KNOWS]->(b)-[:LIVES_IN]->(c) RETURN a.name, b.name, c.name"
    assert await ines.rows(query) == [["Ines", "Joana", "Porto"]]
    assert await ines.rows("MATCH (n:Person) RETURN n.name ORDER BY n.name") == [["Ines"], ["Joana"]]


async def test_rows_have_a_limit(ines: Asker) -> None:
    answer = await ines.post("UNWIND [1, 2, 3] AS x RETURN x", limit=2)
    assert (answer.json()["rows"], answer.json()["truncated"]) == ([[1], [2]], True)
    assert not (await ines.post("UNWIND [1, 2, 3] AS x RETURN x", limit=3)).json()["truncated"]


async def test_a_large_answer_is_truncated_on_the_server(ines: Asker) -> None:
    long = "x" * 900_000
    answer = await ines.post("UNWIND [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] AS n RETURN n, $long", {"long": long})
    found = answer.json()
    assert found["truncated"]
    assert 1 < len(found["rows"]) < 10


@pytest.mark.parametrize("text", ["$$", "'", '"', "\\", "%s %(x)s %", ":name", "$1", "`", "ünï", "a\nb", "--", "/*"])
async def test_parameters_are_values_whatever_they_say(ines: Asker, text: str) -> None:
    assert await ines.rows("RETURN $text AS text, '%s :x' AS percent", text=text) == [[text, "%s :x"]]


@pytest.mark.parametrize("text", ["$$ $$", "%s %% %(x)s", ":name", "--", "$cypher$"])
async def test_text_in_a_query_is_text(ines: Asker, text: str) -> None:
    assert await ines.rows(f"RETURN '{text}' AS text") == [[text]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("MATCH (n RETURN n", "cypher_refused"),
        ("MATCH (n) WHERE RETURN n", "cypher_refused"),
        ("MATCH (n) RETURN m", "cypher_refused"),
        ("RETURN 1 / 0", "cypher_refused"),
        ("RETURN $missing", ""),
        ("MATCH (n) $$) AS (a agtype); SELECT 1; -- RETURN n", "cypher_refused"),
        ("RETURN 1 $$, NULL) AS (c0 ag_catalog.agtype); --", "cypher_refused"),
        ("MATCH (n)-[*1..3]->(m) RETURN m", "cypher_paths_off"),
        ("MATCH (n) SET n.name = 'x' RETURN n", "cypher_reads_only"),
        ("MATCH (n:Nothing) RETURN n", ""),
        (" ".join(f"UNWIND [1,2,3,4,5,6,7,8,9,10] AS x{n}" for n in range(8)) + " RETURN count(*)", "cypher_too_slow"),
        ("RETURN " + "[" * 5000 + "]" * 5000, "cypher_refused"),
    ],
)  # fmt: skip
async def test_what_cannot_be_answered_has_a_code(ines: Asker, query: str, code: str) -> None:
    if code:
        assert await ines.code(query) == code
    else:
        assert (await ines.post(query)).status_code == 200
    assert await ines.rows("RETURN 1") == [[1]]


async def test_bad_bodies_are_refused(ines: Asker) -> None:
    for body in ({}, {"query": ""}, {"query": "RETURN 1", "limit": 0}, {"query": "x" * 20_001},
                 {"query": "RETURN 1", "parameters": []}, {"query": "RETURN 1\x00"}):  # fmt: skip
        answer = await ines.client.post("/v1/graph/cypher", json=body)
        assert answer.status_code == 400, body
