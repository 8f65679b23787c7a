-- owner: memsvc_eraser

-- What forgetting archives stays where it is, with its words and token vectors. It loses its vectors, so that the index
-- of vectors has no rows that recall passes over, and gets them anew when it is restored.

-- Archives memories (all passages of each), but those that were pinned or archived meanwhile; how many memories.
CREATE OR REPLACE FUNCTION memsvc.archive_passages(p_user_id uuid, p_passages uuid[], p_run_id uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  archived bigint;
BEGIN
  WITH closed AS (
    UPDATE passages AS p SET archived_at = clock_timestamp(), archived_by = p_run_id
    WHERE p.user_id = proved AND p.passage_id = ANY (p_passages) AND p.archived_at IS NULL
      AND p.recorded_to = 'infinity' AND NOT EXISTS (
        SELECT FROM memory_signals AS s WHERE s.user_id = proved AND s.memory_id = p.passage_id AND s.pinned
      )
    RETURNING p.passage_id, p.part
  ),
  gone AS (
    DELETE FROM embeddings AS d USING closed AS c WHERE d.user_id = proved AND d.passage_id = c.passage_id
  )
  SELECT count(*) FILTER (WHERE c.part = 0) INTO archived FROM closed AS c;
  RETURN archived;
END
$$;
COMMENT ON FUNCTION memsvc.archive_passages(uuid, uuid[], uuid) IS 'Archives memories; how many.';

-- Takes memories out of the archive again, each with all its passages: those of some ids, or those that a run archived.
-- They count as used now. How many memories.
CREATE OR REPLACE FUNCTION memsvc.restore_passages(p_user_id uuid, p_passages uuid[], p_run_id uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  restored bigint;
BEGIN
  WITH meant AS MATERIALIZED (
    SELECT p.source_id, p.session, p.ordinal, p.version_id FROM passages AS p
    WHERE p.user_id = proved AND p.passage_id = ANY (p_passages) AND p.archived_at IS NOT NULL
    UNION
    SELECT p.source_id, p.session, p.ordinal, p.version_id FROM passages AS p
    WHERE p.user_id = proved AND p.archived_by = p_run_id AND p.archived_at IS NOT NULL
  ),
  opened AS (
    UPDATE passages AS p SET archived_at = NULL, archived_by = NULL, restored_at = clock_timestamp()
    FROM meant AS m
    WHERE p.user_id = proved AND p.source_id = m.source_id AND p.session = m.session AND p.ordinal = m.ordinal
      AND p.version_id IS NOT DISTINCT FROM m.version_id AND p.archived_at IS NOT NULL
    RETURNING p.part
  )
  SELECT count(*) FILTER (WHERE o.part = 0) INTO restored FROM opened AS o;
  RETURN restored;
END
$$;
COMMENT ON FUNCTION memsvc.restore_passages(uuid, uuid[], uuid) IS 'Takes memories out of the archive; how many.';
