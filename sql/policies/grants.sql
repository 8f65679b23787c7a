-- What each role may do at all. History is append-only by privilege: the application may close a version, not change
-- it.

REVOKE ALL ON SCHEMA memsvc FROM PUBLIC;
GRANT USAGE ON SCHEMA memsvc TO memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst;

REVOKE ALL ON ALL TABLES IN SCHEMA memsvc FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst,
memsvc_recall, memsvc_eraser;
DO $functions$
DECLARE
  owned regprocedure;
BEGIN
  FOR owned IN
    SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'memsvc'::regnamespace AND p.proowner = current_user::regrole
  LOOP
    EXECUTE format(
      'REVOKE ALL ON FUNCTION %s FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst, memsvc_recall, '
      'memsvc_eraser',
      owned
    );
  END LOOP;
END
$functions$;

GRANT SELECT ON
memsvc.users, memsvc.node_types, memsvc.edge_types, memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources,
memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.messages,
memsvc.conversations, memsvc.embedding_models, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links, memsvc.canonical_nodes, memsvc.nodes_current,
memsvc.node_labels, memsvc.facts_current, memsvc.facts_history, memsvc.timeline, memsvc.people, memsvc.daily_activity,
memsvc.sources_status, memsvc.erasures, memsvc.recall_events, memsvc.memory_signals, memsvc.token_vectors,
memsvc.extractions, memsvc.fact_reviews, memsvc.model_calls, memsvc.duplicate_candidates,
memsvc.sleep_runs, memsvc.profile_versions, memsvc.profile_evidence, memsvc.used_tickets, memsvc.answered_requests,
memsvc.analysis_runs, memsvc.analysis_results, memsvc.locations
TO memsvc_app, memsvc_reader;
GRANT SELECT ON memsvc.tombstones, memsvc.schema_version, memsvc.applied_sql TO memsvc_app;
GRANT SELECT ON
memsvc.passages, memsvc.corpora, memsvc.terms, memsvc.term_deltas, memsvc.embeddings, memsvc.token_vectors, memsvc.node_versions,
memsvc.aliases, memsvc.edge_versions, memsvc.source_links, memsvc.locations
TO memsvc_recall;

GRANT INSERT ON
memsvc.nodes, memsvc.node_versions, memsvc.aliases, memsvc.sources, memsvc.passages, memsvc.corpora, memsvc.terms,
memsvc.term_deltas, memsvc.jobs, memsvc.outbox, memsvc.embeddings, memsvc.schedules, memsvc.changes, memsvc.edges,
memsvc.edge_versions, memsvc.merges, memsvc.source_links, memsvc.node_types, memsvc.edge_types,
memsvc.tombstones, memsvc.recall_events, memsvc.memory_signals, memsvc.token_vectors,
memsvc.extractions, memsvc.fact_reviews, memsvc.model_calls, memsvc.duplicate_candidates,
memsvc.sleep_runs, memsvc.profile_versions, memsvc.profile_evidence, memsvc.used_tickets, memsvc.answered_requests,
memsvc.analysis_runs, memsvc.analysis_results, memsvc.locations
TO memsvc_app;
GRANT UPDATE (recorded_to) ON
memsvc.node_versions, memsvc.aliases, memsvc.edge_versions, memsvc.merges, memsvc.source_links,
memsvc.profile_versions, memsvc.locations
TO memsvc_app;
-- To lock the row; the column can hold one value only.
GRANT UPDATE (lockable) ON memsvc.nodes TO memsvc_app;
GRANT UPDATE (title, status, last_ingested_at, metadata, forget_after) ON memsvc.sources TO memsvc_app;
GRANT UPDATE (passages, length) ON memsvc.corpora TO memsvc_app;
GRANT UPDATE (passages) ON memsvc.terms TO memsvc_app;
GRANT UPDATE (state, requests, attempts, outages, restarts, error_code, error, run_after, started_at, finished_at)
ON memsvc.jobs TO memsvc_app;
GRANT UPDATE (at_local, weekdays, enabled, next_at, last_at) ON memsvc.schedules TO memsvc_app;
-- What a type means once it was proposed is fixed: functional, ends and parent.
GRANT UPDATE (description, status, decided_by, decided_at) ON memsvc.node_types, memsvc.edge_types TO memsvc_app;
GRANT UPDATE (verdicts, folded_at) ON memsvc.recall_events TO memsvc_app;
GRANT UPDATE (recalls, last_recalled_at, used, irrelevant, importance, sentiment, pinned) ON memsvc.memory_signals
TO memsvc_app;
GRANT UPDATE (backend, upto, turns, facts, refused, asked, last_at, passed_over) ON memsvc.extractions TO memsvc_app;
GRANT UPDATE (extractor, state, reason, proposal, span_from, span_to, decided_at, decided_by) ON memsvc.fact_reviews
TO memsvc_app;
GRANT UPDATE (score, evidence, state, decided_at, decided_by) ON memsvc.duplicate_candidates TO memsvc_app;
GRANT UPDATE (state, place, examined, applied, proposed, seconds, within_budget, error_code, finished_at)
ON memsvc.sleep_runs TO memsvc_app;
GRANT UPDATE (state, found, figures, seconds, error_code, finished_at) ON memsvc.analysis_runs TO memsvc_app;
GRANT DELETE ON memsvc.term_deltas, memsvc.node_types, memsvc.edge_types, memsvc.recall_events, memsvc.sleep_runs,
memsvc.used_tickets, memsvc.answered_requests, memsvc.analysis_runs, memsvc.analysis_results
TO memsvc_app;
GRANT UPDATE (verified_at, leftovers) ON memsvc.erasures TO memsvc_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memsvc.dramatiq_queue, memsvc.dramatiq_worker TO memsvc_app;

-- Who erases: memsvc_eraser's functions, for the user that the token proves. A whole user has rows in all tables that
-- there are.
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
GRANT UPDATE (identifier, title, metadata) ON memsvc.sources TO memsvc_eraser;
GRANT UPDATE (part, kind) ON memsvc.passages TO memsvc_eraser;
GRANT UPDATE (derived_from) ON memsvc.node_versions, memsvc.edge_versions, memsvc.aliases, memsvc.locations
TO memsvc_eraser;
GRANT UPDATE (memories) ON memsvc.recall_events TO memsvc_eraser;
GRANT UPDATE (upto, passed_over) ON memsvc.extractions TO memsvc_eraser;
GRANT UPDATE (text, version) ON memsvc.profile_versions TO memsvc_eraser;
GRANT UPDATE (lines) ON memsvc.profile_evidence TO memsvc_eraser;
GRANT UPDATE (passages, length) ON memsvc.corpora TO memsvc_eraser;
GRANT UPDATE (passages) ON memsvc.terms TO memsvc_eraser;
GRANT EXECUTE ON FUNCTION
memsvc.current_user_id(), memsvc.require_identity(uuid), memsvc.user_tables(), memsvc.normal_form(text),
memsvc.tombstone_digest(jsonb), memsvc.message_digest(text, text, integer, text),
memsvc.fold_statistics(uuid), memsvc.links_of(uuid, text, uuid, timestamptz),
memsvc.erasure_scope(uuid, text, uuid, integer), memsvc.spoken_for(uuid, uuid[], uuid),
memsvc.content_of(memsvc.node_versions), memsvc.content_of(memsvc.edge_versions),
memsvc.content_of(memsvc.aliases), memsvc.content_of(memsvc.locations), memsvc.version_of(uuid, uuid),
memsvc.keeps_words(jsonb, jsonb), memsvc.words_beyond(jsonb, jsonb),
memsvc.derivations_of(uuid, uuid[]), memsvc.versions_undone(uuid, uuid[], uuid, uuid[], uuid[]),
memsvc.origins_of(uuid, uuid[], uuid[]), memsvc.own_links(uuid, text, uuid, timestamptz, uuid),
memsvc.evidence_lost(uuid, uuid[], uuid[], uuid[]),
memsvc.keep_derivations(uuid, uuid[], uuid[]),
memsvc.plan_erasure(uuid, uuid[], uuid, uuid[], uuid), memsvc.terms_of(uuid, uuid[]),
memsvc.lines_lost(uuid, uuid[]), memsvc.filed_with(uuid, uuid[], uuid[]),
memsvc.erasure_reach(uuid, text, uuid, integer),
memsvc.any_merges(uuid, timestamptz), memsvc.resolve_nodes(uuid, uuid[], timestamptz),
memsvc.same_nodes(uuid, uuid[], timestamptz), memsvc.core_user_id()
TO memsvc_eraser;

-- Who writes the graph or messages writes their projection; erasing takes it back (200 to 204).
GRANT EXECUTE ON FUNCTION
memsvc.other_label(text), memsvc.labels_of(uuid, text), memsvc.moment_shown(timestamptz), memsvc.data_shown(jsonb),
memsvc.vertices_of(uuid, uuid[]),
memsvc.vertices_wanted(uuid, uuid[]), memsvc.edges_wanted(uuid, uuid[]), memsvc.has_projection(),
memsvc.lock_projection(uuid, text, boolean), memsvc.store_vertices(uuid, uuid[]), memsvc.store_edges(uuid, uuid[]),
memsvc.project(uuid, uuid[], uuid[], uuid[], timestamptz),
memsvc.passage_shown(uuid, text, text, text, text, timestamptz), memsvc.store_passages(uuid, uuid[]),
memsvc.link_passages(uuid, uuid[])
TO memsvc_app, memsvc_eraser;
GRANT EXECUTE ON FUNCTION
memsvc.project_more(uuid, text, uuid, integer), memsvc.empty_projection(uuid, text),
memsvc.rebuild_projection(uuid, text, integer), memsvc.projection_wanted(uuid), memsvc.compare_projection(uuid)
TO memsvc_app;
DO $numbers$
BEGIN -- together with the functions that need it: of a graph that an older version made, until it is made anew
  IF memsvc.has_projection() THEN
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA memory TO memsvc_app, memsvc_eraser;
    REVOKE ALL ON SEQUENCE memory._label_id_seq FROM memsvc_app, memsvc_eraser;
  END IF;
END
$numbers$;
GRANT EXECUTE ON FUNCTION memsvc.has_projection() TO memsvc_reader, memsvc_cypher;

-- The read-only logins get what reading needs; nothing that writes, folds or keeps accounts.
GRANT EXECUTE ON FUNCTION
memsvc.current_user_id(), memsvc.require_identity(uuid), memsvc.set_signs_apart(text), memsvc.signs(),
memsvc.has_signs(text), memsvc.has_exact_words(text), memsvc.pairs_of_signs(text), memsvc.stop_signs(),
memsvc.exact_words(text, text, text),
memsvc.whole_words(text[]), memsvc.to_words(text, text, text),
memsvc.word_count(tsvector), memsvc.searched_text(text, text, text), memsvc.as_tsquery(text), memsvc.normal_form(text),
memsvc.words_behind(text, text, text, text[]), memsvc.embedding_progress(uuid),
memsvc.resolve_nodes(uuid, uuid[], timestamptz), memsvc.same_nodes(uuid, uuid[], timestamptz),
memsvc.content_of(memsvc.node_versions), memsvc.content_of(memsvc.edge_versions), memsvc.content_of(memsvc.aliases),
memsvc.content_of(memsvc.locations),
memsvc.links_of(uuid, text, uuid, timestamptz), memsvc.edges_known(uuid, uuid[], text, timestamptz),
memsvc.facts(uuid, uuid[], text[], timestamptz, timestamptz, text),
memsvc.node_states(uuid, uuid[], timestamptz, timestamptz), memsvc.node_names(uuid, uuid[], timestamptz, timestamptz),
memsvc.nodes_called(uuid, text[], timestamptz, timestamptz),
memsvc.history_of(uuid, uuid, timestamptz, integer),
memsvc.node_cards(uuid, uuid[], timestamptz, timestamptz),
memsvc.core_user_id(), memsvc.count_nodes(uuid), memsvc.count_facts(uuid),
memsvc.neighbourhood(uuid, uuid[], integer, text[], text, integer, integer, timestamptz, timestamptz),
memsvc.any_merges(uuid, timestamptz), memsvc.standing_for(uuid, uuid[], timestamptz),
memsvc.with_same(uuid[], uuid[]),
memsvc.open_edges(uuid, uuid[], uuid[], text, integer, integer, timestamptz, timestamptz, real, uuid),
memsvc.open_edges_typed(uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid),
memsvc.past_edges(uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid),
memsvc.stored_hop(uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid),
memsvc.hop(uuid, uuid[], text[], text, integer, integer, timestamptz, timestamptz, boolean, real, uuid),
memsvc.next_circle(
  uuid, uuid[], uuid[], integer, text[], text, integer, timestamptz, timestamptz, boolean, real, uuid
),
memsvc.unknown_nodes(uuid, uuid[]),
memsvc.graph_shown(uuid, uuid[], integer[], uuid[], timestamptz, timestamptz),
memsvc.graph_around(uuid, uuid[], integer, text[], text, integer, integer, timestamptz, timestamptz),
memsvc.paths(uuid, uuid, uuid, integer, text[], text, integer, integer, timestamptz, timestamptz),
memsvc.next_level(uuid, uuid[], uuid[], text[], text, integer, timestamptz, timestamptz, boolean),
memsvc.paths_through(
  uuid[], uuid[], integer, integer, integer[], uuid[], uuid[], uuid[], real[], integer
),
memsvc.graph_paths(uuid, uuid, uuid, integer, text[], text, integer, integer, timestamptz, timestamptz),
memsvc.edges_between(uuid, uuid[], text[], integer, timestamptz, timestamptz),
memsvc.graph_among(uuid, uuid[], integer, text[], integer, integer, timestamptz, timestamptz),
memsvc.all_edges(uuid, timestamptz, timestamptz), memsvc.all_nodes(uuid, timestamptz),
memsvc.graph_stats(uuid, timestamptz, timestamptz), memsvc.other_counts(uuid, timestamptz, timestamptz),
memsvc.graph_page(uuid, text, uuid, uuid, integer, text[], timestamptz, timestamptz),
memsvc.page_of_edges(uuid, uuid, uuid, integer, text[], timestamptz, timestamptz),
memsvc.page_of_nodes(uuid, uuid, integer, timestamptz, timestamptz),
memsvc.merges_among(uuid, uuid[], timestamptz), memsvc.name_tier(text, text),
memsvc.names_matching(uuid, text, integer, text, timestamptz, timestamptz, text, uuid, integer),
memsvc.best_names(uuid, text, integer, text[], uuid[], timestamptz, timestamptz),
memsvc.search_nodes(uuid, text, text, timestamptz, timestamptz, integer, text, uuid, integer),
memsvc.versions_touched(uuid, timestamptz, timestamptz),
memsvc.versions_turning(uuid, timestamptz, timestamptz, timestamptz),
memsvc.graph_diff(
  uuid, text, timestamptz, timestamptz, timestamptz, text[], timestamptz, text, uuid, text, integer
),
memsvc.version_shown(uuid, text, uuid),
memsvc.z_score(double precision, double precision, double precision), memsvc.plain_words(text), memsvc.says_i(text),
memsvc.confidence(double precision, double precision, boolean, double precision, double precision, boolean),
memsvc.naming_words(text, text), memsvc.default_weights(), memsvc.says_near(text),
memsvc.nodes_beside(uuid, uuid[], double precision, integer, timestamptz, timestamptz),
memsvc.windows_fit(timestamptz, timestamptz[], timestamptz[], interval),
memsvc.time_fit(timestamptz, timestamptz[], timestamptz[], interval),
memsvc.match_times(
  uuid, timestamptz[], timestamptz[], integer, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz,
  timestamptz
),
memsvc.match_fact_times(uuid, timestamptz[], timestamptz[], integer, timestamptz, timestamptz),
memsvc.recall_candidates(
  uuid, text, integer, integer, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz,
  boolean, smallint, public.halfvec, smallint, public.halfvec, uuid[], uuid[], double precision[], integer[],
  timestamptz[], timestamptz[]
),
memsvc.recency(interval, interval), memsvc.recall_strength(integer, interval, interval), memsvc.familiarity(integer),
memsvc.usefulness(integer, integer), memsvc.staleness(timestamptz, timestamptz, timestamptz),
memsvc.memories_shown(uuid, uuid[], timestamptz, timestamptz),
memsvc.top_of_mind(uuid, integer, timestamptz, timestamptz, text[], boolean, interval),
memsvc.seeded(bigint, text), memsvc.random_memory(uuid, bigint, timestamptz, timestamptz),
memsvc.late_scores(uuid, smallint, bit[], uuid[]),
memsvc.behind_block(uuid, uuid, uuid), memsvc.last_spoken(uuid, timestamptz, timestamptz, interval),
memsvc.standing_instructions(uuid, timestamptz, timestamptz, boolean, text[], integer),
memsvc.known_zone(text),
memsvc.analysed_facts(uuid), memsvc.weighted_pairs(uuid), memsvc.hubs(uuid, integer), memsvc.mentions(uuid),
memsvc.orphans(uuid, integer), memsvc.contradictions(uuid), memsvc.first_day(text), memsvc.impossible_dates(uuid),
memsvc.busy_days(uuid, integer, double precision), memsvc.busiest_weeks(uuid, integer),
memsvc.days_of_facts(uuid, text, integer), memsvc.days_of_people(uuid, integer),
memsvc.first_person_words(), memsvc.name_grams(text, text, boolean),
memsvc.forms_called(uuid, text[], timestamptz, timestamptz),
memsvc.names_in_query(uuid, text, timestamptz, timestamptz, text, boolean),
memsvc.edge_type_weight(text),
memsvc.fact_is_from(uuid, uuid, uuid[], uuid[], timestamptz, timestamptz, timestamptz),
memsvc.match_nodes(
  uuid, text, text, uuid[], double precision[], integer[], integer, text[], boolean, uuid[], uuid[], timestamptz,
  timestamptz, timestamptz, timestamptz
),
memsvc.match_facts(
  uuid, text, text, uuid[], integer[], integer, uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz
),
memsvc.expand_names(uuid, uuid[], integer, integer, timestamptz, timestamptz),
memsvc.stored_nodes(uuid, uuid[], timestamptz),
memsvc.match_mentions(
  uuid, uuid[], double precision[], integer[], integer, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz,
  timestamptz
),
memsvc.name_evidence(uuid, uuid[], timestamptz, timestamptz),
memsvc.recall(
  uuid, text, integer, jsonb, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz,
  smallint, public.halfvec, bit[], smallint, public.halfvec, uuid[], integer, timestamptz[], timestamptz[], text,
  boolean, integer, integer, uuid[], uuid[]
),
memsvc.speaks_of(uuid, uuid, uuid[], timestamptz),
memsvc.metres_between(double precision, double precision, double precision, double precision), memsvc.places_by(),
memsvc.location_counts(memsvc.locations, double precision[], timestamptz, timestamptz, timestamptz),
memsvc.node_locations(uuid, uuid[], timestamptz, timestamptz),
memsvc.nearby(
  uuid, double precision, double precision, double precision, double precision[], text[], timestamptz, timestamptz,
  timestamptz, timestamptz, integer
)
TO memsvc_app, memsvc_reader, memsvc_recall;
GRANT EXECUTE ON FUNCTION memsvc.current_user_id(), memsvc.user_is_here(uuid) TO memsvc_cypher;
GRANT EXECUTE ON FUNCTION memsvc.least_group(), memsvc.day_before(integer) TO memsvc_analyst, memsvc_recall;
GRANT EXECUTE ON FUNCTION memsvc.all_users_jobs(integer), memsvc.all_users_model_calls(integer) TO memsvc_analyst;

GRANT EXECUTE ON FUNCTION
memsvc.tombstone_digest(jsonb), memsvc.message_digest(text, text, integer, text),
memsvc.erasure_scope(uuid, text, uuid, integer), memsvc.spoken_for(uuid, uuid[], uuid),
memsvc.keeps_words(jsonb, jsonb), memsvc.words_beyond(jsonb, jsonb), memsvc.versions_built(uuid, text, uuid, integer),
memsvc.restore_origins(uuid, text, jsonb),
memsvc.derivations_of(uuid, uuid[]), memsvc.versions_undone(uuid, uuid[], uuid, uuid[], uuid[]),
memsvc.origins_of(uuid, uuid[], uuid[]), memsvc.own_links(uuid, text, uuid, timestamptz, uuid),
memsvc.evidence_lost(uuid, uuid[], uuid[], uuid[]),
memsvc.plan_erasure(uuid, uuid[], uuid, uuid[], uuid), memsvc.terms_of(uuid, uuid[]),
memsvc.lines_lost(uuid, uuid[]), memsvc.filed_with(uuid, uuid[], uuid[]),
memsvc.erasure_reach(uuid, text, uuid, integer),
memsvc.unfiled_versions(uuid, uuid), memsvc.file_later(uuid), memsvc.count_words(uuid, uuid[]),
memsvc.file_block(uuid, uuid, jsonb), memsvc.blocks_emptied(uuid, uuid[], uuid[], uuid),
memsvc.misfiled_passages(uuid),
memsvc.preview_erasure(uuid, text, uuid), memsvc.erase(uuid, text, uuid, text, integer),
memsvc.continue_erasure(uuid, uuid, integer, boolean), memsvc.erasure_leftovers(uuid, uuid),
memsvc.verify_erasure(uuid, uuid), memsvc.erased_operations(uuid, jsonb),
memsvc.append_messages(uuid, jsonb), memsvc.fold_statistics(uuid),
memsvc.kinds_of(uuid, uuid[]), memsvc.append_recall(uuid, uuid, text, text, uuid[]),
memsvc.try_append_recall(uuid, uuid, text, text, uuid[]),
memsvc.turns_to_read(uuid, uuid, text, integer, integer), memsvc.anything_to_read(uuid, uuid, text),
memsvc.begin_reading(uuid, uuid, text, text), memsvc.word_runs(text), memsvc.nodes_behind(uuid, uuid[]),
memsvc.relatives(uuid, uuid[]), memsvc.passages_near(uuid, uuid[], integer),
memsvc.grounding(uuid, text, text[], uuid[], uuid[], integer, integer),
memsvc.facts_to_compare(uuid, uuid, uuid[], text[], uuid[], uuid[], text),
memsvc.found_by_others_alone(uuid, uuid, uuid, uuid[], text[]),
memsvc.fold_recalls(uuid, integer), memsvc.delete_recalls(uuid, interval, integer),
memsvc.give_feedback(uuid, uuid, uuid[], uuid[]),
memsvc.due_jobs(integer), memsvc.backlog(), memsvc.begin_job(uuid, uuid),
memsvc.finish_job(uuid, uuid, integer, boolean, timestamptz),
memsvc.fail_job(uuid, uuid, text, text, boolean, timestamptz),
memsvc.job_queue(text), memsvc.job_message(uuid, uuid, text), memsvc.send_job(), memsvc.ask_job(uuid, text, uuid),
memsvc.due_messages(text, uuid, integer), memsvc.claim_messages(text, uuid, uuid, integer),
memsvc.relay_messages(text, uuid, integer),
memsvc.keep_queue(interval), memsvc.fail_deadly_job(uuid, uuid, integer),
memsvc.clock_reaches(text, timestamp), memsvc.next_run(text, time, smallint[], timestamptz),
memsvc.seed_schedules(uuid), memsvc.due_schedules(integer), memsvc.run_schedule(uuid, text),
memsvc.delete_ended(uuid, interval, interval, integer),
memsvc.live_end(), memsvc.users_with_news(uuid[], xid8[], uuid[]), memsvc.live_events(uuid, xid8, uuid, integer),
memsvc.change_shown(uuid, uuid, integer), memsvc.node_in_focus(uuid, uuid),
memsvc.work_now(), memsvc.work_errors(), memsvc.work_hands(), memsvc.users_with_failed_jobs(),
memsvc.retry_failed_jobs(uuid),
memsvc.form_label(), memsvc.form_fact(), memsvc.open_versions(uuid, text, uuid, text), memsvc.plan_history(uuid, jsonb),
memsvc.apply_steps(uuid, text, timestamptz, jsonb), memsvc.write_versions(uuid, text, timestamptz, jsonb),
memsvc.link_evidence(uuid, text, timestamptz, jsonb, jsonb), memsvc.refuse_change(text, integer, text),
memsvc.keep_memories(uuid), memsvc.begin_change(uuid, text, text[], uuid[], uuid), memsvc.check_operations(uuid, jsonb),
memsvc.version_of(uuid, uuid), memsvc.history_steps(uuid, jsonb),
memsvc.apply_merges(uuid, text, timestamptz, jsonb), memsvc.types_now(uuid, uuid[]),
memsvc.check_endpoints(uuid, jsonb), memsvc.check_closes(uuid, jsonb), memsvc.write_history(uuid, text, jsonb),
memsvc.altered_by(uuid, timestamptz), memsvc.differs_now(uuid, text, uuid, text, timestamptz, timestamptz, jsonb),
memsvc.merges_back(uuid, timestamptz), memsvc.undo_change(uuid, text, uuid),
memsvc.check_written_node_types(), memsvc.check_written_edge_types(), memsvc.check_added_types(),
memsvc.propose_type(uuid, text, jsonb, text), memsvc.decide_type(uuid, text, text, text, text),
memsvc.refuse_undecidable(text, text, text), memsvc.withdraw_type(uuid, text, text),
memsvc.ensure_app(text), memsvc.find_app(text), memsvc.ensure_model(text, integer),
memsvc.unembedded(uuid, smallint, uuid, uuid, integer, boolean),
memsvc.store_embeddings(uuid, smallint, uuid[], text[], text[]), memsvc.keep_projection(smallint, bytea),
memsvc.build_model(text, integer), memsvc.pause_model(text, boolean), memsvc.switch_model(text, boolean),
memsvc.retire_model(text), memsvc.drop_model_index(smallint), memsvc.drop_vectors(smallint, uuid, integer),
memsvc.create_user(uuid, text, text, text, text),
memsvc.users_of_app(uuid, text, uuid, integer),
memsvc.create_key(uuid, text, bytea, uuid, text[], text, timestamptz),
memsvc.keys_of_app(uuid, text, timestamptz, text, integer),
memsvc.revoke_key(uuid, text), memsvc.limit_key(uuid, text, integer, integer), memsvc.count_request(text),
memsvc.count_messages(text, integer), memsvc.authenticate_key(text, bytea, text), memsvc.user_is_here(uuid),
memsvc.act_for(uuid, text, boolean, boolean),
memsvc.named_nodes(uuid, uuid, timestamptz, integer),
memsvc.end_analysis(uuid, uuid, bigint, jsonb, real, jsonb),
memsvc.identity_cards(uuid, uuid[]), memsvc.refused_pairs(uuid, uuid[], uuid[]),
memsvc.note_duplicates(uuid, jsonb, text), memsvc.decide_duplicates(uuid, uuid, uuid, text, text),
memsvc.mention_candidates(uuid, integer[], text[], text[], integer[], uuid[], uuid[]),
memsvc.begin_user_erasure(uuid, text, text), memsvc.erase_user(uuid, integer), memsvc.user_erasure(uuid, uuid),
memsvc.users_erasing(integer), memsvc.tokens_spent(timestamptz), memsvc.model_spending(timestamptz)
TO memsvc_app;
