-- owner: memsvc_eraser

-- Versions of a document that nobody needs any more: not among its newest p_keep (1 at least), closed, and of no call in a
-- turn.
CREATE OR REPLACE FUNCTION memsvc.prunable_of(p_user_id uuid, p_source_id uuid, p_keep integer) RETURNS SETOF integer
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT v.version FROM document_versions AS v
  WHERE v.user_id = p_user_id AND v.source_id = p_source_id AND v.recorded_to < 'infinity' AND v.version <= (
    SELECT max(o.version) FROM document_versions AS o WHERE o.user_id = p_user_id AND o.source_id = p_source_id
  ) - greatest(p_keep, 1)
  EXCEPT
  SELECT c.version FROM tool_calls AS c WHERE c.user_id = p_user_id AND c.document_id = p_source_id;
END
$$;
COMMENT ON FUNCTION memsvc.prunable_of(uuid, uuid, integer) IS 'Versions of a document that nobody needs any more.';

-- The same of all documents: a page of at most p_limit, in the order of documents and versions, behind p_after and
-- p_version.
CREATE OR REPLACE FUNCTION memsvc.prunable_versions(
  p_user_id uuid, p_keep integer, p_after uuid, p_version integer, p_limit integer
) RETURNS TABLE (source_id uuid, version integer)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT s.source_id, v.version
  FROM (
    SELECT o.source_id FROM sources AS o
    WHERE o.user_id = p_user_id AND o.source_id >= p_after AND o.kind = 'document'
    ORDER BY o.source_id
  ) AS s
  CROSS JOIN LATERAL (
    SELECT o.version FROM memsvc.prunable_of(p_user_id, s.source_id, p_keep) AS o (version) ORDER BY o.version
  ) AS v
  WHERE s.source_id > p_after OR v.version > p_version
  ORDER BY s.source_id, v.version
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.prunable_versions(uuid, integer, uuid, integer, integer) IS
  'Versions of documents that nobody needs any more.';

-- Deletes versions of documents, as far as they are still prunable, with the chunks that no other version has. A chunk on
-- which something that is known rests stays. There is no tombstone: the same content may come again. Returns how many
-- versions.
CREATE OR REPLACE FUNCTION memsvc.prune_versions(
  p_user_id uuid, p_keep integer, p_documents uuid[], p_versions integer[]
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  one uuid;
  went integer[];
  chunks uuid[];
  pruned integer := 0;
BEGIN
  FOR one IN SELECT DISTINCT d.source_id FROM unnest(p_documents) AS d (source_id) ORDER BY d.source_id LOOP
    PERFORM memsvc.lock_memories(proved, 'source', one);
    WITH gone AS (
      DELETE FROM document_versions AS d
      USING unnest(p_documents, p_versions) AS w (source_id, version)
      WHERE d.user_id = proved AND d.source_id = one AND w.source_id = one AND d.version = w.version
        AND d.version IN (SELECT p.version FROM memsvc.prunable_of(proved, one, p_keep) AS p (version))
      RETURNING d.version
    )
    SELECT array_agg(g.version) INTO went FROM gone AS g;
    CONTINUE WHEN went IS NULL;
    pruned := pruned + cardinality(went);
    chunks := ARRAY( -- the session of a closed chunk is the last version that had it
      SELECT p.passage_id FROM passages AS p
      WHERE p.user_id = proved AND p.source_id = one AND p.session = ANY (went::text[]) AND p.kind = 'chunk'
        AND p.recorded_to < 'infinity' AND NOT EXISTS (
          SELECT FROM document_versions AS v
          WHERE v.user_id = proved AND v.source_id = one AND v.recorded_from < p.recorded_to
            AND v.recorded_to > p.recorded_at
        )
        AND NOT EXISTS (SELECT FROM source_links AS l WHERE l.user_id = proved AND l.passage_id = p.passage_id)
        AND NOT EXISTS (SELECT FROM profile_evidence AS e WHERE e.user_id = proved AND e.passage_id = p.passage_id)
        AND NOT EXISTS (
          SELECT FROM memory_signals AS s WHERE s.user_id = proved AND s.memory_id = p.passage_id AND s.pinned
        )
    );
    IF chunks <> '{}' THEN
      PERFORM memsvc.forget_recalls(proved, chunks);
      PERFORM memsvc.forget_readings(proved, chunks);
      PERFORM memsvc.forget_analysis(proved, chunks);
      PERFORM memsvc.forget_words(proved, chunks);
      DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (chunks);
      DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (chunks);
      DELETE FROM passages AS d WHERE d.user_id = proved AND d.passage_id = ANY (chunks);
    END IF;
  END LOOP;
  RETURN pruned;
END
$$;
COMMENT ON FUNCTION memsvc.prune_versions(uuid, integer, uuid[], integer[]) IS
  'Deletes versions of documents, with the chunks that no other version has.';
