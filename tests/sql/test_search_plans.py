"""Plans of searches and diffs as the application's role gets them, among 5,000 nodes of one user."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.test_plans import Plans
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
FILL = """
WITH made AS (
  INSERT INTO memsvc.nodes (user_id) SELECT %(user)s FROM generate_series(1, 5000) RETURNING node_id
),
node AS (SELECT node_id, row_number() OVER () AS nth FROM made),
version AS (
  INSERT INTO memsvc.node_versions (user_id, node_id, type, label, valid_from, recorded_from, recorded_to)
  SELECT %(user)s, n.node_id, 'Person', 'Node Número ' || n.nth,
    CASE WHEN n.nth %% 50 = 0 THEN timestamptz '2020-01-01' + n.nth * interval '1 hour' ELSE '-infinity' END,
    timestamptz '2025-01-01' + n.nth * interval '1 minute',
    CASE WHEN n.nth %% 100 = 1 THEN timestamptz '2026-01-01' + n.nth * interval '1 minute' ELSE 'infinity' END
  FROM node AS n
)
INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by, recorded_from)
SELECT %(user)s, n.node_id, 'Alias ' || n.nth, 'alias ' || n.nth, 'bulk',
  timestamptz '2025-01-01' + n.nth * interval '1 minute'
FROM node AS n
"""
SEARCH = "SELECT * FROM memsvc.search_nodes(%s, %s, NULL, now(), %s, NULL, NULL, NULL, 10)"
DIFF = "SELECT * FROM memsvc.graph_diff(%s, %s, '2026-01-01', '2026-01-02', NULL, NULL, NULL, NULL, NULL, NULL, 10)"


@pytest.fixture(scope="module")
def graph(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID]]:
    """Collected plans and a user."""
    url = scratch("search_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        app_id = value(connection, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(connection, make, [app_id, f"user {n}"]) for n in range(2)]
        for user in users:
            connection.execute(FILL.encode(), {"user": user})
        connection.execute("VACUUM ANALYZE")
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
        yield collected, users[0]


@pytest.mark.parametrize(("wanted", "found"), [("NODE numero 4242", 1), ("alias 42", 10), ("umero 424", 10), ("", 10)])
def test_names_are_read_in_the_order_of_their_index(graph: tuple[Plans, UUID], wanted: str, found: int) -> None:
    plans, user = graph
    plans.act_for(user)
    assert len(plans.connection.execute(SEARCH.encode(), [user, wanted, None]).fetchall()) == found
    labels = plans.indexes("node_versions")
    assert "node_versions_labels" in labels
    assert "label_form" in labels["node_versions_labels"]
    assert "Seq Scan" not in labels
    if wanted:
        assert "normal_form" in plans.indexes("aliases")["aliases_names"]
        assert "Seq Scan" not in plans.indexes("aliases")


def test_what_was_closed_since_is_read_by_its_time(graph: tuple[Plans, UUID]) -> None:
    plans, user = graph
    plans.act_for(user)
    rows = plans.connection.execute(SEARCH.encode(), [user, "node numero 4901", "2025-12-01"]).fetchall()
    assert len(rows) == 1
    plans.act_for(user)
    assert plans.connection.execute(SEARCH.encode(), [user, "node numero 4901", None]).fetchall() == []


def test_the_diff_of_knowledge_goes_by_recorded_times(graph: tuple[Plans, UUID]) -> None:
    plans, user = graph
    plans.act_for(user)
    assert len(plans.connection.execute(DIFF.encode(), [user, "known"]).fetchall()) == 10
    used = plans.indexes("node_versions")
    assert {"node_versions_recorded", "node_versions_closed"} <= set(used), used
    assert "Seq Scan" not in used
    for table in ("aliases", "edge_versions"):  # nothing was closed there: one index is as good as another
        assert plans.indexes(table), table
        assert "Seq Scan" not in plans.indexes(table), table


def test_the_diff_of_the_world_goes_by_begins_and_ends(graph: tuple[Plans, UUID]) -> None:
    plans, user = graph
    plans.act_for(user)
    assert plans.connection.execute(DIFF.encode(), [user, "valid"]).fetchall() == []
    assert {"node_versions_began", "node_versions_ended"} <= set(plans.indexes("node_versions"))
    for table in ("aliases", "edge_versions"):
        assert plans.indexes(table), table
        assert "Seq Scan" not in plans.indexes(table), table


def test_mentions_and_cards_are_read_by_key_and_trigrams(graph: tuple[Plans, UUID]) -> None:
    plans, user = graph
    plans.act_for(user)
    asked = [["exact", "Node Numero 4242"], ["similar", "Node Numero 4242"], ["variant", "Alias 42"], ["word", "4242"]]
    call = (
        "SELECT DISTINCT m.kind FROM memsvc.mention_candidates(%s, ARRAY[1, 1, 1, 1], %s, %s, '{}', '{}', '{}') AS m "
        "CROSS JOIN LATERAL memsvc.identity_cards(%s, ARRAY[m.node_id]) AS c"
    )
    kinds, names = ([one[place] for one in asked] for place in (0, 1))
    found = plans.connection.execute(call.encode(), [user, kinds, names, user]).fetchall()
    assert {row[0] for row in found} == {"exact", "similar", "variant", "part"}
    for table in ("node_versions", "aliases", "edge_versions", "source_links", "merges"):
        assert "Seq Scan" not in plans.indexes(table), table
    assert {"node_versions_trigrams", "node_versions_current"} <= plans.indexes("node_versions").keys()
