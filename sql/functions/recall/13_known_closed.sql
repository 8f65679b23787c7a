-- owner: memsvc_eraser

-- Closes the passages of versions that were superseded or taken back: they stay for reads of the past, by their
-- words, and lose their vectors.
CREATE OR REPLACE FUNCTION memsvc.close_known(p_user_id uuid, p_versions uuid[], p_at timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  closed uuid[];
BEGIN
  WITH closing AS (
    UPDATE passages AS p SET recorded_to = g.at
    FROM unnest(p_versions, p_at) AS g (version_id, at)
    WHERE p.user_id = proved AND p.version_id = g.version_id AND p.recorded_to <> g.at
    RETURNING p.passage_id
  )
  SELECT coalesce(array_agg(c.passage_id), '{}') INTO closed FROM closing AS c;
  DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
  DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
END
$$;
COMMENT ON FUNCTION memsvc.close_known(uuid, uuid[], timestamptz[]) IS
  'Closes the passages of versions that do not stand any more.';
