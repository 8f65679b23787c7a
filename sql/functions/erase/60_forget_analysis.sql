-- owner: memsvc_eraser

-- Removes deleted things from the results of analyses, as a part of an erasure and under its locks: results that name
-- them are deleted, and runs that started at them, with all their results. Returns the number of deleted results. Other
-- numbers stay: they name nothing that is deleted, and the next run counts again.
CREATE OR REPLACE FUNCTION memsvc.forget_analysis(p_user_id uuid, p_ids uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  runs CONSTANT uuid[] := ARRAY(
    SELECT r.run_id FROM analysis_runs AS r
    WHERE r.user_id = p_user_id AND EXISTS (SELECT FROM unnest(r.seeds) AS i (id) WHERE i.id = ANY (p_ids))
  );
  gone bigint;
BEGIN
  DELETE FROM analysis_results AS d
  WHERE d.user_id = p_user_id AND (
    d.run_id = ANY (runs)
    OR EXISTS (SELECT FROM unnest(d.nodes || d.facts || d.passages) AS i (id) WHERE i.id = ANY (p_ids))
  );
  GET DIAGNOSTICS gone = ROW_COUNT;
  DELETE FROM analysis_runs AS d WHERE d.user_id = p_user_id AND d.run_id = ANY (runs);
  RETURN gone;
END
$$;
COMMENT ON FUNCTION memsvc.forget_analysis(uuid, uuid[]) IS
  'Removes erased things from the results of analyses; number of deleted results.';
