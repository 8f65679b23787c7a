-- Statements of memsvc.queue.

-- name: list_jobs
-- Newest first; job_id is time-ordered and serves as the cursor.
SELECT
  j.job_id, j.kind, j.subject_id, j.state, j.attempts, j.restarts, j.error_code, j.error, j.created_at, j.run_after,
  j.started_at, j.finished_at
FROM memsvc.jobs AS j
WHERE j.user_id = :user_id
  AND (CAST(:job_id AS uuid) IS NULL OR j.job_id = :job_id)
  AND (CAST(:state AS text) IS NULL OR j.state = :state)
  AND (CAST(:after AS uuid) IS NULL OR j.job_id < :after)
ORDER BY j.job_id DESC
LIMIT :limit;

-- name: retry_job
-- A failed or cancelled job becomes pending again, unless another job for the same subject is pending already.
UPDATE memsvc.jobs AS j
SET
  state = 'pending', attempts = 0, outages = 0, restarts = 0, starts = 0, run_after = clock_timestamp(),
  finished_at = NULL
WHERE j.user_id = :user_id AND j.job_id = :job_id AND j.state IN ('failed', 'cancelled')
  AND NOT EXISTS (
    SELECT FROM memsvc.jobs AS w
    WHERE w.user_id = j.user_id AND w.kind = j.kind AND w.subject_id = j.subject_id AND w.state = 'pending'
  )
RETURNING j.job_id;

-- name: cancel_job
UPDATE memsvc.jobs AS j
SET state = 'cancelled', finished_at = clock_timestamp()
WHERE j.user_id = :user_id AND j.job_id = :job_id AND j.state = 'pending'
RETURNING j.job_id;

-- name: died_now
-- Why memsvc.begin_job did not begin a job in this transaction, if it is because its workers died too often.
SELECT j.error_code, j.error
FROM memsvc.jobs AS j
WHERE j.user_id = :user_id AND j.job_id = :job_id AND j.state = 'failed' AND j.error_code = 'worker_died'
  AND j.finished_at >= now();

-- name: end_start
-- A worker that broke off is alive: its start does not count. finish_job and fail_job count none either.
UPDATE memsvc.jobs AS j
SET starts = j.starts - 1
WHERE j.user_id = :user_id AND j.job_id = :job_id AND j.state = 'pending' AND j.started_at = :started_at
  AND j.starts > 0;

-- name: reject_message
-- A message that the relay took and cannot read goes back as a dead letter.
INSERT INTO memsvc.dramatiq_queue (message_id, user_id, queue_name, state, message)
VALUES (:message_id, :user_id, :queue_name, 'rejected', CAST(:message AS jsonb));
