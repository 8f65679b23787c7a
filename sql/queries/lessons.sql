-- Statements of memsvc.lessons and of the task of sleep mode that reflects.

-- name: learnt_nodes
-- Nodes of type :type as they are now, newest first: critiques or plans. :client: with this id of a client; :state: of
-- the lesson or the plan.
SELECT v.node_id, v.version_id, v.label, v.description, v.data, v.asserted_by, v.recorded_from
FROM memsvc.node_versions AS v
WHERE
  v.user_id = :user_id AND v.type = :type AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
  AND (CAST(:node_id AS uuid) IS NULL OR v.node_id = CAST(:node_id AS uuid))
  AND (CAST(:client AS text) IS NULL OR v.data ->> 'id' = CAST(:client AS text))
  AND (
    CAST(:state AS text) IS NULL
    OR coalesce(v.data ->> 'state', CASE v.type WHEN 'Plan' THEN 'open' ELSE 'none' END) = CAST(:state AS text)
  )
  AND (CAST(:after AS uuid) IS NULL OR v.node_id < CAST(:after AS uuid))
  AND NOT EXISTS (
    SELECT 1 FROM memsvc."merges" AS m
    WHERE m.user_id = :user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
  )
ORDER BY v.node_id DESC
LIMIT :limit;

-- name: plan_revisions
-- All versions of a plan, the oldest first, but for those that never stood.
SELECT v.version_id, v.label, v.data, v.asserted_by, v.recorded_from
FROM memsvc.node_versions AS v
WHERE
  v.user_id = :user_id AND v.type = 'Plan' AND v.node_id = :node_id AND v.recorded_to > v.recorded_from
  AND v.valid_to = 'infinity'
ORDER BY v.recorded_from, v.version_id
LIMIT :limit;

-- name: passages_behind
-- Messages that support a version of a fact, or what is known of a node now.
SELECT DISTINCT l.passage_id
FROM memsvc.source_links AS l
WHERE
  l.user_id = :user_id AND l.stance = 'supports' AND l.recorded_to = 'infinity'
  AND (
    l.edge_version_id = :memory_id
    OR l.node_version_id IN (
      SELECT v.version_id FROM memsvc.node_versions AS v
      WHERE v.user_id = :user_id AND v.node_id = :memory_id AND v.recorded_to = 'infinity'
    )
  )
LIMIT :limit;

-- name: reflection_versions
-- What each reflection was made of, in any of its versions; whether one stands.
SELECT
  v.node_id, max(v.data ->> 'key') AS key, max(v.data ->> 'kind') AS kind,
  array_agg(DISTINCT v.data ->> 'digest') AS digests,
  bool_or(v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS stands
FROM memsvc.node_versions AS v
WHERE v.user_id = :user_id AND v.type = 'Reflection' AND v.asserted_by = :writer
GROUP BY v.node_id;

-- name: list_reflections
-- Reflections that stand, of a kind or all, those on the latest things first; a page.
SELECT
  v.node_id, v.version_id, v.description AS text, v.importance, v.data, v.valid_from AS at,
  array(
    SELECT DISTINCT l.passage_id FROM memsvc.source_links AS l
    WHERE
      l.user_id = :user_id AND l.node_version_id = v.version_id AND l.stance = 'supports'
      AND l.recorded_to = 'infinity'
  ) AS sources
FROM memsvc.node_versions AS v
WHERE
  v.user_id = :user_id AND v.type = 'Reflection' AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
  AND v.asserted_by = :writer AND v.valid_from > '-infinity'
  AND (CAST(:kind AS text) IS NULL OR v.data ->> 'kind' = CAST(:kind AS text))
  AND (
    CAST(:after_at AS timestamptz) IS NULL
    OR (v.valid_from, v.node_id) < (CAST(:after_at AS timestamptz), CAST(:after_node AS uuid))
  )
ORDER BY v.valid_from DESC, v.node_id DESC
LIMIT :limit;

-- name: minds_changed
-- Values of types that have one at a time, each with the value that came directly after it; the latest changes.
SELECT
  o.version_id AS old_id, o.fact AS old_fact, n.version_id AS new_id, n.fact AS new_fact, n.valid_from AS changed_at,
  n.data AS new_data, o.from_node, n.to_node
FROM memsvc.edge_versions AS o
INNER JOIN memsvc.edge_versions AS n
  ON
    n.user_id = :user_id AND o.from_node = n.from_node AND o.type = n.type AND o.valid_to = n.valid_from
    AND n.recorded_to = 'infinity' AND n.edge_id <> o.edge_id AND n.to_node <> o.to_node
WHERE
  o.user_id = :user_id AND o.functional AND o.recorded_to = 'infinity' AND o.valid_to < 'infinity'
ORDER BY n.valid_from DESC, o.version_id ASC
LIMIT :limit;

-- name: facts_unsettled
-- Facts that are contested, and what is said to contradict something; the newest.
SELECT f.version_id, f.fact, f.subject_id, f.predicate, f.object_id, f.learnt_at
FROM memsvc.facts_current AS f
WHERE f.user_id = :user_id AND (f.contested OR f.predicate = 'CONTRADICTS')
ORDER BY f.learnt_at DESC, f.version_id ASC
LIMIT :limit;

-- name: facts_in_words
-- Some versions of facts.
SELECT v.version_id, v.fact, v.recorded_from
FROM memsvc.edge_versions AS v
WHERE
  v.user_id = :user_id AND v.version_id = any(CAST(:versions AS uuid [])) AND v.recorded_to = 'infinity'
ORDER BY v.recorded_from DESC, v.version_id ASC;

-- name: behind_facts
-- Messages that support versions of facts, the latest of each version first.
SELECT l.edge_version_id AS version_id, l.passage_id, l.span_from, l.span_to, p.said_at
FROM memsvc.source_links AS l
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND l.passage_id = p.passage_id
WHERE
  l.user_id = :user_id AND l.edge_version_id = any(CAST(:versions AS uuid [])) AND l.stance = 'supports'
  AND l.recorded_to = 'infinity'
ORDER BY p.said_at DESC, l.passage_id ASC;

-- name: lately_said
-- What people said in some days before the newest message, in the order of time; of more than :limit the newest.
SELECT q.passage_id, q.speaker, q.role, q.text, q.said_at, q.said_offset, q.recorded_at
FROM (
  SELECT p.passage_id, p.speaker, p.role, p.text, p.said_at, p.said_offset, p.recorded_at
  FROM memsvc.passages AS p
  WHERE
    p.user_id = :user_id AND p.kind = 'message' AND p.role <> 'assistant' AND p.archived_at IS NULL
    AND p.said_at > (
      SELECT max(m.said_at) - CAST(:days AS interval) FROM memsvc.passages AS m
      WHERE m.user_id = :user_id AND m.kind = 'message' AND m.said_at <= clock_timestamp()
    )
    AND p.said_at <= clock_timestamp()
  ORDER BY p.said_at DESC, p.passage_id DESC
  LIMIT :limit
) AS q
ORDER BY q.said_at, q.passage_id;

-- name: reflected_until
-- Until when news were thought about by a language model: the begin of the last run that was done. Null: never.
SELECT max(r.started_at) AS looked_at
FROM memsvc.sleep_runs AS r
WHERE
  r.user_id = :user_id AND r.task = 'reflection' AND r.state = 'done' AND r.model_calls > 0 AND r.from_node IS NULL;
