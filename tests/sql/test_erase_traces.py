"""No byte of what was erased is left: words in every field that takes text, looked for in all that a database holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from memsvc.db.identity import Signer
from memsvc.graph import operations as ops
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.histories import make_user
from tests.sql.traces import traces, words_in_dump, words_in_tables
from tests.sql.world import APP, append_rows, history_rows, login_url, message, value

pytestmark = [pytest.mark.server, pytest.mark.slow]
GONE = "quarkgone"
KEPT = "quarkkept"
FIELDS = {
    "passages": ("text", "caption", "speaker", "session", "client_id", "metadata", "tsv", "tsv_simple"),
    "sources": ("identifier", "title", "metadata", "local"),
    "node_versions": ("label", "label_form", "description", "data"),
    "aliases": ("alias", "normal_form"),
    "edges": ("key",),
    "edge_versions": ("fact", "data"),
    "merges": ("reason",),
    "terms": ("term",),
    "term_deltas": ("terms",),
    "fact_reviews": ("proposal",),
    "profile_versions": ("name", "text"),
}
"""Columns that take words of users."""
PASSING = {
    "ingests": ("choices",),
    "ingest_files": (
        "name",
        "source",
        "url",
        "message",
        "hint",
        "counts",
        "preview",
        "kind",
        "code",
        "content",
        "sha256",
    ),
}
"""The same of files on their way in, which are deleted after their time."""
FEEDS = {"feeds": ("identifier", "name", "settings", "secret", "salt", "cursor")}
"""The same of feeds, which go with their user or when they are removed."""
DOCUMENTS = {"document_versions": ("title", "path", "metadata", "sha256")}
"""The same of documents; tests/sql/test_documents.py erases one."""
VAULTS = {"vaults": ("folder", "odd")}
"""The same of folders of notes, which 'memsvc vault remove' takes away."""
TURNS = {
    "turns": ("session", "project", "agent", "commit_id", "chat_messages"),
    "tool_calls": ("call_id", "tool", "arguments", "told", "result_head", "result_tail"),
}
"""The same of turns of agents; tests/sql/test_agent_turns.py erases one."""
TYPES = {
    "node_types": ("category", "description", "parent", "reason"),
    "edge_types": ("category", "description", "parent", "reason", "from_types", "to_types"),
}
"""The same of the ontology, which goes with the whole user only."""
OURS = {
    ("fact_reviews", "reason"), ("duplicate_candidates", "evidence"), ("duplicate_candidates", "found_by"),
    ("proposals", "evidence"),
    ("model_calls", "task"), ("model_calls", "model"), ("model_calls", "prompt_version"), ("model_calls", "outcome"),
    ("sleep_runs", "task"), ("sleep_runs", "place"), ("sleep_runs", "counts"), ("sleep_runs", "cause"),
    ("schedules", "tasks_off"), ("schedules", "woken_for"), ("rereadings", "counts"),
    ("answered_requests", "answer"),
    ("analysis_runs", "kind"), ("analysis_runs", "figures"), ("analysis_results", "what"),
    ("analysis_results", "figures"), ("ingests", "key_id"), ("ingest_files", "outcome"),
    ("document_versions", "format"), ("vaults", "flavours"), ("vaults", "write_back"),
    ("feeds", "key_id"), ("feeds", "last_error"), ("feeds", "rule"),
}  # fmt: skip
"""Columns that hold codes, names, ids and numbers of ours."""


@pytest.fixture
def place(scratch: Scratch, settings: Settings) -> Iterator[tuple[psycopg.Connection, psycopg.Connection, str, UUID]]:
    """A database of its own, its administrator, a user's login in it, and the user."""
    url = scratch("traces")
    with (
        psycopg.connect(url, autocommit=True) as admin,
        psycopg.connect(login_url(url, APP, settings), autocommit=True) as app,
    ):
        user_id = make_user(app, "traces")
        token = Signer(settings.secret("identity_secret").encode(), 3600).token(user_id)
        app.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
        yield admin, app, url, user_id


def talk(app: psycopg.Connection, user_id: UUID, word: str, *, first: int) -> list[UUID]:
    """A conversation with the word in all its fields; its passages."""
    rows = [
        message(
            f"Text {n} {word}text{n}", place=first + n, conversation=f"{word}name", session=f"{word}session",
            speaker=f"{word}speaker", caption=f"{word}caption", client_id=f"{word}id{n}",
            metadata={f"{word}key": [f"{word}value"]},
        )
        for n in range(6)
    ]  # fmt: skip
    stored = append_rows(app, user_id, rows)
    app.execute(
        "UPDATE memsvc.sources SET title = %s, metadata = %s::jsonb, local = %s WHERE source_id = %s",
        [f"{word}title", json.dumps({"about": f"{word}about"}), f"{word}local", stored[0][2]],
    )
    app.execute(
        "INSERT INTO memsvc.jobs (user_id, kind, subject_id) VALUES (%s, 'embed', %s) ON CONFLICT DO NOTHING",
        [user_id, user_id],
    )
    return [row[3] for row in stored]


def learn(app: psycopg.Connection, user_id: UUID, word: str, passage: UUID, hand: UUID) -> UUID:
    """Knowledge of every kind that the passage alone supports, some of it superseded; the node that is made."""
    evidence = [ops.Evidence(passage_id=passage, span=(0, 4))]
    batch: list[ops.Operation] = [
        ops.Node(
            type="Person", label=f"{word}label", description=f"{word}description", data={"x": f"{word}data"},
            evidence=evidence,
        ),
        ops.Node(type="Person", label=f"{word}second", evidence=evidence),
        ops.Alias(node=0, alias=f"{word}Alias", evidence=evidence),
        ops.Edge(
            from_node=0, type="KNOWS", to_node=1, fact=f"{word}fact", data={"y": f"{word}more"}, key=f"{word}edgekey",
            evidence=evidence,
        ),
        ops.Edge(from_node=0, type="KNOWS", to_node=hand, fact=f"{word}other", evidence=evidence),
    ]  # fmt: skip
    rows = history_rows(app, user_id, [{**row, "valid_from": None} for row in ops.as_rows(batch)])
    made: UUID = rows[0][1]
    batch = [
        ops.Merge(node=rows[1][1], canonical=made, reason=f"{word}reason", evidence=evidence),
        ops.Node(node=made, type="Person", label=f"{word}renamed", evidence=evidence),
    ]
    history_rows(app, user_id, [dict(row) for row in ops.as_rows(batch)])
    version = value(app, "SELECT version_id FROM memsvc.edge_versions WHERE fact = %s", [f"{word}other"])
    correction = ops.Correct(version=version, content={"fact": f"{word}corrected"})
    history_rows(app, user_id, [dict(row) for row in ops.as_rows([correction])])
    app.execute(
        "INSERT INTO memsvc.fact_reviews (user_id, passage_id, extractor, state, reason, proposal, digest) "
        "VALUES (%s, %s, 'tests/1', 'doubtful', 'doubtful', %s, sha256('x'))",
        [user_id, passage, json.dumps({"sentence": f"{word}proposal"})],
    )
    block = value(
        app,
        "INSERT INTO memsvc.profile_versions (user_id, version, name, kind, text, tokens, token_limit, asserted_by) "
        "VALUES (%s, 1, %s, 'core', %s, 1, 9, 'tests') RETURNING version_id",
        [user_id, f"{word}block", f"{word}line"],
    )
    app.execute(
        "INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines) VALUES (%s, %s, %s, '{1}')",
        [user_id, block, passage],
    )
    return made


def test_no_word_is_left_anywhere_and_what_others_said_is_unchanged(
    place: tuple[psycopg.Connection, psycopg.Connection, str, UUID],
) -> None:
    admin, app, url, user_id = place
    [hand] = (row[1] for row in history_rows(
        app, user_id, [dict(row) for row in ops.as_rows([ops.Node(type="Person", label=f"{KEPT}hand")])]
    ))  # fmt: skip
    kept = talk(app, user_id, KEPT, first=0)
    app.execute("UPDATE memsvc.jobs SET state = 'cancelled', finished_at = now() WHERE kind = 'embed'")
    learn(app, user_id, KEPT, kept[0], hand)
    before = words_in_dump(url)
    gone = talk(app, user_id, GONE, first=10)
    app.execute("SELECT memsvc.fold_statistics(%s)", [user_id])
    append_rows(app, user_id, [message(f"{GONE}unfolded", 30, conversation=f"{GONE}name")])
    learn(app, user_id, GONE, gone[0], hand)
    shared = ops.Edge(
        from_node=hand, type="KNOWS", to_node=hand, fact=f"{KEPT}shared",
        evidence=[ops.Evidence(passage_id=kept[1]), ops.Evidence(passage_id=gone[1])],
    )  # fmt: skip
    history_rows(app, user_id, [dict(row) for row in ops.as_rows([shared])])

    admin.execute("ANALYZE")
    words = {word for word in words_in_dump(url) if word.startswith(GONE)}
    held = words_in_tables(admin)
    for table, columns in FIELDS.items():
        assert any(word.startswith(GONE) for word in held[f"memsvc.{table}"]), f"the test says nothing about {table}"
        for column in columns:
            seen = value(admin, f"SELECT count(*) FROM memsvc.{table} WHERE {column}::text LIKE '%{GONE}%'")
            assert seen > 0, f"the test says nothing about {table}.{column}"
    assert not any(place.startswith("pg_catalog") for place in held), "statistics of the planner hold words"

    source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [gone[0]])
    state = value(app, "SELECT state FROM memsvc.erase(%s, 'source', %s, 'tests', 4)", [user_id, source])
    receipt = value(app, "SELECT erasure_id FROM memsvc.erasures WHERE user_id = %s", [user_id])
    while state != "done":
        state = value(app, "SELECT state FROM memsvc.continue_erasure(%s, %s, 4, false)", [user_id, receipt])
    assert traces(admin, url, words) == {}
    admin.execute("ANALYZE")
    assert traces(admin, url, words) == {}
    assert value(app, "SELECT leftovers FROM memsvc.verify_erasure(%s, %s)", [user_id, receipt]) == {}
    assert words_in_dump(url) == before | {f"{KEPT}shared", f"{KEPT}shar"}  # the word, and its stem in tsv


def test_columns_with_text_of_users_have_no_statistics(admin: psycopg.Connection) -> None:
    """A column of text is listed above, or holds our words and not the users'."""
    ours = {
        "kind", "role", "language", "status", "state", "type", "subject_type", "asserted_by", "form", "requested_by",
        "stance", "error", "error_code", "name", "time_zone", "external_id", "operations", "proposed_by", "decided_by",
        "door", "mode", "extractor", "backend",
    }  # fmt: skip
    rows = admin.execute(
        "SELECT c.relname, a.attname, a.attstattarget FROM pg_attribute AS a "
        "INNER JOIN pg_class AS c ON c.oid = a.attrelid WHERE c.relnamespace = 'memsvc'::regnamespace "
        "AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped "
        "AND a.atttypid::regtype::text IN ('text', 'text[]', 'jsonb', 'tsvector') "
        "AND EXISTS (SELECT FROM pg_attribute AS u WHERE u.attrelid = c.oid AND u.attname = 'user_id')"
    ).fetchall()
    for table, column, target in rows:
        if table in {"users", "api_keys", "audit_log", "dramatiq_queue", "erasures"} or column in ours:
            continue
        if (table, column) in OURS:
            continue
        known = FIELDS | TYPES | PASSING | DOCUMENTS | VAULTS | FEEDS | TURNS
        assert column in known[table], f"{table}.{column}: may it hold words of users?"
        assert target == 0, f"{table}.{column} has statistics"
