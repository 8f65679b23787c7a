-- Statements of memsvc.sleep.report.

-- name: last_sleep
-- When the last night, and the last run of sleep, was begun; before a moment, if one is given. A night without work has
-- no runs: only the last one is known. Runs in the user's day that nobody asked for make no night.
SELECT
  greatest(
    (
      SELECT max(r.started_at) FROM memsvc.sleep_runs AS r
      WHERE r.user_id = :user_id AND r.cause IN ('night', 'asked')
        AND (CAST(:before AS timestamptz) IS NULL OR r.started_at < CAST(:before AS timestamptz))
    ), (
      SELECT s.last_at FROM memsvc.schedules AS s
      WHERE s.user_id = :user_id AND s.kind = 'sleep' AND CAST(:before AS timestamptz) IS NULL
    )
  ) AS night,
  (
    SELECT max(r.started_at) FROM memsvc.sleep_runs AS r
    WHERE r.user_id = :user_id
      AND (CAST(:before AS timestamptz) IS NULL OR r.started_at < CAST(:before AS timestamptz))
  ) AS run;

-- name: sleep_runs_between
-- Runs that were begun after a moment, up to another one, in their order; and when the last one up to the first moment
-- ended.
SELECT
  r.run_id, r.task, r.state, r.cause, r.from_node, r.since, r.budget_s, r.budget_tokens, r.examined, r.applied,
  r.proposed, r.counts, r.seconds, r.model_calls, r.tokens_in, r.tokens_out, r.within_budget, r.error_code,
  r.started_at, r.finished_at, r.undone_at
FROM memsvc.sleep_runs AS r
WHERE r.user_id = :user_id AND r.started_at <= CAST(:last AS timestamptz)
  AND (CAST(:first AS timestamptz) IS NULL OR r.started_at > CAST(:first AS timestamptz))
ORDER BY r.run_id;

-- name: sleep_ended
-- When the last of the runs ended that were begun up to a moment.
SELECT max(r.finished_at) AS ended FROM memsvc.sleep_runs AS r
WHERE r.user_id = :user_id AND r.started_at <= CAST(:last AS timestamptz);

-- name: facts_learnt
-- Facts that were learnt between two moments, hold still, and were not known before; those first that matter most:
-- about the user, then by the importance of the people and things, by confidence, and the newest. What sleep mode
-- itself ties to what it wrote is none.
WITH learnt AS MATERIALIZED (
  SELECT v.version_id, v.edge_id, v.from_node, v.to_node, v.fact, v.confidence, v.recorded_from
  FROM memsvc.edge_versions AS v
  WHERE v.user_id = :user_id AND v.recorded_to = 'infinity' AND v.valid_to > CAST(:until AS timestamptz)
    AND v.recorded_from > CAST(:since AS timestamptz) AND v.recorded_from <= CAST(:until AS timestamptz)
    AND v.type NOT IN ('REFLECTS_ON', 'SUMMARIZES', 'DERIVED_FROM') AND v.asserted_by <> 'concepts'
    AND NOT EXISTS (
      SELECT FROM memsvc.edge_versions AS o
      WHERE o.user_id = :user_id AND o.edge_id = v.edge_id AND o.recorded_from <= CAST(:since AS timestamptz)
    )
)

SELECT l.version_id, l.fact, count(*) OVER () AS number
FROM learnt AS l
CROSS JOIN LATERAL (
  SELECT coalesce(max(n.importance), 5) AS importance FROM memsvc.node_versions AS n
  WHERE n.user_id = :user_id AND n.node_id IN (l.from_node, l.to_node) AND n.recorded_to = 'infinity'
) AS i
ORDER BY
  (CAST(:own AS uuid) IN (l.from_node, l.to_node)) IS TRUE DESC, i.importance DESC, l.confidence DESC,
  l.recorded_from DESC, l.version_id DESC
LIMIT :limit;

-- name: facts_ended
-- Facts that were known before the first moment, and of which was learnt between the two that they hold no longer, or
-- never did; with the fact that is in their place, if it was learnt then, too.
WITH closed AS MATERIALIZED (
  SELECT DISTINCT ON (v.edge_id) v.edge_id, v.version_id, v.from_node, v.type, v.fact, v.valid_to, v.recorded_to
  FROM memsvc.edge_versions AS v
  WHERE v.user_id = :user_id AND v.recorded_from <= CAST(:since AS timestamptz)
    AND v.recorded_to > CAST(:since AS timestamptz) AND v.recorded_to <= CAST(:until AS timestamptz)
  ORDER BY v.edge_id ASC, v.valid_to DESC
),

ended AS (
  SELECT c.*, o.last_day
  FROM closed AS c
  CROSS JOIN LATERAL (
    SELECT max(v.valid_to) AS last_day FROM memsvc.edge_versions AS v
    WHERE v.user_id = :user_id AND v.edge_id = c.edge_id AND v.recorded_to = 'infinity'
  ) AS o
  WHERE (o.last_day IS NULL OR o.last_day < c.valid_to) AND coalesce(o.last_day, '-infinity') <= :until
)

SELECT
  e.version_id, e.fact, nullif(e.last_day, 'infinity') AS ended_at, n.version_id AS new_id, n.fact AS new_fact,
  count(*) OVER () AS number
FROM ended AS e
LEFT JOIN LATERAL (
  SELECT v.version_id, v.fact FROM memsvc.edge_versions AS v
  WHERE v.user_id = :user_id AND v.from_node = e.from_node AND v.type = e.type AND v.recorded_to = 'infinity'
    AND v.recorded_from > CAST(:since AS timestamptz) AND v.recorded_from <= CAST(:until AS timestamptz)
    AND v.valid_to = 'infinity' AND v.edge_id <> e.edge_id
  ORDER BY v.recorded_from DESC LIMIT 1
) AS n ON TRUE
ORDER BY e.recorded_to DESC, e.version_id ASC
LIMIT :limit;

-- name: merged_by_runs
-- Nodes that some runs merged, and that are one still.
SELECT
  m.node_id, m.canonical_id, coalesce(a.label, '?') AS label, coalesce(b.label, '?') AS canonical_label, c.sleep_run_id,
  count(*) OVER () AS number
FROM memsvc.changes AS c
INNER JOIN memsvc."merges" AS m ON m.user_id = :user_id AND m.recorded_from = c.recorded_at
LEFT JOIN LATERAL (
  SELECT v.label FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.node_id = m.node_id AND v.recorded_to = 'infinity'
  ORDER BY v.valid_to DESC LIMIT 1
) AS a ON TRUE
LEFT JOIN LATERAL (
  SELECT v.label FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.node_id = m.canonical_id AND v.recorded_to = 'infinity'
  ORDER BY v.valid_to DESC LIMIT 1
) AS b ON TRUE
WHERE c.user_id = :user_id AND c.sleep_run_id = any(CAST(:runs AS uuid [])) AND m.recorded_to = 'infinity'
ORDER BY c.recorded_at, m.merge_id
LIMIT :limit;

-- name: summaries_made
-- Summaries that were written between two moments, the newest first. Ids are time-ordered.
SELECT p.passage_id, p.text, count(*) OVER () AS number
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.kind = 'summary' AND p.part = 0 AND p.recorded_to = 'infinity'
  AND p.passage_id > uuidv7(CAST(:since AS timestamptz) - clock_timestamp())
  AND p.passage_id <= uuidv7(CAST(:until AS timestamptz) - clock_timestamp() + interval '1 millisecond')
ORDER BY p.passage_id DESC
LIMIT :limit;

-- name: decisions_wait
-- What waits for a person.
SELECT
  (
    SELECT count(*) FROM memsvc.fact_reviews AS r
    WHERE r.user_id = :user_id AND r.state = 'doubtful'
  ) AS facts,
  (
    SELECT count(*) FROM memsvc.duplicate_candidates AS d
    WHERE d.user_id = :user_id AND d.state = 'open'
  ) AS pairs,
  (
    SELECT count(*) FROM memsvc.node_versions AS v
    WHERE
      v.user_id = :user_id AND v.type = 'Critique' AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
      AND v.data @> '{"state": "proposed"}'
  ) AS lessons,
  (
    SELECT count(*) FROM memsvc.proposals AS p
    WHERE p.user_id = :user_id AND p.state = 'open'
  ) AS proposals;

-- name: types_wait
-- Own types that wait for a person.
SELECT
  (
    SELECT count(*) FROM memsvc.node_types AS n
    WHERE n.user_id = :user_id AND n.status = 'proposed'
  ) + (
    SELECT count(*) FROM memsvc.edge_types AS e
    WHERE e.user_id = :user_id AND e.status = 'proposed'
  ) AS types;

-- name: proposals_wait
-- How many proposals of each kind wait for a person.
SELECT p.kind, count(*) AS waiting
FROM memsvc.proposals AS p
WHERE p.user_id = :user_id AND p.state = 'open'
GROUP BY p.kind;
