-- Work of all users, for operators: counts, ages and codes; never an id of a user, a job or a memory.

-- What waits, runs, failed and was done, by queue and kind; kinds without any are left out. A job is running while a
-- worker holds its message. A job that failed and will be tried again is retrying, not waiting; it is recognised by its
-- error, because a relayed job counts an attempt when it begins. dead: messages that no worker could read, by the kind
-- of their job, or '?' if they have none.
-- Even with a million ended jobs it reads only pending, recently ended and failed ones, by their indexes.
CREATE OR REPLACE FUNCTION memsvc.work_now()
RETURNS TABLE (
  queue text, kind text, waiting bigint, running bigint, retrying bigint, failed bigint, dead bigint,
  done_last_minute bigint, failed_last_hour bigint, oldest_seconds double precision
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  WITH found (queue, kind, part, jobs, oldest) AS (
    SELECT memsvc.job_queue(j.kind), j.kind,
      CASE WHEN j.attempts > 0 AND j.error_code IS NOT NULL THEN 'retrying' ELSE 'waiting' END, count(*),
      min(j.created_at)
    FROM memsvc.jobs AS j
    WHERE j.state = 'pending'
    GROUP BY j.kind, j.attempts > 0 AND j.error_code IS NOT NULL
    UNION ALL
    SELECT memsvc.job_queue(j.kind), j.kind, p.part, sum(p.jobs), NULL
    FROM memsvc.dramatiq_queue AS q
    INNER JOIN memsvc.jobs AS j ON j.user_id = q.user_id AND j.job_id = q.message_id
    CROSS JOIN LATERAL (
      VALUES
        ('running', 1),
        (CASE WHEN j.attempts > 0 AND j.error_code IS NOT NULL THEN 'retrying' ELSE 'waiting' END, -1)
    ) AS p (part, jobs)
    WHERE q.state = 'consumed' AND j.state = 'pending'
    GROUP BY j.kind, p.part
    UNION ALL
    SELECT memsvc.job_queue(j.kind), j.kind, 'failed', count(*), NULL
    FROM memsvc.jobs AS j
    WHERE j.state = 'failed'
    GROUP BY j.kind
    UNION ALL
    SELECT memsvc.job_queue(j.kind), j.kind, 'failed last hour', count(*), NULL
    FROM memsvc.jobs AS j
    WHERE j.state = 'failed' AND j.finished_at > now() - interval '1 hour'
    GROUP BY j.kind
    UNION ALL
    SELECT memsvc.job_queue(j.kind), j.kind, 'done last minute', count(*), NULL
    FROM memsvc.jobs AS j
    WHERE j.state = 'done' AND j.finished_at > now() - interval '1 minute'
    GROUP BY j.kind
    UNION ALL
    SELECT q.queue_name, coalesce(j.kind, '?'), 'dead', count(*), NULL
    FROM memsvc.dramatiq_queue AS q
    LEFT JOIN memsvc.jobs AS j ON j.user_id = q.user_id AND j.job_id = q.message_id
    WHERE q.state = 'rejected'
    GROUP BY q.queue_name, coalesce(j.kind, '?')
  )
  SELECT
    f.queue, f.kind,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'waiting'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'running'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'retrying'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'failed'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'dead'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'done last minute'), 0)::bigint,
    coalesce(sum(f.jobs) FILTER (WHERE f.part = 'failed last hour'), 0)::bigint,
    extract(epoch FROM clock_timestamp() - min(f.oldest))::double precision
  FROM found AS f
  GROUP BY f.queue, f.kind
  ORDER BY f.queue, f.kind;
END;
COMMENT ON FUNCTION memsvc.work_now() IS 'What waits, runs, failed and was done, over all users, by queue and kind.';

-- Error codes of jobs that will be retried, and of jobs that failed for good within the last hour.
CREATE OR REPLACE FUNCTION memsvc.work_errors()
RETURNS TABLE (error_code text, retrying bigint, failed_last_hour bigint, last_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT f.error_code, count(*) FILTER (WHERE f.state = 'pending'), count(*) FILTER (WHERE f.state = 'failed'),
    extract(epoch FROM clock_timestamp() - max(f.at))::double precision
  FROM (
    SELECT j.state, j.error_code, j.started_at AS at FROM memsvc.jobs AS j
    WHERE j.state = 'pending' AND j.attempts > 0
    UNION ALL
    SELECT j.state, j.error_code, j.finished_at AS at FROM memsvc.jobs AS j
    WHERE j.state = 'failed' AND j.finished_at > now() - interval '1 hour'
  ) AS f
  WHERE f.error_code IS NOT NULL
  GROUP BY f.error_code
  ORDER BY max(f.at) DESC NULLS LAST;
END;
COMMENT ON FUNCTION memsvc.work_errors() IS 'Codes of jobs'' last failures with their counts, over all users.';

-- Live worker processes with their ids, and how many jobs each holds.
CREATE OR REPLACE FUNCTION memsvc.work_hands()
RETURNS TABLE (worker_id uuid, silent_seconds double precision, running bigint)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT w.worker_id, extract(epoch FROM clock_timestamp() - w.heartbeat_at)::double precision,
    (SELECT count(*) FROM memsvc.dramatiq_queue AS q WHERE q.state = 'consumed' AND q.worker_id = w.worker_id)
  FROM memsvc.dramatiq_worker AS w
  ORDER BY w.heartbeat_at DESC;
END;
COMMENT ON FUNCTION memsvc.work_hands() IS 'Worker processes, the age of their heartbeats, and their number of jobs.';

-- Figures for /metrics. embedding_lag_seconds is the age of the oldest job that computes vectors: no message with such
-- a job has waited longer for its vector. Searching for the messages themselves would read every passage.
-- extraction_lag_seconds is the same for jobs that extract facts.
CREATE OR REPLACE FUNCTION memsvc.backlog()
RETURNS TABLE (
  pending bigint, running bigint, retrying bigint, failed bigint, dead_letters bigint, workers bigint,
  oldest_pending_seconds double precision, embedding_lag_seconds double precision,
  extraction_lag_seconds double precision, unfolded_deltas bigint
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT
    coalesce(sum(n.waiting + n.running + n.retrying), 0)::bigint, coalesce(sum(n.running), 0)::bigint,
    coalesce(sum(n.retrying), 0)::bigint, coalesce(sum(n.failed), 0)::bigint, coalesce(sum(n.dead), 0)::bigint,
    (SELECT count(*) FROM memsvc.work_hands()),
    coalesce(max(n.oldest_seconds), 0), coalesce(max(n.oldest_seconds) FILTER (WHERE n.queue = 'models'), 0),
    coalesce(max(n.oldest_seconds) FILTER (WHERE n.queue = 'facts'), 0),
    (SELECT count(*) FROM memsvc.term_deltas AS d)
  FROM memsvc.work_now() AS n;
END;
COMMENT ON FUNCTION memsvc.backlog() IS 'How much background work waits, over all users.';

-- Users whose jobs failed for good: for 'memsvc jobs retry --all-failed --everybody', which then acts as each of them.
CREATE OR REPLACE FUNCTION memsvc.users_with_failed_jobs() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT DISTINCT j.user_id FROM memsvc.jobs AS j WHERE j.state = 'failed';
END;
COMMENT ON FUNCTION memsvc.users_with_failed_jobs() IS 'Ids of users that have jobs that failed for good.';

-- Makes a user's failed jobs pending again, in the caller's transaction; returns how many. Of several jobs for one
-- subject, only the newest becomes pending, and none if another is pending already. The rest are cancelled, because one
-- job does all the work that its subject needs.
CREATE OR REPLACE FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  retried integer;
BEGIN
  LOOP
    BEGIN
      WITH failed AS (
        SELECT j.job_id, row_number() OVER (PARTITION BY j.kind, j.subject_id ORDER BY j.job_id DESC) = 1
          AND NOT EXISTS (
            SELECT FROM jobs AS w
            WHERE w.user_id = p_user_id AND w.kind = j.kind AND w.subject_id = j.subject_id AND w.state = 'pending'
          ) AS again
        FROM jobs AS j
        WHERE j.user_id = p_user_id AND j.state = 'failed'
      ),
      changed AS (
        UPDATE jobs AS j
        SET
          state = CASE WHEN f.again THEN 'pending' ELSE 'cancelled' END,
          attempts = CASE WHEN f.again THEN 0 ELSE j.attempts END,
          outages = CASE WHEN f.again THEN 0 ELSE j.outages END,
          restarts = CASE WHEN f.again THEN 0 ELSE j.restarts END,
          starts = CASE WHEN f.again THEN 0 ELSE j.starts END,
          run_after = CASE WHEN f.again THEN clock_timestamp() ELSE j.run_after END,
          finished_at = CASE WHEN f.again THEN NULL ELSE j.finished_at END
        FROM failed AS f
        WHERE j.user_id = p_user_id AND j.job_id = f.job_id AND j.state = 'failed'
        RETURNING f.again
      )
      SELECT count(*) FILTER (WHERE c.again) INTO retried FROM changed AS c;
      RETURN retried;
    EXCEPTION WHEN unique_violation THEN
      NULL;  -- Another transaction requested a job for the same subject; the next pass sees it.
    END;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.retry_failed_jobs(uuid) IS 'Makes a user''s failed jobs pending again; returns how many.';
