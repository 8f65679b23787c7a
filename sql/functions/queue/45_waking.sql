-- Sleep before its time: when enough is new, and the user is not talking.
--
-- The job of new messages notes when to look (note_news, called by finish_job). Workers look at users whose time has
-- come (due_looks, look_sleep), so that messages themselves pay for one indexed row only, at most once in two minutes.
-- All is counted in time that has passed, and nothing by the user's clock; so daylight saving changes nothing here.

-- Notes that something is new, if that is not noted yet, in the caller's transaction.
CREATE OR REPLACE FUNCTION memsvc.note_news(p_user_id uuid) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  UPDATE memsvc.schedules AS s
  SET look_at = clock_timestamp() + interval '2 minutes'
  WHERE s.user_id = p_user_id AND s.kind = 'sleep' AND s.enabled AND s.look_at IS NULL;
END;
COMMENT ON FUNCTION memsvc.note_news(uuid) IS 'Notes that a user has something new, for sleep before its time.';

-- Users at whom to look, those first that have waited longest. It also returns times further away than any rule allows,
-- which were written while the clock was ahead; look_sleep corrects them. now(), as in due_schedules.
CREATE OR REPLACE FUNCTION memsvc.due_looks(p_limit integer) RETURNS TABLE (user_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  (
    SELECT s.user_id FROM memsvc.schedules AS s
    WHERE s.look_at <= now()
    ORDER BY s.look_at
    LIMIT p_limit
  )
  UNION ALL
  (
    SELECT s.user_id FROM memsvc.schedules AS s
    WHERE s.look_at > now() + interval '2 days'
    ORDER BY s.look_at
    LIMIT p_limit
  )
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.due_looks(integer) IS 'Users of whom to look whether sleep begins before its time.';

-- Looks at one user, in the caller's transaction: requests sleep and returns why, or sets when to look again and
-- returns null. It requests none
-- - within p_pause of the last run of sleep, whatever began that one;
-- - while new messages wait for their job, or the last one is younger than p_calm: the user may be waiting.
-- Otherwise it does for p_messages new messages, for messages whose importance adds up to p_importance (those that
-- somebody judged), and p_sitting after the last of at least p_sitting_messages messages; 0: not for that. What is
-- new: what was stored since sleep was last begun. Another process that looks at the user is left to it.
CREATE OR REPLACE FUNCTION memsvc.look_sleep(
  p_user_id uuid, p_messages integer, p_sitting_messages integer, p_importance integer, p_sitting interval,
  p_calm interval, p_pause interval
) RETURNS text
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
  counted CONSTANT integer := CASE WHEN p_messages > 0 THEN p_messages ELSE 1000 END;
  mine schedules%ROWTYPE;
  slept timestamptz;
  newer uuid := '00000000-0000-0000-0000-000000000000';
  said timestamptz;
  messages integer;
  importance double precision;
  again timestamptz;
  reason text;
BEGIN
  SELECT * INTO mine FROM schedules AS s
  WHERE s.user_id = p_user_id AND s.kind = 'sleep' AND (s.look_at <= today OR s.look_at > today + interval '2 days')
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  slept := greatest(mine.last_at, mine.woken_at, (
    SELECT r.started_at FROM sleep_runs AS r WHERE r.user_id = p_user_id ORDER BY r.run_id DESC LIMIT 1
  ));
  IF slept > today THEN
    slept := today; -- it was written while the clock was ahead
  END IF;
  IF slept IS NOT NULL THEN
    newer := uuidv7(slept - today);
  END IF;
  SELECT uuid_extract_timestamp(p.passage_id) INTO said FROM passages AS p
  WHERE p.user_id = p_user_id AND p.kind = 'message' AND p.passage_id > newer
  ORDER BY p.passage_id DESC LIMIT 1;
  IF mine.enabled AND said IS NOT NULL THEN
    SELECT count(*), coalesce(sum(n.importance), 0) INTO messages, importance
    FROM (
      SELECT (
        SELECT g.importance FROM memory_signals AS g WHERE g.user_id = p_user_id AND g.memory_id = p.passage_id
      ) AS importance
      FROM passages AS p
      WHERE p.user_id = p_user_id AND p.kind = 'message' AND p.part = 0
        AND p.passage_id > newer
      ORDER BY p.passage_id
      LIMIT counted
    ) AS n;
    reason := CASE
      WHEN p_messages > 0 AND messages >= p_messages THEN 'messages'
      WHEN p_importance > 0 AND importance >= p_importance THEN 'importance'
      WHEN p_sitting_messages > 0 AND messages >= p_sitting_messages THEN 'sitting'
    END;
    again := greatest(
      least(said, today) + CASE WHEN reason = 'sitting' THEN p_sitting ELSE p_calm END, slept + p_pause,
      CASE
        WHEN EXISTS (
          SELECT FROM jobs AS j
          WHERE j.user_id = p_user_id AND j.kind IN ('process', 'extract') AND j.state = 'pending'
            AND j.run_after <= today
        ) THEN today + interval '1 minute'
      END
    );
  END IF;
  IF reason IS NULL OR again > today THEN
    UPDATE schedules AS s SET look_at = CASE WHEN reason IS NOT NULL THEN again END
    WHERE s.user_id = p_user_id AND s.kind = 'sleep';
    RETURN NULL;
  END IF;
  UPDATE schedules AS s SET look_at = NULL, woken_at = today, woken_for = reason
  WHERE s.user_id = p_user_id AND s.kind = 'sleep';
  PERFORM memsvc.ask_job(p_user_id, 'sleep', p_user_id);
  RETURN reason;
END
$$;
COMMENT ON FUNCTION memsvc.look_sleep(uuid, integer, integer, integer, interval, interval, interval) IS
  'Requests a user''s sleep before its time if enough is new, in the caller''s transaction; returns why, or null.';

-- Until when a task of sleep left no gap: the beginning of its last run that examined everything, or everything that was
-- new since another such run began. Null: no run did.
CREATE OR REPLACE FUNCTION memsvc.slept_until(p_user_id uuid, p_task text) RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
RETURN (
  SELECT max(d.started_at) FROM memsvc.sleep_runs AS d
  WHERE d.user_id = p_user_id AND d.task = p_task AND d.state = 'done' AND d.within_budget AND d.from_node IS NULL
    AND (d.since IS NULL OR EXISTS (
      SELECT FROM memsvc.sleep_runs AS b
      WHERE b.user_id = p_user_id AND b.task = p_task AND b.started_at = d.since
    ))
);
COMMENT ON FUNCTION memsvc.slept_until(uuid, text) IS 'Until when a task of sleep left no gap; null: it has none.';
