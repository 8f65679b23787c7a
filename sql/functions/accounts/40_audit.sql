-- The audit log: acts that no other function here writes down, reading the log, use of keys by day, and deleting what
-- is old.

-- Records an act on one user's memory, in the transaction of the act. The token must prove the user, so that nobody is
-- said to have done something for another user.
CREATE OR REPLACE FUNCTION memsvc.note_act(p_action text, p_user_id uuid, p_subject text, p_details jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  IF p_action NOT IN ('memory.erase', 'memory.export', 'memory.import', 'schedule.set', 'job.retry') THEN
    RAISE EXCEPTION 'no act %', p_action USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM memsvc.audit(p_action, u.app_id, proved, p_subject, p_details) FROM users AS u WHERE u.user_id = proved;
END
$$;
COMMENT ON FUNCTION memsvc.note_act(text, uuid, text, jsonb) IS
  'Records an act on the memory of the user of the token.';

-- Records what an operator did to the queue, which belongs to no app.
CREATE OR REPLACE FUNCTION memsvc.note_queue_act(p_action text, p_subject text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  IF p_action NOT IN ('dead_letter.retry', 'dead_letter.drop') THEN
    RAISE EXCEPTION 'no act %', p_action USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM memsvc.audit(p_action, NULL, NULL, p_subject);
END
$$;
COMMENT ON FUNCTION memsvc.note_queue_act(text, text) IS 'Records what was done to dead letters.';

-- Acts that concern an app, newest first: its own, and those on the whole service (models, secrets, restores), which
-- have no app. p_actor is a key or a door; p_action an action or its first word. A page ends before p_before.
CREATE OR REPLACE FUNCTION memsvc.acts_of_app(
  p_app_id uuid, p_actor text, p_action text, p_user_id uuid, p_since timestamptz, p_until timestamptz, p_before uuid,
  p_limit integer
) RETURNS TABLE (
  audit_id uuid, recorded_at timestamptz, action text, subject text, user_id uuid, door text, key_id text, login text,
  whole_service boolean, details jsonb
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
#variable_conflict use_column
BEGIN
  PERFORM memsvc.require_restored();
  RETURN QUERY
  SELECT l.audit_id, l.recorded_at, l.action, l.subject, l.user_id, l.door,
    CASE WHEN l.app_id IS NOT NULL OR l.key_id IN (SELECT k.key_id FROM api_keys AS k WHERE k.app_id = p_app_id)
      THEN l.key_id END, -- of other apps no key is named
    l.actor, l.app_id IS NULL,
    l.details
  FROM (
    (
      SELECT m.* FROM audit_log AS m
      WHERE m.app_id = p_app_id AND (p_before IS NULL OR m.audit_id < p_before)
        AND (p_actor IS NULL OR m.key_id = p_actor OR m.door = p_actor)
        AND (p_action IS NULL OR m.action = p_action OR starts_with(m.action, p_action || '.'))
        AND (p_user_id IS NULL OR m.user_id = p_user_id)
        AND (p_since IS NULL OR m.recorded_at >= p_since) AND (p_until IS NULL OR m.recorded_at < p_until)
      ORDER BY m.audit_id DESC LIMIT p_limit
    )
    UNION ALL
    (
      SELECT m.* FROM audit_log AS m
      WHERE m.app_id IS NULL AND (p_before IS NULL OR m.audit_id < p_before)
        AND (p_actor IS NULL OR m.door = p_actor OR m.key_id = p_actor AND p_actor IN (
          SELECT k.key_id FROM api_keys AS k WHERE k.app_id = p_app_id
        ))
        AND (p_action IS NULL OR m.action = p_action OR starts_with(m.action, p_action || '.'))
        AND p_user_id IS NULL
        AND (p_since IS NULL OR m.recorded_at >= p_since) AND (p_until IS NULL OR m.recorded_at < p_until)
      ORDER BY m.audit_id DESC LIMIT p_limit
    )
  ) AS l
  ORDER BY l.audit_id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.acts_of_app(uuid, text, text, uuid, timestamptz, timestamptz, uuid, integer) IS
  'Acts that concern an app, newest first, paged and filtered.';

-- Adds what processes counted: requests by key and day, and the last one. Keys that are gone are left out. The order
-- keeps processes from waiting for each other.
CREATE OR REPLACE FUNCTION memsvc.count_key_use(
  p_keys text[], p_days date[], p_requests bigint[], p_last timestamptz[]
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO key_days AS d (key_id, day, requests, last_at)
  SELECT k.key_id, n.day, n.requests, n.last_at
  FROM unnest(p_keys, p_days, p_requests, p_last) AS n (key_id, day, requests, last_at)
  INNER JOIN api_keys AS k ON k.key_id = n.key_id
  ORDER BY k.key_id, n.day
  ON CONFLICT (key_id, day) DO UPDATE
  SET requests = d.requests + excluded.requests, last_at = greatest(d.last_at, excluded.last_at);
END
$$;
COMMENT ON FUNCTION memsvc.count_key_use(text[], date[], bigint[], timestamptz[]) IS
  'Adds requests of keys by day.';

-- How often the keys of an app were used on each day since p_since, newest first; p_key_id selects one.
CREATE OR REPLACE FUNCTION memsvc.key_use_of_app(p_app_id uuid, p_key_id text, p_since date)
RETURNS TABLE (key_id text, day date, requests bigint, last_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT d.key_id, d.day, d.requests, d.last_at
  FROM memsvc.api_keys AS k
  INNER JOIN memsvc.key_days AS d ON d.key_id = k.key_id AND d.day >= p_since
  WHERE k.app_id = p_app_id AND (p_key_id IS NULL OR k.key_id = p_key_id) AND memsvc.require_restored()
  ORDER BY d.day DESC, d.key_id ASC;
END;
COMMENT ON FUNCTION memsvc.key_use_of_app(uuid, text, date) IS 'How often the keys of an app were used, by day.';

-- Deletes acts and use of keys that are older than p_kept, at most p_limit each; returns how many. What a restore from
-- an old backup must repeat stays for ever: erased users and revoked keys. Rows that another process deletes are passed
-- over.
CREATE OR REPLACE FUNCTION memsvc.prune_audit(p_kept interval, p_limit integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  acts bigint;
  days bigint;
BEGIN
  DELETE FROM audit_log AS l WHERE l.audit_id IN (
    SELECT o.audit_id FROM audit_log AS o
    WHERE o.recorded_at < clock_timestamp() - greatest(p_kept, interval '30 days')
      AND o.action NOT IN ('user.erase', 'user.erased', 'key.revoke')
    LIMIT p_limit FOR UPDATE SKIP LOCKED
  );
  GET DIAGNOSTICS acts = ROW_COUNT;
  DELETE FROM key_days AS d WHERE (d.key_id, d.day) IN (
    SELECT o.key_id, o.day FROM key_days AS o
    WHERE o.day < (clock_timestamp() - greatest(p_kept, interval '30 days'))::date
    LIMIT p_limit FOR UPDATE SKIP LOCKED
  );
  GET DIAGNOSTICS days = ROW_COUNT;
  RETURN acts + days;
END
$$;
COMMENT ON FUNCTION memsvc.prune_audit(interval, integer) IS 'Deletes old acts and old use of keys; how many.';
