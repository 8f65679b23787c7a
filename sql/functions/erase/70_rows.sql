-- owner: memsvc_eraser

-- The only way to delete memories. These functions belong to a role that may delete, and whose policies show it only
-- the rows of the user that the token proves; their first line asks for that user.

-- Writes tombstones for what is about to be deleted. Messages and turns: for all their identities. A document: for its identifier
-- and the contents of its file; a chunk of one: for its words there, as it has no other identity. Facts and nodes that are
-- erased on their own: for the fact, or for every name and label at any time.
CREATE OR REPLACE FUNCTION memsvc.bury(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  INSERT INTO tombstones AS t (user_id, digest, recorded_at)
  SELECT p_user_id, d.digest, clock_timestamp()
  FROM ( -- each identity once: parts of a message share one
    SELECT CASE p.kind WHEN 'chunk' THEN memsvc.chunk_digest(p.source_id, p.caption, p.text)
        WHEN 'turn' THEN memsvc.turn_digest(s.identifier, p.session)
        ELSE memsvc.message_digest(s.identifier, p.session, p.ordinal, p.client_id) END AS digest
    FROM passages AS p INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = p.source_id
    WHERE p.user_id = p_user_id AND p_kind IN ('message', 'passage') AND p.passage_id = p_subject_id
    UNION
    SELECT CASE p.kind WHEN 'turn' THEN memsvc.turn_digest(s.identifier, p.session)
        ELSE memsvc.message_digest(s.identifier, p.session, p.ordinal, p.client_id) END
    FROM passages AS p INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = p.source_id
    WHERE p.user_id = p_user_id AND p_kind = 'source' AND p.source_id = p_subject_id AND p.kind <> 'chunk'
    UNION
    SELECT unnest(memsvc.document_digests(s.identifier, v.sha256))
    FROM document_versions AS v INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = v.source_id
    WHERE v.user_id = p_user_id AND p_kind = 'source' AND v.source_id = p_subject_id
    UNION
    SELECT memsvc.tombstone_digest(jsonb_build_array('edge', e.from_node, e.type, e.to_node, e.key))
    FROM edges AS e
    WHERE e.user_id = p_user_id AND p_kind = 'fact' AND e.edge_id = p_subject_id
    UNION
    SELECT memsvc.tombstone_digest(jsonb_build_array('name', n.form))
    FROM (
      SELECT a.normal_form AS form FROM aliases AS a WHERE a.user_id = p_user_id AND a.node_id = p_subject_id
      UNION
      SELECT memsvc.normal_form(v.label) FROM node_versions AS v
      WHERE v.user_id = p_user_id AND v.node_id = p_subject_id
    ) AS n
    WHERE p_kind = 'node'
  ) AS d
  ON CONFLICT (user_id, digest) DO UPDATE SET recorded_at = excluded.recorded_at;
END
$$;
COMMENT ON FUNCTION memsvc.bury(uuid, text, uuid) IS 'Writes tombstones for what is about to be deleted.';

-- Locks everything that an erasure may touch, in the order in which other writers lock it: the user's whole graph,
-- exclusively; the statistics; the source. Returns the source (null: none).
CREATE OR REPLACE FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  source uuid;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || p_user_id, 0));
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0));
  IF p_kind IN ('source', 'block') THEN
    source := p_subject_id;
  ELSIF p_kind IN ('message', 'passage') THEN
    SELECT p.source_id INTO source FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id;
  END IF;
  PERFORM FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = source FOR UPDATE;
  PERFORM FROM sources AS s -- of agents' turns in this chat
  WHERE s.user_id = p_user_id AND s.source_id IN (
    SELECT t.source_id FROM turns AS t WHERE t.user_id = p_user_id AND t.chat_id = source
  )
  ORDER BY s.source_id
  FOR UPDATE;
  RETURN source;
END
$$;
COMMENT ON FUNCTION memsvc.lock_memories(uuid, text, uuid) IS 'Locks everything that an erasure may touch.';

-- Adds numbers to those of a receipt, by key; zeros are left out.
CREATE OR REPLACE FUNCTION memsvc.add_counts(p_counts jsonb, p_more jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT coalesce(jsonb_object_agg(s.key, s.total), '{}')
  FROM (
    SELECT c.key, sum(c.value::bigint) AS total
    FROM (SELECT * FROM jsonb_each_text(p_counts) UNION ALL SELECT * FROM jsonb_each_text(p_more)) AS c
    GROUP BY c.key
  ) AS s
  WHERE s.total > 0;
END;
COMMENT ON FUNCTION memsvc.add_counts(jsonb, jsonb) IS 'Adds numbers by key.';

-- Deletes one batch of an erasure, in the caller's transaction: at most p_limit passages, or p_limit edges of a node,
-- with everything that depends on them. Nothing if the erasure is done already. Returns the updated receipt.
CREATE OR REPLACE FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer)
RETURNS SETOF memsvc.erasures
LANGUAGE plpgsql SECURITY DEFINER ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  receipt erasures;
  scope record;
  plan record;
  turns record;
  message record;
  more boolean := false;
  terms bigint := 0;
  vectors bigint := 0;
  whole bigint := 0;
  signals bigint := 0;
  reviews bigint := 0;
  documents bigint := 0;
  pairs bigint := 0;
  proposed bigint := 0;
  salient bigint := 0;
  block CONSTANT uuid := (
    SELECT e.subject_id FROM erasures AS e
    WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.kind = 'block'
  );
  profile bigint := 0;
  results bigint := 0;
  gone uuid[]; -- passages
  emptied uuid[]; -- archival blocks of which nothing is left
BEGIN
  SELECT e.* INTO receipt FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
  IF receipt.state IS DISTINCT FROM 'pending' THEN
    RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
    RETURN;
  END IF;
  PERFORM memsvc.lock_memories(proved, receipt.kind, receipt.subject_id);
  SELECT e.* INTO receipt FROM erasures AS e
  WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.state = 'pending'
  FOR UPDATE;
  SELECT * INTO scope FROM memsvc.erasure_reach(proved, receipt.kind, receipt.subject_id, p_limit);
  IF receipt.erasure_id IS NULL OR scope.passages IS NULL THEN -- another worker did the last batch in the meantime
    UPDATE erasures AS e SET state = 'done', finished_at = clock_timestamp()
    WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.state = 'pending';
    RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
    RETURN;
  END IF;
  SELECT * INTO plan
  FROM memsvc.plan_erasure(proved, scope.passages, scope.source_id, scope.edges, scope.node_id);

  gone := scope.passages || memsvc.known_with(proved, plan.node_versions || plan.edge_versions);

  signals := memsvc.forget_recalls(proved, gone || plan.edge_versions);
  reviews := memsvc.forget_readings(proved, scope.passages);
  results := memsvc.forget_analysis(proved, scope.passages || plan.edge_versions || plan.nodes);
  SELECT * INTO turns FROM memsvc.forget_turns(proved, scope.passages, scope.source_id);
  profile := memsvc.forget_profile(proved, scope.passages, plan.nodes, scope.source_id, block);
  PERFORM memsvc.keep_derivations(
    proved, plan.links, plan.node_versions || plan.edge_versions || plan.aliases || plan.locations
  );
  DELETE FROM proposals AS d WHERE d.user_id = proved AND d.proposal_id IN (
    SELECT q.proposal_id FROM memsvc.proposals_about(
      proved, gone, plan.nodes, plan.edge_versions, scope.source_id
    ) AS q
  );
  GET DIAGNOSTICS proposed = ROW_COUNT;
  DELETE FROM node_salience AS d WHERE d.user_id = proved AND d.node_id = ANY (plan.nodes);
  GET DIAGNOSTICS salient = ROW_COUNT;
  DELETE FROM source_links AS d WHERE d.user_id = proved AND d.link_id = ANY (plan.links);
  DELETE FROM edge_versions AS d WHERE d.user_id = proved AND d.version_id = ANY (plan.edge_versions);
  DELETE FROM edges AS d WHERE d.user_id = proved AND d.edge_id = ANY (plan.edges);
  DELETE FROM node_versions AS d WHERE d.user_id = proved AND d.version_id = ANY (plan.node_versions);
  DELETE FROM aliases AS d WHERE d.user_id = proved AND d.alias_id = ANY (plan.aliases);
  DELETE FROM locations AS d WHERE d.user_id = proved AND d.location_id = ANY (plan.locations);
  DELETE FROM merges AS d WHERE d.user_id = proved AND d.merge_id = ANY (plan.merges);
  IF plan.nodes <> '{}' THEN
    DELETE FROM duplicate_candidates AS d
    WHERE d.user_id = proved AND (d.node_a = ANY (plan.nodes) OR d.node_b = ANY (plan.nodes));
    GET DIAGNOSTICS pairs = ROW_COUNT;
  END IF;
  DELETE FROM nodes AS d WHERE d.user_id = proved AND d.node_id = ANY (plan.nodes);
  IF gone <> '{}' THEN
    terms := memsvc.forget_words(proved, gone);
    DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (gone);
    DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (gone);
    GET DIAGNOSTICS vectors = ROW_COUNT;
    SELECT p.source_id, p.session, p.ordinal INTO message FROM passages AS p
    WHERE p.user_id = proved AND receipt.kind = 'passage' AND p.passage_id = receipt.subject_id AND p.part = 0;
    DELETE FROM passages AS d WHERE d.user_id = proved AND d.passage_id = ANY (gone);
    -- A message is found by its part 0, so the first remaining part becomes part 0.
    UPDATE passages AS p SET part = 0
    WHERE p.user_id = proved
      AND (p.source_id, p.session, p.ordinal) = (message.source_id, message.session, message.ordinal)
      AND p.part = (
        SELECT min(m.part) FROM passages AS m
        WHERE m.user_id = proved
          AND (m.source_id, m.session, m.ordinal) = (message.source_id, message.session, message.ordinal)
      );
  END IF;

  WITH deleted AS (
    DELETE FROM sources AS d
    WHERE d.user_id = proved AND d.kind = 'block' AND d.source_id IS DISTINCT FROM scope.source_id
      AND NOT EXISTS (SELECT FROM profile_versions AS v WHERE v.user_id = proved AND v.block_id = d.source_id)
      AND NOT EXISTS (SELECT FROM passages AS p WHERE p.user_id = proved AND p.source_id = d.source_id)
    RETURNING d.source_id
  )
  SELECT coalesce(array_agg(d.source_id), '{}') INTO emptied FROM deleted AS d;
  IF scope.source_id IS NOT NULL THEN -- titles and paths go first
    DELETE FROM document_versions AS d WHERE d.user_id = proved AND d.source_id = scope.source_id;
    GET DIAGNOSTICS documents = ROW_COUNT;
    more := EXISTS (SELECT FROM passages AS p WHERE p.user_id = proved AND p.source_id = scope.source_id)
      OR EXISTS (SELECT FROM turns AS t WHERE t.user_id = proved AND t.chat_id = scope.source_id);
    IF NOT more THEN
      DELETE FROM extractions AS d WHERE d.user_id = proved AND d.source_id = scope.source_id;
      DELETE FROM sources AS d WHERE d.user_id = proved AND d.source_id = scope.source_id;
      GET DIAGNOSTICS whole = ROW_COUNT;
    END IF;
  ELSIF scope.node_id IS NOT NULL THEN
    more := NOT scope.node_id = ANY (plan.nodes);
  END IF;
  RETURN QUERY
  UPDATE erasures AS e
  SET
    state = CASE WHEN more THEN 'pending' ELSE 'done' END,
    finished_at = CASE WHEN NOT more THEN clock_timestamp() END,
    ids = e.ids || gone || plan.edges || plan.nodes || emptied || turns.ids
      || CASE WHEN whole > 0 THEN ARRAY[scope.source_id] ELSE '{}' END
      || CASE WHEN block IS NOT NULL THEN ARRAY[block] ELSE '{}' END,
    counts = memsvc.add_counts(memsvc.add_counts(e.counts, turns.counts), jsonb_build_object(
      'source_links', cardinality(plan.links), 'node_versions', cardinality(plan.node_versions),
      'edge_versions', cardinality(plan.edge_versions), 'aliases', cardinality(plan.aliases),
      'locations', cardinality(plan.locations),
      'merges', cardinality(plan.merges), 'edges', cardinality(plan.edges), 'nodes', cardinality(plan.nodes),
      'evidence_reduced', cardinality(plan.reduced), 'passages', cardinality(scope.passages),
      'embeddings', vectors, 'memory_signals', signals, 'fact_reviews', reviews,
      'document_versions', documents, 'duplicate_candidates', pairs, 'proposals', proposed, 'node_salience', salient,
      'profile_versions', profile, 'analysis_results', results, 'terms', terms,
      'sources', whole + cardinality(emptied)
    ))
  WHERE e.user_id = proved AND e.erasure_id = p_erasure_id
  RETURNING e.*;
END
$$;
COMMENT ON FUNCTION memsvc.erase_batch(uuid, uuid, integer) IS 'Deletes one batch of an erasure; the receipt.';

-- Begins an erasure: writes tombstones and the receipt, and deletes the first batch. No row if the subject does not
-- exist; an erasure in progress continues. A source that takes several batches loses its identifier immediately, so
-- that new messages under that identifier belong to a new source.
CREATE OR REPLACE FUNCTION memsvc.begin_erasure(
  p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer
) RETURNS SETOF memsvc.erasures
LANGUAGE plpgsql SECURITY DEFINER ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  made uuid;
BEGIN
  PERFORM memsvc.lock_memories(proved, p_kind, p_subject_id);
  IF NOT EXISTS (SELECT FROM memsvc.erasure_scope(proved, p_kind, p_subject_id, 1)) THEN
    RETURN;
  END IF;
  SELECT e.erasure_id INTO made FROM erasures AS e
  WHERE e.user_id = proved AND e.kind = p_kind AND e.subject_id = p_subject_id AND e.state = 'pending';
  IF NOT FOUND THEN
    PERFORM memsvc.bury(proved, p_kind, p_subject_id);
    INSERT INTO erasures AS e (user_id, kind, subject_id, requested_by)
    VALUES (proved, p_kind, p_subject_id, p_requested_by) RETURNING e.erasure_id INTO made;
    PERFORM memsvc.note_act('memory.erase', proved, made::text, jsonb_build_object('kind', p_kind));
    UPDATE sources AS s SET identifier = s.source_id::text, title = '', metadata = '{}', local = NULL
    WHERE s.user_id = proved AND p_kind = 'source' AND s.source_id = p_subject_id;
  END IF;
  RETURN QUERY SELECT b.* FROM memsvc.erase_batch(proved, made, p_limit) AS b;
END
$$;
COMMENT ON FUNCTION memsvc.begin_erasure(uuid, text, uuid, text, integer) IS
  'Begins an erasure: tombstones, receipt, first batch; the receipt.';
