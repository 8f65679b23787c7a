-- The canonical node of every node now: functions resolve single nodes, views join this. The recursion begins at nodes
-- that represent others and are not merged themselves, so it finds each merged node once.
CREATE OR REPLACE VIEW memsvc.canonical_nodes WITH (security_invoker = TRUE) AS
WITH RECURSIVE merged AS (
  SELECT m.user_id, m.node_id, m.canonical_id
  FROM memsvc."merges" AS m
  WHERE m.recorded_to = 'infinity' AND NOT EXISTS (
    SELECT FROM memsvc."merges" AS above
    WHERE above.user_id = m.user_id AND above.node_id = m.canonical_id AND above.recorded_to = 'infinity'
  )
  UNION ALL
  SELECT m.user_id, m.node_id, w.canonical_id
  FROM merged AS w
  INNER JOIN memsvc."merges" AS m
    ON w.user_id = m.user_id AND w.node_id = m.canonical_id AND m.recorded_to = 'infinity'
)
SELECT
  n.user_id,
  n.node_id,
  coalesce(m.canonical_id, n.node_id) AS canonical_id,
  m.node_id IS NOT NULL AS merged
FROM memsvc.nodes AS n
LEFT JOIN merged AS m ON n.user_id = m.user_id AND n.node_id = m.node_id;
COMMENT ON VIEW memsvc.canonical_nodes IS
  'The canonical node of each node now; itself if it is not merged.';
COMMENT ON COLUMN memsvc.canonical_nodes.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.canonical_nodes.node_id IS 'A stored node.';
COMMENT ON COLUMN memsvc.canonical_nodes.canonical_id IS 'The node that represents it.';
COMMENT ON COLUMN memsvc.canonical_nodes.merged IS 'Whether it is merged into another node.';

-- Current properties of things, one row for each canonical node. The same rule as in memsvc.node_cards: what is true
-- now, else a known version of another time; properties of the node itself before those of nodes merged into it.
CREATE OR REPLACE VIEW memsvc.nodes_current WITH (security_invoker = TRUE) AS
WITH same AS MATERIALIZED (
  SELECT c.user_id, c.node_id, c.canonical_id, c.merged FROM memsvc.canonical_nodes AS c
),
merged AS (
  SELECT s.user_id, s.canonical_id, array_agg(s.node_id ORDER BY s.node_id) AS nodes
  FROM same AS s
  WHERE s.merged
  GROUP BY s.user_id, s.canonical_id
),
card AS (
  SELECT DISTINCT ON (s.user_id, s.canonical_id)
    s.user_id, s.canonical_id, v.type, v.label, v.description, v.data, v.importance, v.valid_from, v.valid_to,
    v.valid_from <= now() AND v.valid_to > now() AS holds
  FROM same AS s
  INNER JOIN memsvc.node_versions AS v
    ON s.user_id = v.user_id AND s.node_id = v.node_id AND v.recorded_to = 'infinity'
  ORDER BY
    s.user_id ASC, s.canonical_id ASC, (v.valid_from <= now() AND v.valid_to > now()) DESC,
    v.node_id = s.canonical_id DESC, v.valid_from DESC, v.version_id ASC
)
SELECT
  s.user_id,
  s.node_id,
  k.type,
  k.label,
  k.description,
  k.data,
  k.importance,
  nullif(k.valid_from, '-infinity') AS since,
  nullif(k.valid_to, 'infinity') AS until,
  coalesce(k.holds, FALSE) AS holds,
  s.node_id || coalesce(m.nodes, '{}') AS nodes
FROM same AS s
LEFT JOIN card AS k ON s.user_id = k.user_id AND s.node_id = k.canonical_id
LEFT JOIN merged AS m ON s.user_id = m.user_id AND s.node_id = m.canonical_id
WHERE NOT s.merged;
COMMENT ON VIEW memsvc.nodes_current IS 'Things with their current properties; merged nodes are one.';
COMMENT ON COLUMN memsvc.nodes_current.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.nodes_current.node_id IS 'The thing; for merged nodes the canonical one.';
COMMENT ON COLUMN memsvc.nodes_current.type IS 'Its type; null if everything known of it was taken back.';
COMMENT ON COLUMN memsvc.nodes_current.label IS 'Its name; null as above.';
COMMENT ON COLUMN memsvc.nodes_current.description IS 'Its description.';
COMMENT ON COLUMN memsvc.nodes_current.data IS 'Further properties.';
COMMENT ON COLUMN memsvc.nodes_current.importance IS '1 to 10.';
COMMENT ON COLUMN memsvc.nodes_current.since IS 'When these properties began; null: no known start.';
COMMENT ON COLUMN memsvc.nodes_current.until IS 'When they ended or will end; null: no known end.';
COMMENT ON COLUMN memsvc.nodes_current.holds IS 'False: nothing is known about now; these are of another time.';
COMMENT ON COLUMN memsvc.nodes_current.nodes IS 'All stored nodes that are this thing, the canonical one first.';

-- The label and type of every stored node: those of its canonical node. For other views.
CREATE OR REPLACE VIEW memsvc.node_labels WITH (security_invoker = TRUE) AS
SELECT
  n.user_id,
  stored.node_id,
  n.node_id AS canonical_id,
  n.label,
  n.type,
  cardinality(n.nodes) > 1 AS several
FROM memsvc.nodes_current AS n
CROSS JOIN LATERAL unnest(n.nodes) AS stored (node_id);
COMMENT ON VIEW memsvc.node_labels IS 'The label and type of each stored node.';
COMMENT ON COLUMN memsvc.node_labels.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.node_labels.node_id IS 'A stored node.';
COMMENT ON COLUMN memsvc.node_labels.canonical_id IS 'The node that represents it.';
COMMENT ON COLUMN memsvc.node_labels.label IS 'The name of the thing that it is.';
COMMENT ON COLUMN memsvc.node_labels.type IS 'The type of the thing that it is.';
COMMENT ON COLUMN memsvc.node_labels.several IS 'Whether this thing has several stored nodes.';
