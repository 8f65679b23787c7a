-- What happens to secrets in text (memsvc/text/policy.py): a choice of the app and one of the user, of which the
-- stricter counts for each kind.

CREATE OR REPLACE FUNCTION memsvc.app_policy(p_app_id uuid) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
RETURN (SELECT a.policy FROM memsvc.apps AS a WHERE a.app_id = p_app_id);
COMMENT ON FUNCTION memsvc.app_policy(uuid) IS 'What happens to secrets in text of an app''s users; null: no such app.';

-- Replaces the app's policy; returns false if there is no such app.
CREATE OR REPLACE FUNCTION memsvc.set_app_policy(p_app_id uuid, p_policy jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  before jsonb;
BEGIN
  PERFORM memsvc.require_restored();
  SELECT a.policy INTO before FROM memsvc.apps AS a WHERE a.app_id = p_app_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE memsvc.apps AS a SET policy = p_policy WHERE a.app_id = p_app_id;
  PERFORM memsvc.audit(
    'app.policy', p_app_id, NULL, p_app_id::text, jsonb_build_object('before', before, 'after', p_policy)
  );
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.set_app_policy(uuid, jsonb) IS
  'Replaces what happens to secrets in text of an app''s users.';

-- Replaces a user's own policy; returns false if the app has no such user. A user of another cell has a row in the
-- directory, too, from which requests take the policy.
CREATE OR REPLACE FUNCTION memsvc.set_user_policy(p_app_id uuid, p_user_id uuid, p_policy jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  before jsonb;
BEGIN
  PERFORM memsvc.require_restored();
  SELECT u.policy INTO before FROM memsvc.users AS u
  WHERE u.app_id = p_app_id AND u.user_id = p_user_id
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE memsvc.users AS u SET policy = p_policy WHERE u.user_id = p_user_id;
  PERFORM memsvc.audit(
    'user.policy', p_app_id, p_user_id, p_user_id::text, jsonb_build_object('before', before, 'after', p_policy)
  );
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.set_user_policy(uuid, uuid, jsonb) IS
  'Replaces what happens to secrets in text of a user of an app.';
