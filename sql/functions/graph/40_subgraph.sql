-- All facts between some nodes, and the neighbourhood of several nodes.

-- All facts with both ends among these nodes and the nodes merged with them, the strongest first, at most p_limit
-- (null: all). Ends are resolved; a fact from a node to itself is included.
CREATE OR REPLACE FUNCTION memsvc.edges_between(
  p_user_id uuid, p_nodes uuid[], p_types text[] DEFAULT NULL, p_limit integer DEFAULT NULL,
  p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (version_id uuid, from_node uuid, to_node uuid, weight real)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of nodes
AS $$
#variable_conflict use_column
DECLARE
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF memsvc.any_merges(p_user_id, p_known_at) THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  END IF;
  RETURN QUERY
  WITH same AS MATERIALIZED (
    SELECT DISTINCT s.canonical_id, s.node_id FROM unnest(canonical, stored) AS s (canonical_id, node_id)
  ),
  -- Identities of edges are sorted by start, type and end, so that the list of neither end is read completely.
  edge AS MATERIALIZED (
    SELECT e.edge_id, e.from_node, e.to_node FROM edges AS e
    WHERE e.user_id = p_user_id AND e.from_node = ANY (stored) AND e.to_node = ANY (stored)
      AND (p_types IS NULL OR e.type = ANY (p_types))
    ORDER BY e.from_node, e.type, e.to_node
  )
  SELECT v.version_id, f.canonical_id, t.canonical_id, v.weight
  FROM edge AS e
  INNER JOIN (
    (SELECT o.* FROM edge_versions AS o
    WHERE o.user_id = p_user_id AND o.edge_id = ANY (ARRAY(SELECT i.edge_id FROM edge AS i))
      AND o.recorded_to = 'infinity' AND o.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY o.edge_id OFFSET 0)
    UNION ALL
    (SELECT o.* FROM edge_versions AS o
    WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id
      AND o.edge_id = ANY (ARRAY(SELECT i.edge_id FROM edge AS i)) AND o.recorded_to < 'infinity'
      AND o.recorded_from <= p_known_at AND o.recorded_to > p_known_at
    ORDER BY o.edge_id OFFSET 0)
  ) AS v ON v.edge_id = e.edge_id
  INNER JOIN same AS f ON f.node_id = e.from_node
  INNER JOIN same AS t ON t.node_id = e.to_node
  WHERE p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of)
  ORDER BY v.weight DESC, v.version_id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.edges_between(uuid, uuid[], text[], integer, timestamptz, timestamptz) IS
  'All facts among some nodes.';

-- Nodes, those within some hops of them, and all facts among them, as JSON. p_limit bounds the nodes, and four times as
-- many facts are returned; the given nodes are always included.
CREATE OR REPLACE FUNCTION memsvc.graph_among(
  p_user_id uuid, p_nodes uuid[], p_hops integer DEFAULT 0, p_types text[] DEFAULT NULL,
  p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 500, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (unknown uuid[], nodes json, edges json, truncated boolean)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  walk record;
  facts uuid[];
  most CONSTANT integer := 4 * p_limit;
BEGIN
  SELECT array_agg(n.node_id) AS nodes, array_agg(n.hop) AS hops, bool_or(n.truncated) AS truncated INTO walk
  FROM memsvc.neighbourhood(
    p_user_id, p_nodes, p_hops, p_types, 'both', p_fan_out, p_limit, p_as_of, p_known_at
  ) AS n;
  facts := ARRAY(
    SELECT b.version_id
    FROM memsvc.edges_between(p_user_id, walk.nodes, p_types, most + 1, p_as_of, p_known_at) AS b
  );
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, p_nodes), g.nodes, g.edges,
    walk.truncated OR coalesce(cardinality(facts) > most, false)
  FROM memsvc.graph_shown(
    p_user_id, walk.nodes, walk.hops, CASE WHEN most IS NULL THEN facts ELSE facts[:most] END, p_as_of, p_known_at
  ) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.graph_among(
  uuid, uuid[], integer, text[], integer, integer, timestamptz, timestamptz
) IS 'Nodes, their neighbours, and all facts among them, as JSON.';
