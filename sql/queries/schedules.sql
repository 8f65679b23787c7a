-- Statements of memsvc.queue.schedule, and of the scheduled upkeep.

-- name: list_schedules
SELECT s.kind, s.at_local, s.weekdays, s.enabled, u.time_zone, s.next_at, s.last_at
FROM memsvc.schedules AS s
INNER JOIN memsvc.users AS u ON u.user_id = s.user_id
WHERE s.user_id = :user_id AND (CAST(:kind AS text) IS NULL OR s.kind = :kind)
ORDER BY s.kind;

-- name: set_schedule
INSERT INTO memsvc.schedules AS s (user_id, kind, at_local, weekdays, enabled, next_at)
SELECT
  u.user_id, :kind, CAST(:at AS time), CAST(:weekdays AS smallint []), :enabled,
  memsvc.next_run(u.time_zone, CAST(:at AS time), CAST(:weekdays AS smallint []), clock_timestamp())
FROM memsvc.users AS u
WHERE u.user_id = :user_id
ON CONFLICT (user_id, kind) DO UPDATE
SET at_local = excluded.at_local, weekdays = excluded.weekdays, enabled = excluded.enabled, next_at = excluded.next_at;

-- name: switch_schedule
-- Runs that were missed while the schedule was off are not made up for.
UPDATE memsvc.schedules AS s
SET enabled = :enabled, next_at = memsvc.next_run(u.time_zone, s.at_local, s.weekdays, clock_timestamp())
FROM memsvc.users AS u
WHERE s.user_id = :user_id AND s.kind = :kind AND u.user_id = s.user_id AND s.enabled <> :enabled;

-- name: ask_lacking
-- Requests vectors if messages lack those of the active model, or its token vectors. It requests none while such a job
-- is pending, nor within a week after one failed for good, because a person should look at that first.
SELECT memsvc.ask_job(:user_id, 'embed', :user_id) AS job_id
FROM memsvc.embedding_models AS m
WHERE m.state = 'active'
  AND EXISTS (
    SELECT FROM memsvc.unembedded(
      :user_id, m.model_id, NULL, NULL, 1, CAST(:tokens AS boolean) AND m.projection IS NOT NULL
    )
  )
  AND NOT EXISTS (
    SELECT FROM memsvc.jobs AS j
    WHERE j.user_id = :user_id AND j.kind = 'embed'
      AND (j.state = 'pending' OR (j.state = 'failed' AND j.finished_at > now() - interval '7 days'))
  );

-- name: forget_what_doors_kept
-- Deletes expired answers to repeated requests, and expired tickets. The API deletes them too, but only those of users
-- who make further requests.
WITH answers AS (
  DELETE FROM memsvc.answered_requests AS r
  WHERE r.user_id = :user_id AND r.answered_at <= clock_timestamp() - interval '24 hours'
)
DELETE FROM memsvc.used_tickets AS t
WHERE t.user_id = :user_id AND t.expires_at < clock_timestamp();
