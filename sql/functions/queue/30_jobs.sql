-- Background work: which jobs are due, and how one begins, ends and fails.

-- Ids of due jobs of all users, oldest first, for 'memsvc jobs run', which runs them without the queue. Jobs of a user
-- who is being erased are left out.
CREATE OR REPLACE FUNCTION memsvc.due_jobs(p_limit integer, p_kinds text[] DEFAULT NULL)
RETURNS TABLE (user_id uuid, job_id uuid, kind text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT j.user_id, j.job_id, j.kind
  FROM memsvc.jobs AS j
  WHERE j.state = 'pending' AND j.run_after <= clock_timestamp() AND (p_kinds IS NULL OR j.kind = ANY (p_kinds))
    AND NOT EXISTS (SELECT FROM memsvc.users AS u WHERE u.user_id = j.user_id AND u.erasing_since IS NOT NULL)
  ORDER BY j.run_after
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.due_jobs(integer, text[]) IS 'Ids of due jobs of all users, oldest first.';

-- What a worker has to do, if the job is still pending: ids only, like due_jobs. requests, which the worker passes to
-- finish_job, is how often work was requested before the worker began. Each start is counted until the job ends or fails,
-- or the worker takes it back (end_start): so a job whose workers died too often is not begun again but fails, whichever
-- server carried its message. The count need not wait for the disk: a worker that dies with the database did not die
-- because of the job.
CREATE OR REPLACE FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid)
RETURNS TABLE (subject_id uuid, requests integer, started_at timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  most_deaths CONSTANT integer := 5;
  most_deaths_anew CONSTANT integer := 2;
  job jobs%ROWTYPE;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO job FROM jobs AS j
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending'
    AND NOT EXISTS (SELECT FROM users AS u WHERE u.user_id = p_user_id AND u.erasing_since IS NOT NULL)
  FOR UPDATE OF j;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF job.starts >= (CASE WHEN job.restarts = 0 THEN most_deaths ELSE most_deaths_anew END) THEN
    PERFORM memsvc.fail_deadly_job(p_user_id, p_job_id, job.starts);
    RETURN;
  END IF;
  RETURN QUERY
    UPDATE jobs AS j SET starts = j.starts + 1, started_at = clock_timestamp()
    WHERE j.user_id = p_user_id AND j.job_id = p_job_id
    RETURNING j.subject_id, j.requests, j.started_at;
END
$$;
COMMENT ON FUNCTION memsvc.begin_job(uuid, uuid) IS
  'What a pending job is about; counts that it was begun. No row if it is not pending, or its workers died too often.';

-- Ends one job whose steps are done, in the caller's transaction, and folds the user's statistics. 'gone': it is no
-- longer pending. 'again': work was requested more often than p_requests, which the worker read before it began (NULL:
-- the job has no steps and the worker read nothing; then it is read here, before folding), or p_more: its time ran out
-- before its work was done. It then waits its turn. Otherwise 'done'. The source and then the job are locked, in the
-- order in which writers lock them: while we hold the source, no transaction can request more work. All rows are found
-- by their keys, so one kept plan is always good, and planning took two thirds of the time. A kept plan must not scan a
-- table because it was once small.
CREATE OR REPLACE FUNCTION memsvc.finish_job(
  p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamptz
) RETURNS text
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  job jobs%ROWTYPE;
  known integer := p_requests;
  settled boolean;
BEGIN
  IF known IS NULL THEN
    SELECT j.requests INTO known FROM jobs AS j
    WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
  END IF;
  -- fold_statistics runs in one transaction at a time for each user: skip it if there is nothing to fold.
  IF EXISTS (SELECT FROM term_deltas AS d WHERE d.user_id = p_user_id) THEN
    PERFORM memsvc.fold_statistics(p_user_id);
  END IF;
  SELECT * INTO job FROM jobs AS j WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;
  PERFORM FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = job.subject_id FOR NO KEY UPDATE;
  SELECT NOT p_more AND j.requests = known INTO settled
  FROM jobs AS j WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending'
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;
  UPDATE jobs AS j
  SET
    state = CASE WHEN settled THEN 'done' ELSE 'pending' END,
    finished_at = CASE WHEN settled THEN clock_timestamp() END,
    started_at = coalesce(p_started_at, now()),
    run_after = CASE WHEN settled THEN j.run_after ELSE clock_timestamp() END,
    starts = 0,
    -- Work that was requested since is new work, with tries of its own.
    attempts = CASE WHEN settled THEN least(j.attempts + 1, 32767) ELSE 0 END,
    outages = CASE WHEN settled THEN j.outages ELSE 0 END,
    error = NULL, error_code = NULL
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id;
  IF NOT settled THEN
    RETURN 'again';
  END IF;
  IF job.kind = 'process' THEN
    UPDATE sources AS s SET status = 'completed', last_ingested_at = clock_timestamp()
    WHERE s.user_id = p_user_id AND s.source_id = job.subject_id;
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'source.completed', job.subject_id);
    PERFORM memsvc.note_news(p_user_id);
  END IF;
  RETURN 'done';
END
$$;
COMMENT ON FUNCTION memsvc.finish_job(uuid, uuid, integer, boolean, timestamptz) IS
  'Ends one pending job in the caller''s transaction: done, again or gone.';

-- Records a failure in a transaction of its own, and folds the user's statistics, which need no model. The job is
-- retried after 5 s, 25 s, 2 min and then every 5 min. A temporary cause (p_passing: a model that is down) delays a job
-- and never ends it; the fourth failure with any other cause is final, however many outages there were.
CREATE OR REPLACE FUNCTION memsvc.fail_job(
  p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamptz
) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT memsvc.fold_statistics(p_user_id);
  UPDATE memsvc.jobs AS j
  SET
    attempts = least(j.attempts + 1, 32767),
    outages = least(j.outages + p_passing::integer, 32767),
    starts = 0,
    state = CASE WHEN j.attempts - j.outages >= 3 AND NOT p_passing THEN 'failed' ELSE 'pending' END,
    finished_at = CASE WHEN j.attempts - j.outages >= 3 AND NOT p_passing THEN clock_timestamp() END,
    started_at = coalesce(p_started_at, now()),
    run_after = clock_timestamp() + interval '1 second' * least(300, power(5, least(j.attempts, 9) + 1)),
    error_code = p_error_code,
    error = p_error
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
END;
COMMENT ON FUNCTION memsvc.fail_job(uuid, uuid, text, text, boolean, timestamptz) IS
  'Records why a job failed and when to try again.';
