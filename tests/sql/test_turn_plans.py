"""Past work reads as much of a file with 100,000 versions, which as many calls touched, as of any popular one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.test_plans import Plans, walk
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
VERSIONS = 100_000
FILL = """
INSERT INTO memsvc.sources (user_id, kind, identifier) VALUES (%(user)s, 'turn', 'talk'), (%(user)s, 'document', '/a');
INSERT INTO memsvc.document_versions (
  user_id, source_id, version, sha256, bytes, format, title, path, characters, recorded_from, recorded_to
)
SELECT s.user_id, s.source_id, n, repeat('a', 64), 1, 'py', 'a', '/a', 0, timestamptz '2025-01-01' + n * interval '1 s',
  CASE WHEN n < %(versions)s THEN timestamptz '2025-01-01' + (n + 1) * interval '1 s' ELSE 'infinity' END
FROM memsvc.sources AS s CROSS JOIN generate_series(1, %(versions)s) AS n
WHERE s.user_id = %(user)s AND s.kind = 'document';
INSERT INTO memsvc.turns (user_id, source_id, session, begun_at)
SELECT s.user_id, s.source_id, n::text, now() FROM memsvc.sources AS s CROSS JOIN generate_series(1, 10000) AS n
WHERE s.user_id = %(user)s AND s.kind = 'turn';
INSERT INTO memsvc.tool_calls (user_id, turn_id, number, tool, arguments, told, document_id, version)
SELECT t.user_id, t.turn_id, n, 'READ', '{}', 'READ /a', s.source_id, t.session::integer * 10 - 9 + n
FROM memsvc.turns AS t CROSS JOIN generate_series(0, 9) AS n
INNER JOIN memsvc.sources AS s ON s.user_id = t.user_id AND s.kind = 'document'
WHERE t.user_id = %(user)s;
"""
PAST = "SELECT * FROM memsvc.past_turns(%s, '{}', '{}', %s, NULL, false, NULL, NULL, NULL, 5)"
TABLES = ("tool_calls", "turns", "document_versions", "sources", "passages")


@pytest.fixture(scope="module")
def plans(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, UUID]]:
    """A connection of the application whose statements' plans are collected with their rows, and the document."""
    url = scratch("turn_plans")
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        user: UUID = value(admin, "SELECT memsvc.create_user(%s, 'a', 'Ada', 'UTC', 'english')", [app_id])
        admin.execute("SET session_replication_role = replica")
        psycopg.ClientCursor(admin).execute(FILL, {"user": user, "versions": VERSIONS})
        document: UUID = value(admin, "SELECT source_id FROM memsvc.sources WHERE kind = 'document'")
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, [user], signer)
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "on"), ("auto_explain.log_timing", "off"), ("jit", "off"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        collected.act_for(user)
        yield collected, document


def read(plans: Plans) -> dict[str, float]:
    """Rows that the collected statements read of each table."""
    nodes = [node for plan in plans.seen for node in walk(plan) if node.get("Relation Name") in TABLES]
    return {
        table: sum(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            for node in nodes
            if node["Relation Name"] == table
        )
        for table in TABLES
    }


def test_past_work_on_a_file_with_many_versions_reads_a_bounded_number_of_rows(plans: tuple[Plans, UUID]) -> None:
    collected, document = plans
    user = collected.users[0]
    collected.seen.clear()
    found = collected.connection.execute(PAST, [user, [document]]).fetchall()
    assert len(found) == 5
    assert collected.connection.execute(
        "SELECT request, documents FROM memsvc.turns_shown(%s, %s)", [user, [row[0] for row in found]]
    ).fetchone() is not None  # fmt: skip
    rows = read(collected)
    assert rows["document_versions"] <= 20, json.dumps(rows)  # the last one of each document that is looked at
    assert 200 <= rows["tool_calls"] <= 1_000, json.dumps(rows)
    assert rows["turns"] <= 500, json.dumps(rows)
