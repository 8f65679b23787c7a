-- owner: memsvc_eraser

-- Takes passages of blocks out of what recall finds, for their blocks say something else now, or stand in no archive:
-- their words leave the statistics of blocks (the caller counts them among those of 'former'), and vectors go. The
-- passages stay as 'former': for what rests on them, and for known_at. The caller holds the profile: store_embeddings
-- waits for that, so that nobody stores a vector behind it.
CREATE OR REPLACE FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  closed CONSTANT uuid[] := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = proved AND p.passage_id = ANY (p_passages) AND p.kind = 'block'
  );
BEGIN
  PERFORM memsvc.forget_words(proved, closed);
  DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
  DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
  UPDATE passages AS p SET kind = 'former' WHERE p.user_id = proved AND p.passage_id = ANY (closed);
END
$$;
COMMENT ON FUNCTION memsvc.retire_passages(uuid, uuid[]) IS 'Takes passages of blocks out of what recall finds.';
