-- One hop, and walks of several.

-- Edges at stored nodes for any parameters, as from open_edges; nth numbers the edges of a start node. It is a SQL
-- function without settings, so that it is inlined into the calling statement: a level of PL/pgSQL took 0.1 ms.
CREATE OR REPLACE FUNCTION memsvc.stored_hop(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer,
  p_as_of timestamptz, p_known_at timestamptz, p_weight real, p_version uuid
) RETURNS TABLE (start_id uuid, other_id uuid, version_id uuid, weight real, nth bigint)
LANGUAGE sql STABLE ROWS 500
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT f.start_id, f.other_id, f.version_id, f.weight,
    row_number() OVER (PARTITION BY f.start_id ORDER BY f.weight DESC, f.version_id DESC)
  FROM (
    SELECT e.* FROM memsvc.open_edges(
      p_user_id, p_starts, p_nodes, p_side, p_fan_out + 1, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS e WHERE p_types IS NULL
    UNION ALL
    SELECT e.* FROM memsvc.open_edges_typed(
      p_user_id, p_starts, p_nodes, p_types, p_side, p_fan_out + 1, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS e WHERE p_types IS NOT NULL
    UNION ALL
    SELECT e.* FROM memsvc.past_edges(
      p_user_id, p_starts, p_nodes, p_types, p_side, p_fan_out + 1, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS e WHERE p_known_at IS NOT NULL
    LIMIT p_total
  ) AS f;
END;
COMMENT ON FUNCTION memsvc.stored_hop(
  uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid
) IS 'Edges at stored nodes, the strongest of each.';

-- One hop from canonical nodes: the strongest edges of each and the nodes at their other ends, merges resolved. nth
-- numbers the edges of a start node; it exceeds p_fan_out if there are more. p_total bounds the edges that are read
-- (null: no bound); p_merged: the result of any_merges. Edges weaker than (p_weight, p_version) are left out.
CREATE OR REPLACE FUNCTION memsvc.hop(
  p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer,
  p_as_of timestamptz, p_known_at timestamptz, p_merged boolean, p_weight real DEFAULT 0,
  p_version uuid DEFAULT '00000000-0000-0000-0000-000000000000'
) RETURNS TABLE (start_id uuid, reached_id uuid, version_id uuid, weight real, nth bigint)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  IF NOT p_merged THEN
    RETURN QUERY SELECT h.* FROM memsvc.stored_hop(
      p_user_id, p_nodes, p_nodes, p_types, p_side, p_fan_out, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS h;
    RETURN;
  END IF;
  RETURN QUERY
  WITH start AS MATERIALIZED (
    SELECT array_agg(s.canonical_id) AS starts, array_agg(s.node_id) AS nodes
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  ),
  found AS MATERIALIZED (
    SELECT h.* FROM start AS s CROSS JOIN LATERAL memsvc.stored_hop(
      p_user_id, s.starts, s.nodes, p_types, p_side, p_fan_out, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS h
  )
  SELECT f.start_id, r.canonical_id, f.version_id, f.weight, f.nth
  FROM found AS f
  INNER JOIN memsvc.resolve_nodes(
    p_user_id, ARRAY(SELECT DISTINCT o.other_id FROM found AS o), p_known_at
  ) AS r ON r.node_id = f.other_id;
END
$$;
COMMENT ON FUNCTION memsvc.hop(
  uuid, uuid[], text[], text, integer, integer, timestamptz, timestamptz, boolean, real, uuid
) IS 'One hop from nodes: the strongest edges of each and the nodes at their other ends.';

-- The nodes one hop away that are not in p_seen, by their strongest edges: at most p_room of the found ones (null: no
-- bound), each with the edge that leads to it. more: start nodes have further edges than p_fan_out that might count. If
-- there is no room for all, weight and version_id are the strongest edge that was left out; only start nodes with edges
-- at least as strong matter. A SQL function, like stored_hop.
CREATE OR REPLACE FUNCTION memsvc.next_circle(
  p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer,
  p_as_of timestamptz, p_known_at timestamptz, p_merged boolean, p_weight real, p_version uuid
) RETURNS TABLE (
  nodes uuid[], parents uuid[], versions uuid[], found bigint, more boolean, weight real, version_id uuid, starts uuid[]
)
LANGUAGE sql STABLE ROWS 1
-- callers: app, reader, recall
BEGIN ATOMIC
  WITH edge AS MATERIALIZED (
    SELECT h.start_id, h.other_id AS reached_id, h.version_id, h.weight, h.nth FROM memsvc.stored_hop(
      p_user_id, p_starts, p_starts, p_types, p_side, p_fan_out, NULL, p_as_of, p_known_at, p_weight, p_version
    ) AS h WHERE NOT p_merged
    UNION ALL
    SELECT h.* FROM memsvc.hop(
      p_user_id, p_starts, p_types, p_side, p_fan_out, NULL, p_as_of, p_known_at, true, p_weight, p_version
    ) AS h WHERE p_merged
  ),
  fresh AS MATERIALIZED (
    SELECT d.*, row_number() OVER (ORDER BY d.weight DESC, d.version_id DESC) AS rank
    FROM (
      SELECT DISTINCT ON (e.reached_id) e.* FROM edge AS e
      WHERE (p_fan_out IS NULL OR e.nth <= p_fan_out) AND e.reached_id NOT IN (SELECT unnest(p_seen))
      ORDER BY e.reached_id, e.weight DESC, e.version_id DESC
    ) AS d
  ),
  left_out AS (SELECT f.weight, f.version_id FROM fresh AS f WHERE f.rank = p_room + 1)
  SELECT array_agg(f.reached_id ORDER BY f.rank) FILTER (WHERE f.rank <= p_room OR p_room IS NULL),
    array_agg(f.start_id ORDER BY f.rank) FILTER (WHERE f.rank <= p_room OR p_room IS NULL),
    array_agg(f.version_id ORDER BY f.rank) FILTER (WHERE f.rank <= p_room OR p_room IS NULL),
    count(*),
    EXISTS (
      SELECT FROM edge AS e LEFT JOIN left_out AS h ON true
      WHERE e.nth > p_fan_out AND (h.weight IS NULL OR (e.weight, e.version_id) > (h.weight, h.version_id))
    ),
    (SELECT h.weight FROM left_out AS h), (SELECT h.version_id FROM left_out AS h),
    ARRAY(
      SELECT e.start_id FROM edge AS e INNER JOIN left_out AS h ON (e.weight, e.version_id) >= (h.weight, h.version_id)
      WHERE e.nth = 1
    )
  FROM fresh AS f;
END;
COMMENT ON FUNCTION memsvc.next_circle(
  uuid, uuid[], uuid[], integer, text[], text, integer, timestamptz, timestamptz, boolean, real, uuid
) IS 'The nodes one hop away that are not seen yet, by their strongest edges.';

-- Nodes within some hops of the given ones, nearest first; each with the edge version that first led to it. p_side:
-- from (along edges), to (against them) or both. p_fan_out: most edges that are followed from one node, the strongest
-- first. p_limit: most nodes; the given ones are always included. Null: no bound. truncated (the same in every row): a
-- bound left edges or nodes out.
--
-- With p_limit, a hop first reads a few edges of each node, and more if these do not fill the room. After that only
-- edges at least as strong as the first one without room can count, and these are read.
CREATE OR REPLACE FUNCTION memsvc.neighbourhood(
  p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[] DEFAULT NULL, p_side text DEFAULT 'both',
  p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 200, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (node_id uuid, hop integer, parent_id uuid, version_id uuid, truncated boolean)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  nodes uuid[] := CASE WHEN cardinality(p_nodes) > 1 OR merged THEN memsvc.canonical_ids(p_user_id, p_nodes, p_known_at)
    ELSE p_nodes END;
  hops integer[] := array_fill(0, ARRAY[cardinality(nodes)]);
  parents uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(nodes)]);
  versions uuid[] := parents;
  frontier uuid[] := nodes;
  cut boolean := false;
  room integer;
  most integer;
  weakest real;
  weakest_version uuid;
  step record;
BEGIN
  FOR number IN 1 .. p_hops LOOP
    EXIT WHEN frontier = '{}';
    room := CASE WHEN p_limit IS NOT NULL THEN greatest(p_limit - cardinality(nodes), 0) END;
    most := least(p_fan_out, 4 * (room / cardinality(frontier) + 1));
    weakest := 0;
    weakest_version := '00000000-0000-0000-0000-000000000000';
    LOOP
      SELECT c.* INTO step FROM memsvc.next_circle(
        p_user_id, frontier, nodes, room, p_types, p_side, most, p_as_of, p_known_at, merged, weakest, weakest_version
      ) AS c;
      EXIT WHEN NOT step.more OR most IS NOT DISTINCT FROM p_fan_out;
      IF step.found > room THEN
        frontier := step.starts;
        weakest := step.weight;
        weakest_version := step.version_id;
        most := p_fan_out;
      ELSE
        most := least(p_fan_out, 4 * most);
      END IF;
    END LOOP;
    cut := cut OR step.more OR coalesce(step.found > room, false);
    EXIT WHEN step.nodes IS NULL;
    frontier := step.nodes;
    nodes := nodes || step.nodes;
    hops := hops || array_fill(number, ARRAY[cardinality(step.nodes)]);
    parents := parents || step.parents;
    versions := versions || step.versions;
    EXIT WHEN cut AND cardinality(nodes) >= p_limit; -- otherwise the next hop shows whether there are more
  END LOOP;
  RETURN QUERY SELECT n.*, cut FROM unnest(nodes, hops, parents, versions) AS n;
END
$$;
COMMENT ON FUNCTION memsvc.neighbourhood(
  uuid, uuid[], integer, text[], text, integer, integer, timestamptz, timestamptz
) IS 'Nodes within some hops of the given ones, nearest first.';

-- The canonical nodes of some nodes, each once, in the given order.
CREATE OR REPLACE FUNCTION memsvc.canonical_ids(p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  IF NOT memsvc.any_merges(p_user_id, p_known_at) THEN
    RETURN ARRAY(
      SELECT n.node_id FROM unnest(p_nodes) WITH ORDINALITY AS n (node_id, position)
      GROUP BY n.node_id ORDER BY min(n.position)
    );
  END IF;
  RETURN ARRAY(
    SELECT r.canonical_id
    FROM unnest(p_nodes) WITH ORDINALITY AS n (node_id, position)
    INNER JOIN memsvc.resolve_nodes(p_user_id, p_nodes, p_known_at) AS r ON r.node_id = n.node_id
    GROUP BY r.canonical_id ORDER BY min(n.position)
  );
END
$$;
COMMENT ON FUNCTION memsvc.canonical_ids(uuid, uuid[], timestamptz) IS 'The canonical nodes of some nodes, each once.';

-- Nodes and facts as JSON, in the given order: cards of canonical nodes, and facts by their versions, ends resolved.
CREATE OR REPLACE FUNCTION memsvc.graph_shown(
  p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (nodes json, edges json)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of nodes
AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT w.position, v.*
    FROM unnest(p_versions) WITH ORDINALITY AS w (version_id, position)
    INNER JOIN (
      SELECT o.version_id, o.edge_id, o.from_node, o.type, o.to_node, o.fact, o.weight, o.confidence,
        nullif(o.valid_from, '-infinity') AS valid_from, nullif(o.valid_to, 'infinity') AS valid_to,
        -- only the time at which it was said: nobody told it (memsvc.times.untold)
        coalesce(o.data #>> '{times,since}' = to_char(o.valid_from AT TIME ZONE 'UTC', '"by "YYYY-MM-DD'), false)
          AS begin_untold,
        coalesce(o.data #>> '{times,until}' = to_char(o.valid_to AT TIME ZONE 'UTC', '"by "YYYY-MM-DD'), false)
          AS end_untold
      FROM edge_versions AS o WHERE o.user_id = p_user_id AND o.version_id = ANY (p_versions)
      ORDER BY o.version_id OFFSET 0
    ) AS v ON v.version_id = w.version_id
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, CASE WHEN merged THEN ARRAY(
      SELECT f.from_node FROM fact AS f UNION SELECT f.to_node FROM fact AS f
    ) END, p_known_at) AS r
  )
  SELECT (
    SELECT coalesce(json_agg(json_object(
      'node_id': n.node_id, 'type': c.type, 'label': c.label, 'description': coalesce(c.description, ''),
      'data': coalesce(c.data, '{}'), 'importance': c.importance, 'hop': n.hop
    ) ORDER BY n.position), '[]')
    FROM unnest(p_nodes, p_hops) WITH ORDINALITY AS n (node_id, hop, position)
    INNER JOIN memsvc.node_cards(p_user_id, p_nodes, p_as_of, p_known_at) AS c ON c.node_id = n.node_id
  ), (
    SELECT coalesce(json_agg(json_object(
      'version_id': f.version_id, 'edge_id': f.edge_id, 'from_node': coalesce(s.canonical_id, f.from_node),
      'type': f.type, 'to_node': coalesce(e.canonical_id, f.to_node), 'fact': f.fact, 'weight': f.weight,
      'confidence': f.confidence, 'valid_from': f.valid_from, 'valid_to': f.valid_to,
      'begin_untold': f.begin_untold, 'end_untold': f.end_untold
    ) ORDER BY f.position), '[]')
    FROM fact AS f
    LEFT JOIN resolved AS s ON s.node_id = f.from_node
    LEFT JOIN resolved AS e ON e.node_id = f.to_node
  );
END
$$;
COMMENT ON FUNCTION memsvc.graph_shown(uuid, uuid[], integer[], uuid[], timestamptz, timestamptz) IS
  'Nodes and facts as JSON.';

-- Those of some nodes that do not exist.
CREATE OR REPLACE FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN ARRAY(
    SELECT n.node_id FROM unnest(p_nodes) AS n (node_id)
    WHERE NOT EXISTS (SELECT FROM nodes AS k WHERE k.user_id = p_user_id AND k.node_id = n.node_id OFFSET 0)
  );
END
$$;
COMMENT ON FUNCTION memsvc.unknown_nodes(uuid, uuid[]) IS 'Those of some nodes that do not exist.';

-- A neighbourhood as JSON. unknown: given nodes that do not exist.
CREATE OR REPLACE FUNCTION memsvc.graph_around(
  p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[] DEFAULT NULL, p_side text DEFAULT 'both',
  p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 200, p_as_of timestamptz DEFAULT NULL,
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
BEGIN
  SELECT array_agg(n.node_id) AS nodes, array_agg(n.hop) AS hops, array_agg(n.version_id) AS versions,
    bool_or(n.truncated) AS truncated
  INTO walk
  FROM memsvc.neighbourhood(
    p_user_id, p_nodes, p_hops, p_types, p_side, p_fan_out, p_limit, p_as_of, p_known_at
  ) AS n;
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, p_nodes), g.nodes, g.edges, walk.truncated
  FROM memsvc.graph_shown(p_user_id, walk.nodes, walk.hops, walk.versions, p_as_of, p_known_at) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.graph_around(
  uuid, uuid[], integer, text[], text, integer, integer, timestamptz, timestamptz
) IS 'A neighbourhood as JSON.';
