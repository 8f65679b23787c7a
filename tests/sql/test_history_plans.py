"""Plans of the graph's reads as the application's role gets them, in a graph of 20,000 versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.files import query
from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.test_plans import Plans, walk
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]

NODES, EDGES = 2_000, 20_000
CURRENT = {"edge_versions_from", "edge_versions_to", "edge_versions_walk_from", "edge_versions_walk_to"}
"""Indexes of open versions by either end."""
KINDS = ("node", "node_version", "edge_version", "alias", "location", "merge")
"""What a passage can support, as the indexes of source_links are called."""
FILL = """
WITH made AS (
  INSERT INTO memsvc.nodes (user_id) SELECT %(user)s FROM generate_series(1, %(nodes)s) RETURNING node_id
),
node AS (SELECT node_id, row_number() OVER () - 1 AS nth FROM made),
edge AS (
  INSERT INTO memsvc.edges (user_id, from_node, type, to_node, key)
  SELECT %(user)s, a.node_id, 'RELATED_TO', b.node_id, n::text
  FROM generate_series(1, %(edges)s) AS n
  INNER JOIN node AS a ON a.nth = n %% %(nodes)s
  INNER JOIN node AS b ON b.nth = (n * 7 + 1) %% %(nodes)s
  RETURNING edge_id, from_node, type, to_node, key::integer AS n
)
INSERT INTO memsvc.edge_versions (
  user_id, edge_id, from_node, type, to_node, functional, fact, asserted_by, recorded_from, recorded_to
)
SELECT %(user)s, e.edge_id, e.from_node, e.type, e.to_node, false, 'x', 'bulk', '2025-01-01',
  CASE WHEN n %% 2 = 0 THEN timestamptz '2026-01-01' ELSE 'infinity' END
FROM edge AS e
"""

TYPED = """
INSERT INTO memsvc.node_versions (user_id, node_id, type, label, data)
SELECT n.user_id, n.node_id, CASE WHEN n.gid % 4 = 0 THEN 'Note' ELSE 'Place' END, 'x', '{"tags": ["t"]}'
FROM memsvc.nodes AS n
"""


@pytest.fixture(scope="module")
def graph(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID, UUID]]:
    """Collected plans, a user and a node of it."""
    url = scratch("graph_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        app_id = value(connection, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(connection, make, [app_id, f"user {n}"]) for n in range(3)]
        for user in users:
            size = 1 if user == users[0] else 20
            connection.execute(FILL.encode(), {"user": user, "nodes": NODES // size, "edges": EDGES // size})
        connection.execute(TYPED.encode())
        connection.execute("VACUUM ANALYZE")
        node = value(connection, "SELECT node_id FROM memsvc.nodes WHERE user_id = %s LIMIT 1", [users[0]])
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, users, Signer(settings.secret("identity_secret").encode(), 3600))
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected, users[0], node


def test_what_is_known_now_is_read_from_the_partial_indexes(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, node = graph
    plans.act_for(user)
    assert value(plans.connection, "SELECT count(*) FROM memsvc.facts(%s, ARRAY[%s])", [user, node]) > 5
    used = plans.indexes("edge_versions")
    assert set(used) - {"Bitmap Heap Scan"} <= CURRENT
    assert {name.rpartition("_")[2] for name in used} >= {"from", "to"}
    assert all("node = ANY" in cond for name, cond in used.items() if name != "Bitmap Heap Scan")


def test_marks_of_facts_are_read_at_once(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, node = graph
    for known_at in (None, "2025-06-01"):
        plans.act_for(user)
        call = "SELECT count(*) FROM memsvc.facts(%s, ARRAY[%s], NULL, NULL, %s)"
        assert value(plans.connection, call, [user, node, known_at]) > 5
        scans = [scan for scan in plans.scans("source_links") if scan["Node Type"] != "Bitmap Heap Scan"]
        assert [scan["Index Name"] for scan in scans] == ["source_links_of_edge_version"]


def test_what_was_known_is_read_from_indexes_too(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, node = graph
    plans.act_for(user)
    call = "SELECT count(*) FROM memsvc.facts(%s, ARRAY[%s], NULL, NULL, '2025-06-01')"
    assert value(plans.connection, call, [user, node]) == 20
    used = set(plans.indexes("edge_versions")) - {"Bitmap Heap Scan"}
    assert used - CURRENT == {"edge_versions_past_from", "edge_versions_past_to"}
    assert used & CURRENT


def test_when_nodes_were_seen_is_read_from_indexes(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, node = graph
    for known_at in (None, "2025-06-01"):
        plans.act_for(user)
        call = "SELECT count(*) FROM memsvc.nodes_seen(%s, ARRAY[%s::uuid], %s)"
        assert value(plans.connection, call, [user, node, known_at]) == 1
        for table in ("edge_versions", "node_versions", "aliases", "locations", "merges", "source_links", "passages"):
            assert "Seq Scan" not in plans.indexes(table), table
        links = {name for name in plans.indexes("source_links") if name != "Bitmap Heap Scan"}
        assert links == {f"source_links_of_{kind}" for kind in KINDS}
        assert "Nested Loop" not in {
            inner["Node Type"] for plan in plans.seen if "said_at" in str(plan) for inner in walk(plan)
        }


def test_writing_looks_versions_up_by_key(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, node = graph
    plans.act_for(user)
    operations = (
        '[{"position": 0, "op": "edge", "from_node": "%s", "type": "RELATED_TO", "to_node": "%s", "fact": "x"}]'
    )
    with plans.connection.transaction(force_rollback=True):
        plans.connection.execute("SELECT * FROM memsvc.write_history(%s, 'x', %s)", [user, operations % (node, node)])
    for table in ("edge_versions", "edges", "nodes"):
        assert "Seq Scan" not in plans.indexes(table), table
        assert plans.indexes(table), table


def test_types_are_counted_and_notes_listed_without_reading_what_others_have(graph: tuple[Plans, UUID, UUID]) -> None:
    plans, user, _ = graph
    plans.act_for(user)
    assert value(plans.connection, "SELECT sum(nodes) FROM memsvc.count_nodes(%s)", [user]) == NODES
    assert "Seq Scan" not in plans.indexes("node_versions")
    plans.act_for(user)
    assert value(plans.connection, "SELECT sum(facts) FROM memsvc.count_facts(%s)", [user]) == EDGES // 2
    assert "Seq Scan" not in plans.indexes("edge_versions")
    plans.act_for(user)
    asked = dict.fromkeys(("note_id", "after", "kind", "tag", "q", "among", "beyond"))
    listed = re.sub(r":(\w+)", r"%(\1)s", query("notes").text)
    rows = plans.connection.execute(listed.encode(), asked | {"user_id": user, "limit": 10}).fetchall()
    assert len(rows) == 10
    assert set(plans.indexes("node_versions")) == {"node_versions_of_type"}
    assert "Sort" not in {node["Node Type"] for plan in plans.seen for node in walk(plan)}
