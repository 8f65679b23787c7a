-- Anonymising a user: the user is erased, and numbers that name nobody are added to those of the app. Why not less is
-- erased: docs/adr/0066-anonymising.md.

-- Adds the user's numbers to those of the app and marks the user for erasing, in one transaction, so that nobody is
-- counted twice however often it is repeated. The transaction must be bound to the user. Returns the user's id and how
-- many numbers were added: none if the user was marked before. No row: the app has no such user.
CREATE OR REPLACE FUNCTION memsvc.begin_user_anonymising(p_app_id uuid, p_user_id uuid, p_by text)
RETURNS TABLE (user_id uuid, added bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
SET lock_timeout = '5s'
-- callers: app
AS $$
#variable_conflict use_column
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  marked boolean;
BEGIN
  PERFORM memsvc.require_restored();
  SELECT u.erasing_since IS NOT NULL INTO marked FROM users AS u
  WHERE u.app_id = p_app_id AND u.user_id = proved
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  added := 0;
  IF NOT marked THEN
    INSERT INTO anonymous_figures AS a (app_id, month, what, kind, number)
    SELECT p_app_id, f.month, f.what, f.kind, f.number FROM memsvc.figures_of_user(proved) AS f
    ON CONFLICT (app_id, month, what, kind) DO UPDATE SET number = a.number + excluded.number;
    GET DIAGNOSTICS added = ROW_COUNT;
    PERFORM memsvc.audit(
      'user.anonymise', p_app_id, proved, proved::text, jsonb_build_object('requested_by', p_by)
    );
  END IF;
  user_id := memsvc.begin_user_erasure(p_app_id, proved::text, p_by);
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.begin_user_anonymising(uuid, uuid, text) IS
  'Adds a user''s numbers to those of the app, and marks the user for erasing.';

CREATE OR REPLACE FUNCTION memsvc.figures_of_app(p_app_id uuid)
RETURNS TABLE (month date, what text, kind text, number bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT f.month, f.what, f.kind, f.number FROM memsvc.anonymous_figures AS f
  WHERE f.app_id = p_app_id AND memsvc.require_restored()
  ORDER BY f.month, f.what, f.kind;
END;
COMMENT ON FUNCTION memsvc.figures_of_app(uuid) IS 'Sums over users of an app who were anonymised.';
