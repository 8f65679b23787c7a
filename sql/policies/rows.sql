-- Who sees which rows. Row security is enabled and forced in the migration that makes a table; no policy = no rows.
-- Five kinds of policy, and everybody_reads for what is nobody's (ontology, embedding models). The partitions of
-- embeddings have none: they are reached through their parent, whose policies count.
--   own_rows        the logins see and write the rows of the user that the identity token proves;
--   account_rows    memsvc_owner's definer functions keep accounts (apps, users, keys, audit) and the list of embedding
--                   models, read ids of due jobs and schedules, keep jobs and queue in step, and delete old jobs and
--                   events of the user that the token proves;
--   queue_rows      workers, which act for all users, take ids of jobs from the queue;
--   retired_seen, retired_dropped  memsvc_owner sees and deletes vectors of retired models, no others;
--   candidate_rows  memsvc_recall's candidate functions read what they search, and bind the user themselves.

DO $policies$
DECLARE
  owned text;
BEGIN
  FOREACH owned IN ARRAY ARRAY[
    'nodes', 'node_versions', 'aliases', 'sources', 'passages', 'tombstones', 'corpora', 'terms', 'term_deltas', 'jobs',
    'outbox', 'users', 'embeddings', 'schedules', 'changes', 'edges', 'edge_versions', 'merges', 'source_links'
  ] LOOP
    EXECUTE format('DROP POLICY IF EXISTS own_rows ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY own_rows ON memsvc.%I TO memsvc_app, memsvc_reader, memsvc_cypher '
      'USING (user_id = (SELECT memsvc.current_user_id())) WITH CHECK (user_id = (SELECT memsvc.current_user_id()))',
      owned
    );
  END LOOP;
  FOREACH owned IN ARRAY ARRAY[
    'apps', 'users', 'api_keys', 'audit_log', 'identity_keys', 'embedding_models', 'jobs', 'outbox', 'schedules'
  ] LOOP
    EXECUTE format('DROP POLICY IF EXISTS account_rows ON memsvc.%I', owned);
    EXECUTE format('CREATE POLICY account_rows ON memsvc.%I TO memsvc_owner USING (true) WITH CHECK (true)', owned);
  END LOOP;
  DROP POLICY IF EXISTS account_rows ON memsvc.term_deltas;
  CREATE POLICY account_rows ON memsvc.term_deltas FOR SELECT TO memsvc_owner USING (true);
  FOREACH owned IN ARRAY ARRAY['dramatiq_queue', 'dramatiq_worker'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS queue_rows ON memsvc.%I', owned);
    EXECUTE format(
      'CREATE POLICY queue_rows ON memsvc.%I TO memsvc_owner, memsvc_app USING (true) WITH CHECK (true)', owned
    );
  END LOOP;
  DROP POLICY IF EXISTS retired_seen ON memsvc.embeddings;
  CREATE POLICY retired_seen ON memsvc.embeddings FOR SELECT TO memsvc_owner
  USING (model_id IN (SELECT m.model_id FROM memsvc.embedding_models AS m WHERE m.state = 'retired'));
  DROP POLICY IF EXISTS retired_dropped ON memsvc.embeddings;
  CREATE POLICY retired_dropped ON memsvc.embeddings FOR DELETE TO memsvc_owner
  USING (model_id IN (SELECT m.model_id FROM memsvc.embedding_models AS m WHERE m.state = 'retired'));
  FOREACH owned IN ARRAY ARRAY['passages', 'corpora', 'terms', 'term_deltas', 'embeddings'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS candidate_rows ON memsvc.%I', owned);
    EXECUTE format('CREATE POLICY candidate_rows ON memsvc.%I FOR SELECT TO memsvc_recall USING (true)', owned);
  END LOOP;
  FOREACH owned IN ARRAY ARRAY['node_types', 'edge_types', 'embedding_models'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS everybody_reads ON memsvc.%I', owned);
    EXECUTE format('CREATE POLICY everybody_reads ON memsvc.%I FOR SELECT USING (true)', owned);
  END LOOP;
END
$policies$;
