-- What each role may do at all. History is append-only by privilege: the application may close a version, not change
-- it.

REVOKE ALL ON SCHEMA memsvc FROM PUBLIC;
GRANT USAGE ON SCHEMA memsvc TO memsvc_app, memsvc_reader, memsvc_cypher;

REVOKE ALL ON ALL TABLES IN SCHEMA memsvc FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_recall;
DO $functions$
DECLARE
  owned regprocedure;
BEGIN
  FOR owned IN
    SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'memsvc'::regnamespace AND p.proowner = current_user::regrole
  LOOP
    EXECUTE format(
      'REVOKE ALL ON FUNCTION %s FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_recall', owned
    );
  END LOOP;
END
$functions$;

GRANT SELECT ON
memsvc.users, memsvc.node_types, memsvc.edge_types, memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources,
memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.messages,
memsvc.conversations, memsvc.embedding_models, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links
TO memsvc_app, memsvc_reader;
GRANT SELECT ON memsvc.tombstones, memsvc.schema_version, memsvc.applied_sql TO memsvc_app;
GRANT SELECT ON memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.embeddings TO memsvc_recall;

GRANT INSERT ON
memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources, memsvc.passages, memsvc.corpora, memsvc.terms,
memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links
TO memsvc_app;
GRANT UPDATE (recorded_to) ON
memsvc.node_versions, memsvc.aliases, memsvc.edge_versions, memsvc.merges, memsvc.source_links
TO memsvc_app;
-- To lock the row; the column can hold one value only.
GRANT UPDATE (lockable) ON memsvc.nodes TO memsvc_app;
GRANT UPDATE (title, status, last_ingested_at, metadata) ON memsvc.sources TO memsvc_app;
GRANT UPDATE (passages, length) ON memsvc.corpora TO memsvc_app;
GRANT UPDATE (passages) ON memsvc.terms TO memsvc_app;
GRANT UPDATE (state, requests, attempts, error_code, error, run_after, started_at, finished_at) ON memsvc.jobs
TO memsvc_app;
GRANT UPDATE (at_local, weekdays, enabled, next_at, last_at) ON memsvc.schedules TO memsvc_app;
GRANT DELETE ON memsvc.term_deltas TO memsvc_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memsvc.dramatiq_queue, memsvc.dramatiq_worker TO memsvc_app;

-- The read-only logins get what reading needs; nothing that writes, folds or keeps accounts.
GRANT EXECUTE ON FUNCTION
memsvc.current_user_id(), memsvc.require_identity(uuid), memsvc.set_signs_apart(text),
memsvc.to_words(text, text, text),
memsvc.word_count(tsvector), memsvc.searched_text(text, text, text), memsvc.as_tsquery(text), memsvc.normal_form(text),
memsvc.words_behind(text, text, text, text[]), memsvc.embedding_progress(uuid),
memsvc.resolve_nodes(uuid, uuid[], timestamptz), memsvc.same_nodes(uuid, uuid[], timestamptz),
memsvc.content_of(memsvc.node_versions), memsvc.content_of(memsvc.edge_versions), memsvc.content_of(memsvc.aliases),
memsvc.links_of(uuid, text, uuid, timestamptz), memsvc.edges_known(uuid, uuid[], text, timestamptz),
memsvc.facts(uuid, uuid[], text[], timestamptz, timestamptz, text),
memsvc.node_states(uuid, uuid[], timestamptz, timestamptz), memsvc.node_names(uuid, uuid[], timestamptz, timestamptz),
memsvc.nodes_called(uuid, text[], timestamptz, timestamptz),
memsvc.history_of(uuid, uuid, timestamptz, integer),
memsvc.recall(
  uuid, text, integer, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, smallint, public.halfvec,
  double precision, smallint, public.halfvec
)
TO memsvc_app, memsvc_reader, memsvc_recall;
GRANT EXECUTE ON FUNCTION memsvc.current_user_id() TO memsvc_cypher;

GRANT EXECUTE ON FUNCTION
memsvc.message_digest(text, text, integer, text), memsvc.append_messages(uuid, jsonb), memsvc.fold_statistics(uuid),
memsvc.due_jobs(integer), memsvc.backlog(), memsvc.begin_job(uuid, uuid),
memsvc.finish_job(uuid, uuid, integer, boolean, timestamptz),
memsvc.fail_job(uuid, uuid, text, text, boolean, timestamptz),
memsvc.job_queue(text), memsvc.job_message(uuid, uuid, text), memsvc.send_job(), memsvc.ask_job(uuid, text, uuid),
memsvc.claim_messages(text, uuid, uuid, integer), memsvc.relay_messages(text, uuid, integer),
memsvc.keep_queue(interval),
memsvc.clock_reaches(text, timestamp), memsvc.next_run(text, time, smallint[], timestamptz),
memsvc.seed_schedules(uuid), memsvc.due_schedules(integer), memsvc.run_schedule(uuid, text),
memsvc.delete_ended(uuid, interval, interval, integer),
memsvc.work_now(), memsvc.work_errors(), memsvc.work_hands(), memsvc.users_with_failed_jobs(),
memsvc.retry_failed_jobs(uuid),
memsvc.open_versions(uuid, text, uuid, text), memsvc.plan_history(uuid, jsonb),
memsvc.apply_steps(uuid, text, timestamptz, jsonb), memsvc.write_versions(uuid, text, timestamptz, jsonb),
memsvc.link_evidence(uuid, text, timestamptz, jsonb, jsonb), memsvc.refuse_change(text, integer, text),
memsvc.begin_change(uuid, text, text[], uuid[], uuid), memsvc.check_operations(uuid, jsonb),
memsvc.version_of(uuid, uuid), memsvc.history_steps(uuid, jsonb),
memsvc.apply_merges(uuid, text, timestamptz, jsonb), memsvc.types_now(uuid, uuid[]),
memsvc.check_endpoints(uuid, jsonb), memsvc.check_closes(uuid, jsonb), memsvc.write_history(uuid, text, jsonb),
memsvc.altered_by(uuid, timestamptz), memsvc.differs_now(uuid, text, uuid, text, timestamptz, timestamptz, jsonb),
memsvc.merges_back(uuid, timestamptz), memsvc.undo_change(uuid, text, uuid),
memsvc.ensure_app(text), memsvc.find_app(text), memsvc.ensure_model(text, integer),
memsvc.unembedded(uuid, smallint, uuid, uuid, integer), memsvc.store_embeddings(uuid, smallint, uuid[], text[]),
memsvc.build_model(text, integer), memsvc.pause_model(text, boolean), memsvc.switch_model(text, boolean),
memsvc.retire_model(text), memsvc.drop_model_index(smallint), memsvc.drop_vectors(smallint, uuid, integer),
memsvc.create_user(uuid, text, text, text, text),
memsvc.users_of_app(uuid, text, uuid, integer),
memsvc.create_key(uuid, text, bytea, uuid, text[], text, timestamptz), memsvc.keys_of_app(uuid),
memsvc.revoke_key(uuid, text), memsvc.authenticate_key(text, bytea, text)
TO memsvc_app;
