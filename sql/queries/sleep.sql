-- Statements of memsvc.sleep.

-- name: named_nodes
-- Names of nodes, and their properties; a page.
SELECT n.node_id, n.label, n.names, n.attributes, n.touched
FROM memsvc.named_nodes(:user_id, CAST(:after AS uuid), CAST(:since AS timestamptz), :limit) AS n;

-- name: cards_made
-- Nodes with the vectors of their cards, behind a position; a page, whose last row is where the next one begins.
SELECT c.node_id, c.made_at, c.card, c.settled_at
FROM memsvc.cards_made(
  :user_id, CAST(:model AS smallint), CAST(:made AS timestamptz), CAST(:card AS uuid), :limit
) AS c;

-- name: cards_left
-- How many cards are behind a position, among the next vectors; more are left uncounted.
SELECT count(*) AS cards_left
FROM (
  SELECT e.passage_id FROM memsvc.embeddings AS e
  WHERE
    e.user_id = :user_id AND e.model_id = CAST(:model AS smallint)
    AND (e.created_at, e.passage_id) > (CAST(:made AS timestamptz), CAST(:card AS uuid))
  ORDER BY e.created_at, e.passage_id
  LIMIT :most
) AS l
INNER JOIN memsvc.node_versions AS v ON v.user_id = :user_id AND l.passage_id = v.version_id
WHERE
  v.recorded_to = 'infinity' AND v.description <> ''
  AND v.type IN (
    SELECT t.name FROM memsvc.node_types AS t
    WHERE t.category = 'entity'
  );

-- name: has_card
-- Whether a node has the vector of a card that was made since a time.
SELECT EXISTS(
  SELECT FROM memsvc.node_versions AS v
  INNER JOIN memsvc.embeddings AS e ON e.user_id = :user_id AND v.version_id = e.passage_id
  WHERE
    v.user_id = :user_id AND v.node_id = :node AND v.recorded_to = 'infinity' AND v.description <> ''
    AND e.model_id = CAST(:model AS smallint) AND e.created_at >= CAST(:since AS timestamptz)
    AND v.type IN (
      SELECT t.name FROM memsvc.node_types AS t
      WHERE t.category = 'entity'
    )
) AS has_card;

-- name: cards_compared
-- How far the cards of a user have been compared by a model.
SELECT c.made_at, c.passage_id FROM memsvc.cards_compared AS c
WHERE c.user_id = :user_id AND c.model_id = CAST(:model AS smallint);

-- name: note_cards_compared
-- Moves that forward, never back.
INSERT INTO memsvc.cards_compared AS c (user_id, model_id, made_at, passage_id)
VALUES (:user_id, CAST(:model AS smallint), CAST(:made AS timestamptz), CAST(:card AS uuid))
ON CONFLICT (user_id, model_id) DO UPDATE SET made_at = excluded.made_at, passage_id = excluded.passage_id
WHERE (c.made_at, c.passage_id) < (excluded.made_at, excluded.passage_id);

-- name: near_cards
-- Pairs of nodes, the smaller id first, whose cards are near to each other, but for those that are stored or decided.
SELECT
  least(n.node_id, n.other_id) AS node_id, greatest(n.node_id, n.other_id) AS other_id,
  max(n.similarity) AS similarity
FROM memsvc.near_cards(:user_id, CAST(:model AS smallint), CAST(:nodes AS uuid []), :nearest, :least) AS n
GROUP BY least(n.node_id, n.other_id), greatest(n.node_id, n.other_id)
ORDER BY node_id, other_id;

-- name: standing_nodes
-- The canonical node of each node.
SELECT r.node_id, r.canonical_id
FROM memsvc.resolve_nodes(:user_id, CAST(:nodes AS uuid [])) AS r;

-- name: parted_pairs
-- Pairs, the smaller id first, among some nodes whose merge was undone.
WITH same AS MATERIALIZED (
  SELECT s.canonical_id, s.node_id
  FROM memsvc.same_nodes(:user_id, CAST(:nodes AS uuid [])) AS s
)

SELECT DISTINCT least(a.canonical_id, b.canonical_id) AS node_id, greatest(a.canonical_id, b.canonical_id) AS other_id
FROM same AS a
CROSS JOIN LATERAL (
  SELECT c.canonical_id
  FROM memsvc."merges" AS c
  WHERE c.user_id = :user_id AND c.node_id = a.node_id AND c.recorded_to < 'infinity'
  OFFSET 0
) AS m
INNER JOIN same AS b ON m.canonical_id = b.node_id
WHERE a.canonical_id <> b.canonical_id;

-- name: settle_pairs
-- Open pairs that were merged now.
UPDATE memsvc.duplicate_candidates AS d
SET state = 'merged', decided_at = clock_timestamp(), decided_by = :decided_by
FROM unnest(CAST(:nodes AS uuid []), CAST(:others AS uuid [])) AS m (node_a, node_b)
WHERE d.user_id = :user_id AND d.node_a = m.node_a AND d.node_b = m.node_b AND d.state = 'open';

-- name: changed_since_run
-- Whether something was changed since the last run of a task that left no gap, by others than sleep.
SELECT EXISTS(
  SELECT FROM memsvc.changes AS c
  WHERE c.user_id = :user_id AND c.recorded_at >= coalesce(memsvc.slept_until(:user_id, :task), '-infinity')
    AND c.sleep_run_id IS NULL
) AS changed;

-- name: open_sleep_run
-- The open run of a task; opened if there is none. A nightly run examines what is new since the last run began that
-- left no gap.
WITH made AS (
  INSERT INTO memsvc.sleep_runs AS r (user_id, task, from_node, since, budget_s, budget_tokens, nightly, cause)
  VALUES (
    :user_id, :task, CAST(:from_node AS uuid),
    CASE
      WHEN CAST(:nightly AS boolean) THEN memsvc.slept_until(:user_id, :task)
      ELSE CAST(:since AS timestamptz)
    END,
    CAST(:budget_s AS real), CAST(:budget_tokens AS bigint), CAST(:nightly AS boolean), :cause
  )
  ON CONFLICT (user_id, task) WHERE state = 'open' DO NOTHING
  RETURNING r.*
)

SELECT * FROM made
UNION ALL
SELECT * FROM memsvc.sleep_runs AS o
WHERE o.user_id = :user_id AND o.task = :task AND o.state = 'open'
LIMIT 1;

-- name: note_sleep_page
-- Records a page: how far the run came, what it did, and what it cost.
UPDATE memsvc.sleep_runs AS r
SET
  place = CAST(:place AS jsonb), examined = r.examined + :examined, applied = r.applied + :applied,
  proposed = r.proposed + :proposed, seconds = r.seconds + CAST(:seconds AS real),
  model_calls = r.model_calls + :calls, tokens_in = r.tokens_in + :tokens_in, tokens_out = r.tokens_out + :tokens_out,
  counts = (
    SELECT coalesce(jsonb_object_agg(k.kind, k.number), '{}')
    FROM (
      SELECT e.key AS kind, sum(CAST(e.value AS bigint)) AS number
      FROM (
        SELECT * FROM jsonb_each_text(r.counts)
        UNION ALL
        SELECT * FROM jsonb_each_text(CAST(:counts AS jsonb))
      ) AS e
      GROUP BY e.key
    ) AS k
  )
WHERE r.user_id = :user_id AND r.run_id = :run_id AND r.state = 'open';

-- name: end_sleep_run
-- Ends a run.
UPDATE memsvc.sleep_runs AS r
SET
  state = CASE WHEN CAST(:error_code AS text) IS NULL THEN 'done' ELSE 'failed' END,
  error_code = CAST(:error_code AS text), within_budget = :within_budget, finished_at = clock_timestamp(),
  model_calls = r.model_calls + :calls, tokens_in = r.tokens_in + :tokens_in, tokens_out = r.tokens_out + :tokens_out
WHERE r.user_id = :user_id AND r.run_id = :run_id AND r.state = 'open';

-- name: list_sleep_runs
-- Runs, the newest first.
SELECT
  r.run_id, r.task, r.state, r.cause, r.from_node, r.since, r.budget_s, r.budget_tokens, r.examined, r.applied,
  r.proposed, r.counts, r.seconds, r.model_calls, r.tokens_in, r.tokens_out, r.within_budget, r.error_code,
  r.started_at, r.finished_at, r.undone_at
FROM memsvc.sleep_runs AS r
WHERE
  r.user_id = :user_id
  AND (CAST(:run_id AS uuid) IS NULL OR r.run_id = CAST(:run_id AS uuid))
  AND (CAST(:after AS uuid) IS NULL OR r.run_id < CAST(:after AS uuid))
ORDER BY r.run_id DESC
LIMIT :limit;

-- name: sleep_plan
-- What the job of sleep finds: runs that are open, tasks whose recurring run ended since the job was made, why it was
-- begun before its time, and which tasks the user does not want.
SELECT
  array(
    SELECT r.task FROM memsvc.sleep_runs AS r
    WHERE r.user_id = :user_id AND r.state = 'open'
    ORDER BY r.run_id
  ) AS open_tasks,
  coalesce((
    SELECT bool_or(r.nightly) FROM memsvc.sleep_runs AS r
    WHERE r.user_id = :user_id AND r.state = 'open'
  ), TRUE) AS nightly,
  array(
    SELECT DISTINCT r.task
    FROM memsvc.jobs AS j
    INNER JOIN memsvc.sleep_runs AS r ON r.user_id = :user_id AND r.started_at >= j.created_at
    WHERE j.user_id = :user_id AND j.kind = 'sleep' AND j.state = 'pending' AND r.nightly AND r.state <> 'open'
  ) AS done_tasks,
  s.woken_for, coalesce(s.tasks_off, '{}') AS tasks_off
FROM memsvc.users AS u
LEFT JOIN memsvc.schedules AS s ON u.user_id = s.user_id AND s.kind = 'sleep'
WHERE u.user_id = :user_id;

-- name: tasks_off
-- Tasks of sleep that a user does not want.
SELECT s.tasks_off FROM memsvc.schedules AS s
WHERE s.user_id = :user_id AND s.kind = 'sleep';

-- name: tell_sleep_ended
-- Nothing is left to do: what began before its time is done, and an event tells of runs that ended.
WITH woken AS (
  UPDATE memsvc.schedules AS s SET woken_for = NULL
  WHERE s.user_id = :user_id AND s.kind = 'sleep' AND s.woken_for IS NOT NULL
),

ended AS (
  UPDATE memsvc.sleep_runs AS r SET announced = TRUE
  WHERE r.user_id = :user_id AND r.state <> 'open' AND NOT r.announced
  RETURNING r.run_id
),

told AS (
  INSERT INTO memsvc.outbox (user_id, kind, subject_id)
  SELECT :user_id, 'sleep.finished', e.run_id FROM ended AS e
  ORDER BY e.run_id DESC LIMIT 1
  RETURNING event_id
)

SELECT EXISTS(SELECT FROM told) AS told;

-- name: delete_sleep_runs
-- Deletes old runs; the last two of each task stay, because a nightly run needs the previous one.
DELETE FROM memsvc.sleep_runs AS r
WHERE
  r.user_id = :user_id AND r.state <> 'open' AND r.finished_at < clock_timestamp() - CAST(:kept AS interval)
  AND r.run_id < (
    SELECT n.run_id FROM memsvc.sleep_runs AS n
    WHERE n.user_id = :user_id AND n.task = r.task
    ORDER BY n.run_id DESC LIMIT 1 OFFSET 1
  );

-- name: ask_sleep
-- Asks for the user's job of sleep.
SELECT memsvc.ask_job(:user_id, 'sleep', :user_id) AS job_id;

-- name: changes_of_sleep
-- Changes of a run that are not undone, the last one first, before a time.
SELECT c.change_id, c.recorded_at
FROM memsvc.changes AS c
WHERE c.user_id = :user_id AND c.sleep_run_id = :run_id
  AND (CAST(:before AS timestamptz) IS NULL OR c.recorded_at < CAST(:before AS timestamptz))
  AND NOT EXISTS (
    SELECT FROM memsvc.changes AS u
    WHERE u.user_id = :user_id AND u.undoes = c.change_id
  )
ORDER BY c.recorded_at DESC
LIMIT :limit;

-- name: sleep_changed
-- Whether a run changed the graph.
SELECT EXISTS(
  SELECT FROM memsvc.changes AS c
  WHERE c.user_id = :user_id AND c.sleep_run_id = :run_id
) AS changed;

-- name: note_sleep_undone
UPDATE memsvc.sleep_runs AS r SET undone_at = clock_timestamp()
WHERE r.user_id = :user_id AND r.run_id = :run_id;

-- name: change_in_words
-- What a change wrote, in words: merges, facts, names of nodes.
SELECT t.told
FROM (
  SELECT 1 AS place, m.merge_id AS id, format('%s as %s', a.label, b.label) AS told
  FROM memsvc."merges" AS m
  LEFT JOIN LATERAL (
    SELECT v.label FROM memsvc.node_versions AS v
    WHERE v.user_id = :user_id AND v.node_id = m.node_id
    ORDER BY v.recorded_to DESC, v.recorded_from DESC LIMIT 1
  ) AS a ON TRUE
  LEFT JOIN LATERAL (
    SELECT v.label FROM memsvc.node_versions AS v
    WHERE v.user_id = :user_id AND v.node_id = m.canonical_id
    ORDER BY v.recorded_to DESC, v.recorded_from DESC LIMIT 1
  ) AS b ON TRUE
  WHERE m.user_id = :user_id AND m.recorded_from = :at
  UNION ALL
  SELECT 2, e.version_id, e.fact FROM memsvc.edge_versions AS e
  WHERE e.user_id = :user_id AND e.recorded_from = :at
  UNION ALL
  SELECT 3, v.version_id, v.label FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.recorded_from = :at
) AS t
ORDER BY t.place, t.id
LIMIT :limit;

-- name: switch_task
UPDATE memsvc.schedules AS s
SET tasks_off = CASE
  WHEN CAST(:wanted AS boolean) THEN array_remove(s.tasks_off, CAST(:task AS text))
  ELSE array_append(array_remove(s.tasks_off, CAST(:task AS text)), CAST(:task AS text))
END
WHERE s.user_id = :user_id AND s.kind = 'sleep'
RETURNING s.kind;

-- name: forgettable
-- Whether forgetting is on for the user, whether anything is old enough, whether the clock may be right, and how many
-- memories there are.
SELECT
  coalesce(u.forgetting, CAST(:by_default AS boolean)) AS wanted,
  coalesce(memsvc.last_activity(:user_id) <= clock_timestamp() + interval '1 hour', FALSE) AS clock_is_right,
  EXISTS(
    SELECT FROM memsvc.passages AS p
    WHERE
      p.user_id = :user_id AND p.kind = any(CAST(:kinds AS text [])) AND p.archived_at IS NULL
      AND p.recorded_at <= clock_timestamp() - make_interval(days => :least_days)
  ) AS aged,
  (
    SELECT CAST(coalesce(sum(c.passages), 0) AS bigint)
    FROM (
      SELECT s.passages FROM memsvc.corpora AS s
      WHERE s.user_id = :user_id AND s.form = 'simple' AND s.kind = any(CAST(:kinds AS text []))
      UNION ALL
      SELECT d.passages FROM memsvc.term_deltas AS d
      WHERE d.user_id = :user_id AND d.form = 'simple' AND d.kind = any(CAST(:kinds AS text []))
    ) AS c
  ) AS memories
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: retained_memories
-- A page of memories, with how well those that may be archived are retained. left_out: kinds of sources whose messages
-- may not be.
SELECT
  r.memory_id, r.parts, CASE
    WHEN r.retained IS NULL OR cardinality(CAST(:left_out AS text [])) = 0 OR NOT EXISTS (
      SELECT FROM memsvc.passages AS p
      WHERE p.user_id = :user_id AND p.passage_id = r.memory_id AND p.kind = 'message'
        AND memsvc.kind_of_source(:user_id, p.source_id) = any(CAST(:left_out AS text []))
    ) THEN r.retained
  END AS retained
FROM memsvc.retained_memories(
  :user_id, CAST(:after AS uuid), :limit, CAST(:kinds AS text []), CAST(:days AS integer []), :silent_days,
  CAST(:half_life AS interval), CAST(:lambda AS double precision)
) AS r;

-- name: archive_memories
-- Archives passages, for the task's open run.
SELECT memsvc.archive_passages(:user_id, CAST(:passages AS uuid []), (
  SELECT r.run_id FROM memsvc.sleep_runs AS r
  WHERE r.user_id = :user_id AND r.task = :task AND r.state = 'open'
)) AS archived;

-- name: restore_memories
SELECT memsvc.restore_memories(:user_id, CAST(:ids AS uuid []), CAST(:run_id AS uuid)) AS restored;

-- name: archived_memories
SELECT
  u.forgetting, count(*) FILTER (WHERE p.kind = 'message') AS messages,
  count(*) FILTER (WHERE p.kind = 'fact') AS facts,
  count(*) FILTER (WHERE p.kind = 'card') AS cards,
  count(*) FILTER (WHERE p.kind = 'turn') AS turns, max(p.archived_at) AS last_at
FROM memsvc.users AS u
LEFT JOIN memsvc.passages AS p ON u.user_id = p.user_id AND p.archived_at IS NOT NULL AND p.part = 0
WHERE u.user_id = :user_id
GROUP BY u.forgetting;

-- name: archived_page
-- What is archived, the newest memory first. A card goes by its node's id, which is its session.
SELECT
  p.passage_id, p.kind, left(p.text, :most) AS text, p.speaker, p.said_at, p.archived_at, p.archived_by AS run_id,
  CASE WHEN p.kind = 'card' THEN CAST(p.session AS uuid) ELSE p.passage_id END AS memory_id
FROM memsvc.passages AS p
WHERE
  p.user_id = :user_id AND p.archived_at IS NOT NULL AND p.part = 0
  AND (CAST(:after AS uuid) IS NULL OR p.passage_id < CAST(:after AS uuid))
ORDER BY p.passage_id DESC
LIMIT :limit;

-- name: switch_forgetting
UPDATE memsvc.users AS u SET forgetting = CAST(:wanted AS boolean)
WHERE u.user_id = :user_id;

-- name: prunable_versions
SELECT v.source_id, v.version
FROM memsvc.prunable_versions(:user_id, :keep, CAST(:after AS uuid), :version, :limit) AS v;

-- name: prune_versions
SELECT memsvc.prune_versions(:user_id, :keep, CAST(:documents AS uuid []), CAST(:versions AS integer []));
