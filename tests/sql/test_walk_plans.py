"""Plans of walks and other reads of the graph as the application's role gets them, with and without statistics.

Whatever the planner knows: what is asked for now is read from the partial indexes of open versions, what was known from
indexes too, and nothing from the GiST indexes of constraints, which would lead through all of a user's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.test_history_plans import FILL
from tests.sql.test_plans import Plans
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
PROPERTIES = """
INSERT INTO memsvc.node_versions (user_id, node_id, type, label, asserted_by, recorded_from, recorded_to)
SELECT n.user_id, n.node_id, 'Concept', 'x', 'bulk', '2025-01-01', CASE WHEN n.gid %% 2 = 0 THEN timestamptz
  '2026-01-01' ELSE 'infinity' END FROM memsvc.nodes AS n
"""
NAMES = """
INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by, recorded_from, recorded_to)
SELECT n.user_id, n.node_id, 'x', 'x' || n.gid, 'bulk', '2025-01-01', CASE WHEN n.gid %% 2 = 0 THEN timestamptz
  '2026-01-01' ELSE 'infinity' END FROM memsvc.nodes AS n
"""
KNOWN = "'2025-06-01'"
CALLS = {
    "facts": "memsvc.facts(%(user)s, ARRAY[%(node)s], NULL, NULL, {known})",
    "states": "memsvc.node_states(%(user)s, ARRAY[%(node)s], NULL, {known})",
    "names": "memsvc.node_names(%(user)s, ARRAY[%(node)s], NULL, {known})",
    "called": "memsvc.nodes_called(%(user)s, ARRAY['x7'], NULL, {known})",
    "cards": "memsvc.node_cards(%(user)s, ARRAY[%(node)s], NULL, {known})",
    "walk": "memsvc.neighbourhood(%(user)s, ARRAY[%(node)s], 3, NULL, 'both', 25, 200, now(), {known})",
    "typed walk": "memsvc.neighbourhood(%(user)s, ARRAY[%(node)s], 2, '{{KNOWS,LIKES}}', 'both', 5, 9, NULL, {known})",
    "drawn": "memsvc.graph_around(%(user)s, ARRAY[%(node)s], 2, NULL, 'both', 25, 200, now(), {known})",
    "among": "memsvc.graph_among(%(user)s, ARRAY[%(node)s], 1, NULL, 25, 200, now(), {known})",
    "paths": "memsvc.graph_paths(%(user)s, %(node)s, %(other)s, 3, NULL, 'both', 5, 50000, now(), {known})",
    "edges": "memsvc.graph_page(%(user)s, 'edges', NULL, NULL, 50, NULL, now(), {known})",
    "nodes": "memsvc.graph_page(%(user)s, 'nodes', NULL, NULL, 50, NULL, now(), {known})",
    "told": "memsvc.graph_told(%(user)s, %(node)s, NULL, 50, now(), {known})",
    "spoken": "memsvc.nodes_told(%(user)s, ARRAY[%(node)s], 50)",
    "seen": "memsvc.nodes_seen(%(user)s, ARRAY[%(node)s, %(other)s], {known})",
    "sizes": "memsvc.graph_stats(%(user)s, now(), {known})",
}
TABLES = ("nodes", "edges", "edge_versions", "node_versions", "aliases", "merges")
KEYS = {
    "nodes_pkey", "edges_pkey", "edge_versions_pkey", "node_versions_pkey", "aliases_pkey", "edges_ends",
    "edges_user_id_from_node_type_to_node_key_key",
}  # fmt: skip
BY_END = {"edge_versions_from", "edge_versions_to", "edge_versions_walk_from", "edge_versions_walk_to"}
OPEN_EDGES = {*BY_END, "edge_versions_current", "edge_versions_ended"}
CURRENT = {*OPEN_EDGES, "node_versions_current", "aliases_current", "aliases_of_node"}
PAST = {
    "edge_versions_of_edge",
    "edge_versions_past_from",
    "edge_versions_past_to",
    "node_versions_past",
    "aliases_past",
}
MERGES = {"merges_current", "merges_of_node", "merges_into", "merges_recorded", "merges_pkey", "merges_one_canonical"}
WHOLE = {"edge_versions_closed", "edge_versions_recorded"}
"""Whatever leads with the user is good enough for what reads all of a user's rows."""
NEVER_ANALYSED_BY_ITSELF = """
DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'memsvc'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', one);
  END LOOP;
END $$
"""
"""Else what the planner knows depends on how long the test has waited for the machine."""


@pytest.fixture(scope="module", params=["empty", "fresh", "analysed"])
def graph(request: pytest.FixtureRequest, scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID, str]]:
    """Collected plans, the user, and what the planner knows."""
    url = scratch("walk_plans")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(NEVER_ANALYSED_BY_ITSELF)
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(admin, make, [app_id, f"user {n}"]) for n in range(3)]
        for place, user in enumerate(users):
            size = {"nodes": 1_000 if place == 0 else 100, "edges": 10_000 if place == 0 else 500}
            admin.execute(FILL.encode(), {"user": user} | size)
        admin.execute(PROPERTIES.encode(), {})
        admin.execute(NAMES.encode(), {})
        if request.param == "analysed":
            admin.execute("VACUUM ANALYZE")
        if request.param == "empty":
            admin.execute("TRUNCATE memsvc.nodes, memsvc.aliases CASCADE")
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
        yield collected, users[0], request.param


def used(graph: tuple[Plans, UUID, str], call: str, known: str) -> dict[str, str]:
    """Indexes that a call uses, with their conditions."""
    plans, user, _ = graph
    plans.act_for(user)
    some = plans.connection.execute("SELECT node_id FROM memsvc.nodes WHERE user_id = %s LIMIT 2", [user]).fetchall()
    node, other = [row[0] for row in some] if some else (user, user)
    plans.seen.clear()
    statement = f"SELECT count(*) FROM {CALLS[call].format(known=known)}"
    plans.connection.execute(statement.encode(), {"user": user, "node": node, "other": other})
    indexes = {index: cond for table in TABLES for index, cond in plans.indexes(table).items()}
    indexes.pop("Bitmap Heap Scan", None)
    assert indexes
    for index, cond in indexes.items():
        assert "user_id = " in cond, f"{call} reads {index} by {cond!r}"
    return indexes


@pytest.mark.parametrize("call", [call for call in CALLS if call != "sizes"])
def test_what_is_known_now_is_read_from_partial_indexes(graph: tuple[Plans, UUID, str], call: str) -> None:
    indexes = used(graph, call, "NULL")
    assert set(indexes) <= CURRENT | KEYS | MERGES | PAST, call
    for index in set(indexes) & (BY_END | {"edge_versions_pkey", "node_versions_current"}):
        assert "node" in indexes[index] or "version_id" in indexes[index], f"{call} reads all of {index}"


@pytest.mark.parametrize("call", [call for call in CALLS if call != "sizes"])
def test_what_was_known_is_read_from_indexes(graph: tuple[Plans, UUID, str], call: str) -> None:
    indexes = used(graph, call, KNOWN)
    assert set(indexes) <= CURRENT | KEYS | MERGES | PAST, call


@pytest.mark.parametrize("call", ["told", "spoken", "seen"])
def test_evidence_is_read_by_what_it_is_asked_for(graph: tuple[Plans, UUID, str], call: str) -> None:
    for known in ("NULL", KNOWN):
        used(graph, call, known)
        links = graph[0].indexes("source_links")
        links.pop("Bitmap Heap Scan", None)
        assert links
        assert all(re.search(r"(passage|version|alias|location|merge|node)_id = ANY", cond) for cond in links.values())
        assert "Seq Scan" not in graph[0].indexes("passages")


def test_sizes_are_counted_over_the_users_rows_alone(graph: tuple[Plans, UUID, str]) -> None:
    for known in ("NULL", KNOWN):
        assert "Seq Scan" not in used(graph, "sizes", known)
