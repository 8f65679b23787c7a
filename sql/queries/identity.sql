-- Statements of memsvc.identity.

-- name: identity_cards
-- Cards of nodes, for the judge of identity.
SELECT
  c.node_id, c.type, c.names, c.named, c.fact_types, c.fact_sides, c.fact_nodes, c.relations, c.attributes, c.sources,
  c.last_at
FROM memsvc.identity_cards(:user_id, CAST(:nodes AS uuid [])) AS c;

-- name: mention_candidates
-- Nodes that mentions may mean, each with its card.
WITH found AS MATERIALIZED (
  SELECT m.key, m.kind, m.node_id, m.similarity, m.relation, m.fact_type, m.outgoing
  FROM memsvc.mention_candidates(
    :user_id, CAST(:keys AS integer []), CAST(:kinds AS text []), CAST(:names AS text []),
    CAST(:of_keys AS integer []), CAST(:of_nodes AS uuid []), CAST(:near AS uuid [])
  ) AS m
),

card AS MATERIALIZED (
  SELECT c.*
  FROM memsvc.identity_cards(:user_id, array(SELECT DISTINCT f.node_id FROM found AS f)) AS c
)

SELECT
  f.key, f.kind, f.similarity, f.relation, f.fact_type, f.outgoing, c.node_id, c.type, c.names, c.named,
  c.fact_types, c.fact_sides, c.fact_nodes, c.relations, c.attributes, c.sources, c.last_at
FROM found AS f
INNER JOIN card AS c ON f.node_id = c.node_id
ORDER BY f.key, c.node_id;

-- name: note_duplicates
-- Stores pairs that may be the same.
SELECT memsvc.note_duplicates(:user_id, CAST(:found AS jsonb), :found_by) AS fresh;

-- name: refused_pairs
-- Those of some pairs that were rejected or split.
SELECT r.node_id, r.other_id
FROM memsvc.refused_pairs(:user_id, CAST(:nodes AS uuid []), CAST(:others AS uuid [])) AS r;

-- name: decide_duplicates
-- Decides a pair.
SELECT memsvc.decide_duplicates(:user_id, :node, :other, :state, :decided_by) AS decided;

-- name: duplicates_page
-- A page of pairs in one state, the most probable first.
SELECT d.node_a, d.node_b, d.score, CAST(d.evidence AS text) AS evidence, d.found_by, d.found_at, d.state, d.decided_at,
  d.decided_by
FROM memsvc.duplicate_candidates AS d
WHERE
  d.user_id = :user_id AND d.state = :state
  AND (
    CAST(:after_score AS real) IS NULL OR d.score < CAST(:after_score AS real)
    OR (
      d.score = CAST(:after_score AS real)
      AND (d.node_a, d.node_b) > (CAST(:after_a AS uuid), CAST(:after_b AS uuid))
    )
  )
ORDER BY d.score DESC, d.node_a ASC, d.node_b ASC
LIMIT :limit;

-- name: duplicate_pair
-- A pair, locked until the transaction ends.
SELECT d.node_a, d.node_b, d.state
FROM memsvc.duplicate_candidates AS d
WHERE d.user_id = :user_id AND d.node_a = :node_a AND d.node_b = :node_b
FOR UPDATE;

-- name: reopen_pair
UPDATE memsvc.duplicate_candidates AS d SET state = 'open', decided_at = NULL, decided_by = NULL
WHERE d.user_id = :user_id AND d.node_a = :node_a AND d.node_b = :node_b AND d.state <> 'open';

-- name: passage_sources
-- The source of each passage.
SELECT p.passage_id, p.source_id
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.passage_id = any(CAST(:passages AS uuid []));

-- name: same_nodes
-- All stored nodes that are merged with one, and itself.
SELECT s.canonical_id, s.node_id
FROM memsvc.same_nodes(:user_id, CAST(:nodes AS uuid [])) AS s;

-- name: node_evidence
-- Passages that support the nodes themselves.
SELECT l.node_id, l.passage_id, l.span_from, l.span_to, l.confidence
FROM memsvc.source_links AS l
WHERE l.user_id = :user_id AND l.node_id = any(CAST(:nodes AS uuid [])) AND l.recorded_to = 'infinity'
ORDER BY l.link_id;
