-- What the administrator of an app sees of background work and of the language model: of the app's users alone.

-- Jobs of all users of an app, newest first, for its administrator; p_job_id selects one. They hold no text.
CREATE OR REPLACE FUNCTION memsvc.jobs_of_app(
  p_app_id uuid, p_job_id uuid, p_state text, p_after uuid, p_limit integer
) RETURNS TABLE (
  user_id uuid, job_id uuid, kind text, subject_id uuid, state text, attempts smallint, restarts smallint,
  error_code text, error text, created_at timestamptz, run_after timestamptz, started_at timestamptz,
  finished_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT j.user_id, j.job_id, j.kind, j.subject_id, j.state, j.attempts, j.restarts, j.error_code, j.error,
    j.created_at, j.run_after, j.started_at, j.finished_at
  FROM memsvc.users AS u
  INNER JOIN memsvc.jobs AS j ON j.user_id = u.user_id
  WHERE u.app_id = p_app_id AND u.erasing_since IS NULL AND memsvc.require_restored()
    AND (p_job_id IS NULL OR j.job_id = p_job_id)
    AND (p_state IS NULL OR j.state = p_state)
    AND (p_after IS NULL OR j.job_id < p_after)
  ORDER BY j.job_id DESC
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.jobs_of_app(uuid, uuid, text, uuid, integer) IS
  'Jobs of all users of an app, newest first, paged; p_job_id selects one.';

-- The costs of each day (UTC), by task and model, over the users of an app; newest day first.
CREATE OR REPLACE FUNCTION memsvc.model_spending_of_app(p_app_id uuid, p_since timestamptz)
RETURNS TABLE (
  day date, task text, model text, calls bigint, answered bigint, tokens_in bigint, tokens_out bigint,
  ms bigint, cost numeric
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT (c.at AT TIME ZONE 'UTC')::date, c.task, c.model, count(*), count(*) FILTER (WHERE c.outcome = 'answered'),
    sum(c.tokens_in), sum(c.tokens_out), sum(c.ms)::bigint, sum(c.cost)
  FROM memsvc.users AS u
  INNER JOIN memsvc.model_calls AS c ON c.user_id = u.user_id AND c.at >= p_since
  WHERE u.app_id = p_app_id AND memsvc.require_restored()
  GROUP BY 1, 2, 3
  ORDER BY 1 DESC, 2, 3;
END;
COMMENT ON FUNCTION memsvc.model_spending_of_app(uuid, timestamptz) IS
  'Calls of the language model since a moment by day, task and model, over the users of an app.';
