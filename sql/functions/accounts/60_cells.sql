-- Cells: which databases there are, and which one has a user. Every request finds its user's cell by place_of_user.

-- Where a user is; no row: there is no such user, or the user is being erased. It reads by key with a kept plan, because
-- every request with a key asks for it.
CREATE OR REPLACE FUNCTION memsvc.place_of_user(p_user_id uuid)
RETURNS TABLE (cell_id smallint, epoch integer, moving boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: kept
AS $$
BEGIN
  RETURN QUERY
  SELECT u.cell_id, u.epoch, u.moving IS NOT NULL
  FROM users AS u
  WHERE u.user_id = p_user_id AND u.erasing_since IS NULL;
END
$$;
COMMENT ON FUNCTION memsvc.place_of_user(uuid) IS 'The cell that has a user''s memory, and whether the user is moving.';

-- All cells. A URL has no login: every cell has memsvc's own logins.
CREATE OR REPLACE FUNCTION memsvc.all_cells()
RETURNS TABLE (cell_id smallint, name text, url text, weight integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT c.cell_id, c.name, c.url, c.weight FROM memsvc.cells AS c ORDER BY c.cell_id;
END;
COMMENT ON FUNCTION memsvc.all_cells() IS 'The databases of this deployment.';

-- Whether a move of the user to another cell is under way, also one whose mover was killed.
CREATE OR REPLACE FUNCTION memsvc.is_moving(p_user_id uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
RETURN EXISTS (SELECT FROM memsvc.moves AS m WHERE m.user_id = p_user_id AND m.state <> 'aborting');
COMMENT ON FUNCTION memsvc.is_moving(uuid) IS 'Whether a move of the user to another cell is under way.';

-- The name of an app, or null. Cells know an app by the same id and name as the directory.
CREATE OR REPLACE FUNCTION memsvc.name_of_app(p_app_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
RETURN (SELECT a.name FROM memsvc.apps AS a WHERE a.app_id = p_app_id);
COMMENT ON FUNCTION memsvc.name_of_app(uuid) IS 'The name of the app with this id, or null.';

-- Adds a user to the directory whose memory is in another cell, where settle_user has added it; returns false if the app
-- already has a user with this external id.
CREATE OR REPLACE FUNCTION memsvc.list_user(
  p_app_id uuid, p_user_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text, p_cell_id smallint
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  IF NOT EXISTS (SELECT FROM cells AS c WHERE c.cell_id = p_cell_id AND c.cell_id > 0) THEN
    RAISE EXCEPTION 'there is no such cell' USING ERRCODE = 'foreign_key_violation';
  END IF;
  INSERT INTO users (app_id, user_id, external_id, name, time_zone, language, cell_id, epoch)
  VALUES (p_app_id, p_user_id, p_external_id, p_name, p_time_zone, p_language, p_cell_id, 1)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM memsvc.audit(
    'user.create', p_app_id, p_user_id, p_user_id::text, jsonb_build_object('cell', p_cell_id)
  );
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.list_user(uuid, uuid, text, text, text, text, smallint) IS
  'Adds a user of another cell to the directory; false if the external id is taken.';

-- Adds a user to this cell under an id that the directory knows or will know, with the app, and the default schedules.
-- If the app has a user with this external id in this cell, whom the directory does not know, nothing is added:
-- somebody is adding the same user now, or was killed. Returns the id of the user who is there.
CREATE OR REPLACE FUNCTION memsvc.settle_user(
  p_app_id uuid, p_app text, p_user_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text,
  p_epoch integer, p_policy jsonb
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  INSERT INTO apps (app_id, name, policy) VALUES (p_app_id, p_app, p_policy) ON CONFLICT (app_id) DO NOTHING;
  INSERT INTO users (app_id, user_id, external_id, name, time_zone, language, epoch)
  VALUES (p_app_id, p_user_id, p_external_id, p_name, p_time_zone, p_language, p_epoch)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN (
      SELECT u.user_id FROM users AS u
      WHERE u.app_id = p_app_id AND u.external_id = p_external_id AND u.erasing_since IS NULL
    );
  END IF;
  PERFORM memsvc.seed_schedules(p_user_id);
  PERFORM memsvc.audit('user.settle', p_app_id, p_user_id, p_user_id::text, jsonb_build_object('epoch', p_epoch));
  RETURN p_user_id;
END
$$;
COMMENT ON FUNCTION memsvc.settle_user(uuid, text, uuid, text, text, text, text, integer, jsonb) IS
  'Adds a user to this cell under an id of the directory.';
