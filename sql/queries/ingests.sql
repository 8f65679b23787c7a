-- Statements of memsvc.sources.ingests and its job: files that clients sent to be stored.

-- name: bytes_kept
-- How much of a user's files is kept.
SELECT coalesce(sum(f.bytes), 0) AS bytes
FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.content IS NOT NULL;

-- name: add_ingest
WITH added AS (
  INSERT INTO memsvc.ingests (user_id, dry_run, choices, key_id, feed_id)
  VALUES (:user_id, :dry_run, CAST(:choices AS jsonb), CAST(:key_id AS text), CAST(:feed_id AS uuid))
  RETURNING ingest_id
)
SELECT a.ingest_id FROM added AS a;

-- name: add_ingest_file
INSERT INTO memsvc.ingest_files (user_id, ingest_id, number, part, name, bytes, sha256, content, url)
VALUES (
  :user_id, :ingest_id, :number, :part, :name, :bytes, CAST(:sha256 AS bytea), CAST(:content AS bytea),
  CAST(:url AS text)
)
ON CONFLICT (user_id, ingest_id, number, part) DO NOTHING;

-- name: add_ingest_parts
-- The sources in a file, before any of them is stored.
INSERT INTO memsvc.ingest_files (user_id, ingest_id, number, part, name, bytes)
SELECT :user_id, :ingest_id, :number, p.part, :name, 0
FROM unnest(CAST(:parts AS integer [])) AS p (part)
ON CONFLICT (user_id, ingest_id, number, part) DO NOTHING;

-- name: ask_ingest
-- Requests the job, and notes which one it is.
WITH asked AS (
  SELECT memsvc.ask_job(:user_id, 'ingest', :ingest_id) AS job_id
)
UPDATE memsvc.ingests AS i
SET job_id = a.job_id, state = 'pending', finished_at = NULL, error_code = NULL
FROM asked AS a
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id;

-- name: tell_of_ingest
INSERT INTO memsvc.outbox (user_id, kind, subject_id) VALUES (:user_id, 'ingest.changed', :ingest_id);

-- name: list_ingests
-- The newest first, with what became of their files; ingest_id is time-ordered, the cursor. A job that failed or was
-- cancelled ends its ingest.
SELECT
  i.ingest_id, i.feed_id, s.state, i.dry_run, i.choices, i.job_id, coalesce(
    i.error_code, CASE WHEN s.state = 'failed' THEN j.error_code END
  ) AS error_code,
  i.created_at, i.started_at, coalesce(i.finished_at, CASE WHEN s.state IN ('failed', 'cancelled') THEN
    j.finished_at END) AS finished_at,
  f.files, f.done, f.refused, f.owner_required, f.messages, f.stored, f.created, f.existing, f.erased, f.paused,
  f.differs
FROM memsvc.ingests AS i
LEFT JOIN memsvc.jobs AS j ON j.user_id = :user_id AND j.job_id = i.job_id
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN i.state IN ('pending', 'running') AND j.state IN ('failed', 'cancelled') THEN j.state ELSE i.state
  END AS state
) AS s
CROSS JOIN LATERAL (
  SELECT
    count(*) AS files,
    count(*) FILTER (WHERE o.outcome IS NOT NULL) AS done,
    count(*) FILTER (WHERE o.outcome = 'refused') AS refused,
    count(*) FILTER (WHERE o.outcome = 'owner_required') AS owner_required,
    coalesce(sum(CAST(o.preview ->> 'messages' AS bigint)), 0) AS messages,
    coalesce(sum(o.stored), 0) AS stored,
    coalesce(sum(CAST(o.counts ->> 'created' AS bigint)), 0) AS created,
    coalesce(sum(CAST(o.counts ->> 'existing' AS bigint)), 0) AS existing,
    coalesce(sum(CAST(o.counts ->> 'erased' AS bigint)), 0) AS erased,
    coalesce(sum(CAST(o.counts ->> 'paused' AS bigint)), 0) AS paused,
    coalesce(sum(CAST(o.counts ->> 'differs' AS bigint)), 0) AS differs
  FROM memsvc.ingest_files AS o
  WHERE o.user_id = :user_id AND o.ingest_id = i.ingest_id
) AS f
WHERE i.user_id = :user_id
  AND (CAST(:ingest_id AS uuid) IS NULL OR i.ingest_id = CAST(:ingest_id AS uuid))
  AND (CAST(:after AS uuid) IS NULL OR i.ingest_id < CAST(:after AS uuid))
  AND (CAST(:feed_id AS uuid) IS NULL OR i.feed_id = CAST(:feed_id AS uuid))
ORDER BY i.ingest_id DESC
LIMIT :limit;

-- name: list_ingest_files
SELECT
  f.number, f.part, coalesce(f.source, f.name) AS name, f.bytes, f.url, f.outcome, f.kind, f.code, f.message, f.hint,
  f.stored, f.counts,
  CASE WHEN coalesce(f.kind, '') <> 'document' THEN f.preview END AS preview,
  CASE WHEN f.kind = 'document' AND f.outcome = 'stored' THEN f.preview END AS document,
  CASE WHEN f.kind = 'document' AND f.outcome = 'previewed' THEN f.preview END AS document_preview,
  f.content IS NOT NULL AS is_kept
FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id
ORDER BY f.number, f.part;

-- name: lock_ingest
-- An ingest for a change of its state.
SELECT
  i.dry_run, i.choices, i.key_id,
  CASE
    WHEN i.state IN ('pending', 'running') AND j.state IN ('failed', 'cancelled') THEN j.state ELSE i.state
  END AS state
FROM memsvc.ingests AS i
LEFT JOIN memsvc.jobs AS j ON j.user_id = :user_id AND j.job_id = i.job_id
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id
FOR UPDATE OF i;

-- name: begin_ingest
-- What a job has to do; no row if it was cancelled or has ended.
UPDATE memsvc.ingests AS i
SET state = 'running', started_at = coalesce(i.started_at, clock_timestamp())
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id AND i.state IN ('pending', 'running')
RETURNING i.dry_run, i.choices, i.key_id, i.feed_id;

-- name: ingest_goes_on
SELECT EXISTS(
  SELECT FROM memsvc.ingests AS i
  WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id AND i.state = 'running'
);

-- name: files_to_ingest
-- Files of which something has no outcome yet.
SELECT f.number, f.name, f.url, f.content IS NOT NULL AS is_here
FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.part = 0
  AND (f.content IS NOT NULL OR f.url IS NOT NULL)
  AND EXISTS (
    SELECT FROM memsvc.ingest_files AS p
    WHERE p.user_id = :user_id AND p.ingest_id = :ingest_id AND p.number = f.number AND p.outcome IS NULL
  )
ORDER BY f.number;

-- name: ingest_content
SELECT f.content
FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = :number AND f.part = 0;

-- name: keep_fetched
UPDATE memsvc.ingest_files AS f
SET content = CAST(:content AS bytea), bytes = :bytes, sha256 = CAST(:sha256 AS bytea), name = :name
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = :number AND f.part = 0;

-- name: note_looked_at
UPDATE memsvc.ingest_files AS f
SET source = :source, kind = :kind, preview = CAST(:preview AS jsonb)
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = :number AND f.part = :part;

-- name: note_stored
-- A batch was stored. No row: the ingest was cancelled.
UPDATE memsvc.ingest_files AS f
SET stored = f.stored + :messages, counts = CAST(:counts AS jsonb)
FROM memsvc.ingests AS i
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = :number AND f.part = :part
  AND i.user_id = :user_id AND i.ingest_id = :ingest_id AND i.state = 'running'
RETURNING f.stored;

-- name: note_outcome
UPDATE memsvc.ingest_files AS f
SET
  source = :source, outcome = :outcome, kind = CAST(:kind AS text), code = CAST(:code AS text),
  message = CAST(:message AS text), hint = CAST(:hint AS text), counts = CAST(:counts AS jsonb),
  preview = CAST(:preview AS jsonb)
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = :number AND f.part = :part;

-- name: end_ingest
UPDATE memsvc.ingests AS i
SET state = :state, error_code = CAST(:error_code AS text), finished_at = clock_timestamp()
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id AND i.state IN ('pending', 'running')
RETURNING i.ingest_id;

-- name: drop_content
-- Removes files that are no longer needed: all of them, or those of which nothing waits for an answer.
UPDATE memsvc.ingest_files AS f
SET content = NULL
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.content IS NOT NULL
  AND (:everything OR NOT EXISTS (
    SELECT FROM memsvc.ingest_files AS p
    WHERE p.user_id = :user_id AND p.ingest_id = :ingest_id AND p.number = f.number
      AND (p.outcome IS NULL OR p.outcome IN ('owner_required', 'previewed'))
  ));

-- name: cancel_ingest_job
UPDATE memsvc.jobs AS j
SET state = 'cancelled', finished_at = clock_timestamp()
FROM memsvc.ingests AS i
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id AND j.user_id = :user_id AND j.job_id = i.job_id
  AND j.state = 'pending';

-- name: wait_again
-- Files that waited for an answer, or were not reached, wait for the job again; how many.
WITH kept AS (
  SELECT f.number FROM memsvc.ingest_files AS f
  WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.part = 0
    AND (f.content IS NOT NULL OR (f.url IS NOT NULL AND f.sha256 IS NULL))
),
waiting AS (
  UPDATE memsvc.ingest_files AS f
  SET
    outcome = NULL, code = NULL, message = NULL, hint = NULL,
    preview = CASE WHEN f.outcome IS NULL THEN f.preview END
  FROM kept AS k
  WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id AND f.number = k.number
    AND (f.outcome IS NULL OR f.outcome IN ('owner_required', 'previewed'))
  RETURNING f.part
)
SELECT count(*) AS waiting FROM waiting;

-- name: set_ingest_choices
UPDATE memsvc.ingests AS i
SET choices = CAST(:choices AS jsonb), dry_run = FALSE
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id;

-- name: delete_ingest_files
DELETE FROM memsvc.ingest_files AS f
WHERE f.user_id = :user_id AND f.ingest_id = :ingest_id;

-- name: delete_ingest
DELETE FROM memsvc.ingests AS i
WHERE i.user_id = :user_id AND i.ingest_id = :ingest_id;

-- name: drop_old_content
-- Removes files that have waited for an answer for a day.
UPDATE memsvc.ingest_files AS f
SET content = NULL
FROM memsvc.ingests AS i
LEFT JOIN memsvc.jobs AS j ON j.user_id = :user_id AND j.job_id = i.job_id
WHERE i.user_id = :user_id AND f.user_id = :user_id AND f.ingest_id = i.ingest_id AND f.content IS NOT NULL
  AND coalesce(i.finished_at, j.finished_at, i.created_at) < clock_timestamp() - interval '1 day'
  AND (i.state NOT IN ('pending', 'running') OR j.state IS DISTINCT FROM 'pending');

-- name: old_ingests
-- Ingests that ended long ago, or whose job is gone.
SELECT i.ingest_id
FROM memsvc.ingests AS i
LEFT JOIN memsvc.jobs AS j ON j.user_id = :user_id AND j.job_id = i.job_id
WHERE i.user_id = :user_id AND i.created_at < clock_timestamp() - CAST(:kept AS interval)
  AND coalesce(i.finished_at, j.finished_at, i.created_at) < clock_timestamp() - CAST(:kept AS interval)
  AND j.state IS DISTINCT FROM 'pending'
LIMIT :limit;
