-- Facts that are true now, in words. Each end is shown as its canonical node. Counts of evidence compare with the users
-- of both ends, so that a filter on them is applied after the joins (see facts_history).
CREATE OR REPLACE VIEW memsvc.facts_current WITH (security_invoker = TRUE) AS
WITH thing AS MATERIALIZED (
  SELECT l.user_id, l.node_id, l.canonical_id, l.label, l.type, l.several FROM memsvc.node_labels AS l
),
-- Only merged nodes can have two values of a functional type at one time.
rivals AS (
  SELECT s.user_id, s.canonical_id, v.type
  FROM thing AS s
  INNER JOIN memsvc.edge_versions AS v
    ON s.user_id = v.user_id AND s.node_id = v.from_node AND v.recorded_to = 'infinity'
      AND v.functional AND v.valid_from <= now() AND v.valid_to > now()
  INNER JOIN thing AS o ON v.user_id = o.user_id AND v.to_node = o.node_id
  WHERE s.several
  GROUP BY s.user_id, s.canonical_id, v.type
  HAVING count(DISTINCT o.canonical_id) > 1
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
  v.confidence,
  v.weight,
  v.data,
  v.asserted_by,
  v.recorded_from AS learnt_at,
  (
    SELECT count(DISTINCT row(p.source_id, p.session, p.ordinal))
    FROM memsvc.source_links AS k
    INNER JOIN memsvc.passages AS p ON k.user_id = p.user_id AND k.passage_id = p.passage_id
    WHERE k.user_id = s.user_id AND p.user_id = o.user_id AND k.edge_version_id = v.version_id
      AND k.stance = 'supports' AND k.recorded_to = 'infinity'
  ) AS messages,
  (
    SELECT count(DISTINCT p.source_id)
    FROM memsvc.source_links AS k
    INNER JOIN memsvc.passages AS p ON k.user_id = p.user_id AND k.passage_id = p.passage_id
    WHERE k.user_id = s.user_id AND p.user_id = o.user_id AND k.edge_version_id = v.version_id
      AND k.stance = 'supports' AND k.recorded_to = 'infinity'
  ) AS sources,
  -- As memsvc.disputed_versions: of each author the last annotation counts.
  (r.canonical_id IS NOT NULL AND v.functional) OR EXISTS (
    SELECT FROM (
      SELECT DISTINCT ON (k.asserted_by) k.stance
      FROM memsvc.source_links AS k
      WHERE k.user_id = s.user_id AND k.edge_version_id = v.version_id AND k.stance IN ('validated', 'disputed')
        AND k.recorded_to = 'infinity'
      ORDER BY k.asserted_by ASC, k.passage_id DESC, k.link_id DESC
    ) AS a
    WHERE a.stance = 'disputed'
  ) AS contested,
  v.from_node AS stored_subject_id,
  v.to_node AS stored_object_id
FROM memsvc.edge_versions AS v
INNER JOIN thing AS s ON v.user_id = s.user_id AND v.from_node = s.node_id
INNER JOIN thing AS o ON v.user_id = o.user_id AND v.to_node = o.node_id
LEFT JOIN rivals AS r ON s.user_id = r.user_id AND s.canonical_id = r.canonical_id AND v.type = r.type
WHERE v.recorded_to = 'infinity' AND v.valid_from <= now() AND v.valid_to > now();
COMMENT ON VIEW memsvc.facts_current IS 'Facts that are true now, as known now; merged nodes are one.';
COMMENT ON COLUMN memsvc.facts_current.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.facts_current.version_id IS 'The version of the fact.';
COMMENT ON COLUMN memsvc.facts_current.edge_id IS 'The relation; the same through all versions.';
COMMENT ON COLUMN memsvc.facts_current.subject_id IS
  'The person or thing that it is about; for merged nodes the canonical one.';
COMMENT ON COLUMN memsvc.facts_current.subject IS 'Its label; null if nothing is known of it any more.';
COMMENT ON COLUMN memsvc.facts_current.subject_type IS 'Its type.';
COMMENT ON COLUMN memsvc.facts_current.predicate IS 'The type of the relation, for example LIVES_IN.';
COMMENT ON COLUMN memsvc.facts_current.object_id IS 'The other end; for merged nodes the canonical one.';
COMMENT ON COLUMN memsvc.facts_current.object IS 'Its label.';
COMMENT ON COLUMN memsvc.facts_current.object_type IS 'Its type.';
COMMENT ON COLUMN memsvc.facts_current.fact IS 'The fact as a sentence.';
COMMENT ON COLUMN memsvc.facts_current.since IS
  'When it began; null: no known start. Counted from when it was said, its data have "by" and that day.';
COMMENT ON COLUMN memsvc.facts_current.until IS 'When it will end; null: no known end.';
COMMENT ON COLUMN memsvc.facts_current.confidence IS 'How sure its author is: above 0, at most 1.';
COMMENT ON COLUMN memsvc.facts_current.weight IS 'How strong the relation is.';
COMMENT ON COLUMN memsvc.facts_current.data IS 'Further properties.';
COMMENT ON COLUMN memsvc.facts_current.asserted_by IS 'Who asserted it: user, app, or a model with its version.';
COMMENT ON COLUMN memsvc.facts_current.learnt_at IS 'When this version was recorded.';
COMMENT ON COLUMN memsvc.facts_current.messages IS 'How many messages support it.';
COMMENT ON COLUMN memsvc.facts_current.sources IS 'How many sources (conversations) these messages are from.';
COMMENT ON COLUMN memsvc.facts_current.contested IS
  'Somebody disputes it; or the type allows one value at a time, but merged nodes have different ones.';
COMMENT ON COLUMN memsvc.facts_current.stored_subject_id IS
  'The node at which it is stored; differs from subject_id after a merge.';
COMMENT ON COLUMN memsvc.facts_current.stored_object_id IS 'The same for the other end.';
