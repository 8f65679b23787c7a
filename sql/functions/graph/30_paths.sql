-- Shortest paths: two searches, one from each end, level by level, until they meet.

-- Up to p_limit of the shortest paths between two nodes, those with the strongest edges first; between the same two
-- nodes only the strongest edge counts. One row for each path, or one row without nodes if there is none. complete:
-- false if the search gave up after p_work edges (null: no bound). Then a row without nodes means that a path may
-- exist, and a row with nodes that there may be others of the same length. truncated: there are more than p_limit.
CREATE OR REPLACE FUNCTION memsvc.paths(
  p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer DEFAULT 4, p_types text[] DEFAULT NULL,
  p_side text DEFAULT 'both', p_limit integer DEFAULT 5, p_work integer DEFAULT 50000,
  p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (path bigint, nodes uuid[], versions uuid[], complete boolean, truncated boolean)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  back CONSTANT text := CASE p_side WHEN 'from' THEN 'to' WHEN 'to' THEN 'from' ELSE p_side END;
  near uuid[] := memsvc.canonical_ids(p_user_id, ARRAY[p_from], p_known_at); -- outermost nodes searched from p_from
  far uuid[] := memsvc.canonical_ids(p_user_id, ARRAY[p_to], p_known_at);
  seen_near uuid[] := near;
  seen_far uuid[] := far;
  steps integer[] := '{}'; -- edges that may lie on a path: 1, 2, … counted from p_from; -1, -2, … from p_to
  starts uuid[] := '{}'; ends uuid[] := '{}'; versions uuid[] := '{}'; weights real[] := '{}';
  near_steps integer := 0; far_steps integer := 0; work integer := p_work;
  forward boolean; level record; gave_up boolean := false;
BEGIN
  WHILE NOT near && far AND NOT gave_up AND near_steps + far_steps < p_max_hops LOOP
    forward := cardinality(near) <= cardinality(far);
    SELECT e.* INTO level FROM memsvc.next_level(
      p_user_id, CASE WHEN forward THEN near ELSE far END, CASE WHEN forward THEN seen_near ELSE seen_far END, p_types,
      CASE WHEN forward THEN p_side ELSE back END, work + 1, p_as_of, p_known_at, merged
    ) AS e;
    gave_up := coalesce(level.looked > work, false);
    work := work - level.looked;
    IF forward THEN
      near_steps := near_steps + 1;
      near := level.nodes;
      seen_near := seen_near || near;
    ELSE
      far_steps := far_steps + 1;
      far := level.nodes;
      seen_far := seen_far || far;
    END IF;
    steps := steps
      || array_fill(CASE WHEN forward THEN near_steps ELSE -far_steps END, ARRAY[cardinality(level.starts)]);
    starts := starts || CASE WHEN forward THEN level.starts ELSE level.ends END;
    ends := ends || CASE WHEN forward THEN level.ends ELSE level.starts END;
    versions := versions || level.versions;
    weights := weights || level.weights;
    EXIT WHEN level.nodes = '{}';
  END LOOP;
  IF NOT near && far THEN
    RETURN QUERY SELECT 0::bigint, '{}'::uuid[], '{}'::uuid[], NOT gave_up, false;
    RETURN;
  END IF;
  RETURN QUERY SELECT w.path, w.nodes, w.versions, NOT gave_up, w.truncated
  FROM memsvc.paths_through(
    near, far, near_steps, far_steps, steps, starts, ends, versions, weights, p_limit
  ) AS w;
END
$$;
COMMENT ON FUNCTION memsvc.paths(
  uuid, uuid, uuid, integer, text[], text, integer, integer, timestamptz, timestamptz
) IS 'Shortest paths between two nodes.';

-- The next level of a search: nodes that it has not seen, and the edges that lead to them, between the same two nodes
-- only the strongest. looked: number of edges that were read, at most p_total.
CREATE OR REPLACE FUNCTION memsvc.next_level(
  p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer,
  p_as_of timestamptz, p_known_at timestamptz, p_merged boolean
) RETURNS TABLE (nodes uuid[], starts uuid[], ends uuid[], versions uuid[], weights real[], looked bigint)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT e.* FROM memsvc.hop(
      p_user_id, p_frontier, p_types, p_side, NULL, p_total, p_as_of, p_known_at, p_merged
    ) AS e
  ),
  fresh AS MATERIALIZED (
    SELECT DISTINCT ON (e.reached_id, e.start_id) e.* FROM edge AS e
    WHERE e.reached_id NOT IN (SELECT unnest(p_seen))
    ORDER BY e.reached_id, e.start_id, e.weight DESC, e.version_id DESC
  )
  SELECT coalesce(array_agg(DISTINCT f.reached_id), '{}'), coalesce(array_agg(f.start_id), '{}'),
    coalesce(array_agg(f.reached_id), '{}'), coalesce(array_agg(f.version_id), '{}'),
    coalesce(array_agg(f.weight), '{}'), (SELECT count(*) FROM edge AS e)
  FROM fresh AS f;
END
$$;
COMMENT ON FUNCTION memsvc.next_level(
  uuid, uuid[], uuid[], text[], text, integer, timestamptz, timestamptz, boolean
) IS 'The next level of a search for paths.';

-- Joins the results of two searches to paths: edges of the first have the steps 1 … p_reached from its begin, those of
-- the second -1 … -p_left_over from its end. The searches met at the nodes that p_near and p_far have in common.
CREATE OR REPLACE FUNCTION memsvc.paths_through(
  p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[],
  p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer
) RETURNS TABLE (path bigint, nodes uuid[], versions uuid[], truncated boolean)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH RECURSIVE meeting AS MATERIALIZED (
    SELECT n.node_id FROM unnest(p_near) AS n (node_id) WHERE n.node_id IN (SELECT unnest(p_far))
  ),
  edge AS MATERIALIZED (
    SELECT CASE WHEN e.step > 0 THEN e.step ELSE p_reached + p_left_over + e.step + 1 END AS step,
      e.start_id, e.end_id, e.version_id, e.weight
    FROM unnest(p_steps, p_starts, p_ends, p_versions, p_weights) AS e (step, start_id, end_id, version_id, weight)
  ),
  -- Nodes of the first search that lead to a meeting node.
  towards (step, node_id) AS (
    SELECT p_reached, m.node_id FROM meeting AS m
    UNION
    SELECT e.step - 1, e.start_id
    FROM towards AS l INNER JOIN edge AS e ON e.step = l.step AND e.end_id = l.node_id
    WHERE l.step > 0
  ),
  useful AS MATERIALIZED (
    SELECT e.* FROM edge AS e LEFT JOIN towards AS l ON l.step = e.step AND l.node_id = e.end_id
    WHERE e.step > p_reached OR l.node_id IS NOT NULL
  ),
  -- Every begun path can be completed, so no more than the wanted number need be kept.
  begun (step, rank, nodes, versions) AS (
    SELECT 0, row_number() OVER (), ARRAY[l.node_id], '{}'::uuid[] FROM towards AS l WHERE l.step = 0
    UNION ALL
    SELECT n.step, n.rank, n.nodes, n.versions
    FROM (
      SELECT u.step, row_number() OVER (ORDER BY b.rank, u.weight DESC, u.version_id DESC) AS rank,
        b.nodes || u.end_id AS nodes, b.versions || u.version_id AS versions
      FROM begun AS b INNER JOIN useful AS u ON u.step = b.step + 1 AND u.start_id = b.nodes[b.step + 1]
    ) AS n
    WHERE p_limit IS NULL OR n.rank <= p_limit + 1
  )
  SELECT b.rank, b.nodes, b.versions, EXISTS (
    SELECT FROM begun AS o WHERE o.step = p_reached + p_left_over AND o.rank > p_limit
  )
  FROM begun AS b
  WHERE b.step = p_reached + p_left_over AND (p_limit IS NULL OR b.rank <= p_limit)
  ORDER BY b.rank;
END
$$;
COMMENT ON FUNCTION memsvc.paths_through(
  uuid[], uuid[], integer, integer, integer[], uuid[], uuid[], uuid[], real[], integer
) IS 'Paths made of the results of two searches.';

-- Paths as JSON: paths is [{"nodes": [id, …], "versions": [id, …]}, …].
CREATE OR REPLACE FUNCTION memsvc.graph_paths(
  p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer DEFAULT 4, p_types text[] DEFAULT NULL,
  p_side text DEFAULT 'both', p_limit integer DEFAULT 5, p_work integer DEFAULT 50000,
  p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (unknown uuid[], nodes json, edges json, paths json, complete boolean, truncated boolean)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  found record;
  nodes uuid[];
  hops integer[];
BEGIN
  SELECT bool_and(w.complete) AS complete, bool_or(w.truncated) AS truncated,
    coalesce(
      json_agg(json_build_object('nodes', w.nodes, 'versions', w.versions) ORDER BY w.path) FILTER (WHERE w.path > 0),
      '[]'
    ) AS paths,
    json_agg(w.nodes) AS nodes, json_agg(w.versions) AS versions
  INTO found
  FROM memsvc.paths(
    p_user_id, p_from, p_to, p_max_hops, p_types, p_side, p_limit, p_work, p_as_of, p_known_at
  ) AS w;
  SELECT array_agg(d.node_id ORDER BY d.hop, d.node_id), array_agg(d.hop ORDER BY d.hop, d.node_id) INTO nodes, hops
  FROM (
    SELECT n.node_id::uuid AS node_id, min(n.hop)::integer - 1 AS hop
    FROM json_array_elements(found.nodes) AS w (nodes)
    CROSS JOIN LATERAL json_array_elements_text(w.nodes) WITH ORDINALITY AS n (node_id, hop)
    GROUP BY n.node_id
  ) AS d;
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, ARRAY[p_from, p_to]), g.nodes, g.edges, found.paths, found.complete,
    found.truncated
  FROM memsvc.graph_shown(
    p_user_id, coalesce(nodes, '{}'), coalesce(hops, '{}'), ARRAY(
      SELECT DISTINCT v.version_id::uuid
      FROM json_array_elements(found.versions) AS w (versions)
      CROSS JOIN LATERAL json_array_elements_text(w.versions) AS v (version_id)
    ), p_as_of, p_known_at
  ) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.graph_paths(
  uuid, uuid, uuid, integer, text[], text, integer, integer, timestamptz, timestamptz
) IS 'Shortest paths between two nodes as JSON.';
