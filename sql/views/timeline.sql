-- One row for each event: said, begun, ended, learnt, merged. The view has no order; sort it by "at".
CREATE OR REPLACE VIEW memsvc.timeline WITH (security_invoker = TRUE) AS
SELECT
  p.user_id,
  p.said_at AS at,
  'message' AS kind,
  CASE WHEN p.speaker = '' THEN p.text ELSE p.speaker || ': ' || p.text END AS what,
  p.source_id,
  p.passage_id,
  NULL::uuid AS version_id,
  NULL::uuid AS edge_id,
  NULL::uuid AS node_id,
  NULL::uuid AS other_node_id
FROM memsvc.passages AS p
WHERE p.version_id IS NULL AND p.kind = 'message' AND p.part = 0
UNION ALL
-- A fact that continues an earlier version with other content did not begin on that day.
SELECT v.user_id, v.valid_from, 'began', v.fact, NULL, NULL, v.version_id, v.edge_id, v.from_node, v.to_node
FROM memsvc.edge_versions AS v
WHERE v.recorded_to = 'infinity' AND v.valid_from > '-infinity' AND NOT EXISTS (
  SELECT FROM memsvc.edge_versions AS b
  WHERE b.user_id = v.user_id AND b.edge_id = v.edge_id AND b.valid_to = v.valid_from AND b.recorded_to = 'infinity'
)
UNION ALL
SELECT v.user_id, v.valid_to, 'ended', v.fact, NULL, NULL, v.version_id, v.edge_id, v.from_node, v.to_node
FROM memsvc.edge_versions AS v
WHERE v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND NOT EXISTS (
  SELECT FROM memsvc.edge_versions AS a
  WHERE a.user_id = v.user_id AND a.edge_id = v.edge_id AND a.valid_from = v.valid_to AND a.recorded_to = 'infinity'
)
UNION ALL
-- Remainders of older versions are not new, nor are versions that were overruled within their batch.
SELECT v.user_id, v.recorded_from, 'learnt', v.fact, NULL, NULL, v.version_id, v.edge_id, v.from_node, v.to_node
FROM memsvc.edge_versions AS v
WHERE v.derived_from IS NULL AND v.recorded_to > v.recorded_from
UNION ALL
SELECT
  m.user_id,
  m.at,
  m.kind,
  concat_ws(': ', format('%s %s %s', coalesce((
    SELECT n.label FROM memsvc.node_versions AS n
    WHERE n.user_id = m.user_id AND n.node_id = m.node_id AND n.recorded_to = 'infinity'
    ORDER BY n.valid_from DESC LIMIT 1
  ), m.node_id::text), m.verb, coalesce((
    SELECT n.label FROM memsvc.node_versions AS n
    WHERE n.user_id = m.user_id AND n.node_id = m.canonical_id AND n.recorded_to = 'infinity'
    ORDER BY n.valid_from DESC LIMIT 1
  ), m.canonical_id::text)), nullif(m.reason, '')),
  NULL, NULL, NULL, NULL, m.node_id, m.canonical_id
FROM (
  SELECT o.user_id, o.recorded_from AS at, 'merged' AS kind, 'is' AS verb, o.node_id, o.canonical_id, o.reason
  FROM memsvc."merges" AS o
  WHERE o.recorded_to > o.recorded_from
  UNION ALL
  SELECT o.user_id, o.recorded_to, 'unmerged', 'is not', o.node_id, o.canonical_id, o.reason
  FROM memsvc."merges" AS o
  WHERE o.recorded_to > o.recorded_from AND o.recorded_to < 'infinity'
) AS m;
COMMENT ON VIEW memsvc.timeline IS 'Events: said, begun, ended, learnt, merged; one row for each.';
COMMENT ON COLUMN memsvc.timeline.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.timeline.at IS
  'When: for messages, begins and ends, the time in the world; for learnt, merged and unmerged, the recorded time.';
COMMENT ON COLUMN memsvc.timeline.kind IS 'message, began, ended, learnt, merged or unmerged.';
COMMENT ON COLUMN memsvc.timeline.what IS
  'The message with its speaker (the first part of a long one), the fact as a sentence, or the merged (or unmerged) '
  'nodes and the reason.';
COMMENT ON COLUMN memsvc.timeline.source_id IS 'The conversation of a message.';
COMMENT ON COLUMN memsvc.timeline.passage_id IS 'The message.';
COMMENT ON COLUMN memsvc.timeline.version_id IS 'The version of a fact.';
COMMENT ON COLUMN memsvc.timeline.edge_id IS 'The relation of a fact.';
COMMENT ON COLUMN memsvc.timeline.node_id IS 'The stored subject; for a merge, the merged node.';
COMMENT ON COLUMN memsvc.timeline.other_node_id IS
  'The stored object; for a merge, the node into which it was merged.';
