-- Apps, users and keys. The application's role cannot read the account tables (except its own user's row). These
-- definer functions are its only access, and each of them returns rows of one app only.

-- Who acts is told by the transaction: memsvc.acting is the door and the key, as memsvc/db/acting.py writes them.
DROP FUNCTION IF EXISTS memsvc.audit(text, uuid, uuid, text);
CREATE OR REPLACE FUNCTION memsvc.audit(
  p_action text, p_app_id uuid, p_user_id uuid, p_subject text, p_details jsonb DEFAULT '{}'
) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  INSERT INTO memsvc.audit_log (app_id, user_id, actor, action, subject, door, key_id, details)
  VALUES (
    p_app_id, p_user_id, session_user, p_action, p_subject,
    nullif(split_part(current_setting('memsvc.acting', true), ' ', 1), ''),
    nullif(split_part(current_setting('memsvc.acting', true), ' ', 2), ''), p_details
  );
END;
COMMENT ON FUNCTION memsvc.audit(text, uuid, uuid, text, jsonb) IS
  'Records who did what; called by the functions that do it.';

-- Returns true, or raises an error while a restore into this database is unfinished (memsvc/server/restore.py). A
-- repeated restore drops what is created meanwhile, and what is returned meanwhile may have been erased or revoked
-- since the backup. Functions with which the restore itself erases and revokes do not call this: revoke_key and the
-- functions of erasing. begin_user_erasure calls it unless the restore is the caller.
CREATE OR REPLACE FUNCTION memsvc.require_restored() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF to_regclass('memsvc.unfinished_restore') IS NOT NULL THEN
    RAISE EXCEPTION 'a restore into this database is unfinished' USING ERRCODE = 'MS006';
  END IF;
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.require_restored() IS 'True; an error while a restore into this database is unfinished.';

-- The id of the app with this name; the app is created on first use.
CREATE OR REPLACE FUNCTION memsvc.ensure_app(p_name text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  found uuid;
BEGIN
  PERFORM memsvc.require_restored();
  SELECT a.app_id INTO found FROM memsvc.apps AS a WHERE a.name = p_name;
  IF found IS NULL THEN
    INSERT INTO memsvc.apps (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING RETURNING app_id INTO found;
    IF found IS NULL THEN
      SELECT a.app_id INTO found FROM memsvc.apps AS a WHERE a.name = p_name;
    ELSE
      PERFORM memsvc.audit('app.create', found, NULL, p_name);
    END IF;
  END IF;
  RETURN found;
END
$$;
COMMENT ON FUNCTION memsvc.ensure_app(text) IS 'The id of the app with this name; creates the app on first use.';

CREATE OR REPLACE FUNCTION memsvc.find_app(p_name text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
RETURN (SELECT a.app_id FROM memsvc.apps AS a WHERE a.name = p_name AND memsvc.require_restored());
COMMENT ON FUNCTION memsvc.find_app(text) IS 'The id of the app with this name, or null.';

-- Adds a user with the default schedules; returns null if the app already has a user with this external id.
CREATE OR REPLACE FUNCTION memsvc.create_user(
  p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  new_user uuid;
BEGIN
  PERFORM memsvc.require_restored();
  INSERT INTO memsvc.users (app_id, external_id, name, time_zone, language)
  VALUES (p_app_id, p_external_id, p_name, p_time_zone, p_language)
  ON CONFLICT (app_id, external_id) DO NOTHING
  RETURNING user_id INTO new_user;
  IF new_user IS NOT NULL THEN
    PERFORM memsvc.seed_schedules(new_user);
    PERFORM memsvc.audit('user.create', p_app_id, new_user, new_user::text);
  END IF;
  RETURN new_user;
END
$$;
COMMENT ON FUNCTION memsvc.create_user(uuid, text, text, text, text) IS
  'Adds a user to the app; null if the external id is taken.';

-- Users of one app in the order of their ids, without those who are being erased; p_ref selects one by id or external
-- id.
CREATE OR REPLACE FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer)
RETURNS TABLE (user_id uuid, external_id text, name text, time_zone text, language text, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT u.user_id, u.external_id, u.name, u.time_zone, u.language, u.created_at
  FROM memsvc.users AS u
  WHERE u.app_id = p_app_id AND u.erasing_since IS NULL AND memsvc.require_restored()
    AND (p_ref IS NULL OR u.external_id = p_ref OR u.user_id::text = p_ref)
    AND (p_after IS NULL OR u.user_id > p_after)
  ORDER BY u.user_id
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.users_of_app(uuid, text, uuid, integer) IS
  'Users of one app, paged; p_ref selects one by id or external id.';

CREATE OR REPLACE FUNCTION memsvc.create_key(
  p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text,
  p_expires_at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  INSERT INTO memsvc.api_keys (app_id, key_id, secret_hash, user_id, scopes, label, expires_at)
  VALUES (p_app_id, p_key_id, p_secret_hash, p_user_id, p_scopes, p_label, p_expires_at);
  PERFORM memsvc.audit(
    'key.create', p_app_id, p_user_id, p_key_id, jsonb_build_object('scopes', to_jsonb(p_scopes))
  );
END
$$;
COMMENT ON FUNCTION memsvc.create_key(uuid, text, bytea, uuid, text[], text, timestamptz) IS
  'Stores a key''s hash and scopes.';

-- Keys of one app, oldest first, including revoked ones; p_key_id selects one. A page starts after the creation time
-- and the id of the previous page's last key, which may no longer exist.
CREATE OR REPLACE FUNCTION memsvc.keys_of_app(
  p_app_id uuid, p_key_id text, p_after timestamptz, p_after_id text, p_limit integer
) RETURNS TABLE (
  key_id text, user_id uuid, scopes text[], label text, created_at timestamptz, expires_at timestamptz,
  revoked_at timestamptz, requests_per_minute integer, messages_per_day integer, messages_today integer
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT k.key_id, k.user_id, k.scopes, k.label, k.created_at, k.expires_at, k.revoked_at, k.requests_per_minute,
    k.messages_per_day, CASE
      WHEN k.messages_per_day IS NOT NULL
        THEN CASE WHEN k.day = (clock_timestamp() AT TIME ZONE 'UTC')::date THEN k.messages ELSE 0 END
    END
  FROM memsvc.api_keys AS k
  WHERE k.app_id = p_app_id AND memsvc.require_restored()
    AND (p_key_id IS NULL OR k.key_id = p_key_id)
    AND (p_after IS NULL OR (k.created_at, k.key_id) > (p_after, p_after_id))
  ORDER BY k.created_at, k.key_id
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.keys_of_app(uuid, text, timestamptz, text, integer) IS
  'Keys of one app without their hashes, paged; p_key_id selects one.';

-- Returns whether the app had such a working key.
CREATE OR REPLACE FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  UPDATE memsvc.api_keys AS k SET revoked_at = clock_timestamp()
  WHERE k.app_id = p_app_id AND k.key_id = p_key_id AND k.revoked_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM memsvc.audit('key.revoke', p_app_id, NULL, p_key_id);
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.revoke_key(uuid, text) IS
  'Revokes a key of the app; false if the app has no such working key.';

-- Sets the scopes of a key of the app; returns false if the app has no such working key. Tokens keep those that the key
-- had when they were made.
CREATE OR REPLACE FUNCTION memsvc.rescope_key(p_app_id uuid, p_key_id text, p_scopes text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  had text[];
BEGIN
  PERFORM memsvc.require_restored();
  SELECT k.scopes INTO had FROM memsvc.api_keys AS k
  WHERE k.app_id = p_app_id AND k.key_id = p_key_id AND k.revoked_at IS NULL
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE memsvc.api_keys AS k SET scopes = p_scopes WHERE k.app_id = p_app_id AND k.key_id = p_key_id;
  PERFORM memsvc.audit(
    'key.scopes', p_app_id, NULL, p_key_id, jsonb_build_object('before', to_jsonb(had), 'after', to_jsonb(p_scopes))
  );
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.rescope_key(uuid, text, text[]) IS 'Sets the scopes of a key of the app.';

-- What a key may do and for whom. It reads by keys only, because an app may have any number of users. No row: the key
-- or its secret is wrong, expired or revoked. user_id is null if the key may act for several users and p_user_ref is
-- null, matches no user of the app, or names a user who is being erased. If p_user_ref is the id of one user and the
-- external id of another, the id counts.
CREATE OR REPLACE FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text)
RETURNS TABLE (
  app_id uuid, scopes text[], bound_user_id uuid, user_id uuid, user_name text, time_zone text, language text,
  requests_per_minute integer, messages_per_day integer, app_policy jsonb, own_policy jsonb
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k.app_id, k.scopes, k.user_id, u.user_id, u.name, u.time_zone, u.language, k.requests_per_minute,
    k.messages_per_day, a.policy, u.policy
  FROM api_keys AS k
  INNER JOIN apps AS a ON a.app_id = k.app_id
  LEFT JOIN LATERAL (
    SELECT i.* FROM users AS i
    WHERE (p_user_ref IS NULL OR i.user_id::text = p_user_ref)
      AND i.user_id = CASE
        WHEN p_user_ref IS NULL THEN k.user_id WHEN pg_input_is_valid(p_user_ref, 'uuid') THEN p_user_ref::uuid
      END
    UNION ALL
    SELECT e.* FROM users AS e WHERE e.app_id = k.app_id AND e.external_id = p_user_ref
  ) AS u ON u.app_id = k.app_id AND u.erasing_since IS NULL AND (k.user_id IS NULL OR u.user_id = k.user_id)
  WHERE k.key_id = p_key_id
    AND k.secret_hash = p_secret_hash
    AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
    AND memsvc.require_restored() -- keys of a backup may have been revoked since
  ORDER BY (u.user_id::text = p_user_ref) DESC
  LIMIT 1;
END
$$;
COMMENT ON FUNCTION memsvc.authenticate_key(text, bytea, text) IS
  'What a key may do and for whom; no row if the key does not work.';
