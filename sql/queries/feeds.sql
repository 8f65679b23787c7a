-- Statements of memsvc.feeds: what is read again by itself.

-- name: list_feeds
-- The oldest first; feed_id is time-ordered, the cursor.
SELECT
  f.feed_id, f.kind, f.identifier, f.name, f.settings, f.by_operator, f.rule, f.state, f.failures, f.last_error,
  f.last_run, f.next_run, f.run_id, f.created_at
FROM memsvc.feeds AS f
WHERE f.user_id = :user_id
  AND (CAST(:feed_id AS uuid) IS NULL OR f.feed_id = CAST(:feed_id AS uuid))
  AND (CAST(:after AS uuid) IS NULL OR f.feed_id > CAST(:after AS uuid))
ORDER BY f.feed_id
LIMIT :limit;

-- name: add_feed
-- It is due at once. No row: the user has it already.
WITH added AS (
  INSERT INTO memsvc.feeds (
    user_id, kind, identifier, name, settings, secret, salt, by_operator, key_id, rule, next_run
  )
  VALUES (
    :user_id, :kind, :identifier, :name, CAST(:settings AS jsonb), CAST(:secret AS text), CAST(:salt AS bytea),
    :by_operator, CAST(:key_id AS text), CAST(:rule AS text),
    CASE WHEN CAST(:rule AS text) IS NOT NULL THEN clock_timestamp() END
  )
  ON CONFLICT DO NOTHING
  RETURNING feed_id
)
SELECT a.feed_id FROM added AS a;

-- name: change_feed
-- When it is due is computed again. No row: there is none.
UPDATE memsvc.feeds AS f
SET
  name = :name, settings = CAST(:settings AS jsonb), rule = CAST(:rule AS text),
  next_run = CASE WHEN f.next_run <= clock_timestamp() THEN f.next_run END
WHERE f.user_id = :user_id AND f.feed_id = :feed_id
RETURNING f.feed_id;

-- name: set_feed_secret
UPDATE memsvc.feeds AS f
SET secret = CAST(:secret AS text), salt = CAST(:salt AS bytea)
WHERE f.user_id = :user_id AND f.feed_id = :feed_id
RETURNING f.feed_id;

-- name: pause_feed
-- No row: there is none. What runs goes on to its end.
UPDATE memsvc.feeds AS f
SET state = 'paused', next_run = NULL
WHERE f.user_id = :user_id AND f.feed_id = :feed_id
RETURNING f.feed_id;

-- name: resume_feed
-- Runs that were missed are caught up once, by running at once. No row: there is none.
UPDATE memsvc.feeds AS f
SET
  state = 'active', failures = 0,
  next_run = CASE
    WHEN f.rule IS NULL THEN NULL
    WHEN f.state = 'active' THEN f.next_run
    ELSE clock_timestamp()
  END
WHERE f.user_id = :user_id AND f.feed_id = :feed_id
RETURNING f.feed_id;

-- name: remove_feed
DELETE FROM memsvc.feeds AS f
WHERE f.user_id = :user_id AND f.feed_id = :feed_id;

-- name: lock_feed
SELECT
  f.kind, f.name, f.settings, f.secret, f.by_operator, f.key_id, f.rule, f.state, f.failures, f.next_run, f.run_id,
  f.cursor, f.created_at, u.time_zone, clock_timestamp() AS now_at
FROM memsvc.feeds AS f
INNER JOIN memsvc.users AS u ON u.user_id = f.user_id
WHERE f.user_id = :user_id AND f.feed_id = :feed_id
FOR NO KEY UPDATE OF f;

-- name: read_feed
-- What a run needs.
SELECT f.kind, f.name, f.settings, f.secret, f.by_operator, f.cursor
FROM memsvc.feeds AS f
WHERE f.user_id = :user_id AND f.feed_id = :feed_id;

-- name: state_of_run
-- Whether a run goes on, and why it does not: its job ended without it.
SELECT
  coalesce(i.state IN ('pending', 'running') AND j.state = 'pending', FALSE) AS goes_on,
  CASE WHEN i.state IN ('pending', 'running') AND j.state = 'failed' THEN coalesce(j.error_code, 'job_failed')
  END AS error_code
FROM memsvc.ingests AS i
LEFT JOIN memsvc.jobs AS j ON j.user_id = :user_id AND j.job_id = i.job_id
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id;

-- name: add_run
WITH added AS (
  INSERT INTO memsvc.ingests (user_id, choices, key_id, feed_id)
  VALUES (:user_id, CAST(:choices AS jsonb), CAST(:key_id AS text), :feed_id)
  RETURNING ingest_id
)
SELECT a.ingest_id FROM added AS a;

-- name: plan_feed
UPDATE memsvc.feeds AS f
SET next_run = CAST(:next_run AS timestamptz), run_id = CAST(:run_id AS uuid)
WHERE f.user_id = :user_id AND f.feed_id = :feed_id;

-- name: settle_feed
UPDATE memsvc.feeds AS f
SET
  run_id = NULL, last_run = clock_timestamp(), state = :state, failures = :failures,
  last_error = CAST(:last_error AS text), next_run = CAST(:next_run AS timestamptz)
WHERE f.user_id = :user_id AND f.feed_id = :feed_id;

-- name: code_of_run
-- Why nothing of what was read could be stored; no row: something was, or there was nothing.
SELECT min(f.code) AS code
FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.outcome IN ('refused', 'owner_required')
  AND NOT EXISTS (
    SELECT FROM memsvc.ingest_files AS s
    WHERE s.user_id = :user_id AND s.ingest_id = :ingest_id AND s.outcome = 'stored'
  )
HAVING count(*) > 0;

-- name: fold_unchanged
-- Of files in which nothing was new, only their number is kept.
WITH unchanged AS (
  DELETE FROM memsvc.ingest_files AS f
  WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.outcome = 'stored'
    AND CASE
      WHEN f.kind = 'document' THEN f.preview ->> 'outcome' = 'existing'
      ELSE NOT f.counts ?| ARRAY['created', 'paused', 'differs']
    END
  RETURNING f.part
),
counted AS (
  SELECT count(*) AS files FROM unchanged
)
INSERT INTO memsvc.ingest_files (user_id, ingest_id, number, name, outcome, counts)
SELECT :user_id, :ingest_id, 1000000, 'files without anything new', 'stored', jsonb_build_object('unchanged', c.files)
FROM counted AS c
WHERE c.files > 0;

-- name: has_files
SELECT EXISTS(
  SELECT FROM memsvc.ingest_files AS f
  WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id
) AS has_files;

-- name: set_feed_cursor
UPDATE memsvc.feeds AS f
SET cursor = CAST(:cursor AS jsonb)
WHERE f.user_id = :user_id AND f.feed_id = :feed_id AND f.run_id = :ingest_id
RETURNING f.feed_id;

-- name: is_paused
SELECT memsvc.is_paused(u.paused_at, u.paused_until) AS is_paused
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: facts_of_calendar
-- The facts about events that a calendar said and that are known now.
SELECT e.edge_id, e.from_node, e.type, e.to_node, v.fact, v.valid_from, v.valid_to
FROM memsvc.edges AS e
INNER JOIN memsvc.edge_versions AS v ON v.user_id = :user_id AND v.edge_id = e.edge_id
WHERE e.user_id = :user_id AND v.recorded_to = 'infinity' AND v.asserted_by = :asserted_by
  AND (e.from_node = any(CAST(:nodes AS uuid [])) OR e.to_node = any(CAST(:nodes AS uuid [])));

-- name: note_push
-- No row: there is no such feed, or it is paused.
UPDATE memsvc.feeds AS f
SET last_run = clock_timestamp(), last_error = CAST(:code AS text)
WHERE f.user_id = :user_id AND f.feed_id = :feed_id AND f.state = 'active'
RETURNING f.settings, f.key_id;
