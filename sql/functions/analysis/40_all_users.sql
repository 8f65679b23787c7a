-- Statistics of all users together, for operators who may not read memories: counts, costs and durations, for
-- memsvc_analyst. No text, label, place or id; no group of fewer users than least_group(); and only days (UTC) that are
-- over, so that nobody can watch a group grow by one. Somebody who may erase can still compare a past day before and
-- after.

CREATE OR REPLACE FUNCTION memsvc.least_group() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: analyst, recall
RETURN 5;
COMMENT ON FUNCTION memsvc.least_group() IS 'The least number of users in a group that an analyst may see.';

-- The beginning of the day (UTC) that many days ago; 0 is today.
CREATE OR REPLACE FUNCTION memsvc.day_before(p_days integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: analyst, recall
RETURN (date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => greatest(p_days, 0))) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION memsvc.day_before(integer) IS 'The beginning of the day (UTC) that many days ago.';

CREATE OR REPLACE FUNCTION memsvc.all_users_jobs(p_days integer)
RETURNS TABLE (
  day date, kind text, users bigint, jobs bigint, failed bigint, tries bigint, waited_p50_s double precision,
  took_p50_s double precision, took_p95_s double precision
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: analyst
BEGIN ATOMIC
  SELECT (j.finished_at AT TIME ZONE 'UTC')::date, j.kind, count(DISTINCT j.user_id), count(*),
    count(*) FILTER (WHERE j.state = 'failed'), sum(j.attempts),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM j.started_at - j.created_at)),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM j.finished_at - j.started_at)),
    percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM j.finished_at - j.started_at))
  FROM memsvc.jobs AS j
  WHERE j.finished_at >= memsvc.day_before(p_days) AND j.finished_at < memsvc.day_before(0)
  GROUP BY 1, 2
  HAVING count(DISTINCT j.user_id) >= memsvc.least_group();
END;
COMMENT ON FUNCTION memsvc.all_users_jobs(integer) IS
  'Jobs that ended, by day and kind, of groups of users: counts and seconds.';

CREATE OR REPLACE FUNCTION memsvc.all_users_model_calls(p_days integer)
RETURNS TABLE (
  day date, task text, model text, users bigint, calls bigint, answered bigint, tokens_in bigint, tokens_out bigint,
  cost numeric, took_p50_ms double precision, took_p95_ms double precision
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: analyst
BEGIN ATOMIC
  SELECT (c.at AT TIME ZONE 'UTC')::date, c.task, c.model, count(DISTINCT c.user_id), count(*),
    count(*) FILTER (WHERE c.outcome = 'answered'), sum(c.tokens_in), sum(c.tokens_out), sum(c.cost),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY c.ms), percentile_cont(0.95) WITHIN GROUP (ORDER BY c.ms)
  FROM memsvc.model_calls AS c
  WHERE c.at >= memsvc.day_before(p_days) AND c.at < memsvc.day_before(0)
  GROUP BY 1, 2, 3
  HAVING count(DISTINCT c.user_id) >= memsvc.least_group();
END;
COMMENT ON FUNCTION memsvc.all_users_model_calls(integer) IS
  'Calls of the language model by day, task and model, of groups of users: counts, tokens, cost, milliseconds.';
