-- Finds operations that a batch of changes must not apply, because their knowledge was erased.

-- Positions of operations that would bring back what was erased: they have evidence, and all of it is older than the
-- tombstone of their edge or name. So a job that reads old texts again restores nothing, while entries by hand and
-- newer texts count as new knowledge. If a node is not made, all operations of the batch about it are left out too.
-- Evidence that does not exist is left to check_operations. Edges are compared by their canonical nodes; an edge that
-- does not exist yet is also compared in the other direction, if its type is symmetric.
CREATE OR REPLACE FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  erased integer[];
  unmade uuid[];
BEGIN
  IF NOT EXISTS (SELECT FROM tombstones AS t WHERE t.user_id = p_user_id) THEN
    RETURN '{}';
  END IF;
  WITH operation AS MATERIALIZED (
    SELECT o.* FROM jsonb_to_recordset(p_operations) AS o (
      position integer, op text, node_id uuid, fresh boolean, from_node uuid, type text, to_node uuid, key text,
      label text, alias text, evidence jsonb
    )
    WHERE jsonb_array_length(coalesce(o.evidence, '[]')) > 0
  ),
  ends AS MATERIALIZED (
    SELECT ARRAY(
      SELECT o.from_node FROM operation AS o WHERE o.op = 'edge'
      UNION
      SELECT o.to_node FROM operation AS o WHERE o.op = 'edge'
    ) AS nodes
  ),
  same AS MATERIALIZED (
    SELECT r.node_id, s.node_id AS stored
    FROM ends AS e
    CROSS JOIN LATERAL memsvc.resolve_nodes(p_user_id, e.nodes) AS r
    INNER JOIN LATERAL memsvc.same_nodes(p_user_id, e.nodes) AS s ON s.canonical_id = r.canonical_id
  ),
  subject AS (
    SELECT o.position, jsonb_build_array('edge', f.stored, o.type, t.stored, coalesce(o.key, '')) AS said
    FROM operation AS o
    INNER JOIN same AS f ON f.node_id = o.from_node
    INNER JOIN same AS t ON t.node_id = o.to_node
    WHERE o.op = 'edge'
    UNION ALL
    SELECT o.position, jsonb_build_array('edge', t.stored, o.type, f.stored, coalesce(o.key, ''))
    FROM operation AS o
    INNER JOIN same AS f ON f.node_id = o.from_node
    INNER JOIN same AS t ON t.node_id = o.to_node
    WHERE o.op = 'edge' AND o.type IN ('KNOWS', 'FAMILY_OF') AND NOT EXISTS (
      SELECT FROM edges AS e
      WHERE e.user_id = p_user_id AND e.from_node = o.from_node AND e.type = o.type AND e.to_node = o.to_node
        AND e.key = coalesce(o.key, '')
    )
    UNION ALL
    SELECT o.position,
      jsonb_build_array('name', memsvc.normal_form(CASE o.op WHEN 'node' THEN o.label ELSE o.alias END))
    FROM operation AS o
    WHERE o.op = 'alias' OR (o.op = 'node' AND o.fresh)
  )
  SELECT coalesce(array_agg(DISTINCT o.position), '{}'),
    coalesce(array_agg(DISTINCT o.node_id) FILTER (WHERE o.op = 'node'), '{}')
  INTO erased, unmade
  FROM subject AS s
  INNER JOIN operation AS o ON o.position = s.position
  CROSS JOIN LATERAL (
    SELECT t.recorded_at FROM tombstones AS t
    WHERE t.user_id = p_user_id AND t.digest = memsvc.tombstone_digest(s.said)
    OFFSET 0
  ) AS t
  WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset(o.evidence) AS e (passage_id uuid)
    LEFT JOIN LATERAL (
      SELECT p.recorded_at FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = e.passage_id OFFSET 0
    ) AS p ON true
    WHERE (p.recorded_at < t.recorded_at) IS NOT TRUE
  );
  IF unmade <> '{}' THEN
    SELECT array_agg(o.position) INTO erased
    FROM jsonb_to_recordset(p_operations) AS o (
      position integer, node_id uuid, from_node uuid, to_node uuid, canonical_id uuid
    )
    WHERE o.position = ANY (erased) OR o.node_id = ANY (unmade) OR o.from_node = ANY (unmade)
      OR o.to_node = ANY (unmade) OR o.canonical_id = ANY (unmade);
  END IF;
  RETURN erased;
END
$$;
COMMENT ON FUNCTION memsvc.erased_operations(uuid, jsonb) IS
  'Positions of operations that would only bring back what was erased.';
