-- owner: memsvc_eraser

-- Counts and deletes the remaining rows of a user. memsvc_eraser cannot log in; its policies show it only the rows of
-- the user that the token proves.

-- Rows of a user by table; no row for an empty table.
CREATE OR REPLACE FUNCTION memsvc.rows_of_user(p_user_id uuid) RETURNS TABLE (name text, stored bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  FOR name IN SELECT t.name FROM memsvc.user_tables() AS t LOOP
    EXECUTE format('SELECT count(*) FROM memsvc.%I AS r WHERE r.user_id = $1', name) INTO stored USING proved;
    IF stored > 0 THEN
      RETURN NEXT;
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.rows_of_user(uuid) IS 'How many rows a user has in each table.';

-- Deletes at most p_limit rows, table by table; the user's own row only with p_last. Returns the number for each table.
-- Rows are found by index and deleted by ctid. Foreign keys keep the plans of their checks, because planning each check
-- would take longer than the rest. All of a user's rows of a partitioned table are in one partition, so a ctid is
-- unique.
CREATE OR REPLACE FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: owner
-- plans: by-key, no-bitmap
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  target record;
  deleted bigint;
  room bigint := p_limit;
  gone jsonb := '{}';
BEGIN
  FOR target IN SELECT t.name, t.unreferred FROM memsvc.user_tables() AS t LOOP
    CONTINUE WHEN target.name = 'users' AND NOT p_last;
    EXIT WHEN room <= 0;
    EXECUTE format(
      'DELETE FROM memsvc.%1$I AS d WHERE d.user_id = $1 AND d.ctid = ANY (ARRAY('
      'SELECT r.ctid FROM memsvc.%1$I AS r WHERE r.user_id = $1%2$s LIMIT $2))', target.name, target.unreferred
    ) USING proved, room;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
      gone := gone || jsonb_build_object(target.name, deleted);
      room := room - deleted;
    END IF;
  END LOOP;
  RETURN gone;
END
$$;
COMMENT ON FUNCTION memsvc.erase_user_rows(uuid, integer, boolean) IS
  'Deletes some rows of a user, in the order of foreign keys; the number for each table.';
