-- Statements of memsvc.analysis.

-- name: weighted_pairs
-- Pairs of nodes that facts connect now, without direction.
SELECT w.node_id, w.other_id, w.facts, w.weight
FROM memsvc.weighted_pairs(:user_id) AS w;

-- name: analysis_hubs
-- Nodes by the strength of their facts.
SELECT h.node_id, h.facts, h.neighbours, h.strength, h.total
FROM memsvc.hubs(:user_id, :limit) AS h;

-- name: analysis_orphans
-- Nodes without facts.
SELECT o.node_id, o.passages, o.total
FROM memsvc.orphans(:user_id, :limit) AS o;

-- name: contradictions
-- Facts that exclude each other.
SELECT c.what, c.nodes, c.facts, c.confidence
FROM memsvc.contradictions(:user_id) AS c;

-- name: impossible_dates
-- Facts and messages whose times cannot be right.
SELECT i.what, i.nodes, i.facts, i.passages, i.day, i.confidence
FROM memsvc.impossible_dates(:user_id) AS i;

-- name: busy_days
-- Days with many more messages than usual around them.
SELECT b.day, b.messages, b.usual, b.distance, b.around
FROM memsvc.busy_days(:user_id, :least, :distance) AS b;

-- name: busiest_weeks
-- The week with most messages about each node.
SELECT
  b.node_id, b.week, b.said, b.weeks, b.best_other, b.said_other, b.week_total, b.other_total
FROM memsvc.busiest_weeks(:user_id, :least) AS b;

-- name: active_weekdays
-- The number of days with messages, for each weekday (1: Monday).
SELECT CAST(extract(ISODOW FROM a.day) AS integer) AS weekday, count(*) AS days
FROM memsvc.daily_activity AS a
WHERE a.user_id = :user_id AND a.messages > 0
GROUP BY weekday;

-- name: days_of_facts
-- Days on which relations happened or were mentioned.
SELECT d.from_node, d.type, d.to_node, d.days, d.facts
FROM memsvc.days_of_facts(:user_id, :zone, :least) AS d;

-- name: days_of_people
-- Days on which people are mentioned, each alone and two together.
SELECT d.node_id, d.other_id, d.days
FROM memsvc.days_of_people(:user_id, :least) AS d;

-- name: own_nodes
-- The user's own node.
SELECT DISTINCT r.canonical_id AS node_id
FROM memsvc.resolve_nodes(:user_id, array(
  SELECT v.node_id FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.recorded_to = 'infinity' AND v.data @> '{"self": true}'
)) AS r;

-- name: open_analysis
-- The open run of an analysis; opened if there is none.
WITH made AS (
  INSERT INTO memsvc.analysis_runs AS r (user_id, kind, seeds)
  VALUES (:user_id, :kind, CAST(:seeds AS uuid []))
  ON CONFLICT (user_id, kind, seeds) WHERE state = 'open' DO NOTHING
  RETURNING r.*
)

SELECT * FROM made
UNION ALL
SELECT * FROM memsvc.analysis_runs AS o
WHERE o.user_id = :user_id AND o.kind = :kind AND o.seeds = CAST(:seeds AS uuid []) AND o.state = 'open'
LIMIT 1;

-- name: open_analyses
-- Open runs, the oldest first.
SELECT * FROM memsvc.analysis_runs AS r
WHERE r.user_id = :user_id AND r.state = 'open'
ORDER BY r.run_id;

-- name: list_analyses
-- Runs, the newest first.
SELECT * FROM memsvc.analysis_runs AS r
WHERE
  r.user_id = :user_id
  AND (CAST(:run_id AS uuid) IS NULL OR r.run_id = CAST(:run_id AS uuid))
  AND (CAST(:kind AS text) IS NULL OR r.kind = CAST(:kind AS text))
  AND (CAST(:after AS uuid) IS NULL OR r.run_id < CAST(:after AS uuid))
ORDER BY r.run_id DESC
LIMIT :limit;

-- name: analysis_results
-- A page of the results of a run, each with the labels of its first nodes and the sentences of its first facts.
WITH page AS MATERIALIZED (
  SELECT
    r.place, r.what, r.score, r.nodes[1 : :most] AS nodes, r.facts, r.passages, r.figures
  FROM memsvc.analysis_results AS r
  WHERE r.user_id = :user_id AND r.run_id = :run_id AND r.place > :after
  ORDER BY r.place
  LIMIT :limit
),

card AS MATERIALIZED (
  SELECT c.node_id, c.canonical_id, c.type, c.label
  FROM memsvc.node_cards(:user_id, array(
    SELECT DISTINCT n.node_id
    FROM page AS p
    CROSS JOIN LATERAL unnest(p.nodes) AS n (node_id)
  )) AS c
),

shown AS (
  SELECT
    p.place,
    json_agg(json_build_object('node_id', c.canonical_id, 'type', c.type, 'label', c.label) ORDER BY n.nth) AS nodes
  FROM page AS p
  CROSS JOIN LATERAL unnest(p.nodes) WITH ORDINALITY AS n (node_id, nth)
  INNER JOIN card AS c ON n.node_id = c.node_id
  GROUP BY p.place
)

SELECT
  p.place, p.what, p.score, p.facts, p.passages, CAST(p.figures AS text) AS figures,
  coalesce(CAST(s.nodes AS text), '[]') AS shown,
  array(
    SELECT v.fact
    FROM unnest(p.facts[1 : :most]) WITH ORDINALITY AS f (version_id, nth)
    CROSS JOIN LATERAL (
      SELECT o.fact FROM memsvc.edge_versions AS o
      WHERE o.user_id = :user_id AND o.version_id = f.version_id
      OFFSET 0
    ) AS v
    ORDER BY f.nth
  ) AS sentences
FROM page AS p
LEFT JOIN shown AS s ON p.place = s.place
ORDER BY p.place;

-- name: end_analysis
-- Ends a run and stores its results.
SELECT memsvc.end_analysis(
  :user_id, :run_id, :found, CAST(:figures AS jsonb), CAST(:seconds AS real), CAST(:results AS jsonb)
) AS ended;

-- name: fail_analysis
-- Ends a run that failed.
UPDATE memsvc.analysis_runs AS r
SET state = 'failed', error_code = :error_code, seconds = CAST(:seconds AS real), finished_at = clock_timestamp()
WHERE r.user_id = :user_id AND r.run_id = :run_id AND r.state = 'open';

-- name: delete_old_results
-- Deletes the results of old runs; those of the last runs of each kind stay.
DELETE FROM memsvc.analysis_results AS d
USING (
  SELECT r.run_id, row_number() OVER (PARTITION BY r.kind ORDER BY r.run_id DESC) AS nth
  FROM memsvc.analysis_runs AS r
  WHERE r.user_id = :user_id AND r.state <> 'open'
) AS o
WHERE d.user_id = :user_id AND o.run_id = d.run_id AND o.nth > :kept;

-- name: delete_old_analyses
-- Deletes old runs; the last ones of each kind stay.
DELETE FROM memsvc.analysis_runs AS d
USING (
  SELECT r.run_id, row_number() OVER (PARTITION BY r.kind ORDER BY r.run_id DESC) AS nth
  FROM memsvc.analysis_runs AS r
  WHERE r.user_id = :user_id AND r.state <> 'open'
) AS o
WHERE d.user_id = :user_id AND o.run_id = d.run_id AND o.nth > :kept;

-- name: ask_analysis
-- Asks for the user's job of analyses.
SELECT memsvc.ask_job(:user_id, 'analyse', :user_id) AS job_id;
