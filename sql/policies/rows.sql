-- Who sees which rows. Row security is enabled and forced in the migration that makes a table; without a policy, a
-- table has no visible rows. There are seven kinds of policy, and everybody_reads for rows that belong to no user (core
-- ontology, embedding models). The partitions of embeddings have no policies, because they are read through their
-- parent. own_rows        memsvc_app, and memsvc_eraser's functions, see and write the rows of the user that the
-- identity token proves; rows_asked_for  people at psql and Cypher, who write their own SQL, see those rows. The
-- condition has two forms: PostgreSQL tests cheap leakproof conditions in the order of cost, and an equality last. With
-- the equality alone, EXPLAIN (ANALYZE) would show whether any row got as far as the test of its owner, and so whether
-- another user has a text between two values. An array of one element is the cheapest test and comes first; the
-- equality is for the indexes; account_rows    memsvc_owner's definer functions keep accounts (apps, users, keys and
-- their use, audit) and the list of embedding models, read ids of due jobs and schedules, keep jobs and queue in step, delete old
-- jobs and events of the user that the token proves, and sum up the costs of the language model; never_approved  a
-- user's own ontology types are deleted only if nothing can have them; queue_rows      workers, which act for all
-- users, take ids of jobs from the queue; retired_seen, retired_dropped  memsvc_owner sees and deletes only vectors and
-- token vectors of retired models; erased_rows     memsvc_eraser's functions see and delete rows of that user in tables
-- on which logins have no policy (keys, the queue); candidate_rows  memsvc_recall's candidate functions read what they
-- search, and bind the user themselves.

DO $policies$
DECLARE
  owned text;
BEGIN
  FOREACH owned IN ARRAY ARRAY[
    'nodes', 'node_versions', 'aliases', 'sources', 'passages', 'tombstones', 'corpora', 'terms', 'term_deltas', 'jobs',
    'outbox', 'users', 'embeddings', 'token_vectors', 'schedules', 'changes', 'edges', 'edge_versions', 'merges',
    'source_links', 'node_types', 'edge_types', 'erasures', 'recall_events', 'memory_signals',
    'extractions', 'fact_reviews', 'model_calls', 'duplicate_candidates', 'sleep_runs', 'rereadings', 'cards_compared',
    'profile_versions', 'profile_evidence', 'used_tickets', 'answered_requests', 'analysis_runs', 'analysis_results',
    'locations', 'document_versions', 'ingests', 'ingest_files', 'vaults', 'feeds', 'turns', 'tool_calls',
    'node_salience', 'proposals'
  ] LOOP
    EXECUTE format('DROP POLICY IF EXISTS own_rows ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY own_rows ON memsvc.%I TO memsvc_app, memsvc_eraser '
      'USING (user_id = (SELECT memsvc.current_user_id())) WITH CHECK (user_id = (SELECT memsvc.current_user_id()))',
      owned
    );
    EXECUTE format('DROP POLICY IF EXISTS rows_asked_for ON memsvc.%I', owned);
    CONTINUE WHEN owned = 'tombstones'; -- which these logins do not see
    EXECUTE format(
      'CREATE POLICY rows_asked_for ON memsvc.%I FOR SELECT TO memsvc_reader, memsvc_cypher USING (%s)',
      owned,
      CASE
        WHEN owned IN ('node_types', 'edge_types') THEN -- own_user_id is null for core types
          'CASE WHEN own_user_id = ANY (ARRAY[(SELECT memsvc.current_user_id())]) THEN true '
          'ELSE own_user_id IS NULL END'
        ELSE
          'CASE WHEN user_id = ANY (ARRAY[(SELECT memsvc.current_user_id())]) THEN true ELSE false END '
          'AND user_id = (SELECT memsvc.current_user_id())'
      END
    );
  END LOOP;
  FOREACH owned IN ARRAY ARRAY[
    'apps', 'users', 'api_keys', 'audit_log', 'key_days', 'identity_keys', 'embedding_models', 'jobs', 'outbox',
    'schedules', 'feeds', 'cells', 'moves', 'anonymous_figures', 'budgets'
  ] LOOP
    EXECUTE format('DROP POLICY IF EXISTS account_rows ON memsvc.%I', owned);
    EXECUTE format('CREATE POLICY account_rows ON memsvc.%I TO memsvc_owner USING (true) WITH CHECK (true)', owned);
  END LOOP;
  -- Migrations 0019 and 0040 needed these.
  DROP POLICY IF EXISTS words_again ON memsvc.passages;
  DROP POLICY IF EXISTS words_again ON memsvc.term_deltas;
  DROP POLICY IF EXISTS account_rows ON memsvc.term_deltas;
  CREATE POLICY account_rows ON memsvc.term_deltas FOR SELECT TO memsvc_owner USING (true);
  DROP POLICY IF EXISTS account_rows ON memsvc.model_calls;
  CREATE POLICY account_rows ON memsvc.model_calls FOR SELECT TO memsvc_owner USING (true);
  FOREACH owned IN ARRAY ARRAY['dramatiq_queue', 'dramatiq_worker'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS queue_rows ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY queue_rows ON memsvc.%I TO memsvc_owner, memsvc_app USING (true) WITH CHECK (true)', owned
    );
  END LOOP;
  FOREACH owned IN ARRAY ARRAY['embeddings', 'token_vectors'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS retired_seen ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY retired_seen ON memsvc.%I FOR SELECT TO memsvc_owner USING (model_id IN ('
      'SELECT m.model_id FROM memsvc.embedding_models AS m WHERE m.state = ''retired''))', owned
    );
    EXECUTE format('DROP POLICY IF EXISTS retired_dropped ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY retired_dropped ON memsvc.%I FOR DELETE TO memsvc_owner USING (model_id IN ('
      'SELECT m.model_id FROM memsvc.embedding_models AS m WHERE m.state = ''retired''))', owned
    );
  END LOOP;
  FOREACH owned IN ARRAY ARRAY[
    'passages', 'corpora', 'terms', 'term_deltas', 'embeddings', 'token_vectors', 'node_versions', 'aliases',
    'edge_versions', 'source_links', 'locations', 'sources', 'memory_signals'
  ] LOOP
    EXECUTE format('DROP POLICY IF EXISTS candidate_rows ON memsvc.%I', owned);
    EXECUTE format('CREATE POLICY candidate_rows ON memsvc.%I FOR SELECT TO memsvc_recall USING (true)', owned);
  END LOOP;
  FOR owned IN SELECT t.name FROM memsvc.user_tables() AS t LOOP
    EXECUTE format('DROP POLICY IF EXISTS erased_rows ON memsvc.%I', owned);
    CONTINUE WHEN EXISTS (
      SELECT FROM pg_policy AS p
      WHERE p.polrelid = format('memsvc.%I', owned)::regclass AND p.polname = 'own_rows'
    );
    EXECUTE format(
      'CREATE POLICY erased_rows ON memsvc.%I TO memsvc_eraser USING (user_id = (SELECT memsvc.current_user_id()))',
      owned
    );
  END LOOP;
  DROP POLICY IF EXISTS everybody_reads ON memsvc.embedding_models;
  CREATE POLICY everybody_reads ON memsvc.embedding_models FOR SELECT USING (true);
  FOREACH owned IN ARRAY ARRAY['node_types', 'edge_types'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS everybody_reads ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY everybody_reads ON memsvc.%I FOR SELECT '
      'TO memsvc_owner, memsvc_recall, memsvc_app, memsvc_eraser '
      'USING (user_id = ''00000000-0000-0000-0000-000000000000'')', owned
    );
    EXECUTE format('DROP POLICY IF EXISTS never_approved ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY never_approved ON memsvc.%I AS RESTRICTIVE FOR DELETE TO memsvc_app '
      'USING (status IN (''proposed'', ''rejected''))', owned
    );
  END LOOP;
END
$policies$;
