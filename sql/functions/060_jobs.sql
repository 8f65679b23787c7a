-- Background work: which jobs wait, and what a job of each kind does.

-- Ids of due jobs of all users, oldest first: the one thing that a worker may know before it acts for a user. requests
-- is what run_job wants to hear back: how often work was asked for, before the worker began.
CREATE OR REPLACE FUNCTION memsvc.due_jobs(p_limit integer)
RETURNS TABLE (user_id uuid, job_id uuid, subject_id uuid, requests integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT j.user_id, j.job_id, j.subject_id, j.requests
  FROM memsvc.jobs AS j
  WHERE j.state = 'pending' AND j.run_after <= clock_timestamp()
  ORDER BY j.run_after
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.due_jobs(integer) IS 'Ids of due jobs of all users, oldest first.';

-- Figures for /metrics and doctor: counts and ages over all users, nothing else.
CREATE OR REPLACE FUNCTION memsvc.backlog()
RETURNS TABLE (pending bigint, failed bigint, oldest_pending_seconds double precision, unfolded_deltas bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT
    (SELECT count(*) FROM memsvc.jobs AS j WHERE j.state = 'pending'),
    (SELECT count(*) FROM memsvc.jobs AS j WHERE j.state = 'failed'),
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(j.created_at)), 0)::double precision
      FROM memsvc.jobs AS j WHERE j.state = 'pending'),
    (SELECT count(*) FROM memsvc.term_deltas AS d);
END;
COMMENT ON FUNCTION memsvc.backlog() IS 'How much background work waits, over all users.';

-- Ends one job whose steps are done, in the caller's transaction. 'busy': another worker ends it. 'gone': it is not
-- pending any more. 'again': more was asked for than p_requests, which the worker saw before it began, so it stays
-- pending. 'done' otherwise. The source and then the job are locked, in the order in which writers lock them: while we
-- hold the source, nobody can ask for more.
CREATE OR REPLACE FUNCTION memsvc.run_job(p_user_id uuid, p_job_id uuid, p_requests integer) RETURNS text
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
AS $$
DECLARE
  job jobs%ROWTYPE;
  settled boolean;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('memsvc.job ' || p_job_id::text, 0)) THEN
    RETURN 'busy';
  END IF;
  SELECT * INTO job FROM jobs AS j WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;

  PERFORM FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = job.subject_id FOR NO KEY UPDATE;
  UPDATE jobs AS j
  SET
    state = CASE WHEN j.requests = p_requests THEN 'done' ELSE 'pending' END,
    finished_at = CASE WHEN j.requests = p_requests THEN clock_timestamp() END,
    -- What was asked for meanwhile is a new piece of work, with tries of its own.
    attempts = CASE WHEN j.requests = p_requests THEN j.attempts + 1 ELSE 0 END,
    error = NULL, error_code = NULL
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending'
  RETURNING j.state = 'done' INTO settled;
  IF settled IS NULL THEN
    RETURN 'gone';
  ELSIF NOT settled THEN
    RETURN 'again';
  END IF;
  UPDATE sources AS s SET status = 'completed', last_ingested_at = clock_timestamp()
  WHERE s.user_id = p_user_id AND s.source_id = job.subject_id;
  INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'source.completed', job.subject_id);
  RETURN 'done';
END
$$;
COMMENT ON FUNCTION memsvc.run_job(uuid, uuid, integer) IS
  'Ends one pending job in the caller''s transaction: done, again, busy or gone.';

-- Notes a failure in a transaction of its own: tried again after 5 s, 25 s, 2 min and then every 5 min. The fourth
-- failure is final, unless its cause passes by itself (p_passing: a model that is down), which delays and never ends
-- a job.
CREATE OR REPLACE FUNCTION memsvc.fail_job(
  p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean
) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  UPDATE memsvc.jobs AS j
  SET
    attempts = least(j.attempts + 1, 32767),
    state = CASE WHEN j.attempts >= 3 AND NOT p_passing THEN 'failed' ELSE 'pending' END,
    finished_at = CASE WHEN j.attempts >= 3 AND NOT p_passing THEN clock_timestamp() END,
    run_after = clock_timestamp() + interval '1 second' * least(300, power(5, least(j.attempts, 9) + 1)),
    error_code = p_error_code,
    error = p_error
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
END;
COMMENT ON FUNCTION memsvc.fail_job(uuid, uuid, text, text, boolean) IS 'Notes why a job failed and when to try again.';
