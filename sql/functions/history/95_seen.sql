-- When nodes were spoken of: the passages that support what is known about them. Under row security, as the caller.

-- For each of some nodes, when the first and the newest passage was said that supports anything that is known about it
-- and the nodes merged with it (null: now): facts of any valid time, properties, names, locations, merges, or the node
-- itself. A node that no passage supports has null for both; one without a row is unknown.
CREATE OR REPLACE FUNCTION memsvc.nodes_seen(p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS TABLE (canonical_id uuid, first_seen timestamptz, last_seen timestamptz)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of how many there are
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  stored uuid[];
  canonical uuid[];
BEGIN
  SELECT array_agg(s.node_id), array_agg(s.canonical_id) INTO stored, canonical
  FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  RETURN QUERY
  WITH same AS MATERIALIZED (SELECT u.* FROM unnest(stored, canonical) AS u (node_id, canonical_id)),
  fact AS MATERIALIZED (
    SELECT e.version_id, e.from_node, e.to_node FROM memsvc.edges_known(p_user_id, stored, 'both', p_known_at) AS e
  ),
  -- What a passage can support, and the node that it is about.
  subject AS MATERIALIZED (
    SELECT f.version_id AS id, s.canonical_id FROM fact AS f INNER JOIN same AS s ON s.node_id = f.from_node
    UNION ALL
    SELECT f.version_id, s.canonical_id FROM fact AS f INNER JOIN same AS s ON s.node_id = f.to_node
    UNION ALL
    SELECT v.version_id, s.canonical_id FROM same AS s INNER JOIN (
      SELECT o.* FROM node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (stored) AND o.recorded_to = 'infinity'
        AND o.recorded_from <= known
      ORDER BY o.node_id OFFSET 0
    ) AS v ON v.node_id = s.node_id
    UNION ALL
    SELECT v.version_id, s.canonical_id FROM same AS s INNER JOIN (
      SELECT o.* FROM node_versions AS o
      WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id AND o.node_id = ANY (stored)
        AND o.recorded_to < 'infinity' AND o.recorded_from <= p_known_at AND o.recorded_to > p_known_at
      ORDER BY o.node_id OFFSET 0
    ) AS v ON v.node_id = s.node_id
    UNION ALL
    SELECT v.alias_id, s.canonical_id FROM same AS s INNER JOIN (
      SELECT o.* FROM aliases AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (stored) AND o.recorded_from <= known
        AND (o.recorded_to = 'infinity' OR o.recorded_to > known)
      ORDER BY o.node_id OFFSET 0
    ) AS v ON v.node_id = s.node_id
    UNION ALL
    SELECT v.location_id, s.canonical_id FROM same AS s INNER JOIN (
      SELECT o.* FROM locations AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (stored) AND o.recorded_from <= known
        AND (o.recorded_to = 'infinity' OR o.recorded_to > known)
      ORDER BY o.node_id OFFSET 0
    ) AS v ON v.node_id = s.node_id
    UNION ALL
    SELECT m.merge_id, s.canonical_id FROM same AS s INNER JOIN (
      SELECT o.* FROM merges AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (stored) AND o.recorded_from <= known
        AND (o.recorded_to = 'infinity' OR o.recorded_to > known)
      ORDER BY o.node_id OFFSET 0
    ) AS m ON m.node_id = s.node_id
    UNION ALL
    SELECT s.node_id, s.canonical_id FROM same AS s
  ),
  link AS MATERIALIZED (
    SELECT l.id, l.passage_id
    FROM (
      (SELECT o.edge_version_id AS id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.edge_version_id = ANY (ARRAY(SELECT d.id FROM subject AS d))
      ORDER BY o.edge_version_id OFFSET 0)
      UNION ALL
      (SELECT o.node_version_id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.node_version_id = ANY (ARRAY(SELECT d.id FROM subject AS d))
      ORDER BY o.node_version_id OFFSET 0)
      UNION ALL
      (SELECT o.alias_id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.alias_id = ANY (ARRAY(SELECT d.id FROM subject AS d))
      ORDER BY o.alias_id OFFSET 0)
      UNION ALL
      (SELECT o.location_id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.location_id = ANY (ARRAY(SELECT d.id FROM subject AS d))
      ORDER BY o.location_id OFFSET 0)
      UNION ALL
      (SELECT o.merge_id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.merge_id = ANY (ARRAY(SELECT d.id FROM subject AS d))
      ORDER BY o.merge_id OFFSET 0)
      UNION ALL
      (SELECT o.node_id, o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (stored)
      ORDER BY o.node_id OFFSET 0)
    ) AS l
    WHERE l.stance = 'supports' AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  ),
  spoken AS (
    SELECT d.canonical_id, min(p.said_at) AS first_seen, max(p.said_at) AS last_seen
    FROM subject AS d
    INNER JOIN link AS l ON l.id = d.id
    INNER JOIN (
      SELECT o.passage_id, o.said_at FROM passages AS o
      WHERE o.user_id = p_user_id AND o.passage_id = ANY (ARRAY(SELECT i.passage_id FROM link AS i))
      ORDER BY o.passage_id OFFSET 0
    ) AS p ON p.passage_id = l.passage_id
    GROUP BY d.canonical_id
  )
  SELECT s.canonical_id, o.first_seen, o.last_seen
  FROM (SELECT DISTINCT c.canonical_id FROM same AS c) AS s
  LEFT JOIN spoken AS o ON o.canonical_id = s.canonical_id;
END
$$;
COMMENT ON FUNCTION memsvc.nodes_seen(uuid, uuid[], timestamptz) IS
  'When the first and the newest passage was said that supports anything about each node.';
