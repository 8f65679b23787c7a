-- Takes memories out of the archive and asks for their vectors: those of some ids, or those that a run archived. How
-- many memories. The caller keeps others from erasing (keep_memories).
CREATE OR REPLACE FUNCTION memsvc.restore_memories(p_user_id uuid, p_ids uuid[], p_run_id uuid DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  restored CONSTANT bigint := memsvc.restore_passages(p_user_id, p_ids, p_run_id);
BEGIN
  IF restored > 0 THEN
    PERFORM memsvc.ask_job(p_user_id, 'embed', p_user_id);
  END IF;
  RETURN restored;
END
$$;
COMMENT ON FUNCTION memsvc.restore_memories(uuid, uuid[], uuid) IS
  'Takes memories out of the archive and asks for their vectors; how many.';
