"""Plans of extraction's statements as the application's role gets them: 6,000 messages, 3,000 nodes and their facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.db.files import query
from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_plans import Plans, walk
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]

MESSAGES, NODES, CONVERSATIONS = 6_000, 3_000, 3
# Every node is liked by the first one; each fact and each node has a message of its own.
GRAPH = """
WITH made AS (
  INSERT INTO memsvc.nodes (user_id) SELECT %(user)s FROM generate_series(1, %(nodes)s) RETURNING node_id
),
node AS MATERIALIZED (SELECT node_id, row_number() OVER (ORDER BY node_id) AS nth FROM made),
label AS (
  INSERT INTO memsvc.node_versions (user_id, version_id, node_id, type, label, label_form, recorded_from)
  SELECT %(user)s, n.node_id, n.node_id, 'Person', 'w' || n.nth, 'w' || n.nth, now() FROM node AS n
),
name AS (
  INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by)
  SELECT %(user)s, n.node_id, 'I', 'i', 'user' FROM node AS n WHERE n.nth = 1
),
edge AS (
  INSERT INTO memsvc.edges (user_id, edge_id, from_node, type, to_node)
  SELECT %(user)s, n.node_id, f.node_id, 'LIKES', n.node_id FROM node AS n INNER JOIN node AS f ON f.nth = 1
),
fact AS (
  INSERT INTO memsvc.edge_versions (
    user_id, version_id, edge_id, from_node, type, to_node, functional, fact, asserted_by, recorded_from
  )
  SELECT %(user)s, n.node_id, n.node_id, f.node_id, 'LIKES', n.node_id, false, 'likes', 'old/1', now()
  FROM node AS n INNER JOIN node AS f ON f.nth = 1
)
INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, asserted_by, recorded_from)
SELECT %(user)s, p.passage_id, n.node_id, 'old/1', now()
FROM node AS n
INNER JOIN (
  SELECT passage_id, row_number() OVER (ORDER BY passage_id) AS nth FROM memsvc.passages WHERE user_id = %(user)s
) AS p ON p.nth = n.nth
"""


@pytest.fixture(scope="module")
def plans(scratch: Scratch, settings: Settings) -> Iterator[Plans]:
    """Collected plans of two users of the same size."""
    url = scratch("extraction_plans")
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(admin, make, [app_id, f"user {n}"]) for n in range(2)]
        for user in users:
            fill(admin, user, MESSAGES, conversations=CONVERSATIONS)
            with admin.transaction():  # constraints of the history are checked elsewhere
                admin.execute("SET LOCAL session_replication_role = replica")
                admin.execute(GRAPH.encode(), {"user": user, "nodes": NODES})
            admin.execute(
                "INSERT INTO memsvc.extractions (user_id, source_id, extractor, backend, turns, upto) "
                "SELECT user_id, source_id, x, x, 1, min(passage_id::text)::uuid FROM memsvc.passages "
                "CROSS JOIN unnest('{old/1,new/1}'::text[]) AS x WHERE user_id = %s GROUP BY user_id, source_id, x",
                [user],
            )
            admin.execute(
                "INSERT INTO memsvc.fact_reviews (user_id, passage_id, extractor, state, reason, proposal, digest) "
                "SELECT user_id, passage_id, 'old/1', CASE WHEN ordinal %% 10 = 0 THEN 'doubtful' ELSE 'refused' END, "
                "'quote', '{}', sha256(text::bytea) FROM memsvc.passages WHERE user_id = %s",
                [user],
            )
        admin.execute("VACUUM ANALYZE")
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
        yield collected


def values_of(plans: Plans, user: UUID) -> dict[str, Any]:
    """A value for whatever the statements ask."""
    plans.act_for(user)
    some = "SELECT array_agg(passage_id) FROM (SELECT * FROM memsvc.passages WHERE user_id = %s LIMIT 12) AS p"
    nodes = "SELECT array_agg(node_id) FROM (SELECT * FROM memsvc.nodes WHERE user_id = %s ORDER BY node_id LIMIT 9) n"
    passages, known = value(plans.connection, some, [user]), value(plans.connection, nodes, [user])
    source = value(plans.connection, "SELECT min(source_id::text)::uuid FROM memsvc.sources WHERE user_id = %s", [user])
    return {
        "user_id": user, "source_id": source, "extractor": "new/1", "backend": "new/1", "before": passages[:6],
        "limit": 12, "text": "W7 and w8 met w9 in w10.", "speakers": ["W11"], "passages": passages, "near": 10,
        "nodes": known, "from_nodes": [known[0]] * 9, "types": ["LIKES"] * 9, "to_nodes": known,
        "others": ["old/1"], "versions": known, "upto": passages[-1], "recorded_at": datetime.now(UTC),
        "since": datetime(2026, 1, 2, tzinfo=UTC), "after_source": None, "after_extractor": None, "after": None,
        "state": "doubtful", "review_id": None, "turns": 1, "facts": 1, "refused": 1, "asked": True,
        "left_out": ["mail"],
    }  # fmt: skip


def run(plans: Plans, name: str, user: UUID, **more: Any) -> list[tuple[Any, ...]]:
    """Run a named statement, collect its plans, and take it back."""
    values = {**values_of(plans, user), **more}
    plans.act_for(user)
    statement = re.sub(r"(?<!:):(\w+)", r"%(\1)s", str(query(name).text).replace("\\:", ":"))
    with plans.connection.transaction(force_rollback=True):
        cursor = plans.connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []


LARGE = {
    "passages", "nodes", "node_versions", "aliases", "edges", "edge_versions", "source_links", "fact_reviews",
    "embeddings", "memory_signals",
}  # fmt: skip
NAMED: dict[str, dict[str, Any]] = {
    "turns_to_read": {"before": 6},
    "grounding": {},
    "facts_to_compare": {},
    "nodes_as_known": {},
    "found_by_others_alone": {},
    "read_again": {},
    "rejected_facts": {},
    "retracted_facts": {},
    "ask_reading": {},
    "readers_asked": {},
    "ask_readings": {},
    "end_reading": {},
    "reading_progress": {"source_id": None},
    "reading_totals": {},
    "list_reviews": {"source_id": None},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_no_statement_reads_a_table_of_memories_whole(plans: Plans, name: str) -> None:
    rows = run(plans, name, plans.users[0], **NAMED[name])
    whole = {
        str(node["Relation Name"])
        for plan in plans.seen
        for node in walk(plan)
        if node["Node Type"] == "Seq Scan" and "Relation Name" in node
    }
    assert not whole & LARGE
    assert rows or name in {"end_reading", "read_again", "rejected_facts", "retracted_facts"}


def test_turns_are_read_from_where_reading_stopped(plans: Plans) -> None:
    rows = run(plans, "turns_to_read", plans.users[0], before=6)
    assert [row[-1] for row in rows] == [True] + [False] * 12, "one had been read"
    assert set(plans.indexes("passages")) == {
        "passages_in_order", "passages_pkey", "passages_user_id_source_id_session_ordinal_part_key",
    }  # fmt: skip


def test_grounding_finds_owner_speakers_and_names(plans: Plans) -> None:
    rows = run(plans, "grounding", plans.users[0])
    found = {row[1]: row[6] for row in rows}
    assert (found["w1"], found["w11"]) == ("owner", "speaker")
    assert all(found[name] == "named" for name in ("w7", "w8", "w9", "w10"))
    assert len(rows) <= 12
