-- Statements of memsvc.graph.ontology.

-- name: node_types
-- Node types of the core and of a user, with the number of the user's nodes of each.
SELECT
  t.name, t.status, t.category, t.description, t.parent, t.reason, t.proposed_by, t.proposed_at, t.decided_by,
  t.decided_at, coalesce(c.nodes, 0) AS nodes
FROM memsvc.node_types AS t
LEFT JOIN memsvc.count_nodes(:user_id) AS c ON t.name = c.type
WHERE t.user_id IN (memsvc.core_user_id(), :user_id)
ORDER BY t.status <> 'core', t.name;

-- name: edge_types
-- Edge types of the core and of a user, with the number of the user's facts of each.
SELECT
  t.name, t.status, t.category, t.description, t.parent, t.reason, t.proposed_by, t.proposed_at, t.decided_by,
  t.decided_at, t.from_types, t.to_types, t.functional, coalesce(c.facts, 0) AS facts
FROM memsvc.edge_types AS t
LEFT JOIN memsvc.count_facts(:user_id) AS c ON t.name = c.type
WHERE t.user_id IN (memsvc.core_user_id(), :user_id)
ORDER BY t.status <> 'core', t.name;

-- name: describe_node_type
-- Changes the description.
UPDATE memsvc.node_types SET description = :description
WHERE user_id = :user_id AND name = :name
RETURNING name;

-- name: describe_edge_type
-- Changes the description.
UPDATE memsvc.edge_types SET description = :description
WHERE user_id = :user_id AND name = :name
RETURNING name;
