-- Statements of memsvc.sleep by which the graph grows: what is recalled most, salience, and what is proposed.

-- name: recalled_sources
-- Sources from which most is recalled now, the strongest first.
SELECT s.source_id FROM memsvc.recalled_sources(:user_id, clock_timestamp()) AS s
WHERE s.strength > 0
ORDER BY s.strength DESC, s.source_id ASC
LIMIT :limit;

-- name: recalled_nodes
-- Nodes about which most is recalled at a moment, the strongest first.
SELECT n.node_id, n.strength
FROM memsvc.recalled_nodes(:user_id, coalesce(CAST(:moment AS timestamptz), clock_timestamp()), :limit) AS n;

-- name: recalled_since_run
-- Whether anything was recalled since the last run of a task that left no gap.
SELECT EXISTS(
  SELECT FROM memsvc.memory_signals AS s
  WHERE s.user_id = :user_id AND s.last_recalled_at >= coalesce(memsvc.slept_until(:user_id, :task), '-infinity')
) AS recalled;

-- name: last_news
-- When somebody last said or recalled something; null: never.
SELECT least(clock_timestamp(), greatest(
  (SELECT max(s.last_ingested_at) FROM memsvc.sources AS s
  WHERE s.user_id = :user_id),
  (SELECT max(m.last_recalled_at) FROM memsvc.memory_signals AS m
  WHERE m.user_id = :user_id AND m.last_recalled_at IS NOT NULL)
)) AS last_news;

-- name: entity_nodes
-- People and things, without the user.
SELECT e.node_id FROM memsvc.entity_nodes(:user_id) AS e;

-- name: pinned_nodes
-- Nodes of which a note, a card or a fact is pinned.
SELECT DISTINCT r.canonical_id AS node_id
FROM memsvc.resolve_nodes(:user_id, array(
  SELECT n.node_id
  FROM memsvc.memory_signals AS s
  CROSS JOIN LATERAL (
    SELECT p.subject_id AS node_id FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.passage_id = s.passage_id AND p.kind <> 'fact'
    UNION ALL
    SELECT v.from_node FROM memsvc.edge_versions AS v
    WHERE v.user_id = :user_id AND v.version_id = s.version_id
    UNION ALL
    SELECT v.to_node FROM memsvc.edge_versions AS v
    WHERE v.user_id = :user_id AND v.version_id = s.version_id
  ) AS n
  WHERE s.user_id = :user_id AND s.pinned AND n.node_id IS NOT NULL
)) AS r;

-- name: note_salience
-- Stores how salient nodes are, where it changed noticeably.
SELECT
  memsvc.note_salience(
    :user_id, CAST(:nodes AS uuid []), CAST(:values AS real []), CAST(:least AS real)
  ) AS changed;

-- name: undo_salience
-- Gives nodes the salience that they had before a run, where no later run wrote it.
UPDATE memsvc.node_salience AS n SET salience = n.before, sleep_run_id = NULL, written_at = clock_timestamp()
WHERE n.user_id = :user_id AND n.sleep_run_id = :run_id
RETURNING n.node_id;

-- name: mentioned_together
-- Pairs of people and things that are mentioned in the same messages on several days.
SELECT m.node_id, m.other_id, m.days, m.least_days
FROM memsvc.mentioned_together(:user_id, :least) AS m;

-- name: card_cosines
-- How near the descriptions of pairs of nodes are.
SELECT c.nth, c.cosine
FROM memsvc.card_cosines(
  :user_id, CAST(:model AS smallint), CAST(:nodes AS uuid []), CAST(:others AS uuid [])
) AS c;

-- name: lives_of
-- What sources say of nodes that may be two.
SELECT l.node_id, l.source_id, l.type, l.single, l.other_id, l.first_at, l.last_at
FROM memsvc.lives_of(:user_id, CAST(:node AS uuid)) AS l;

-- name: people_of_sources
-- People, resolved, whom each source mentions, by sources.
SELECT p.source_id, array_agg(DISTINCT m.node_id) AS nodes
FROM memsvc.mentions(:user_id) AS m
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND m.passage_id = p.passage_id
INNER JOIN memsvc.node_versions AS v
  ON v.user_id = :user_id AND m.node_id = v.node_id AND v.recorded_to = 'infinity' AND v.type = 'Person'
WHERE EXISTS (
  SELECT FROM memsvc.sources AS c
  WHERE
    c.user_id = :user_id AND c.source_id = p.source_id AND c.kind = 'conversation'
    AND (CAST(:since AS timestamptz) IS NULL OR c.last_ingested_at >= CAST(:since AS timestamptz))
)
GROUP BY p.source_id;

-- name: said_since_run
-- Whether somebody said something since the last run of a task that left no gap.
SELECT EXISTS(
  SELECT FROM memsvc.sources AS s
  WHERE s.user_id = :user_id AND s.kind = 'conversation'
    AND s.last_ingested_at >= coalesce(memsvc.slept_until(:user_id, :task), '-infinity')
) AS said;

-- name: texts_of_source
-- Messages of a source, the newest first.
SELECT p.passage_id, p.speaker, p.role, p.text
FROM memsvc.passages AS p
WHERE
  p.user_id = :user_id AND p.source_id = :source_id AND p.kind = 'message' AND p.recorded_to = 'infinity'
  AND p.recorded_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
ORDER BY p.passage_id DESC
LIMIT :limit;

-- name: names_taken
-- Those of some names that a node has already.
SELECT n.nth, n.form
FROM (
  SELECT u.nth, memsvc.normal_form(u.name) AS form
  FROM unnest(CAST(:names AS text [])) WITH ORDINALITY AS u (name, nth)
) AS n
WHERE NOT EXISTS (
  SELECT FROM memsvc.aliases AS a
  WHERE a.user_id = :user_id AND a.normal_form = n.form AND a.recorded_to = 'infinity'
) AND NOT EXISTS (
  SELECT FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.label_form = n.form AND v.recorded_to = 'infinity'
)
ORDER BY n.nth;

-- name: worth_core
-- Facts that hold now and messages that no such fact rests on, recalled so often and lately, without those that a line
-- of core memory rests on or that are archived; the strongest first.
WITH recalled AS MATERIALIZED (
  SELECT s.passage_id, s.version_id, s.recalls,
    memsvc.recall_strength(s.recalls, clock_timestamp() - s.last_recalled_at, interval '30 days')
    * memsvc.familiarity(s.recalls) AS strength
  FROM memsvc.memory_signals AS s
  WHERE s.user_id = :user_id AND s.last_recalled_at IS NOT NULL AND s.recalls >= :recalls
),

core AS MATERIALIZED (
  SELECT e.passage_id FROM memsvc.profile_versions AS v
  INNER JOIN memsvc.profile_evidence AS e ON e.user_id = :user_id AND v.version_id = e.version_id
  WHERE v.user_id = :user_id AND v.recorded_to = 'infinity' AND v.kind = 'core'
),

open_fact AS MATERIALIZED (
  SELECT v.version_id, v.from_node, v.to_node, v.fact FROM memsvc.edge_versions AS v
  WHERE
    v.user_id = :user_id AND v.recorded_to = 'infinity' AND v.valid_from <= clock_timestamp()
    AND v.valid_to > clock_timestamp()
),

told AS (
  SELECT r.strength, r.recalls, f.version_id, NULL AS passage_id, f.fact AS text, ARRAY[f.from_node, f.to_node] AS nodes
  FROM recalled AS r
  INNER JOIN open_fact AS f ON r.version_id = f.version_id
  WHERE NOT EXISTS (
    SELECT FROM memsvc.source_links AS l INNER JOIN core AS c ON l.passage_id = c.passage_id
    WHERE l.user_id = :user_id AND l.edge_version_id = f.version_id AND l.recorded_to = 'infinity'
  ) AND NOT memsvc.is_archived(:user_id, f.version_id)
  UNION ALL
  SELECT r.strength, r.recalls, f.version_id, CASE WHEN f.version_id IS NULL THEN p.passage_id END,
    coalesce(f.fact, p.text), ARRAY[f.from_node, f.to_node]
  FROM recalled AS r
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND r.passage_id = p.passage_id
  LEFT JOIN LATERAL (
    SELECT o.* FROM memsvc.source_links AS l INNER JOIN open_fact AS o ON l.edge_version_id = o.version_id
    WHERE
      l.user_id = :user_id AND l.passage_id = r.passage_id AND l.recorded_to = 'infinity' AND l.stance = 'supports'
    ORDER BY o.version_id LIMIT 1
  ) AS f ON TRUE
  WHERE
    p.kind = 'message' AND p.part = 0 AND p.archived_at IS NULL
    AND p.passage_id NOT IN (SELECT c.passage_id FROM core AS c)
)

SELECT t.version_id, t.passage_id, max(t.strength) AS strength, max(t.recalls) AS recalls, min(t.text) AS text
FROM told AS t
WHERE t.strength >= :least AND (CAST(:node AS uuid) IS NULL OR CAST(:node AS uuid) = any(t.nodes))
GROUP BY t.version_id, t.passage_id
ORDER BY strength DESC, t.version_id ASC, t.passage_id ASC
LIMIT :limit;

-- name: outdated_lines
-- Lines of core memory that a later fact ended or contradicts.
SELECT o.key, o.name, o.node_id, o.expected, o.nth, o.line, o.version_id, o.ended, o.instead, o.passages
FROM memsvc.outdated_lines(:user_id, CAST(:node AS uuid)) AS o;

-- name: withdraw_outdated
-- Takes back open proposals about lines that somebody has changed since, or that hold again.
UPDATE memsvc.proposals AS p SET state = 'withdrawn', decided_at = clock_timestamp(), decided_by = 'sleep'
WHERE
  p.user_id = :user_id AND p.kind = 'outdated' AND p.state = 'open'
  AND p.key <> all(array(SELECT o.key FROM memsvc.outdated_lines(:user_id) AS o));

-- name: note_proposals
-- Stores what was never proposed before.
SELECT memsvc.note_proposals(:user_id, CAST(:kind AS text), CAST(:found AS jsonb), :most) AS fresh;

-- name: proposal_keys
-- What was ever proposed of a kind.
SELECT p.node_id, p.key FROM memsvc.proposals AS p
WHERE p.user_id = :user_id AND p.kind = :kind;

-- name: withdraw_proposals
-- Takes back the open proposals of a run; they are never made again.
UPDATE memsvc.proposals AS p SET state = 'withdrawn', decided_at = clock_timestamp(), decided_by = 'undo'
WHERE p.user_id = :user_id AND p.sleep_run_id = :run_id AND p.state = 'open'
RETURNING p.proposal_id;

-- name: proposals_page
-- A page of proposals in one state, the most likely first, with the names of nodes and the words that they rest on.
SELECT
  p.proposal_id, p.kind, p.node_id, p.other_id, p.passage_id, p.version_id, p.sources, p.score,
  CAST(p.evidence AS text) AS evidence, p.found_at, p.state, p.decided_at, p.decided_by, n.label,
  o.label AS other_label,
  CASE
    WHEN p.kind = 'alias' THEN substr(t.text, p.span_from + 1, p.span_to - p.span_from)
    WHEN p.kind = 'outdated' THEN l.line
    ELSE coalesce(f.fact, t.text)
  END AS text, l.instead, l.name AS block
FROM memsvc.proposals AS p
LEFT JOIN LATERAL (
  SELECT c.label FROM memsvc.node_cards(:user_id, ARRAY[p.node_id], NULL, NULL) AS c
  WHERE p.node_id IS NOT NULL
) AS n ON TRUE
LEFT JOIN LATERAL (
  SELECT c.label FROM memsvc.node_cards(:user_id, ARRAY[p.other_id], NULL, NULL) AS c
  WHERE p.other_id IS NOT NULL
) AS o ON TRUE
LEFT JOIN LATERAL (
  SELECT u.line, u.instead, u.name FROM memsvc.outdated_lines(:user_id) AS u
  WHERE p.kind = 'outdated' AND u.key = p.key
) AS l ON p.kind = 'outdated'
LEFT JOIN memsvc.passages AS t ON t.user_id = :user_id AND p.passage_id = t.passage_id
LEFT JOIN memsvc.edge_versions AS f ON f.user_id = :user_id AND p.version_id = f.version_id
WHERE
  p.user_id = :user_id AND p.state = :state
  AND (CAST(:kind AS text) IS NULL OR p.kind = CAST(:kind AS text))
  AND (
    CAST(:after_score AS real) IS NULL OR p.score < CAST(:after_score AS real)
    OR (p.score = CAST(:after_score AS real) AND p.proposal_id > CAST(:after_id AS uuid))
  )
ORDER BY p.score DESC, p.proposal_id ASC
LIMIT :limit;

-- name: hold_proposal
-- A proposal, locked until the transaction ends.
SELECT p.kind, p.key, p.node_id, p.other_id, p.passage_id, p.version_id, p.span_from, p.span_to, p.sources, p.state
FROM memsvc.proposals AS p
WHERE p.user_id = :user_id AND p.proposal_id = :proposal_id
FOR UPDATE;

-- name: decide_proposal
UPDATE memsvc.proposals AS p SET state = :state, decided_at = clock_timestamp(), decided_by = :decided_by
WHERE p.user_id = :user_id AND p.proposal_id = :proposal_id;

-- name: reopen_proposal
UPDATE memsvc.proposals AS p SET state = 'open', decided_at = NULL, decided_by = NULL
WHERE p.user_id = :user_id AND p.proposal_id = :proposal_id AND p.state IN ('accepted', 'rejected');

-- name: name_in_passage
-- The name that a proposal is about.
SELECT substr(p.text, CAST(:span_from AS integer) + 1, CAST(:span_to AS integer) - CAST(:span_from AS integer)) AS name
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.passage_id = :passage_id;
