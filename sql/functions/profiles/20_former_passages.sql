-- owner: memsvc_eraser

-- Removes passages of blocks from what recall finds, because their block was reworded or is not archival any more:
-- their words leave the statistics of blocks (the caller adds them to those of 'former'), and their vectors are
-- deleted. The passages stay as 'former', for what they support and for known_at. The caller holds the lock of the
-- profile; store_embeddings waits for it, so that no vector is stored afterwards.
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
COMMENT ON FUNCTION memsvc.retire_passages(uuid, uuid[]) IS 'Removes passages of blocks from what recall finds.';
