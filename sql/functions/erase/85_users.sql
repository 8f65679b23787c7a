-- Erasing a whole user. begin_user_erasure marks the user: from then on nobody can act for the user, and work in
-- progress fails. erase_user is then called until it reports that it has finished; it may be killed and called again,
-- by anybody who can sign for the user. The last step locks the user's row, so that no other row can be added for the
-- user, and deletes the rows that were added in the meantime, and the user's row itself.

-- Tables with rows of users, referring tables before those they refer to, read from the catalog, so that new tables are
-- erased too. The audit log is kept: it holds ids and no text. unreferred: a condition for rows r to which no other row
-- of the same table refers; empty if the table does not refer to itself.
CREATE OR REPLACE FUNCTION memsvc.user_tables() RETURNS TABLE (name text, unreferred text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: eraser
AS $$
  WITH RECURSIVE mine AS (
    SELECT c.oid, c.relname::text AS name
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname <> 'audit_log'
  ),
  refers AS (
    SELECT DISTINCT f.conrelid AS child, f.confrelid AS parent
    FROM pg_constraint AS f
    INNER JOIN mine AS m ON m.oid = f.conrelid
    INNER JOIN mine AS n ON n.oid = f.confrelid
    WHERE f.contype = 'f' AND f.conrelid <> f.confrelid
  ),
  ordered AS (
    SELECT m.oid, 0 AS depth FROM mine AS m
    UNION
    SELECT r.parent, t.depth + 1 FROM ordered AS t INNER JOIN refers AS r ON r.child = t.oid
    WHERE t.depth < 100 -- tables that refer to each other in a cycle would never end
  ),
  own_keys AS (
    SELECT f.conrelid AS oid, format(
      ' AND NOT EXISTS (SELECT FROM memsvc.%I AS c WHERE %s)', m.name, (
        SELECT string_agg(format('c.%I = r.%I', a.attname, b.attname), ' AND ' ORDER BY k.position)
        FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS k (here, there, position)
        INNER JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.here
        INNER JOIN pg_attribute AS b ON b.attrelid = f.conrelid AND b.attnum = k.there
      )
    ) AS condition
    FROM pg_constraint AS f INNER JOIN mine AS m ON m.oid = f.conrelid
    WHERE f.contype = 'f' AND f.confrelid = f.conrelid
  )
  SELECT m.name, coalesce((SELECT string_agg(o.condition, '') FROM own_keys AS o WHERE o.oid = m.oid), '')
  FROM mine AS m
  INNER JOIN (SELECT t.oid, max(t.depth) AS depth FROM ordered AS t GROUP BY t.oid) AS t ON t.oid = m.oid
  ORDER BY t.depth, m.name;
$$;
COMMENT ON FUNCTION memsvc.user_tables() IS
  'Tables with rows of users, in an order in which they can be erased.';

-- Marks a user of an app (by id or external id) for erasing, revokes the user's keys and stops recurring work.
-- Repeating it changes nothing. A user who is moving between cells is refused (MS007). p_by names the caller ('api', 'cli'). Returns the user's id; null: the app has no such
-- user.
CREATE OR REPLACE FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
SET lock_timeout = '5s'
-- callers: app
AS $$
DECLARE
  mine users%ROWTYPE;
BEGIN
  IF p_by IS DISTINCT FROM 'restore' THEN -- the caller's own word, not a security boundary
    PERFORM memsvc.require_restored();
  END IF;
  SELECT * INTO mine FROM users AS u
  WHERE u.app_id = p_app_id AND (u.external_id = p_ref OR u.user_id::text = p_ref)
  ORDER BY (u.user_id::text = p_ref) DESC
  LIMIT 1
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF mine.erasing_since IS NULL
    AND (
      mine.moving IS NOT NULL
      OR EXISTS (SELECT FROM moves AS m WHERE m.user_id = mine.user_id AND m.state <> 'aborting')
    )
  THEN -- the other cell has rows, too: first the move is finished or given up
    RAISE EXCEPTION 'this user is moving to another cell' USING ERRCODE = 'MS007';
  END IF;
  IF mine.erasing_since IS NULL THEN
    UPDATE users AS u SET erasing_since = clock_timestamp() WHERE u.user_id = mine.user_id;
    UPDATE api_keys AS k SET revoked_at = clock_timestamp() WHERE k.user_id = mine.user_id AND k.revoked_at IS NULL;
    UPDATE schedules AS s SET enabled = false WHERE s.user_id = mine.user_id;
    PERFORM memsvc.audit(
      'user.erase', p_app_id, mine.user_id, mine.user_id::text, jsonb_build_object('requested_by', p_by)
    );
  END IF;
  RETURN mine.user_id;
END
$$;
COMMENT ON FUNCTION memsvc.begin_user_erasure(uuid, text, text) IS
  'Marks a user of an app for erasing, so that nobody acts for the user any more; the user''s id.';

-- Erases at most p_limit rows of a marked user. When nothing is left, it locks the user's row against everybody who
-- would add rows, deletes what was added in the meantime, and at last the row itself; the counts go into the audit log.
-- Erasers of one user run one after another.
CREATE OR REPLACE FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer)
RETURNS TABLE (erased bigint, finished boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
SET lock_timeout = '5s'
-- callers: app
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  mine users%ROWTYPE;
  gone jsonb;
  total jsonb;
BEGIN
  SELECT * INTO mine FROM users AS u WHERE u.user_id = proved FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 0::bigint, true;
    RETURN;
  ELSIF mine.erasing_since IS NULL THEN
    RAISE EXCEPTION 'the user is not marked for erasing' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  gone := memsvc.erase_user_rows(proved, p_limit, false);
  IF gone = '{}' THEN
    PERFORM FROM users AS u WHERE u.user_id = proved FOR UPDATE;
    gone := memsvc.erase_user_rows(proved, p_limit, true);
  END IF;
  finished := gone ? 'users';
  SELECT coalesce(sum(g.value::bigint), 0) INTO erased FROM jsonb_each_text(gone) AS g;
  SELECT coalesce(jsonb_object_agg(c.key, c.rows), '{}') INTO total FROM (
    SELECT e.key, sum(e.value::bigint) AS rows
    FROM (SELECT * FROM jsonb_each_text(mine.erased_rows) UNION ALL SELECT * FROM jsonb_each_text(gone)) AS e
    GROUP BY e.key
  ) AS c;
  IF finished THEN
    PERFORM memsvc.audit('user.erased', mine.app_id, proved, proved::text, jsonb_build_object('rows', total));
  ELSE
    UPDATE users AS u SET erased_rows = total WHERE u.user_id = proved;
  END IF;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.erase_user(uuid, integer) IS
  'Erases some rows of a marked user, at last the user; how many, and whether that was all.';

-- The erasing of an app's user, in progress or finished, by the user's id.
CREATE OR REPLACE FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid)
RETURNS TABLE (
  erasure_id uuid, requested_by text, created_at timestamptz, finished_at timestamptz, erased_rows jsonb
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT
    b.audit_id, coalesce(b.details ->> 'requested_by', ''), b.recorded_at, e.recorded_at,
    coalesce(e.details -> 'rows', u.erased_rows, '{}')
  FROM memsvc.audit_log AS b
  LEFT JOIN memsvc.audit_log AS e ON e.user_id = b.user_id AND e.action = 'user.erased'
  LEFT JOIN memsvc.users AS u ON u.user_id = b.user_id
  WHERE b.user_id = p_user_id AND b.app_id = p_app_id AND b.action = 'user.erase';
END;
COMMENT ON FUNCTION memsvc.user_erasure(uuid, uuid) IS 'The state of the erasing of a user of an app.';

-- Users whose erasing was begun and is not finished, oldest first, for workers.
CREATE OR REPLACE FUNCTION memsvc.users_erasing(p_limit integer) RETURNS TABLE (user_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT u.user_id FROM memsvc.users AS u
  WHERE u.erasing_since IS NOT NULL
  ORDER BY u.erasing_since
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.users_erasing(integer) IS 'Ids of users who are being erased, oldest first.';
