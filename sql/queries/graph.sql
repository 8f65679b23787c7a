-- Statements of memsvc.graph. Bounds that lie at infinity come as null: Python has no such time.

-- name: facts
-- Facts about nodes and all that are the same.
SELECT
  f.version_id, f.edge_id, f.from_node, f.type, f.to_node, f.key, f.fact, f.data, f.weight, f.confidence, f.asserted_by,
  nullif(f.valid_from, '-infinity') AS valid_from, nullif(f.valid_to, 'infinity') AS valid_to, f.recorded_from,
  nullif(f.recorded_to, 'infinity') AS recorded_to, f.contested, f.stored_from, f.stored_to
FROM memsvc.facts(
  :user_id, CAST(:nodes AS uuid []), CAST(:types AS text []), :as_of, :known_at, :side
) AS f;

-- name: node_states
-- Properties of nodes and of all that are the same.
SELECT
  s.canonical_id, s.node_id, s.version_id, s.type, s.label, s.description, s.data, s.importance, s.asserted_by,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to, s.recorded_from,
  nullif(s.recorded_to, 'infinity') AS recorded_to
FROM memsvc.node_states(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS s;

-- name: node_names
-- Names of nodes and of all that are the same.
SELECT
  a.canonical_id, a.node_id, a.alias_id, a.alias, a.normal_form, a.confidence, a.asserted_by,
  nullif(a.valid_from, '-infinity') AS valid_from, nullif(a.valid_to, 'infinity') AS valid_to, a.recorded_from,
  nullif(a.recorded_to, 'infinity') AS recorded_to
FROM memsvc.node_names(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS a;

-- name: nodes_called
-- Nodes that have one of these names.
SELECT c.name, c.canonical_id, c.node_id, c.alias, c.confidence
FROM memsvc.nodes_called(:user_id, CAST(:names AS text []), :as_of, :known_at) AS c;

-- name: resolve_nodes
-- For each node the one that stands for it.
SELECT r.node_id, r.canonical_id
FROM memsvc.resolve_nodes(:user_id, CAST(:nodes AS uuid []), :known_at) AS r;

-- name: known_nodes
-- Which of these nodes there are.
SELECT n.node_id
FROM memsvc.nodes AS n
WHERE n.user_id = :user_id AND n.node_id = any(CAST(:nodes AS uuid []));

-- name: node_history
-- What was ever recorded of a node and of all that are the same now, newest first.
SELECT
  h.at, h.event, h.kind, h.id, h.subject, h.content, h.asserted_by, nullif(h.valid_from, '-infinity') AS valid_from,
  nullif(h.valid_to, 'infinity') AS valid_to, h.change_id, h.changed_by
FROM memsvc.history_of(:user_id, :node_id, :before, :limit) AS h;

-- name: evidence
-- Passages behind versions of one kind.
SELECT
  v.version_id, l.passage_id, l.span_from, l.span_to, l.stance, l.confidence, l.asserted_by, l.recorded_from
FROM unnest(CAST(:versions AS uuid [])) AS v (version_id)
CROSS JOIN LATERAL memsvc.links_of(:user_id, :kind, v.version_id, :known_at) AS l
ORDER BY v.version_id, l.link_id;
