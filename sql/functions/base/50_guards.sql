-- What every change asks first: the error that refuses it, and the lock that keeps its memories from being erased.

-- Ends the statement with an error that Python turns into one of memsvc.errors: its code and the operation's place.
CREATE OR REPLACE FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
BEGIN
  RAISE EXCEPTION '%', p_message USING ERRCODE = 'MS002', DETAIL = p_code, COLUMN = coalesce(p_position::text, '');
END
$$;
COMMENT ON FUNCTION memsvc.refuse_change(text, integer, text) IS 'Refuses a batch of changes, with a stable code.';

-- What the caller cites and builds upon stays until it has committed: who erases takes this lock alone.
CREATE OR REPLACE FUNCTION memsvc.keep_memories(p_user_id uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc memories of ' || p_user_id, 0));
END
$$;
COMMENT ON FUNCTION memsvc.keep_memories(uuid) IS 'Keeps others from erasing memories of a user until the commit.';
