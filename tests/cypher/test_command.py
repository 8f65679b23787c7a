"""``memsvc cypher`` as a person meets it: a table or JSON of one user's graph, and a clear error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from uuid import UUID

import pytest

from memsvc.cli.cypher import in_words
from memsvc.db.engine import Database
from memsvc.graph.history import assert_facts
from memsvc.graph.operations import Edge, Node
from memsvc.settings import Settings
from tests.cypher.test_cypher import Ask

Run = Callable[..., "subprocess.CompletedProcess[str]"]
EVIL = "red \x1b[31mherring\r\nand a second line"


@pytest.fixture
async def run(asker: Ask, cypher_db: Database, cypher_url: str, cypher_settings: Settings) -> Run:
    """Runs ``memsvc cypher`` for Jo, who knows Kim."""
    jo = await asker("Jo")
    [[self]] = await jo.rows("MATCH (n:Person) RETURN n.id")
    facts: list[Node | Edge] = [
        Node(type="Person", label="Kim", description=EVIL),
        Edge(from_node=UUID(self), type="KNOWS", to_node=0, fact="Jo knows Kim."),
    ]
    await assert_facts(cypher_db, jo.owner, facts, asserted_by="tests")
    environment = os.environ | {
        "MEMSVC_DATABASE_URL": cypher_url, "MEMSVC_DATA_DIR": str(cypher_settings.data_dir), "MEMSVC_CYPHER": "on",
    }  # fmt: skip

    def run(*arguments: str, told: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memsvc.cli", "cypher", "--app", "tests", "--user", str(jo.owner.user_id)]
        return subprocess.run(
            [*command, *arguments], env=environment, input=told, capture_output=True, text=True, check=False
        )

    return run


def test_a_query_needs_no_wrapper_and_prints_a_table(run: Run) -> None:
    shown = run("MATCH (a)-[e:KNOWS]->(b) RETURN a, e, b.name AS whom, b.description AS about")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[1:] == [
        "(:Person Jo)  [:KNOWS Jo knows Kim.]  Kim   red \N{REPLACEMENT CHARACTER}[31mherring  and a second line"
    ]


def test_json_and_parameters_and_standard_input(run: Run) -> None:
    query = "MATCH (p:Person) WHERE p.name <> $who RETURN p.name, $ages AS ages"
    answer = run("-", "--param", "who=Jo", "--param", "ages=[1, 2]", "--json", told=query)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == {
        "columns": ["p.name", "ages"], "rows": [["Kim", [1, 2]]], "truncated": False,
    }  # fmt: skip
    cut = run("MATCH (p:Person) RETURN p.name", "--limit", "1")
    assert len(cut.stdout.splitlines()) == 2
    assert "There are more rows" in cut.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["CREATE (n:Person) RETURN n"], "CREATE changes something"),
        (["MATCH (n RETURN n"], "is not closed"),
        (["RETURN 1", "--param", "one"], "name=Ines"),
    ],
)
def test_what_is_not_a_query_is_refused_with_its_reason(run: Run, arguments: list[str], says: str) -> None:
    refused = run(*arguments)
    assert refused.returncode == 2
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not refused.stdout


def test_vertices_edges_and_paths_are_written_as_in_cypher() -> None:
    vertex = {"id": "1", "label": "Turn", "properties": {"request": "Fix it.", "ok": True}}
    edge = {"id": "2", "label": "TOOL_CALL", "start_id": "1", "end_id": "1", "properties": {"tool": "bash"}}
    assert in_words([vertex, edge, vertex]) == "(:Turn Fix it.)-[:TOOL_CALL bash]-(:Turn Fix it.)"
    assert in_words({"label": "not", "one": "of them"}) == {"label": "not", "one": "of them"}
    assert in_words([1, "a"]) == [1, "a"]
