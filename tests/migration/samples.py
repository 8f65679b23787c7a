"""A row or more for every table, as the administrator puts them in, for databases at any revision.

A migration that makes a table adds rows for it here; a test finds tables without.
"""

from __future__ import annotations

import json
from typing import Any

import psycopg
from psycopg import sql

USER = "01900000-0000-7000-8000-000000000001"
OTHER = "01900000-0000-7000-8000-000000000002"
APP = "01900000-0000-7000-8000-00000000000a"
THING = "01900000-0000-7000-8000-0000000000ff"

# For each revision the rows of the tables that it made, in an order that foreign keys allow.
SAMPLES: dict[str, str] = {
    "0001": f"""
INSERT INTO memsvc.apps (app_id, name) VALUES ('{APP}', 'an app');
INSERT INTO memsvc.users (user_id, app_id, external_id, name, time_zone) VALUES
  ('{USER}', '{APP}', 'ada', 'Ada', 'Europe/Berlin'), ('{OTHER}', '{APP}', 'bob', 'Bob', 'UTC');
INSERT INTO memsvc.api_keys (key_id, app_id, user_id, secret_hash, scopes, label)
VALUES ('mk_1', '{APP}', '{USER}', sha256('x'), '{{read,write}}', 'a key');
INSERT INTO memsvc.audit_log (app_id, user_id, actor, action) VALUES ('{APP}', '{USER}', 'me', 'user.create');
INSERT INTO memsvc.identity_keys (key_id, inner_pad, outer_pad, retired_at)
VALUES ('retired', decode(repeat('36', 64), 'hex'), decode(repeat('5c', 64), 'hex'), now());
INSERT INTO memsvc.applied_sql (path, sha256) VALUES ('functions/gone.sql', 'x');
""",
    "0002": f"""
INSERT INTO memsvc.node_types (name, category, description) VALUES ('Sample', 'entity', 'A sample.');
INSERT INTO memsvc.edge_types (name, category, from_types, to_types, functional, description)
VALUES ('SAMPLES', 'general', '{{}}', '{{}}', false, 'A sample.');
INSERT INTO memsvc.nodes (user_id, node_id) VALUES ('{USER}', '{THING}'), ('{OTHER}', '{THING}');
INSERT INTO memsvc.node_versions (user_id, node_id, type, label, data, recorded_from, recorded_to) VALUES
  ('{USER}', '{THING}', 'Person', 'Ida', '{{}}', '2025-01-01', '2026-01-01'),
  ('{USER}', '{THING}', 'Person', 'Ada', '{{"self": true}}', '2026-01-01', 'infinity');
INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by)
VALUES ('{USER}', '{THING}', 'Ada', 'ada', 'user');
""",
    "0003": f"""
INSERT INTO memsvc.sources (user_id, source_id, kind, identifier, metadata)
VALUES ('{USER}', '{THING}', 'conversation', 'pond', '{{"a": 1}}');
INSERT INTO memsvc.passages (user_id, source_id, kind, ordinal, client_id, role, text, caption, said_at, said_offset,
  language, tsv, tsv_simple, length, length_simple)
SELECT '{USER}', '{THING}', 'message', n, 'm' || n, 'user', 'heron number ' || n, 'a picture',
  timestamptz '2026-01-01Z' + n * interval '1 hour', 60, 'english', to_tsvector('english', 'heron number ' || n),
  to_tsvector('simple', 'heron number ' || n), 3, 3
FROM generate_series(0, 4) AS n;
INSERT INTO memsvc.tombstones (user_id, digest) VALUES ('{USER}', sha256('x'));
""",
    "0004": f"""
INSERT INTO memsvc.corpora (user_id, kind, form, passages, length)
VALUES ('{USER}', 'message', 'stemmed', 4, 12), ('{USER}', 'message', 'simple', 4, 12);
INSERT INTO memsvc.terms (user_id, kind, form, term, passages)
VALUES ('{USER}', 'message', 'stemmed', 'heron', 4), ('{USER}', 'message', 'simple', 'heron', 4);
INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes) VALUES
  ('{USER}', 'message', 'stemmed', 1, 3, '{{heron}}', '{{1}}'),
  ('{USER}', 'message', 'simple', 1, 3, '{{heron}}', '{{1}}');
INSERT INTO memsvc.jobs (user_id, kind, subject_id) VALUES ('{USER}', 'process', '{THING}');
INSERT INTO memsvc.outbox (user_id, kind, subject_id) VALUES ('{USER}', 'passages.added', '{THING}');
""",
    "0006": f"""
INSERT INTO memsvc.embedding_models (name, dimensions, state) VALUES ('a model', 3, 'retired');
INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector)
SELECT '{USER}', (SELECT min(model_id) FROM memsvc.embedding_models), passage_id, '[0.6,0.8,0]'
FROM memsvc.passages WHERE user_id = '{USER}' LIMIT 1;
""",
    "0018": f"""
INSERT INTO memsvc.token_vectors (user_id, model_id, passage_id, tokens)
SELECT e.user_id, e.model_id, e.passage_id, ARRAY[repeat('01', 64)::bit(128)] FROM memsvc.embeddings AS e
WHERE e.user_id = '{USER}';
""",
    "0007": """
INSERT INTO memsvc.dramatiq_queue (message_id, state, message) VALUES (gen_random_uuid(), 'rejected', '{"error": "x"}');
INSERT INTO memsvc.dramatiq_worker (worker_id, heartbeat_at) VALUES (gen_random_uuid(), now());
""",
    "0009": f"""
INSERT INTO memsvc.schedules (user_id, kind, at_local, weekdays, next_at)
VALUES ('{USER}', 'tidy', '03:30', '{{1,4}}', '2026-03-30T01:30Z');
""",
    "0011": f"""
INSERT INTO memsvc.changes (user_id, change_id, recorded_at, asserted_by, operations)
VALUES ('{USER}', '{THING}', '2026-01-02', 'user', '{{edge}}');
INSERT INTO memsvc.nodes (user_id, node_id) VALUES ('{USER}', '{OTHER}');
INSERT INTO memsvc.edges (user_id, edge_id, from_node, type, to_node)
VALUES ('{USER}', '{THING}', '{THING}', 'KNOWS', '{OTHER}');
INSERT INTO memsvc.edge_versions (user_id, version_id, edge_id, from_node, type, to_node, functional, fact, asserted_by,
  recorded_from) VALUES
  ('{USER}', '{THING}', '{THING}', '{THING}', 'KNOWS', '{OTHER}', false, 'Ada knows Bob.', 'user', '2026-01-02');
INSERT INTO memsvc.merges (user_id, node_id, canonical_id, asserted_by, recorded_from)
VALUES ('{USER}', '{OTHER}', '{THING}', 'user', '2026-01-02');
INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, asserted_by, recorded_from)
SELECT '{USER}', min(passage_id::text)::uuid, '{THING}', 'user', '2026-01-02' FROM memsvc.passages
WHERE user_id = '{USER}';
""",
    "0012": f"""
INSERT INTO memsvc.erasures (user_id, erasure_id, kind, subject_id, requested_by, counts, ids)
VALUES ('{USER}', '{THING}', 'source', '{THING}', 'user', '{{"passages": 3}}', '{{{THING}}}');
""",
    "0015": f"""
INSERT INTO memsvc.node_types (user_id, name, category, description, parent, status, proposed_by, proposed_at)
VALUES ('{USER}', 'Pet', 'entity', 'An animal that lives with people.', 'Person', 'approved', 'user', '2026-01-02');
INSERT INTO memsvc.edge_types (user_id, name, category, from_types, to_types, functional, description, status,
  proposed_by, proposed_at)
VALUES ('{USER}', 'FEEDS', 'general', '{{Person}}', '{{Pet}}', false, 'A feeds B.', 'proposed', 'user', '2026-01-02');
""",
    "0017": f"""
INSERT INTO memsvc.recall_events (user_id, recall_id, door, mode, memories, verdicts)
SELECT '{USER}', '{THING}', 'recall', 'balanced', ARRAY[min(passage_id::text)::uuid, NULL, '{THING}'], '{{1,0,-1}}'
FROM memsvc.passages WHERE user_id = '{USER}' AND kind = 'message';
INSERT INTO memsvc.memory_signals (user_id, memory_id, kind, recalls, last_recalled_at, used, importance, pinned)
SELECT '{USER}', min(passage_id::text)::uuid, 'passage', 3, timestamptz '2026-01-02Z', 1, 7, true
FROM memsvc.passages WHERE user_id = '{USER}' AND kind = 'message';
INSERT INTO memsvc.memory_signals (user_id, memory_id, kind) VALUES ('{USER}', '{THING}', 'fact');
""",
    "0021": f"""
INSERT INTO memsvc.extractions (user_id, source_id, extractor, backend, upto, turns)
SELECT '{USER}', min(source_id::text)::uuid, 'offline/1', 'offline', min(passage_id::text)::uuid, 1
FROM memsvc.passages WHERE user_id = '{USER}';
INSERT INTO memsvc.fact_reviews (user_id, passage_id, extractor, state, reason, proposal, digest, span_from, span_to)
SELECT '{USER}', min(passage_id::text)::uuid, 'offline/1', 'doubtful', 'doubtful', '{{}}', sha256('x'), 0, 3
FROM memsvc.passages WHERE user_id = '{USER}';
""",
    "0022": f"""
INSERT INTO memsvc.model_calls (user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, cost, tries)
VALUES ('{USER}', 'facts', 'a model', '1', 'answered', 900, 120, 800, 0.0003, 1);
""",
    "0023": f"""
INSERT INTO memsvc.duplicate_candidates (user_id, node_a, node_b, score, evidence, found_by, state, decided_at,
  decided_by)
SELECT '{USER}', min(node_id::text)::uuid, max(node_id::text)::uuid, 0.4, '{{"name": 3.5}}', 'sleep:duplicates',
  'rejected', timestamptz '2026-01-02Z', 'user'
FROM memsvc.nodes WHERE user_id = '{USER}';
""",
    "0024": f"""
INSERT INTO memsvc.sleep_runs (user_id, run_id, task, state, place, examined, finished_at)
VALUES ('{USER}', '{THING}', 'duplicates', 'done', '{{"node": "{THING}"}}', 12, '2026-01-02Z');
""",
    "0025": f"""
INSERT INTO memsvc.profile_versions (user_id, version_id, version, name, kind, text, tokens, token_limit, asserted_by)
VALUES ('{USER}', '{THING}', 1, 'preferences', 'core', 'Likes herons.', 3, 500, 'user');
INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines)
SELECT '{USER}', '{THING}', min(passage_id::text)::uuid, '{{1}}' FROM memsvc.passages WHERE user_id = '{USER}';
""",
    "0026": f"""
INSERT INTO memsvc.used_tickets (user_id, ticket_id, expires_at) VALUES ('{USER}', '{THING}', '2026-01-02Z');
INSERT INTO memsvc.outbox (user_id, kind, subject_id) VALUES ('{USER}', 'graph.changed', '{THING}');
""",
    "0027": f"""
INSERT INTO memsvc.answered_requests (user_id, request_key, digest, answer)
VALUES ('{USER}', sha256('a key'), sha256('a note'), '{{"change_id": "{THING}"}}');
""",
    "0029": f"""
INSERT INTO memsvc.outbox (user_id, kind, subject_id) VALUES ('{USER}', 'profile.changed', '{THING}');
""",
    "0030": f"""
INSERT INTO memsvc.analysis_runs (user_id, run_id, kind, state, found, finished_at)
VALUES ('{USER}', '{THING}', 'hubs', 'done', 1, '2026-01-02Z');
INSERT INTO memsvc.analysis_results (user_id, run_id, place, what, score, figures)
VALUES ('{USER}', '{THING}', 0, 'hub', 2.5, '{{"facts": 3}}');
""",
    "0031": f"""
INSERT INTO memsvc.locations (user_id, location_id, node_id, latitude, longitude, radius_m, asserted_by, recorded_from)
VALUES ('{USER}', '{THING}', '{THING}', 52.52, 13.405, 25, 'user', '2026-01-02');
INSERT INTO memsvc.source_links (user_id, passage_id, location_id, asserted_by, recorded_from)
SELECT '{USER}', min(passage_id::text)::uuid, '{THING}', 'user', '2026-01-02' FROM memsvc.passages
WHERE user_id = '{USER}';
""",
    "0042": f"""
INSERT INTO memsvc.cards_compared (user_id, model_id, made_at, passage_id)
VALUES ('{USER}', 1, '2026-01-02Z', '{THING}');
""",
    "0046": f"""
INSERT INTO memsvc.rereadings (user_id, rereading_id, extractor, backend)
VALUES ('{USER}', '{THING}', 'offline/2', 'offline');
""",
    "0047": f"""
INSERT INTO memsvc.document_versions (user_id, source_id, version, sha256, bytes, format, title, path, characters)
VALUES ('{USER}', '{THING}', 1, repeat('a', 64), 7, 'md', 'A study', 'study.md', 7);
""",
    "0048": f"""
INSERT INTO memsvc.ingests (user_id, ingest_id) VALUES ('{USER}', '{THING}');
INSERT INTO memsvc.ingest_files (user_id, ingest_id, number, name) VALUES ('{USER}', '{THING}', 0, 'talk.jsonl');
""",
    "0049": f"""
INSERT INTO memsvc.vaults (user_id, vault_id, folder, flavours) VALUES ('{USER}', '{THING}', '/notes', '{{obsidian}}');
""",
    "0050": f"""
INSERT INTO memsvc.feeds (user_id, feed_id, kind, identifier, name, rule)
VALUES ('{USER}', '{THING}', 'url', 'https://example.org/', 'example', 'every 2 hours');
""",
    "0053": f"""
INSERT INTO memsvc.turns (user_id, turn_id, source_id, session, begun_at)
VALUES ('{USER}', '{THING}', '{THING}', 'one', '2026-01-02Z');
INSERT INTO memsvc.tool_calls (user_id, turn_id, number, tool, arguments, told, document_id)
VALUES ('{USER}', '{THING}', 0, 'READ', '{{"path": "study.md"}}', 'READ study.md', '{THING}');
""",
    "0057": f"""
INSERT INTO memsvc.node_salience (user_id, node_id, salience, before)
SELECT '{USER}', min(node_id::text)::uuid, 0.6, 0.2 FROM memsvc.nodes WHERE user_id = '{USER}';
INSERT INTO memsvc.proposals (user_id, proposal_id, kind, key, node_id, score, state, decided_at, decided_by)
SELECT '{USER}', '{THING}', 'split', '{THING}', min(node_id::text)::uuid, 0.6, 'rejected', '2026-01-02Z', 'user'
FROM memsvc.nodes WHERE user_id = '{USER}';
""",
    "0058": """
INSERT INTO memsvc.key_days (key_id, day, requests, last_at) VALUES ('mk_1', '2026-01-02', 7, '2026-01-02Z');
""",
    "0060": f"""
INSERT INTO memsvc.cells (cell_id, name, url, weight) VALUES (7, 'seven', 'postgresql://127.0.0.1:1/x', 2);
INSERT INTO memsvc.moves (user_id, from_cell, to_cell, state) VALUES ('{USER}', 0, 7, 'aborting');
""",
    "0061": f"""
UPDATE memsvc.apps SET policy = '{{"card": "mask"}}';
UPDATE memsvc.users SET policy = '{{"iban": "refuse"}}' WHERE user_id = '{USER}';
INSERT INTO memsvc.anonymous_figures (app_id, month, what, kind, number)
SELECT app_id, '2026-01-01', 'messages', 'user', 7 FROM memsvc.users WHERE user_id = '{USER}';
""",
    "0062": f"""
INSERT INTO memsvc.budgets (app_id, whose, of_user, messages_per_day, cost_per_day, day, messages)
VALUES ('{APP}', 'app', NULL, 100, 2.5, '2026-01-02', 7), ('{APP}', 'user', '{USER}', 10, NULL, '2026-01-02', 7);
""",
}

Rows = dict[str, list[dict[str, Any]]]
DROPPED = {"edges": {"gid"}, "edge_versions": {"tsv", "length"}}
"""Columns that a migration took away on purpose."""


def insert_samples(admin: psycopg.Connection, revision: str) -> None:
    """Put a sample into every table that exists at a revision.

    Raises:
        AssertionError: a table has no sample.
    """
    for since, script in SAMPLES.items():
        if since <= revision:
            admin.execute(script.encode())
    empty = [table for table, rows in all_rows(admin).items() if not rows]
    assert empty == [], f"give these tables a sample: {empty}"


def all_rows(admin: psycopg.Connection) -> Rows:
    """Every row of every table of the schema but Alembic's own."""
    tables = admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'memsvc'::regnamespace AND relkind IN ('r', 'p') "
        "AND relname <> 'schema_version' AND NOT relispartition"
    ).fetchall()
    return {
        table: [
            row[0]
            for row in admin.execute(sql.SQL("SELECT to_jsonb(t) FROM memsvc.{} AS t").format(sql.Identifier(table)))
        ]
        for (table,) in tables
    }


def lost(before: Rows, after: Rows) -> list[str]:
    """Rows that were there before and are not any more with all their values; new columns and rows are no loss."""

    def is_kept(table: str, row: dict[str, Any]) -> bool:
        wanted = {key: value for key, value in row.items() if key not in DROPPED.get(table, ())}
        return any(found.items() >= wanted.items() for found in after.get(table, []))

    return [f"{table}: {json.dumps(row)}" for table, rows in before.items() for row in rows if not is_kept(table, row)]
