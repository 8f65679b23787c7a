"""A row for each table, and a change of one: what probes try to add, or to alter."""

from __future__ import annotations

from tests.sql.world import UNUSED_MODEL

# What owns rows and is written by the application: how to add a row for a user, with ids of the user's own things.
INSERTS = {
    "nodes": "(user_id) VALUES (%(user)s)",
    "node_versions": "(user_id, node_id, type, label, recorded_from, recorded_to) "
    "VALUES (%(user)s, %(node)s, 'Person', 'x', '2000-01-01', '2000-01-02')",
    "aliases": "(user_id, node_id, alias, normal_form, asserted_by) VALUES (%(user)s, %(node)s, 'x', 'x', 'probe')",
    "locations": "(user_id, node_id, latitude, longitude, asserted_by, recorded_from, recorded_to) "
    "VALUES (%(user)s, %(node)s, 1, 2, 'probe', '2000-01-01', '2000-01-02')",
    "sources": "(user_id, kind, identifier) VALUES (%(user)s, 'conversation', 'probe')",
    "passages": "(user_id, source_id, kind, session, ordinal, role, text, said_at, said_offset, language, tsv, "
    "tsv_simple, length, length_simple) "
    "VALUES (%(user)s, %(source)s, 'message', 'probe', 0, 'user', 'x', now(), 0, 'english', '', '', 0, 0)",
    "corpora": "(user_id, kind, form, passages, length) VALUES (%(user)s, 'probe', 'simple', 1, 1)",
    "terms": "(user_id, kind, form, term, passages) VALUES (%(user)s, 'probe', 'simple', 'x', 1)",
    "term_deltas": "(user_id, kind, form, passages, length, terms, changes) "
    "VALUES (%(user)s, 'probe', 'simple', 1, 1, '{}', '{}')",
    "jobs": "(user_id, kind, subject_id) VALUES (%(user)s, 'process', gen_random_uuid())",
    "outbox": "(user_id, kind, subject_id) VALUES (%(user)s, 'passages.added', gen_random_uuid())",
    "embeddings": "(user_id, model_id, passage_id, vector) VALUES (%(user)s, "
    f"(SELECT model_id FROM memsvc.embedding_models WHERE name = '{UNUSED_MODEL}'), %(passage)s, '[1,0,0]')",
    "token_vectors": "(user_id, model_id, passage_id, tokens) VALUES (%(user)s, "
    f"(SELECT model_id FROM memsvc.embedding_models WHERE name = '{UNUSED_MODEL}'), %(passage)s, '{{}}')",
    "changes": "(user_id, recorded_at, asserted_by, operations) VALUES (%(user)s, '2000-01-01', 'probe', '{}')",
    "edges": "(user_id, from_node, type, to_node, key) VALUES (%(user)s, %(node)s, 'KNOWS', %(node)s, 'probe')",
    "edge_versions": "(user_id, edge_id, from_node, type, to_node, functional, fact, asserted_by, recorded_from, "
    "recorded_to) VALUES (%(user)s, %(edge)s, %(node)s, 'KNOWS', %(second)s, false, 'x', 'probe', '2000-01-01', "
    "'2000-01-02')",
    "merges": "(user_id, node_id, canonical_id, asserted_by, recorded_from, recorded_to) "
    "VALUES (%(user)s, %(node)s, %(second)s, 'probe', '2000-01-01', '2000-01-02')",
    "source_links": "(user_id, passage_id, node_id, asserted_by, recorded_from) "
    "VALUES (%(user)s, %(passage)s, %(node)s, 'probe', '2000-01-01')",
    "tombstones": "(user_id, digest) VALUES (%(user)s, sha256('probe'))",
    "recall_events": "(user_id, recall_id, door, mode, memories) "
    "VALUES (%(user)s, uuidv7(), 'probe', 'eager', ARRAY[%(passage)s])",
    "memory_signals": "(user_id, memory_id, kind) VALUES (%(user)s, %(passage)s, 'passage')",
    "extractions": "(user_id, source_id, extractor, backend) VALUES (%(user)s, %(source)s, 'probe', 'probe')",
    "fact_reviews": "(user_id, passage_id, extractor, state, reason, proposal, digest) "
    "VALUES (%(user)s, %(passage)s, 'probe', 'doubtful', 'doubtful', '{}', sha256('probe'))",
    "sleep_runs": "(user_id, task) VALUES (%(user)s, 'probing')",
    "rereadings": "(user_id, extractor, backend) VALUES (%(user)s, 'probe', 'probe')",
    "ingests": "(user_id) VALUES (%(user)s)",
    "ingest_files": "(user_id, ingest_id, number, name) VALUES (%(user)s, (SELECT i.ingest_id "
    "FROM memsvc.ingests AS i WHERE i.user_id = %(user)s LIMIT 1), 9, 'probe')",
    "feeds": "(user_id, kind, identifier, name, rule) VALUES (%(user)s, 'url', 'probe', 'probe', '0 3 * * *')",
    "cards_compared": "(user_id, model_id, made_at, passage_id) VALUES (%(user)s, 9, '2000-01-01', %(passage)s)",
    "analysis_runs": "(user_id, kind) VALUES (%(user)s, 'orphans')",
    "analysis_results": "(user_id, run_id, place, what, score) VALUES (%(user)s, (SELECT r.run_id "
    "FROM memsvc.analysis_runs AS r WHERE r.user_id = %(user)s LIMIT 1), 9, 'probe', 1)",
    "profile_versions": "(user_id, version, name, kind, text, tokens, token_limit, node_id, asserted_by) "
    "VALUES (%(user)s, 1, 'probe', 'archival', 'x', 1, 500, %(node)s, 'probe')",
    "profile_evidence": "(user_id, version_id, passage_id, lines) VALUES (%(user)s, (SELECT v.version_id "
    "FROM memsvc.profile_versions AS v WHERE v.user_id = %(user)s LIMIT 1), %(passage)s, '{1}')",
    "answered_requests": "(user_id, request_key, digest, answer) "
    "VALUES (%(user)s, sha256('probe'), sha256('probe'), '{}')",
    "used_tickets": "(user_id, ticket_id, expires_at) VALUES (%(user)s, gen_random_uuid(), 'infinity')",
    "duplicate_candidates": "(user_id, node_a, node_b, score, found_by) VALUES (%(user)s, "
    "least(%(node)s::uuid, %(second)s), greatest(%(node)s::uuid, %(second)s), 0.5, 'probe')",
    "node_salience": "(user_id, node_id, salience) VALUES (%(user)s, %(node)s, 0.5)",
    "proposals": "(user_id, kind, key, node_id, score) VALUES (%(user)s, 'split', %(node)s, %(node)s, 0.5)",
    "document_versions": "(user_id, source_id, version, sha256, bytes, format, title, path, characters, recorded_from, "
    "recorded_to) VALUES (%(user)s, %(source)s, 9, repeat('a', 64), 1, 'md', 'x', 'x', 1, '2000-01-01', '2000-01-02')",
    "vaults": "(user_id, folder, flavours) VALUES (%(user)s, '/probe', '{markdown}')",
    "turns": "(user_id, source_id, session, begun_at) VALUES (%(user)s, %(source)s, 'probe', now())",
    "tool_calls": "(user_id, turn_id, number, tool, arguments, told) VALUES (%(user)s, (SELECT t.turn_id "
    "FROM memsvc.turns AS t WHERE t.user_id = %(user)s LIMIT 1), 9, 'PROBE', '{}', 'x')",
    "model_calls": "(user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, tries) "
    "VALUES (%(user)s, 'probe', 'm', '1', 'answered', 1, 1, 1, 1)",
}
CHANGES = {
    "node_versions": "UPDATE memsvc.node_versions SET recorded_to = clock_timestamp()",
    "aliases": "UPDATE memsvc.aliases SET recorded_to = clock_timestamp()",
    "locations": "UPDATE memsvc.locations SET recorded_to = clock_timestamp()",
    "nodes": "UPDATE memsvc.nodes SET lockable = true",
    "edge_versions": "UPDATE memsvc.edge_versions SET recorded_to = clock_timestamp()",
    "merges": "UPDATE memsvc.merges SET recorded_to = clock_timestamp()",
    "source_links": "UPDATE memsvc.source_links SET recorded_to = clock_timestamp()",
    "sources": "UPDATE memsvc.sources SET title = 'changed'",
    "corpora": "UPDATE memsvc.corpora SET passages = passages + 1",
    "terms": "UPDATE memsvc.terms SET passages = passages + 1",
    "term_deltas": "DELETE FROM memsvc.term_deltas",
    "schedules": "UPDATE memsvc.schedules SET at_local = '05:00'",
    "erasures": "UPDATE memsvc.erasures SET verified_at = clock_timestamp()",
    "recall_events": "UPDATE memsvc.recall_events SET folded_at = clock_timestamp()",
    "memory_signals": "UPDATE memsvc.memory_signals SET pinned = true",
    "extractions": "UPDATE memsvc.extractions SET asked = true",
    "fact_reviews": "UPDATE memsvc.fact_reviews SET reason = 'changed'",
    "sleep_runs": "UPDATE memsvc.sleep_runs SET examined = 1",
    "rereadings": "UPDATE memsvc.rereadings SET turns = 1",
    "changes": "UPDATE memsvc.changes SET rereading_id = NULL",
    "ingests": "UPDATE memsvc.ingests SET error_code = 'changed'",
    "ingest_files": "UPDATE memsvc.ingest_files SET hint = 'changed'",
    "feeds": "UPDATE memsvc.feeds SET last_error = 'changed'",
    "cards_compared": "UPDATE memsvc.cards_compared SET made_at = '2001-01-01'",
    "analysis_runs": "UPDATE memsvc.analysis_runs SET found = 1",
    "analysis_results": "DELETE FROM memsvc.analysis_results",
    "document_versions": "UPDATE memsvc.document_versions SET path = 'changed'",
    "vaults": "UPDATE memsvc.vaults SET write_back = 'beside'",
    "turns": "UPDATE memsvc.turns SET ok = true",
    "profile_versions": "UPDATE memsvc.profile_versions SET recorded_to = clock_timestamp()",
    "answered_requests": "DELETE FROM memsvc.answered_requests",
    "used_tickets": "DELETE FROM memsvc.used_tickets",
    "duplicate_candidates": "UPDATE memsvc.duplicate_candidates SET score = 1",
    "node_salience": "UPDATE memsvc.node_salience SET salience = 1",
    "proposals": "UPDATE memsvc.proposals SET state = 'rejected', decided_at = now(), decided_by = 'changed'",
}
# What the owner's definer functions could be talked into, if force or policies were missing.
OWNER_CHANGES = {
    "node_types": "UPDATE memsvc.node_types SET description = 'changed'",
    "edge_types": "UPDATE memsvc.edge_types SET description = 'changed'",
    "term_deltas": "DELETE FROM memsvc.term_deltas",
    "model_calls": "DELETE FROM memsvc.model_calls",
}
