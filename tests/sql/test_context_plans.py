"""Plans of the statements around a context, as the application's role gets them: few rows by key of however many.

One user has 6,001 passages in 16 sessions of one conversation, and as many nodes, beside another user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.db.files import query
from memsvc.db.identity import Signer
from memsvc.db.short_ids import id_range, short_id
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.test_plans import walk
from tests.sql.world import value

pytestmark = [pytest.mark.server, pytest.mark.slow]
BIG = 6_001
SESSIONS = """
UPDATE memsvc.passages SET session = 'S' || ordinal / 400, ordinal = ordinal %% 400 WHERE user_id = %s
"""
NODES = """
INSERT INTO memsvc.node_versions (user_id, node_id, version_id, type, label, description, data, importance, asserted_by,
  valid_from, recorded_from)
SELECT n.user_id, n.node_id, uuidv7(), CASE WHEN row_number() OVER () <= 30 THEN 'Instruction' ELSE 'Concept' END,
  'x', '', '{}', 5, 'test', '-infinity', now()
FROM memsvc.nodes AS n WHERE n.user_id = %s
"""
PROFILE = """
INSERT INTO memsvc.profile_versions (user_id, block_id, version, name, kind, text, tokens, token_limit, asserted_by,
  recorded_from, recorded_to)
SELECT %(user)s, %(user)s, g, 'preferences', 'core', 'x', 1, 500, 'test',
  timestamptz '2026-01-01Z' + g * interval '1 s',
  CASE g WHEN 3000 THEN 'infinity' ELSE timestamptz '2026-01-01Z' + (g + 1) * interval '1 s' END
FROM generate_series(1, 3000) AS g
"""
MOST_ROWS = 600
"""Read from any index; the tables hold six thousand."""


class Asked:
    """The application's login, acting for the big user."""

    def __init__(self, connection: psycopg.Connection, user: UUID) -> None:
        self.connection, self.user = connection, user

    def plan(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """The nodes of a statement's plan, with what they read."""
        statement = re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", str(query(name)).replace("%", "%%"))
        parameters = {"user_id": self.user, "known_at": None, "now": "2027-01-01Z", **values}
        row = self.connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".encode(), parameters).fetchone()
        assert row is not None
        return list(walk(row[0][0]["Plan"]))


@pytest.fixture(scope="module")
def asked(scratch: Scratch, settings: Settings) -> Iterator[Asked]:
    url = scratch("context")
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        big, small = (value(admin, make, [app_id, name]) for name in ("big", "small"))
        words = value(admin, "SELECT pg_get_indexdef('memsvc.passages_words'::regclass)")
        admin.execute("DROP INDEX memsvc.passages_words")
        for user, size in ((big, BIG), (small, 500)):
            fill(admin, user, size)
            admin.execute(SESSIONS.encode(), [user])
            admin.execute("INSERT INTO memsvc.nodes (user_id) SELECT %s FROM generate_series(1, %s) AS g", [user, size])
            admin.execute(NODES.encode(), [user])
            admin.execute(PROFILE.encode(), {"user": user})
        admin.execute(words.encode())
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.execute("SET jit = off")
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [signer.token(big)])
        yield Asked(connection, big)


def test_statements_around_a_context_read_few_rows_by_key(asked: Asked) -> None:
    row = asked.connection.execute(
        "SELECT source_id, passage_id, identifier FROM memsvc.passages JOIN memsvc.sources USING (user_id, source_id) "
        "WHERE user_id = %s AND session = 'S7' AND ordinal = 7",
        [asked.user],
    ).fetchone()
    assert row is not None
    source, passage, identifier = row
    span = id_range(short_id(passage))
    assert span is not None
    ordinals = list(range(5, 395, 13))
    places = {"sources": [source] * 30, "sessions": [f"S{n % 15}" for n in range(30)], "ordinals": ordinals}
    for name, values in (
        ("context_turns", {"source_id": source, "limit": 6}),
        (
            "context_neighbours",
            {**places, "first_parts": [0] * 30, "last_parts": [32_767] * 30, "reach": 1, "kinds": ["message"]},
        ),
        (
            "context_neighbours",
            {**places, "first_parts": [0] * 30, "last_parts": [0] * 30, "reach": 2, "kinds": ["message"]},
        ),
        (
            "profile_blocks",
            {"kinds": ["core", "working"], "sections": [], "source_id": source, "node_id": None, "most_working": 100},
        ),
        ("profile_called", {"name": "preferences", "source_id": None, "node_id": None}),
        ("memories_called", {"first": span[0], "last": span[1], "kind": None}),
        ("facts_supported", {"passage_id": passage}),
        ("chat_last_stored", {"identifier": identifier, "session": "S7", "limit": 4, "traces": 4, "ids": ["a", "b"]}),
        ("chat_conversation", {"identifier": identifier}),
        ("sources_to_forget", {"source_id": None, "limit": 100}),
        ("sources_to_forget", {"source_id": source, "limit": 1}),
    ):
        nodes = asked.plan(name, **values)
        read = {
            f"{node['Node Type']} {node.get('Index Name') or node.get('Relation Name')}": (
                node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            ) * node["Actual Loops"]
            for node in nodes
            if "Scan" in node["Node Type"] and "CTE" not in node["Node Type"]
        }  # fmt: skip
        assert sum(read.values()) <= MOST_ROWS, (name, read)
        big = {node.get("Relation Name") for node in nodes if node["Node Type"] == "Seq Scan"}
        assert not big & {"passages", "nodes", "node_versions", "profile_versions"}, (name, big)


@pytest.mark.parametrize(
    "function",
    [
        "last_spoken(%s, %s, NULL, '30 min')",
        "standing_instructions(%s, %s, NULL, true, NULL, 100)",
        "agenda_said(%s, '-infinity', %s, '{w1}', 100, 100)",
    ],
)
def test_what_may_stand_in_a_context_is_read_by_its_key(asked: Asked, function: str) -> None:
    statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM memsvc.{function}"
    for _ in range(2):  # at first it is planned, which reads catalogs
        row = asked.connection.execute(statement.encode(), [asked.user, "2027-01-01Z"]).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    assert plan["Actual Rows"] > 0
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= MOST_ROWS / 5
