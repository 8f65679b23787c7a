-- A user's knowledge in the size of a terminal. Views do the work; these statements select.

-- name: picture_nodes
-- People and things in facts, by type: those mentioned most first. Descriptions ("the van") and the user are left out.
WITH spoken AS (
  SELECT f.subject_id AS node_id, f.version_id FROM memsvc.facts_history AS f
  WHERE f.user_id = :user_id AND NOT f.superseded
  UNION
  SELECT f.object_id AS node_id, f.version_id FROM memsvc.facts_history AS f
  WHERE f.user_id = :user_id AND NOT f.superseded
)
SELECT n.type, n.label, count(*) AS facts
FROM spoken AS s
INNER JOIN memsvc.nodes_current AS n ON n.user_id = :user_id AND n.node_id = s.node_id
WHERE n.type = any(CAST(:types AS text [])) AND NOT (n.data @> '{"self": true}' OR n.data @> '{"named": false}')
GROUP BY n.node_id, n.type, n.label
ORDER BY n.type ASC, facts DESC, n.label ASC, n.node_id ASC;

-- name: picture_facts
-- Facts that are true now, a few of each type, the most confident first, named ends before described ones; each with
-- its first quote.
WITH ranked AS (
  SELECT
    f.version_id, f.fact, f.since, array_position(CAST(:types AS text []), f.predicate) AS type_nth,
    row_number() OVER (
      PARTITION BY f.predicate
      ORDER BY
        s.data @> '{"named": false}' OR o.data @> '{"named": false}' ASC, f.confidence DESC, f.learnt_at ASC,
        f.version_id ASC
    ) AS nth
  FROM memsvc.facts_history AS f
  INNER JOIN memsvc.nodes_current AS s ON s.user_id = :user_id AND s.node_id = f.subject_id
  INNER JOIN memsvc.nodes_current AS o ON o.user_id = :user_id AND o.node_id = f.object_id
  WHERE f.user_id = :user_id AND f.state = 'holds' AND f.predicate = any(CAST(:types AS text []))
)
SELECT r.fact, r.since, q.speaker, q.quote, q.said_at
FROM ranked AS r
CROSS JOIN LATERAL (
  SELECT p.speaker, substr(p.text, l.span_from + 1, l.span_to - l.span_from) AS quote, p.said_at
  FROM memsvc.source_links AS l
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = l.passage_id
  WHERE l.user_id = :user_id AND l.edge_version_id = r.version_id AND l.span_from IS NOT NULL
    AND l.recorded_to = 'infinity'
  ORDER BY p.said_at, l.link_id LIMIT 1
) AS q
WHERE r.nth <= :each
ORDER BY r.type_nth, r.nth;

-- name: picture_changes
-- Facts that ended, and those that began when one of the same kind ended: what changed, in the order of time. Moods,
-- visits and events, which hold their day, are none.
WITH believed AS MATERIALIZED (
  SELECT f.* FROM memsvc.facts_history AS f
  WHERE f.user_id = :user_id AND NOT f.superseded
)
SELECT t.subject_id, t.subject, t.predicate, t.object, t.fact, t.since, t.until, q.speaker, q.quote, q.said_at
FROM believed AS t
CROSS JOIN LATERAL (
  SELECT p.speaker, substr(p.text, l.span_from + 1, l.span_to - l.span_from) AS quote, p.said_at
  FROM memsvc.source_links AS l
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = l.passage_id
  WHERE l.user_id = :user_id AND l.edge_version_id = t.version_id AND l.span_from IS NOT NULL
    AND l.recorded_to = 'infinity'
  ORDER BY p.said_at, l.link_id LIMIT 1
) AS q
WHERE t.predicate NOT IN ('FEELS', 'LOCATED_AT', 'PARTICIPATED_IN') AND (t.until IS NOT NULL OR EXISTS (
  SELECT FROM believed AS e
  WHERE e.subject_id = t.subject_id AND e.predicate = t.predicate AND e.until = t.since
))
ORDER BY
  count(*) OVER (PARTITION BY t.subject_id, t.predicate) DESC, t.subject ASC, t.subject_id ASC, t.predicate ASC,
  t.since ASC NULLS FIRST, t.fact ASC, t.version_id ASC;
