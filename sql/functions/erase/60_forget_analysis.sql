-- owner: memsvc_eraser

-- Takes things out of what analyses found, as a part of an erasure and under its locks: results that name them go, and
-- runs that began at them, with all they found. How many results went. All that is left was counted from what is there
-- or from what is gone without naming it; the next run counts anew.
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
  'Takes what is erased out of what analyses found; how many results went.';
