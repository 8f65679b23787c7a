-- Statements of memsvc.erasing.

-- name: block_to_erase
-- The block with an id: its own, or that of one of its archived passages.
SELECT
  s.source_id,
  s.title,
  coalesce(p.kind = 'former', FALSE) AS former
FROM (SELECT CAST(:subject_id AS uuid) AS id) AS g
LEFT JOIN memsvc.passages AS p ON p.user_id = :user_id AND g.id = p.passage_id
INNER JOIN memsvc.sources AS s
  ON s.user_id = :user_id AND s.kind = 'block' AND s.source_id = coalesce(p.source_id, g.id);

-- name: erasure_size
-- The size of an erasure.
SELECT
  cardinality(r.passages) AS passages,
  cardinality(r.edges) AS edges
FROM memsvc.erasure_reach(:user_id, :kind, :id, NULL) AS r;

-- name: erasures_since
-- Erasures of a user that were begun or finished since a time, or are not finished yet, oldest first.
SELECT e.created_at, e.kind, e.subject_id
FROM memsvc.erasures AS e
WHERE e.user_id = :user_id AND (e.state = 'pending' OR greatest(e.created_at, e.finished_at) >= :since)
ORDER BY e.erasure_id;
