"""Plans of the views for people, as their login gets them: what a question is about is found by index.

One user with 20,000 messages and 10,000 facts beside another with as many.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_history_plans import FILL
from tests.sql.test_plans import walk
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]

MESSAGES, NODES, EDGES = 20_000, 2_000, 20_000
LABELS = """
INSERT INTO memsvc.node_versions (user_id, node_id, type, label)
SELECT n.user_id, n.node_id, 'Person', 'Person ' || row_number() OVER (ORDER BY n.node_id)
FROM memsvc.nodes AS n WHERE n.user_id = %(user)s
"""
LINKS = """
INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, asserted_by, recorded_from)
SELECT v.user_id, p.passage_id, v.version_id, 'bulk', v.recorded_from
FROM (SELECT *, row_number() OVER () AS nth FROM memsvc.edge_versions WHERE user_id = %(user)s) AS v
INNER JOIN memsvc.passages AS p ON p.user_id = v.user_id AND p.ordinal = v.nth
"""
MERGES = """
INSERT INTO memsvc.merges (user_id, node_id, canonical_id, asserted_by, recorded_from)
SELECT n.user_id, n.node_id, n.before, 'bulk', '2025-01-01'
FROM (SELECT user_id, node_id, lag(node_id) OVER w AS before, row_number() OVER w AS nth FROM memsvc.nodes
  WHERE user_id = %(user)s WINDOW w AS (ORDER BY node_id)) AS n
WHERE n.nth BETWEEN 2 AND 41
"""


@pytest.fixture(scope="module")
def reader(scratch: Scratch, settings: Settings) -> Iterator[psycopg.Connection]:
    """A session of memsvc_reader, bound to one of the two users."""
    url = scratch("view_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        app_id = value(connection, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'Europe/Berlin', 'english')"
        users: list[UUID] = [value(connection, make, [app_id, name]) for name in ("a", "b")]
        index = value(connection, "SELECT pg_get_indexdef('memsvc.passages_words'::regclass)")
        connection.execute("DROP INDEX memsvc.passages_words")
        connection.execute("SET session_replication_role = replica")  # no view reads what triggers write of each row
        for user in users:
            fill(connection, user, MESSAGES, conversations=50)
            connection.execute(FILL.encode(), {"user": user, "nodes": NODES, "edges": EDGES})
            connection.execute("ANALYZE")  # else each of the links would be looked for among all passages
            for statement in (LABELS, LINKS, MERGES):
                connection.execute(statement.encode(), {"user": user})
        connection.execute(index)
        connection.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET SESSION AUTHORIZATION memsvc_reader")
        for setting, wanted in (("jit", "off"), ("plan_cache_mode", "force_custom_plan"), ("search_path", "memsvc")):
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        token = Signer(settings.secret("identity_secret").encode(), 3600).token(users[0])
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
        yield connection


def plan(reader: psycopg.Connection, statement: str) -> list[dict[str, Any]]:
    """The nodes of a statement's plan; the statement must give rows."""
    assert reader.execute(statement.encode()).fetchone() is not None, statement
    found = value(reader, f"EXPLAIN (FORMAT JSON) {statement}")
    told = found if isinstance(found, list) else json.loads(found)
    return list(walk(told[0]["Plan"]))


def conditions(nodes: list[dict[str, Any]], table: str) -> str:
    """All conditions by which a table's indexes are searched; Seq Scan is one."""
    return " ".join(
        node.get("Index Cond", node["Node Type"])
        for node in nodes
        if node.get("Relation Name") == table
        or (node["Node Type"] == "Bitmap Index Scan" and node["Index Name"].startswith(f"{table}_"))
    )


@pytest.mark.parametrize(
    ("statement", "table", "by"),
    [
        ("SELECT * FROM facts_current WHERE subject = 'Person 108' LIMIT 20", "edge_versions", "from_node = "),
        ("SELECT * FROM facts_current WHERE object = 'Person 109' LIMIT 20", "edge_versions", "to_node = "),
        ("SELECT * FROM facts_current WHERE subject = 'Person 108' LIMIT 20", "source_links", "edge_version_id = "),
        ("SELECT * FROM people WHERE name = 'Person 108'", "edge_versions", "from_node = ANY"),
        (
            "SELECT * FROM timeline WHERE at >= '2026-01-05' AND at < '2026-01-12' ORDER BY at LIMIT 50",
            "passages", "said_at >= ",
        ),
        ("SELECT * FROM daily_activity WHERE day BETWEEN '2026-01-05' AND '2026-01-11'", "passages", "said_at < "),
        ("SELECT * FROM sources_status WHERE identifier = 'bulk 7'", "passages", "source_id = "),
    ],
)  # fmt: skip
def test_a_question_about_little_reads_little(reader: psycopg.Connection, statement: str, table: str, by: str) -> None:
    found = conditions(plan(reader, statement), table)
    assert by in found, found
    assert "Seq Scan" not in found, found


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM facts_current",
        "SELECT count(*) FROM facts_current WHERE messages = 1",
        "SELECT count(*) FROM facts_history WHERE state = 'retracted'",
    ],
)
def test_a_question_about_everything_compares_no_node_with_every_fact(
    reader: psycopg.Connection, statement: str
) -> None:
    """Else it takes minutes: 2,000 nodes times 20,000 facts; the planner's guess of rows must not be far too low."""
    told = value(reader, f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
    for node in walk(told[0]["Plan"]):
        assert node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"] < NODES * EDGES / 10, node
