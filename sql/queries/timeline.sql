-- Statements of memsvc.recall.timeline: what happened when.

-- name: timeline_counts
SELECT c.begins, c.kind, c.moments
FROM memsvc.timeline_counts(
  :user_id, :zone, :step, CAST(:begins AS timestamptz), CAST(:ends AS timestamptz), CAST(:kinds AS text[]),
  CAST(:node AS uuid), :limit
) AS c;

-- name: timeline_entries
SELECT
  e.at,
  e.since,
  e.kind,
  e.id,
  e.moments,
  coalesce(p.source_id, d.source_id) AS source_id,
  coalesce(n.node_id, v.from_node) AS node_id,
  v.edge_id,
  coalesce(nullif(s.title, ''), s.identifier, d.title, n.label, v.fact, '') AS title,
  left(coalesce(p.text, n.description, ''), :excerpt) AS text,
  coalesce(nullif(p.speaker, ''), p.role, '') AS speaker
FROM memsvc.timeline_entries(
  :user_id, :zone, CAST(:begins AS timestamptz), CAST(:ends AS timestamptz), CAST(:kinds AS text[]),
  CAST(:node AS uuid), CAST(:after_at AS timestamptz), CAST(:after_kind AS text), CAST(:after_id AS uuid), :limit
) AS e
LEFT JOIN memsvc.passages AS p ON e.kind = 'message' AND p.user_id = :user_id AND p.passage_id = e.id
LEFT JOIN memsvc.sources AS s ON e.kind = 'message' AND s.user_id = :user_id AND s.source_id = e.thing_id
LEFT JOIN memsvc.document_versions AS d
  ON e.kind = 'document' AND d.user_id = :user_id AND d.source_id = e.thing_id AND d.recorded_from = e.at
LEFT JOIN memsvc.node_versions AS n ON e.kind = 'event' AND n.user_id = :user_id AND n.version_id = e.id
LEFT JOIN memsvc.edge_versions AS v
  ON e.kind IN ('began', 'ended') AND v.user_id = :user_id AND v.version_id = e.id
ORDER BY e.at DESC, e.kind DESC, e.id DESC;

-- name: timeline_news
SELECT n.kind, n.thing_id, n.id, n.stored, coalesce(nullif(s.title, ''), s.identifier) AS title
FROM memsvc.timeline_news(:user_id, CAST(:since AS timestamptz), :limit) AS n
LEFT JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = n.thing_id
ORDER BY n.id DESC NULLS FIRST;
