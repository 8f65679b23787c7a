-- Statements of memsvc.graph.notes.

-- name: notes
-- Notes as they are now, newest first; for merged notes the canonical one. :q: only those with this in title or text,
-- or (:beyond) only those without it. :among: only these.
SELECT
  v.node_id AS note_id, v.version_id, v.label AS title, v.description AS text, v.data, v.importance, v.asserted_by,
  v.recorded_from
FROM memsvc.node_versions AS v
WHERE
  v.user_id = :user_id AND v.type = 'Note' AND v.recorded_to = 'infinity'
  AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
  AND (CAST(:note_id AS uuid) IS NULL OR v.node_id = :note_id)
  AND (CAST(:after AS uuid) IS NULL OR v.node_id < :after)
  AND (CAST(:kind AS text) IS NULL OR coalesce(v.data ->> 'kind', 'fact') = :kind)
  AND (CAST(:tag AS text) IS NULL OR v.data @> jsonb_build_object('tags', jsonb_build_array(CAST(:tag AS text))))
  AND (CAST(:among AS uuid []) IS NULL OR v.node_id = any(CAST(:among AS uuid [])))
  AND (
    CAST(:q AS text) IS NULL
    OR (strpos(lower(v.label || E'\n' || v.description), lower(:q)) > 0) <> CAST(:beyond AS boolean)
  )
  AND NOT EXISTS (
    SELECT 1 FROM memsvc."merges" AS m
    WHERE m.user_id = :user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
  )
ORDER BY v.node_id DESC
LIMIT :limit;

-- name: notes_passed_over
-- Notes as they are now that have :q in title or text, or are of another kind than :kind, where it is given; and the
-- nodes that are merged into them.
WITH note AS MATERIALIZED (
  SELECT v.node_id
  FROM memsvc.node_versions AS v
  WHERE
    v.user_id = :user_id AND v.type = 'Note' AND v.recorded_to = 'infinity'
    AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
    AND (
      strpos(lower(v.label || E'\n' || v.description), lower(:q)) > 0
      OR coalesce(v.data ->> 'kind', 'fact') <> CAST(:kind AS text)
    )
)

SELECT n.node_id
FROM note AS n
UNION ALL
SELECT m.node_id
FROM memsvc."merges" AS m
WHERE
  m.user_id = :user_id AND m.recorded_to = 'infinity'
  AND m.canonical_id = any(array(SELECT n.node_id FROM note AS n));

-- name: note_subjects
-- What notes are about now: the linked nodes, and their canonical nodes.
SELECT f.from_node, f.to_node
FROM memsvc.facts(:user_id, CAST(:nodes AS uuid []), '{ABOUT}', clock_timestamp(), NULL, 'from') AS f;

-- name: edge_type_of
-- The type of an edge.
SELECT e.type
FROM memsvc.edges AS e
WHERE e.user_id = :user_id AND e.edge_id = :edge_id;
