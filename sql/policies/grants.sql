-- Privileges of each role on tables and views. History is append-only by privilege: the application may close a
-- version, but not change it. Each function's file lists who may call it (`-- callers:`).

REVOKE ALL ON SCHEMA memsvc FROM PUBLIC;
GRANT USAGE ON SCHEMA memsvc TO memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst;

REVOKE ALL ON ALL TABLES IN SCHEMA memsvc FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst,
memsvc_recall, memsvc_eraser;
GRANT SELECT ON
memsvc.users, memsvc.node_types, memsvc.edge_types, memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources,
memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.messages,
memsvc.conversations, memsvc.embedding_models, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links, memsvc.canonical_nodes, memsvc.nodes_current,
memsvc.node_labels, memsvc.facts_current, memsvc.facts_history, memsvc.timeline, memsvc.people, memsvc.daily_activity,
memsvc.sources_status, memsvc.erasures, memsvc.recall_events, memsvc.memory_signals, memsvc.token_vectors,
memsvc.extractions, memsvc.fact_reviews, memsvc.model_calls, memsvc.duplicate_candidates,
memsvc.sleep_runs, memsvc.rereadings, memsvc.cards_compared, memsvc.profile_versions, memsvc.profile_evidence,
memsvc.used_tickets, memsvc.answered_requests,
memsvc.analysis_runs, memsvc.analysis_results, memsvc.locations, memsvc.document_versions, memsvc.ingests,
memsvc.ingest_files, memsvc.vaults, memsvc.feeds, memsvc.turns, memsvc.tool_calls, memsvc.procedures,
memsvc.document_signals, memsvc.document_history, memsvc.agent_days, memsvc.instructions_used, memsvc.node_salience,
memsvc.proposals
TO memsvc_app, memsvc_reader;
GRANT SELECT ON memsvc.tombstones, memsvc.schema_version, memsvc.applied_sql TO memsvc_app;
GRANT SELECT ON
memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.embeddings, memsvc.token_vectors,
memsvc.node_versions,
memsvc.aliases, memsvc.edge_versions, memsvc.source_links, memsvc.locations, memsvc.sources, memsvc.memory_signals
TO memsvc_recall;

GRANT INSERT ON
memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources, memsvc.passages, memsvc.corpora, memsvc.terms,
memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links, memsvc.node_types, memsvc.edge_types,
memsvc.tombstones, memsvc.recall_events, memsvc.memory_signals, memsvc.token_vectors,
memsvc.extractions, memsvc.fact_reviews, memsvc.model_calls, memsvc.duplicate_candidates,
memsvc.sleep_runs, memsvc.rereadings, memsvc.cards_compared, memsvc.profile_versions, memsvc.profile_evidence,
memsvc.used_tickets, memsvc.answered_requests,
memsvc.analysis_runs, memsvc.analysis_results, memsvc.locations, memsvc.document_versions, memsvc.ingests,
memsvc.ingest_files, memsvc.vaults, memsvc.feeds, memsvc.turns, memsvc.tool_calls, memsvc.node_salience,
memsvc.proposals
TO memsvc_app;
GRANT UPDATE (recorded_to) ON
memsvc.node_versions, memsvc.aliases, memsvc.edge_versions, memsvc.merges, memsvc.source_links,
memsvc.profile_versions, memsvc.locations, memsvc.document_versions
TO memsvc_app;
-- Of a file that was moved; of a version that an agent's call made by its digest, when its text is stored.
GRANT UPDATE (path, bytes, format, title, pages, characters, metadata, chunked) ON memsvc.document_versions
TO memsvc_app;
GRANT UPDATE (project, commit_id, ok, ended_at, chat_id, chat_messages) ON memsvc.turns TO memsvc_app; -- of an open one
-- Of a call whose result comes later.
GRANT UPDATE (
  told, document_id, version, wrote, ok, exit_code, ms, result_head, result_tail, result_bytes, result_sha256
) ON memsvc.tool_calls TO memsvc_app;
-- Needed to lock the row; the column can have only one value.
GRANT UPDATE (lockable) ON memsvc.nodes TO memsvc_app;
GRANT UPDATE (paused_at, paused_until, forgetting) ON memsvc.users TO memsvc_app;
GRANT UPDATE (title, status, last_ingested_at, metadata, forget_after, local) ON memsvc.sources TO memsvc_app;
GRANT UPDATE (passages, length) ON memsvc.corpora TO memsvc_app;
GRANT UPDATE (passages) ON memsvc.terms TO memsvc_app;
GRANT UPDATE (
  state, requests, attempts, outages, restarts, starts, error_code, error, run_after, started_at, finished_at
) ON memsvc.jobs TO memsvc_app;
GRANT UPDATE (at_local, weekdays, enabled, next_at, last_at, look_at, woken_at, woken_for, tasks_off)
ON memsvc.schedules TO memsvc_app;
-- The meaning of a proposed type is fixed: functional, ends and parent.
GRANT UPDATE (description, status, decided_by, decided_at) ON memsvc.node_types, memsvc.edge_types TO memsvc_app;
GRANT UPDATE (verdicts, echoed, folded_at) ON memsvc.recall_events TO memsvc_app;
GRANT UPDATE (recalls, last_recalled_at, used, irrelevant, importance, sentiment, pinned) ON memsvc.memory_signals
TO memsvc_app;
GRANT UPDATE (backend, upto, turns, facts, refused, asked, last_at, passed_over, again_upto) ON memsvc.extractions
TO memsvc_app;
GRANT UPDATE (state, turns, counts, last_at, finished_at) ON memsvc.rereadings TO memsvc_app;
GRANT UPDATE (rereading_id) ON memsvc.changes TO memsvc_app;
GRANT UPDATE (extractor, state, reason, proposal, span_from, span_to, decided_at, decided_by) ON memsvc.fact_reviews
TO memsvc_app;
GRANT UPDATE (score, evidence, state, decided_at, decided_by) ON memsvc.duplicate_candidates TO memsvc_app;
GRANT UPDATE (state, place, examined, applied, proposed, counts, seconds, model_calls, tokens_in, tokens_out,
within_budget, error_code, finished_at, announced, undone_at)
ON memsvc.sleep_runs TO memsvc_app;
GRANT UPDATE (made_at, passage_id) ON memsvc.cards_compared TO memsvc_app;
GRANT UPDATE (salience, before, sleep_run_id, written_at) ON memsvc.node_salience TO memsvc_app;
GRANT UPDATE (state, decided_at, decided_by) ON memsvc.proposals TO memsvc_app;
GRANT UPDATE (state, found, figures, seconds, error_code, finished_at) ON memsvc.analysis_runs TO memsvc_app;
GRANT UPDATE (state, dry_run, choices, job_id, error_code, started_at, finished_at) ON memsvc.ingests TO memsvc_app;
GRANT UPDATE (flavours, write_back, read_at, odd) ON memsvc.vaults TO memsvc_app;
GRANT UPDATE (name, settings, salt, secret, rule, state, failures, last_error, last_run, next_run, run_id, cursor)
ON memsvc.feeds TO memsvc_app;
GRANT UPDATE (name, source, bytes, sha256, content, outcome, kind, code, message, hint, stored, counts, preview)
ON memsvc.ingest_files TO memsvc_app;
GRANT DELETE ON memsvc.term_deltas, memsvc.node_types, memsvc.edge_types, memsvc.recall_events, memsvc.sleep_runs,
memsvc.used_tickets, memsvc.answered_requests, memsvc.analysis_runs, memsvc.analysis_results, memsvc.ingests,
memsvc.ingest_files, memsvc.vaults, memsvc.feeds
TO memsvc_app;
GRANT UPDATE (verified_at, leftovers) ON memsvc.erasures TO memsvc_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memsvc.dramatiq_queue, memsvc.dramatiq_worker TO memsvc_app;

-- For erasing: memsvc_eraser's functions, for the user that the token proves. A whole user may have rows in all tables.
DO $erased$
DECLARE
  owned text;
BEGIN
  FOR owned IN SELECT t.name FROM memsvc.user_tables() AS t LOOP
    EXECUTE format('GRANT SELECT, DELETE ON memsvc.%I TO memsvc_eraser', owned);
  END LOOP;
END
$erased$;
GRANT SELECT, DELETE ON
memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.edges, memsvc.edge_versions, memsvc.merges,
memsvc.source_links, memsvc.sources, memsvc.passages, memsvc.embeddings, memsvc.token_vectors, memsvc.corpora,
memsvc.terms, memsvc.term_deltas, memsvc.locations
TO memsvc_eraser;
GRANT SELECT, INSERT ON memsvc.tombstones, memsvc.erasures TO memsvc_eraser;
GRANT INSERT ON memsvc.corpora, memsvc.terms TO memsvc_eraser;
GRANT UPDATE (recorded_at) ON memsvc.tombstones TO memsvc_eraser;
GRANT UPDATE (state, counts, ids, finished_at) ON memsvc.erasures TO memsvc_eraser;
GRANT UPDATE (identifier, title, metadata, local) ON memsvc.sources TO memsvc_eraser;
GRANT UPDATE (document_id, version) ON memsvc.tool_calls TO memsvc_eraser;
GRANT UPDATE (part, kind, recorded_to, session, ordinal, metadata, archived_at, archived_by, restored_at)
ON memsvc.passages TO memsvc_eraser;
GRANT UPDATE (derived_from) ON memsvc.node_versions, memsvc.edge_versions, memsvc.aliases, memsvc.locations
TO memsvc_eraser;
GRANT UPDATE (memories, instructions) ON memsvc.recall_events TO memsvc_eraser;
GRANT UPDATE (upto, passed_over, begun_after, again_upto) ON memsvc.extractions TO memsvc_eraser;
GRANT UPDATE (text, version) ON memsvc.profile_versions TO memsvc_eraser;
GRANT UPDATE (lines) ON memsvc.profile_evidence TO memsvc_eraser;
GRANT UPDATE (passages, length) ON memsvc.corpora TO memsvc_eraser;
GRANT UPDATE (passages) ON memsvc.terms TO memsvc_eraser;

-- Writers of the graph or of messages write their projection (functions/projection); erasing deletes it.
DO $numbers$
BEGIN -- with the functions that need it: a graph of an older version has it only after it was rebuilt
  IF memsvc.has_projection() THEN
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA memory TO memsvc_app, memsvc_eraser;
    REVOKE ALL ON SEQUENCE memory._label_id_seq FROM memsvc_app, memsvc_eraser;
  END IF;
END
$numbers$;
