-- Recurring work: when it is due in its user's local time, how it is claimed, and the upkeep that it runs.

-- The first moment at which the clock of a zone has reached a wall-clock time. When clocks are turned back, a time that
-- occurs twice means the first occurrence (AT TIME ZONE means the second). When they are turned forward, a time that
-- does not occur means the first moment after the gap (AT TIME ZONE adds the length of the gap). Null: the whole date
-- does not occur (Samoa had no 30 December 2011). Intervals are computed in UTC, where a day has 24 hours.
CREATE OR REPLACE FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp) RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
-- callers: app
AS $$
DECLARE
  reached timestamptz := p_local AT TIME ZONE p_zone;
  too_early timestamptz := reached - interval '1 day';
  excess interval := (reached AT TIME ZONE p_zone) - p_local;
  middle timestamptz;
BEGIN
  IF excess = interval '0' THEN
    -- With the offset of the day before, which is the offset of the first occurrence.
    middle := too_early + (p_local - (too_early AT TIME ZONE p_zone));
    RETURN CASE WHEN middle < reached AND middle AT TIME ZONE p_zone = p_local THEN middle ELSE reached END;
  END IF;
  -- Clocks are turned at a whole second: find it by bisection.
  too_early := reached - excess;
  WHILE reached - too_early > interval '1 second' LOOP
    middle := too_early + (reached - too_early) / 2;
    IF middle AT TIME ZONE p_zone < p_local THEN
      too_early := middle;
    ELSE
      reached := middle;
    END IF;
  END LOOP;
  reached := date_trunc('second', reached);
  IF ((reached - interval '1 microsecond') AT TIME ZONE p_zone)::date < p_local::date
    AND (reached AT TIME ZONE p_zone)::date > p_local::date
  THEN
    RETURN NULL;
  END IF;
  RETURN reached;
END
$$;
COMMENT ON FUNCTION memsvc.clock_reaches(text, timestamp) IS
  'The first moment at which a zone''s clock has reached a time; null: its date does not occur.';

-- The zone that this server uses for p_zone: p_zone itself, or UTC if the server does not know it. Users may have any
-- zone that Python knows; a PostgreSQL that reads its system's zone files may lack older names.
CREATE OR REPLACE FUNCTION memsvc.known_zone(p_zone text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
-- callers: app, reader, recall
AS $$
BEGIN
  PERFORM now() AT TIME ZONE p_zone;
  RETURN p_zone;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'UTC';
END
$$;
COMMENT ON FUNCTION memsvc.known_zone(text) IS 'A time zone, or UTC if this server does not know it.';

-- When work is due next: the first moment after p_after at which the zone's clock reaches p_at on one of p_weekdays
-- (null: on any day), once for each date. Dates before the local date of p_after were due before p_after, so the search
-- begins at that date. It covers two weeks, because a weekday whose date does not occur comes again a week later. The
-- zone is that of known_zone.
CREATE OR REPLACE FUNCTION memsvc.next_run(p_zone text, p_at time, p_weekdays smallint[], p_after timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
  today CONSTANT date := (p_after AT TIME ZONE zone)::date;
  moment timestamptz;
BEGIN
  FOR ahead IN 0..14 LOOP
    IF p_weekdays IS NULL OR extract(isodow FROM today + ahead) = ANY (p_weekdays) THEN
      moment := memsvc.clock_reaches(zone, today + ahead + p_at);
      IF moment > p_after THEN
        RETURN moment;
      END IF;
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.next_run(text, time, smallint[], timestamptz) IS
  'When work is due next by the clock of a zone, once a date.';

-- Gives a user (null: all users of this cell) the standard schedules that they lack: tidy and sleep, every night between 03:00 and
-- 05:00. The minute depends on the user's id, so that not all users of a zone are due together. Returns how many
-- schedules they have. create_user calls it; each worker calls it at its start, for users older than schedules.
CREATE OR REPLACE FUNCTION memsvc.seed_schedules(p_user_id uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  INSERT INTO schedules (user_id, kind, at_local, next_at)
  SELECT u.user_id, k.kind, t.at_local, memsvc.next_run(u.time_zone, t.at_local, NULL, clock_timestamp())
  FROM users AS u
  CROSS JOIN (VALUES ('tidy'), ('sleep')) AS k (kind)
  CROSS JOIN LATERAL (
    SELECT time '03:00' + make_interval(mins => (hashtextextended(u.user_id::text, 0) & 65535)::integer % 120)
      AS at_local
  ) AS t
  WHERE (p_user_id IS NULL OR u.user_id = p_user_id) AND u.erasing_since IS NULL AND u.cell_id = 0
    AND NOT EXISTS (SELECT FROM schedules AS s WHERE s.user_id = u.user_id AND s.kind = k.kind)
  ON CONFLICT (user_id, kind) DO NOTHING;
  RETURN (SELECT count(*) FROM schedules AS s WHERE p_user_id IS NULL OR s.user_id = p_user_id);
END
$$;
COMMENT ON FUNCTION memsvc.seed_schedules(uuid) IS
  'Gives a user, or all users, the standard schedules; returns how many they have.';

-- Keeps next_at in step with the user's zone. When feeds are due is computed by who looks for due ones.
CREATE OR REPLACE FUNCTION memsvc.reschedule() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
AS $$
BEGIN
  UPDATE schedules AS s
  SET next_at = memsvc.next_run(NEW.time_zone, s.at_local, s.weekdays, clock_timestamp())
  WHERE s.user_id = NEW.user_id AND s.next_at > clock_timestamp();
  UPDATE feeds AS f SET next_run = NULL WHERE f.user_id = NEW.user_id AND f.next_run > clock_timestamp();
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.reschedule() IS 'Trigger: keeps schedules in step with their user''s zone.';

CREATE OR REPLACE TRIGGER moved AFTER UPDATE OF time_zone ON memsvc.users
FOR EACH ROW WHEN (NEW.time_zone IS DISTINCT FROM OLD.time_zone) EXECUTE FUNCTION memsvc.reschedule();

-- Ids of due schedules of all users, oldest first. It also returns schedules further away than any rule allows, which
-- were written while the clock was ahead; run_schedule corrects them. now(), because a volatile function cannot use the
-- index.
CREATE OR REPLACE FUNCTION memsvc.due_schedules(p_limit integer) RETURNS TABLE (user_id uuid, kind text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  (
    SELECT s.user_id, s.kind FROM memsvc.schedules AS s
    WHERE s.enabled AND s.next_at <= now()
    ORDER BY s.next_at
    LIMIT p_limit
  )
  UNION ALL
  (
    SELECT s.user_id, s.kind FROM memsvc.schedules AS s
    WHERE s.enabled AND s.next_at > now() + interval '8 days'
    ORDER BY s.next_at
    LIMIT p_limit
  )
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.due_schedules(integer) IS 'Ids of due schedules of all users, oldest first.';

-- Runs a due schedule: requests its job and sets when it is due next, in the caller's transaction. So a process that
-- dies leaves it due. False: another process runs it or has run it, or it is not due. However often it was missed, it
-- runs once.
CREATE OR REPLACE FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
  mine schedules%ROWTYPE;
BEGIN
  SELECT * INTO mine FROM schedules AS s
  WHERE s.user_id = p_user_id AND s.kind = p_kind AND s.enabled
    AND (s.next_at <= today OR s.next_at > today + interval '8 days')
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE schedules AS s
  SET next_at = memsvc.next_run(u.time_zone, s.at_local, s.weekdays, today),
    last_at = CASE WHEN mine.next_at <= today THEN today ELSE s.last_at END,
    woken_for = CASE WHEN mine.next_at > today THEN s.woken_for END
  FROM users AS u
  WHERE s.user_id = p_user_id AND s.kind = p_kind AND u.user_id = p_user_id;
  IF mine.next_at > today THEN
    RETURN false;
  END IF;
  PERFORM memsvc.ask_job(p_user_id, p_kind, p_user_id);
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.run_schedule(uuid, text) IS
  'Runs a due schedule, in the caller''s transaction; false if it is not due, or no longer.';

-- Upkeep of a user: deletes ended jobs and events, oldest first, up to p_limit of each; returns how many. Failed jobs
-- are kept six times as long, so that somebody can look at them. memsvc_app has no privilege to delete either; it can
-- do so only through this function, for the user that its token proves. The function deletes nothing that is pending or
-- younger than a day. Ids are time-ordered, so the primary key finds old rows.
CREATE OR REPLACE FUNCTION memsvc.delete_ended(
  p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer
) RETURNS TABLE (jobs bigint, events bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  today CONSTANT timestamptz := clock_timestamp();
  jobs_kept CONSTANT interval := greatest(p_jobs_kept, interval '1 day');
  events_kept CONSTANT interval := greatest(p_events_kept, interval '1 day');
  first_job CONSTANT uuid := uuidv7(-jobs_kept);
  first_event CONSTANT uuid := uuidv7(-events_kept);
BEGIN
  WITH old AS MATERIALIZED (
    SELECT j.job_id FROM memsvc.jobs AS j
    WHERE j.user_id = proved AND j.job_id < first_job AND (
      (j.state IN ('done', 'cancelled') AND j.finished_at < today - jobs_kept)
      OR (j.state = 'failed' AND j.finished_at < today - 6 * jobs_kept)
    )
    ORDER BY j.job_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM memsvc.jobs AS j USING old AS o WHERE j.user_id = proved AND j.job_id = o.job_id;
  GET DIAGNOSTICS jobs = ROW_COUNT;

  WITH old AS MATERIALIZED (
    SELECT e.event_id FROM memsvc.outbox AS e
    WHERE e.user_id = proved AND e.event_id < first_event AND e.recorded_at < today - events_kept
    ORDER BY e.event_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM memsvc.outbox AS e USING old AS o WHERE e.user_id = proved AND e.event_id = o.event_id;
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.delete_ended(uuid, interval, interval, integer) IS
  'Deletes a user''s old ended jobs and old events, up to a limit; returns how many of each.';
