-- Statements of memsvc.concepts and of the task of sleep mode that writes them.

-- name: concept_news
-- Whether something was changed by others than sleep, or erased, since the last run of the task that left no gap.
SELECT
  EXISTS(
    SELECT FROM memsvc.changes AS c
    WHERE c.user_id = :user_id AND c.recorded_at >= s.slept AND c.sleep_run_id IS NULL
  ) OR EXISTS(
    SELECT FROM memsvc.erasures AS e
    WHERE e.user_id = :user_id AND (e.finished_at IS NULL OR e.finished_at >= s.slept)
  ) AS news
FROM (SELECT coalesce(memsvc.slept_until(:user_id, 'concepts'), '-infinity') AS slept) AS s;

-- name: concept_things
-- Nodes that may have siblings, merged ones as one, each with the first passages that mention it. texts: their texts,
-- cut.
WITH card AS MATERIALIZED (
  SELECT c.canonical_id AS node_id, c.type, c.label, c.description
  FROM memsvc.node_cards(:user_id, array(SELECT n.node_id FROM memsvc.all_nodes(:user_id, NULL) AS n (node_id))) AS c
  WHERE
    c.holds AND c.type = any(CAST(:types AS text [])) AND NOT coalesce(c.data @> '{"self": true}', FALSE)
    AND c.label <> ''
),

spoken AS (
  SELECT m.node_id, m.passage_id, row_number() OVER (PARTITION BY m.node_id ORDER BY m.passage_id) AS nth
  FROM memsvc.mentions(:user_id) AS m
),

said AS MATERIALIZED (
  SELECT
    s.node_id, array_agg(p.passage_id ORDER BY p.passage_id) AS passages,
    array_agg(left(p.text, :chars) ORDER BY p.passage_id) AS texts
  FROM spoken AS s
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND s.passage_id = p.passage_id
  WHERE s.nth <= :most
  GROUP BY s.node_id
)

SELECT
  c.node_id, c.type, c.label, left(c.description, :chars) AS description, coalesce(s.passages, '{}') AS passages,
  coalesce(s.texts, '{}') AS texts
FROM card AS c
LEFT JOIN said AS s ON c.node_id = s.node_id
ORDER BY c.node_id;

-- name: concept_pairs
-- Pairs of nodes whose cards are near to each other, for those of some nodes that have a vector.
SELECT DISTINCT least(n.node_id, n.other_id) AS node_id, greatest(n.node_id, n.other_id) AS other_id
FROM memsvc.near_cards(:user_id, CAST(:model AS smallint), CAST(:nodes AS uuid []), :nearest, :least) AS n
ORDER BY node_id, other_id;

-- name: concept_neighbours
-- What joins nodes: type and other end of facts that hold now; only ends with few such facts, for others tell nothing.
WITH fact AS MATERIALIZED (
  SELECT f.type, f.from_node, f.to_node
  FROM memsvc.analysed_facts(:user_id) AS f
  WHERE f.valid_to > clock_timestamp()
)

SELECT e.node_id, min(e.sign) AS sign
FROM (
  SELECT
    f.to_node AS node_id, f.type || ' ' || f.from_node AS sign,
    count(*) OVER (PARTITION BY f.type, f.from_node) AS fans
  FROM fact AS f
) AS e
WHERE e.fans BETWEEN 2 AND :most AND e.node_id = any(CAST(:nodes AS uuid []))
GROUP BY e.node_id
ORDER BY sign, e.node_id;

-- name: concept_groups
-- Groups that are or were stored. refused: somebody else than their writer took the group back.
SELECT
  g.node_id, g.key, g.digest, g.data, g.stands,
  NOT g.stands AND coalesce(c.asserted_by <> :writer, TRUE) AS refused
FROM (
  SELECT
    v.node_id, max(v.data ->> 'key') AS key, bool_or(v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS stands,
    max(v.data ->> 'digest') FILTER (WHERE v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS digest,
    max(CAST(v.data AS text)) FILTER (WHERE v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS data,
    max(v.recorded_to) FILTER (WHERE v.recorded_to < 'infinity') AS ended_at
  FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id AND v.type = 'ConceptGroup' AND v.asserted_by = :writer
  GROUP BY v.node_id
) AS g
LEFT JOIN memsvc.changes AS c ON c.user_id = :user_id AND g.ended_at = c.recorded_at
ORDER BY g.node_id;

-- name: concept_edges
-- Edges into groups that are or were stored, by the canonical child. refused: as above.
SELECT
  e.edge_id, coalesce(r.canonical_id, e.from_node) AS child, e.from_node, e.to_node, e.type, e.stands,
  NOT e.stands AND coalesce(c.asserted_by <> :writer, TRUE) AS refused
FROM (
  SELECT
    v.edge_id, v.from_node, v.to_node, v.type,
    bool_or(v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS stands,
    max(v.recorded_to) FILTER (WHERE v.recorded_to < 'infinity') AS ended_at
  FROM memsvc.edge_versions AS v
  WHERE v.user_id = :user_id AND v.asserted_by = :writer AND v.type IN ('EXAMPLE_OF', 'PART_OF')
  GROUP BY v.edge_id, v.from_node, v.to_node, v.type
) AS e
LEFT JOIN memsvc.changes AS c ON c.user_id = :user_id AND e.ended_at = c.recorded_at
LEFT JOIN memsvc.resolve_nodes(:user_id, array(
  SELECT m.node_id FROM memsvc."merges" AS m
  WHERE m.user_id = :user_id AND m.recorded_to = 'infinity'
)) AS r ON e.from_node = r.node_id
ORDER BY e.to_node, e.from_node;

-- name: concept_facts
-- Facts that hold now among some nodes, the strongest first, each with the first passage that supports it, if one does.
SELECT
  f.from_node, f.to_node, v.fact, f.weight * f.confidence AS strength, f.version_id, v.recorded_from, s.passage_id,
  s.said_at
FROM memsvc.analysed_facts(:user_id) AS f
INNER JOIN memsvc.edge_versions AS v ON v.user_id = :user_id AND f.version_id = v.version_id
LEFT JOIN LATERAL (
  SELECT p.passage_id, p.said_at FROM memsvc.source_links AS l
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND l.passage_id = p.passage_id
  WHERE
    l.user_id = :user_id AND l.edge_version_id = f.version_id AND l.stance = 'supports' AND l.recorded_to = 'infinity'
  ORDER BY p.passage_id LIMIT 1
) AS s ON TRUE
WHERE
  f.from_node = any(CAST(:nodes AS uuid [])) AND f.to_node = any(CAST(:nodes AS uuid []))
  AND f.valid_from <= clock_timestamp() AND f.valid_to > clock_timestamp() AND f.from_node <> f.to_node
ORDER BY strength DESC, f.version_id ASC;

-- name: concept_labels
-- The labels of nodes.
SELECT c.canonical_id AS node_id, c.label
FROM memsvc.node_cards(:user_id, CAST(:nodes AS uuid [])) AS c
WHERE c.label IS NOT NULL;

-- name: concept_standing
-- Which of some nodes and passages there are still.
SELECT n.node_id AS id FROM memsvc.nodes AS n
WHERE n.user_id = :user_id AND n.node_id = any(CAST(:nodes AS uuid []))
UNION ALL
SELECT p.passage_id FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.passage_id = any(CAST(:passages AS uuid []));
