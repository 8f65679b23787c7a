"""What is read of a query before AGE gets it."""

from __future__ import annotations

import tracemalloc

import pytest

from memsvc.errors import CypherPathsOffError, CypherReadsOnlyError, CypherRefusedError, MemsvcError
from memsvc.graph.agtype import as_json
from memsvc.graph.cypher_text import returned


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("MATCH (n) RETURN n", ["n"]),
        ("MATCH (n) RETURN n.name AS name, count(*)", ["name", "count(*)"]),
        ("match (a)-[e]->(b) return distinct a.name, [e.fact, b.name] as `two things` order by a.name limit 3;",
         ["a.name", "two things"]),
        ("MATCH (n) WITH n RETURN n.name UNION ALL MATCH (m) RETURN m.name AS other", ["other"]),
        ("RETURN 'a, b' AS x, \"RETURN\" AS y // , z", ["x", "y"]),
        ("MATCH (n) WHERE EXISTS((n)-[]->()) RETURN CASE WHEN n.x = 1 THEN 'a' ELSE 'b' END AS z /* RETURN 1, 2 */",
         ["z"]),
        ("UNWIND [1, 2] AS x RETURN x * 2, {set: x, create: 1}.set", ["x * 2", "{set: x, create: 1}.set"]),
    ],
)  # fmt: skip
def test_the_columns_of_a_query(query: str, columns: list[str]) -> None:
    assert returned(query) == columns


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("MATCH (n)", CypherRefusedError),
        ("MATCH (n) RETURN *", CypherRefusedError),
        ("MATCH (n) RETURN 'open", CypherRefusedError),
        ("MATCH (n RETURN n", CypherRefusedError),
        ("MATCH (n]) RETURN n", CypherRefusedError),
        ("MATCH (n) RETURN n /* open", CypherRefusedError),
        ("MATCH (n) RETURN " + ", ".join("n" for _ in range(101)), CypherRefusedError),
        ("MATCH (a)-[*]->(b) RETURN b", CypherPathsOffError),
        ("MATCH (a)-[e:KNOWS*1..3 {x: 1}]->(b) RETURN b", CypherPathsOffError),
        ("MATCH p = shortestPath((a)-[]->(b)) RETURN p", CypherPathsOffError),
        ("CREATE (n) RETURN n", CypherReadsOnlyError),
        ("MATCH (n) SET n.x = 1 RETURN n", CypherReadsOnlyError),
        ("MATCH (n) DETACH DELETE n RETURN 1", CypherReadsOnlyError),
        ("MATCH (n) RETURN pg_sleep(5)", CypherRefusedError),
        ("MATCH (n) RETURN `pg_sleep`(5)", CypherRefusedError),
        ("MATCH (n) RETURN `where`(5)", CypherRefusedError),
        ("MATCH (n) RETURN pg_catalog.pg_sleep /* */ (5)", CypherRefusedError),
        ("MATCH (n) RETURN pg_catalog.`abs` (5)", CypherRefusedError),
        ("CALL pg_sleep(5) YIELD x RETURN x", CypherRefusedError),
    ],
)
def test_what_is_refused(query: str, error: type[MemsvcError]) -> None:
    with pytest.raises(error):
        returned(query)


def test_a_multiplication_in_an_index_is_no_path() -> None:
    assert returned("MATCH (a)-[e {w: 2 * 3}]->(b) RETURN [2 * 3][0]") == ["[2 * 3][0]"]


def test_values_of_age_as_json() -> None:
    vertex = '{"id": 844424930131990, "label": "Person", "properties": {"name": "x::vertex \\"::edge"}}::vertex'
    edge = '{"id": 1, "label": "KNOWS", "end_id": 2, "start_id": 3, "properties": {}}::edge'
    found = as_json(f"[{vertex}, {edge}]::path")
    assert found[0] == {
        "id": "844424930131990", "label": "Person", "properties": {"name": 'x::vertex "::edge'},
    }  # fmt: skip
    assert found[1] == {"id": "1", "label": "KNOWS", "end_id": "2", "start_id": "3", "properties": {}}
    assert as_json('[1.5, 3::numeric, 9007199254740993, Infinity, -Infinity, NaN, true, null, "\\u00e9"]') == [
        1.5, 3, "9007199254740993", "Infinity", "-Infinity", "NaN", True, None, "é",
    ]  # fmt: skip
    assert as_json(None) is None
    assert as_json("1" * 5_000) == "1" * 5_000


def test_a_long_string_costs_little_memory() -> None:
    tracemalloc.start()
    long = "x\\u0001" * 500_000
    assert len(as_json(f'"{long}"')) == 1_000_000
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
