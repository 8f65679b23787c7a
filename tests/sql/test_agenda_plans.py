"""What the statements of the agenda read: few rows by key of however many, and messages with words of time alone.

One user has 6,001 messages, a hundredth of them with words of time, and as many facts of which most hold for a century.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from memsvc.times.telling import NOTHING, TELLING_IN_SQL, marks
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_history_plans import FILL
from tests.sql.test_plans import Plans
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
BIG = 6_001
HUNDREDTH = "UPDATE memsvc.passages SET text = 'buy milk TOMORROW' WHERE user_id = %s AND ordinal %% 100 = 0"
HOLD = """
UPDATE memsvc.edge_versions AS v SET recorded_to = 'infinity', valid_from = d.begins, valid_to = d.ends
FROM (
  SELECT e.edge_id, e.key::integer % 1000 = 0 AS event,
    CASE WHEN e.key::integer % 1000 = 0 THEN timestamptz '2026-06-01Z' ELSE '2000-01-01Z' END
      + e.key::integer * interval '1 second' AS begins,
    CASE WHEN e.key::integer % 1000 = 0 THEN timestamptz '2026-07-01Z' ELSE '2100-01-01Z' END
      + e.key::integer * interval '1 second' AS ends
  FROM memsvc.edges AS e
) AS d
WHERE v.edge_id = d.edge_id
"""
FACTS = "memsvc.agenda_facts(%s, '2026-06-15Z', '2026-06-16Z', '93 days', NULL, 100)"
SAID = "memsvc.agenda_said(%s, '2026-01-01Z', '2026-12-01Z', %s, %s, %s)"


@pytest.fixture(scope="module")
def plans(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID]]:
    """Collected plans, and the user."""
    url = scratch("agenda_plans")
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        big, small = (value(admin, make, [app_id, name]) for name in ("big", "small"))
        words = value(admin, "SELECT pg_get_indexdef('memsvc.passages_words'::regclass)")
        admin.execute("DROP INDEX memsvc.passages_words")
        for user, size in ((big, BIG), (small, 500)):
            fill(admin, user, size)
            admin.execute(HUNDREDTH.encode(), [user])
            admin.execute(FILL.encode(), {"user": user, "nodes": 500, "edges": size})
        admin.execute("SET session_replication_role = replica")  # its history is made up
        admin.execute(HOLD.encode())
        admin.execute("RESET session_replication_role")
        admin.execute(words.encode())
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, [big, small], Signer(settings.secret("identity_secret").encode(), 3600))
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected, big


def test_facts_of_a_span_are_read_by_ranges_of_their_bounds(plans: tuple[Plans, UUID]) -> None:
    collected, user = plans
    collected.act_for(user)
    found = collected.connection.execute(f"SELECT sort, valid_to FROM {FACTS}".encode(), [user]).fetchall()
    assert [sort for sort, _ in found] == [3] * (BIG // 1000), "events alone, of all that hold in the span"
    scans = collected.scans("edge_versions")
    began, ended, across = (scan["Index Cond"] for scan in scans if scan["Index Name"] != "edge_versions_closed")
    assert {scan["Index Name"] for scan in scans} == {
        "edge_versions_began", "edge_versions_ended", "edge_versions_closed",
    }  # fmt: skip
    for condition, column in ((began, "valid_from"), (ended, "valid_to"), (across, "valid_to")):
        assert f"{column} >= " in condition
        assert f"{column} < " in condition
    for _ in range(2):  # at first it is planned, which reads catalogs
        statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM {FACTS}"
        row = collected.connection.execute(statement.encode(), [user]).fetchone()
    assert row is not None
    assert row[0][0]["Plan"]["Shared Hit Blocks"] + row[0][0]["Plan"]["Shared Read Blocks"] <= 30


@pytest.mark.parametrize(
    ("look", "limit", "given", "beyond"), [(10_000, 100, 61, 0), (10_000, 20, 20, 0), (1_000, 100, 11, 1)]
)
def test_messages_with_words_of_time_count_alone(
    plans: tuple[Plans, UUID], look: int, limit: int, given: int, beyond: int
) -> None:
    collected, user = plans
    collected.act_for(user)
    statement = f"SELECT text, nth FROM {SAID}"
    rows = collected.connection.execute(statement.encode(), [user, TELLING_IN_SQL, look, limit]).fetchall()
    assert len(rows) == given
    assert sum(nth > look for _, nth in rows) == beyond
    assert {text for text, nth in rows if nth <= look} == {"buy milk TOMORROW"}
    assert list(collected.indexes("passages")) == ["passages_said"]


def test_the_database_sees_the_same_words_of_time(plans: tuple[Plans, UUID]) -> None:
    collected, _ = plans
    for text in (
        "remind me TOMORROW", "Tonight!", "next week.", "two weeks", "Übermorgen", "ÜBERMORGEN", "am Montag,", "MÄRZ 5",
        "5. März", "3rd of  May", "May the 3rd",
        "on 5/7/2026", "2026-11-05", "21.11.2026", "明天去", "下周三", "9月3日",
        "ok", "that may be", "Mondrian", "weaken", "3 people", "1.5", "in 2026", "今年", "monkey", "",
    ):  # fmt: skip
        assert value(collected.connection, "SELECT %s ~* ANY (%s)", [text, TELLING_IN_SQL]) == (
            marks(text) is not NOTHING
        ), text
