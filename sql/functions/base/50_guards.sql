-- Guards of every change: the error that refuses it, and the lock that keeps its memories from being erased.

-- Raises an error with a code and the operation's index, which Python turns into one of memsvc.errors.
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

-- Keeps memories that the caller refers to until it has committed: an erasure takes this lock exclusively.
CREATE OR REPLACE FUNCTION memsvc.keep_memories(p_user_id uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc memories of ' || p_user_id, 0));
END
$$;
COMMENT ON FUNCTION memsvc.keep_memories(uuid) IS 'Prevents the erasure of a user''s memories until the commit.';
