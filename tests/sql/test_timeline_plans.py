"""What the statements of the timeline read: a span by key, whatever there is besides; and how all of time is counted.

One user has 6,001 messages within five days, and as many facts, of which each begins in a minute of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_history_plans import FILL
from tests.sql.test_plans import Plans
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
BIG = 6_001
HOLD = """
UPDATE memsvc.edge_versions AS v
SET recorded_to = 'infinity', valid_from = timestamptz '2026-01-01Z' + e.key::integer * interval '1 minute',
  valid_to = 'infinity'
FROM memsvc.edges AS e
WHERE e.user_id = v.user_id AND e.edge_id = v.edge_id
"""
DAY = "%s, 'UTC', 'day', '2026-01-02Z', '2026-01-02 12:00Z', '{message,began,ended,event}', NULL"
NEWS = "memsvc.timeline_news(%s, clock_timestamp() + '1 hour', 10)"


@pytest.fixture(scope="module")
def plans(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID]]:
    """Collected plans, and the user."""
    url = scratch("timeline_plans")
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        user = value(admin, "SELECT memsvc.create_user(%s, 'big', 'Ada', 'UTC', 'english')", [app_id])
        words = value(admin, "SELECT pg_get_indexdef('memsvc.passages_words'::regclass)")
        admin.execute("DROP INDEX memsvc.passages_words")
        fill(admin, user, BIG)
        admin.execute(FILL.encode(), {"user": user, "nodes": 500, "edges": BIG})
        admin.execute("SET session_replication_role = replica")  # its history is made up
        admin.execute(HOLD.encode())
        admin.execute("RESET session_replication_role")
        admin.execute(words.encode())
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, [user], Signer(settings.secret("identity_secret").encode(), 3600))
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected, user


def test_a_span_is_read_by_ranges_of_times(plans: tuple[Plans, UUID]) -> None:
    collected, user = plans
    collected.act_for(user)
    statement = f"SELECT kind, moments FROM memsvc.timeline_counts({DAY}, 10) ORDER BY 1"
    found = collected.connection.execute(statement.encode(), [user]).fetchall()
    assert found == [("began", 720), ("message", 720)]
    assert set(collected.indexes("passages")) - {"passages_pkey", "Bitmap Heap Scan"} == {"passages_said"}
    assert "said_at >= " in collected.indexes("passages")["passages_said"]
    scans = collected.indexes("edge_versions")
    assert {"edge_versions_began", "edge_versions_ended"} <= set(scans)
    assert "valid_from >= " in scans["edge_versions_began"]
    assert "Seq Scan" not in scans


def test_counts_of_all_time_are_by_periods_of_the_users_clock(plans: tuple[Plans, UUID]) -> None:
    collected, user = plans
    collected.act_for(user)
    statement = "SELECT kind, moments FROM memsvc.timeline_counts(%s, 'UTC', 'day', NULL, NULL, '{message}', NULL, 9)"
    found = collected.connection.execute(statement.encode(), [user]).fetchall()
    assert sorted(n for _, n in found) == [BIG - 4 * 1_440, 1_440, 1_440, 1_440, 1_440]


def test_what_is_new_is_read_by_ids_and_recorded_times(plans: tuple[Plans, UUID]) -> None:
    collected, user = plans
    collected.act_for(user)
    found = collected.connection.execute(f"SELECT kind, stored FROM {NEWS}".encode(), [user]).fetchall()
    assert found == [("message", 0), ("document", 0), ("node", 0), ("fact", 0), ("change", 0)]
    assert "passage_id >= " in collected.indexes("passages")["passages_pkey"]
    assert "edge_versions_recorded" in collected.indexes("edge_versions")
