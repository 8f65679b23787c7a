-- Statements of memsvc.extract.rereading: reading again what older versions of an extractor have read.

-- name: begin_after_older
-- Where an older version of an extractor has read a source and this one has not, this one begins after it: what is new
-- is read at once, and what was read is read again in the background.
INSERT INTO memsvc.extractions (user_id, source_id, extractor, backend, upto, begun_after)
SELECT :user_id, o.source_id, :extractor, :backend, CAST(o.upto AS uuid), CAST(o.upto AS uuid)
FROM (
  SELECT e.source_id, max(CAST(e.upto AS text)) AS upto
  FROM memsvc.extractions AS e
  WHERE e.user_id = :user_id AND e.backend = :backend AND e.extractor <> :extractor AND e.turns > 0
    AND (CAST(:source_id AS uuid) IS NULL OR e.source_id = CAST(:source_id AS uuid))
  GROUP BY e.source_id
) AS o
WHERE o.upto IS NOT NULL AND NOT EXISTS (
  SELECT FROM memsvc.extractions AS k
  WHERE k.user_id = :user_id AND k.source_id = o.source_id AND k.extractor = :extractor
)
ORDER BY o.source_id
ON CONFLICT (user_id, source_id, extractor) DO NOTHING;

-- name: anything_read_before
-- Whether an extractor's backend has read anything of a user.
SELECT EXISTS(
  SELECT FROM memsvc.extractions AS e
  WHERE e.user_id = :user_id AND e.backend = :backend AND e.turns > 0
);

-- name: sources_to_reread
SELECT s.source_id, s.strength, s.again_upto, s.begun_after
FROM memsvc.sources_to_reread(
  :user_id, :extractor, CAST(:moment AS timestamptz), CAST(:strength AS double precision), CAST(:source_id AS uuid),
  :limit
) AS s;

-- name: left_to_reread
-- How many messages an extractor is to read again.
SELECT count(*) AS left_to_reread
FROM memsvc.extractions AS e
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.source_id = e.source_id
WHERE e.user_id = :user_id AND e.extractor = :extractor AND e.begun_after IS NOT NULL AND p.kind = 'message'
  AND p.passage_id > coalesce(e.again_upto, '00000000-0000-0000-0000-000000000000')
  AND p.passage_id <= e.begun_after;

-- name: turns_to_reread
-- As turns_to_read, between two passages.
(
  SELECT
    p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language,
    coalesce(o.text, '') AS opening, FALSE AS read
  FROM memsvc.passages AS p
  LEFT JOIN memsvc.passages AS o
    ON o.user_id = p.user_id AND o.source_id = p.source_id AND o.session = p.session AND o.ordinal = p.ordinal
    AND o.part = 0 AND p.part > 0
  WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.kind = 'message'
    AND p.passage_id > CAST(:after AS uuid) AND p.passage_id <= CAST(:until AS uuid)
  ORDER BY p.passage_id
  LIMIT :limit
)
UNION ALL
(
  SELECT
    p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language,
    coalesce(o.text, ''), TRUE
  FROM memsvc.passages AS p
  LEFT JOIN memsvc.passages AS o
    ON o.user_id = p.user_id AND o.source_id = p.source_id AND o.session = p.session AND o.ordinal = p.ordinal
    AND o.part = 0 AND p.part > 0
  WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.kind = 'message'
    AND p.passage_id <= CAST(:after AS uuid)
  ORDER BY p.passage_id DESC
  LIMIT :before
)
ORDER BY passage_id;

-- name: reread_place
-- How far an open re-reading has come in a source, and the end of what it reads there; no row where it was stopped.
SELECT coalesce(e.again_upto, '00000000-0000-0000-0000-000000000000') AS again_upto, e.begun_after
FROM memsvc.rereadings AS r
INNER JOIN memsvc.extractions AS e
  ON e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = r.extractor
WHERE r.user_id = :user_id AND r.rereading_id = :rereading_id AND r.state IN ('open', 'done')
FOR UPDATE;

-- name: end_rereading_window
UPDATE memsvc.extractions AS e
SET
  again_upto = :upto, turns = e.turns + :turns, facts = e.facts + :facts, refused = e.refused + :refused,
  last_at = clock_timestamp()
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = :extractor;

-- name: set_again_upto
-- For a dry run that goes on, and for a re-reading that begins anew (null source: all).
UPDATE memsvc.extractions AS e
SET again_upto = CAST(:upto AS uuid)
WHERE e.user_id = :user_id AND e.extractor = :extractor AND e.begun_after IS NOT NULL
  AND (CAST(:source_id AS uuid) IS NULL OR e.source_id = CAST(:source_id AS uuid));

-- name: older_readers
-- Older versions of an extractor that have read a source.
SELECT e.extractor FROM memsvc.extractions AS e
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.backend = :backend AND e.extractor <> :extractor
  AND e.turns > 0;

-- name: mark_reread
UPDATE memsvc.changes AS c SET rereading_id = :rereading_id
WHERE c.user_id = :user_id AND c.change_id = any(CAST(:changes AS uuid []));

-- name: count_changed
-- What became of the facts of a window: by changes, and those that were found and not written.
SELECT f.outcome, f.type, count(*) AS facts
FROM memsvc.changes AS c
CROSS JOIN LATERAL memsvc.facts_changed(:user_id, c.recorded_at, :extractor) AS f
WHERE c.user_id = :user_id AND c.change_id = any(CAST(:changes AS uuid []))
GROUP BY f.outcome, f.type
UNION ALL
SELECT 'refused', r.proposal ->> 'type', count(*)
FROM memsvc.fact_reviews AS r
WHERE r.user_id = :user_id AND r.passage_id = any(CAST(:passages AS uuid [])) AND r.extractor = :extractor
GROUP BY r.proposal ->> 'type';

-- name: lock_rereading
SELECT r.counts FROM memsvc.rereadings AS r
WHERE r.user_id = :user_id AND r.rereading_id = :rereading_id
FOR UPDATE;

-- name: note_reread
UPDATE memsvc.rereadings AS r
SET turns = r.turns + :turns, counts = CAST(:counts AS jsonb), last_at = clock_timestamp()
WHERE r.user_id = :user_id AND r.rereading_id = :rereading_id;

-- name: open_rereading
-- Begins one; with again FALSE only where this version has none yet, else where it has none that was not undone.
INSERT INTO memsvc.rereadings AS r (user_id, extractor, backend)
SELECT :user_id, :extractor, :backend
WHERE :again OR NOT EXISTS (
  SELECT FROM memsvc.rereadings AS k
  WHERE k.user_id = :user_id AND k.extractor = :extractor
)
ON CONFLICT (user_id, extractor) WHERE state <> 'undone' DO NOTHING
RETURNING r.rereading_id;

-- name: set_rereading
-- Another state, where it has one of some; its id.
UPDATE memsvc.rereadings AS r
SET
  state = :state, finished_at = CASE WHEN :state IN ('done', 'stopped', 'undone') THEN clock_timestamp() END
WHERE r.user_id = :user_id AND r.rereading_id = :rereading_id AND r.state = any(CAST(:states AS text []))
  AND (r.state <> 'undone' OR NOT EXISTS (
    SELECT FROM memsvc.rereadings AS k
    WHERE k.user_id = :user_id AND k.extractor = r.extractor AND k.state <> 'undone'
  ))
RETURNING r.rereading_id;

-- name: list_rereadings
-- The newest first, with what is left of those that were not undone; rereading_id is time-ordered, the cursor.
SELECT
  r.rereading_id, r.extractor, r.state, r.turns, CASE WHEN r.state IN ('open', 'done', 'stopped') THEN (
    SELECT count(*)
    FROM memsvc.extractions AS e
    INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.source_id = e.source_id
    WHERE e.user_id = :user_id AND e.extractor = r.extractor AND e.begun_after IS NOT NULL AND p.kind = 'message'
      AND p.passage_id > coalesce(e.again_upto, '00000000-0000-0000-0000-000000000000')
      AND p.passage_id <= e.begun_after
  ) ELSE 0 END AS unread,
  r.counts, r.started_at, r.last_at, r.finished_at, CASE WHEN r.state = 'undone' THEN (
    SELECT count(*)
    FROM memsvc.changes AS c
    WHERE c.user_id = :user_id AND c.rereading_id = r.rereading_id AND NOT EXISTS (
      SELECT FROM memsvc.changes AS u
      WHERE u.user_id = :user_id AND u.undoes = c.change_id
    )
  ) ELSE 0 END AS not_undone
FROM memsvc.rereadings AS r
WHERE r.user_id = :user_id
  AND (CAST(:rereading_id AS uuid) IS NULL OR r.rereading_id = CAST(:rereading_id AS uuid))
  AND (CAST(:states AS text []) IS NULL OR r.state = any(CAST(:states AS text [])))
  AND (CAST(:extractor AS text) IS NULL OR r.extractor = CAST(:extractor AS text))
  AND (CAST(:after AS uuid) IS NULL OR r.rereading_id < CAST(:after AS uuid))
ORDER BY r.rereading_id DESC
LIMIT :limit;

-- name: facts_reread
-- What became of facts, in the order in which it was recorded; not_undone: only of changes that could not be undone.
SELECT
  c.recorded_at, f.outcome, f.type, f.version_id, f.edge_id, f.fact, f.valid_from, f.valid_to, f.passage_id
FROM memsvc.changes AS c
INNER JOIN memsvc.rereadings AS r ON r.user_id = :user_id AND r.rereading_id = c.rereading_id
CROSS JOIN LATERAL memsvc.facts_changed(:user_id, c.recorded_at, r.extractor) AS f
WHERE c.user_id = :user_id AND c.rereading_id = CAST(:rereading_id AS uuid)
  AND (CAST(:outcome AS text) IS NULL OR f.outcome = CAST(:outcome AS text))
  AND (CAST(:type AS text) IS NULL OR f.type = CAST(:type AS text))
  AND (NOT :not_undone OR NOT EXISTS (
    SELECT FROM memsvc.changes AS u
    WHERE u.user_id = :user_id AND u.undoes = c.change_id
  ))
  AND (CAST(:at AS timestamptz) IS NULL OR c.recorded_at >= CAST(:at AS timestamptz))
  AND (
    CAST(:at AS timestamptz) IS NULL OR (c.recorded_at, f.version_id) > (CAST(:at AS timestamptz), CAST(:id AS uuid))
  )
ORDER BY c.recorded_at, f.version_id
LIMIT :limit;

-- name: facts_refused_again
-- Facts that an extractor found in what it read again, and that were not written; by id, which is time-ordered.
SELECT r.review_id, r.reason, r.proposal, r.passage_id
FROM memsvc.fact_reviews AS r
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = r.passage_id
INNER JOIN memsvc.extractions AS e
  ON e.user_id = :user_id AND e.source_id = p.source_id AND e.extractor = r.extractor
WHERE r.user_id = :user_id AND r.extractor = :extractor AND r.passage_id <= e.begun_after
  AND (CAST(:type AS text) IS NULL OR r.proposal ->> 'type' = CAST(:type AS text))
  AND (CAST(:passages AS uuid []) IS NULL OR r.passage_id = any(CAST(:passages AS uuid [])))
  AND (CAST(:id AS uuid) IS NULL OR r.review_id > CAST(:id AS uuid))
ORDER BY r.review_id
LIMIT :limit;

-- name: changes_to_undo
-- Changes of a re-reading that are not undone, the last one first, before a time.
SELECT c.change_id, c.recorded_at
FROM memsvc.changes AS c
WHERE c.user_id = :user_id AND c.rereading_id = :rereading_id
  AND (CAST(:before AS timestamptz) IS NULL OR c.recorded_at < CAST(:before AS timestamptz))
  AND NOT EXISTS (
    SELECT FROM memsvc.changes AS u
    WHERE u.user_id = :user_id AND u.undoes = c.change_id
  )
ORDER BY c.recorded_at DESC
LIMIT :limit;

-- name: messages_wait
-- Whether a user has new messages whose reading is due.
SELECT EXISTS(
  SELECT FROM memsvc.jobs AS j
  WHERE j.user_id = :user_id AND j.kind IN ('process', 'extract') AND j.state = 'pending'
    AND j.run_after <= clock_timestamp()
);
