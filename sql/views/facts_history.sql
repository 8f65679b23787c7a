-- Everything that was ever believed, with its four times and the changes that wrote and closed it. The state of a
-- closed version is derived from what the closing change wrote in its place, because a batch mixes operations. Look-ups
-- compare with the users of both ends, so that a filter on state is applied after the joins: its high cost would hide
-- from the planner that a join without hashing compares every node with every fact (18 s instead of 0.5).
CREATE OR REPLACE VIEW memsvc.facts_history WITH (security_invoker = TRUE) AS
WITH thing AS MATERIALIZED (
  SELECT l.user_id, l.node_id, l.canonical_id, l.label, l.type FROM memsvc.node_labels AS l
)
SELECT
  v.user_id,
  v.version_id,
  v.edge_id,
  s.canonical_id AS subject_id,
  s.label AS subject,
  s.type AS subject_type,
  v.type AS predicate,
  o.canonical_id AS object_id,
  o.label AS object,
  o.type AS object_type,
  v.fact,
  nullif(v.valid_from, '-infinity') AS since,
  nullif(v.valid_to, 'infinity') AS until,
  v.recorded_from AS learnt_at,
  nullif(v.recorded_to, 'infinity') AS believed_until,
  v.recorded_to < 'infinity' AS superseded,
  CASE
    WHEN v.recorded_to = 'infinity' AND v.valid_to <= now() THEN 'ended'
    WHEN v.recorded_to = 'infinity' AND v.valid_from > now() THEN 'to come'
    WHEN v.recorded_to = 'infinity' THEN 'holds'
    WHEN v.recorded_to = v.recorded_from THEN 'overruled'
    WHEN EXISTS (
      SELECT FROM memsvc.edge_versions AS n
      WHERE n.user_id = s.user_id AND n.edge_id = v.edge_id AND n.recorded_from = v.recorded_to
        AND n.fact = v.fact AND n.data = v.data AND n.weight = v.weight AND n.confidence = v.confidence
    ) THEN 'shortened'
    WHEN EXISTS (
      SELECT FROM memsvc.edge_versions AS n
      WHERE n.user_id = o.user_id AND n.edge_id = v.edge_id AND n.recorded_from = v.recorded_to
    ) THEN 'corrected'
    WHEN v.functional AND EXISTS (
      SELECT FROM memsvc.edge_versions AS n
      WHERE n.user_id = v.user_id AND n.from_node = v.from_node AND n.type = v.type AND n.recorded_from = v.recorded_to
    ) THEN 'replaced'
    ELSE 'retracted'
  END AS state,
  v.derived_from,
  v.confidence,
  v.weight,
  v.data,
  v.asserted_by,
  w.change_id AS learnt_by_change,
  c.change_id AS closed_by_change,
  c.asserted_by AS closed_by,
  v.from_node AS stored_subject_id,
  v.to_node AS stored_object_id
FROM memsvc.edge_versions AS v
INNER JOIN thing AS s ON v.user_id = s.user_id AND v.from_node = s.node_id
INNER JOIN thing AS o ON v.user_id = o.user_id AND v.to_node = o.node_id
LEFT JOIN memsvc.changes AS w ON v.user_id = w.user_id AND v.recorded_from = w.recorded_at
LEFT JOIN memsvc.changes AS c ON v.user_id = c.user_id AND v.recorded_to = c.recorded_at;
COMMENT ON VIEW memsvc.facts_history IS 'Every version of every fact, with its four times; merged nodes are one.';
COMMENT ON COLUMN memsvc.facts_history.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.facts_history.version_id IS 'The version.';
COMMENT ON COLUMN memsvc.facts_history.edge_id IS 'The relation; the same through all versions.';
COMMENT ON COLUMN memsvc.facts_history.subject_id IS
  'The person or thing that it is about; for merged nodes the one that is canonical now.';
COMMENT ON COLUMN memsvc.facts_history.subject IS 'Its label now; null if nothing is known of it any more.';
COMMENT ON COLUMN memsvc.facts_history.subject_type IS 'Its type now.';
COMMENT ON COLUMN memsvc.facts_history.predicate IS 'The type of the relation, for example LIVES_IN.';
COMMENT ON COLUMN memsvc.facts_history.object_id IS 'The other end; for merged nodes the one that is canonical now.';
COMMENT ON COLUMN memsvc.facts_history.object IS 'Its label now.';
COMMENT ON COLUMN memsvc.facts_history.object_type IS 'Its type now.';
COMMENT ON COLUMN memsvc.facts_history.fact IS 'The fact as a sentence.';
COMMENT ON COLUMN memsvc.facts_history.since IS
  'When it began; null: no known start. Counted from when it was said, its data have "by" and that day.';
COMMENT ON COLUMN memsvc.facts_history.until IS
  'The first moment at which it was not true any more; null: no known end.';
COMMENT ON COLUMN memsvc.facts_history.learnt_at IS 'When this version was recorded.';
COMMENT ON COLUMN memsvc.facts_history.believed_until IS 'When it was closed; null: it is still believed.';
COMMENT ON COLUMN memsvc.facts_history.superseded IS 'True: it is not believed any more.';
COMMENT ON COLUMN memsvc.facts_history.state IS
  'Still believed: holds, ended or to come. No longer believed: shortened (true for a shorter time), corrected (the '
  'content changed), replaced (by another value), retracted, or overruled within its own batch.';
COMMENT ON COLUMN memsvc.facts_history.derived_from IS
  'The version of which it is a remainder or a restoration; null: new knowledge.';
COMMENT ON COLUMN memsvc.facts_history.confidence IS 'How sure its author was: above 0, at most 1.';
COMMENT ON COLUMN memsvc.facts_history.weight IS 'How strong the relation was.';
COMMENT ON COLUMN memsvc.facts_history.data IS 'Further properties.';
COMMENT ON COLUMN memsvc.facts_history.asserted_by IS 'Who asserted it.';
COMMENT ON COLUMN memsvc.facts_history.learnt_by_change IS 'The change that recorded it; see changes.';
COMMENT ON COLUMN memsvc.facts_history.closed_by_change IS 'The change that closed it.';
COMMENT ON COLUMN memsvc.facts_history.closed_by IS 'Who made that change.';
COMMENT ON COLUMN memsvc.facts_history.stored_subject_id IS 'The node at which it is stored.';
COMMENT ON COLUMN memsvc.facts_history.stored_object_id IS 'The same for the other end.';
