-- The whole graph: its statistics, and its content page by page.

-- Versions of a user's edges as known at a time, resolved, that are true at p_as_of (null: at any time).
CREATE OR REPLACE FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamptz, p_known_at timestamptz)
RETURNS TABLE (version_id uuid, type text, from_node uuid, to_node uuid)
LANGUAGE plpgsql STABLE ROWS 10000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT v.version_id, v.type, v.from_node, v.to_node FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
    UNION ALL
    SELECT v.version_id, v.type, v.from_node, v.to_node FROM edge_versions AS v
    WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
  ),
  resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, CASE WHEN merged THEN ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id
    ) END, p_known_at) AS r
  )
  SELECT e.version_id, e.type, coalesce(f.canonical_id, e.from_node), coalesce(t.canonical_id, e.to_node)
  FROM edge AS e
  LEFT JOIN resolved AS f ON f.node_id = e.from_node
  LEFT JOIN resolved AS t ON t.node_id = e.to_node;
END
$$;
COMMENT ON FUNCTION memsvc.all_edges(uuid, timestamptz, timestamptz) IS 'All edges of a user at two times.';

-- Nodes of a user as known at a time; merged nodes count as one.
CREATE OR REPLACE FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamptz) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT n.node_id FROM nodes AS n
  WHERE n.user_id = p_user_id AND n.created_at <= coalesce(p_known_at, 'infinity') AND n.node_id NOT IN (
    SELECT m.node_id FROM merges AS m
    WHERE m.user_id = p_user_id AND m.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (m.recorded_to = 'infinity' OR m.recorded_to > p_known_at)
  );
END
$$;
COMMENT ON FUNCTION memsvc.all_nodes(uuid, timestamptz) IS 'All nodes of a user; merged nodes count as one.';

-- Statistics of a user's graph. types and edge_types: {"Person": 12}; most_connected: [{"node_id", "type", "label",
-- "facts"}]; degrees: [{"from", "to", "nodes"}], facts per node in powers of two.
CREATE OR REPLACE FUNCTION memsvc.graph_stats(
  p_user_id uuid, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  nodes bigint, facts bigint, names bigint, merges bigint, evidence bigint, isolated bigint, types json,
  edge_types json, most_connected json, degrees json
)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (SELECT e.* FROM memsvc.all_edges(p_user_id, p_as_of, p_known_at) AS e),
  node AS MATERIALIZED (SELECT n.node_id FROM memsvc.all_nodes(p_user_id, p_known_at) AS n (node_id)),
  card AS MATERIALIZED (
    SELECT c.* FROM memsvc.node_cards(p_user_id, ARRAY(SELECT n.node_id FROM node AS n), p_as_of, p_known_at) AS c
  ),
  degree AS MATERIALIZED (
    SELECT n.node_id, count(d.node_id) AS facts
    FROM node AS n
    LEFT JOIN (
      SELECT e.from_node AS node_id FROM edge AS e
      UNION ALL SELECT e.to_node FROM edge AS e WHERE e.to_node <> e.from_node
    ) AS d ON d.node_id = n.node_id
    GROUP BY n.node_id
  ),
  bucket AS (
    SELECT CASE WHEN d.facts > 0 THEN 64 - position('1' IN d.facts::bit(64)::text) END AS power, count(*) AS nodes
    FROM degree AS d GROUP BY power
  )
  SELECT (SELECT count(*) FROM node AS n), (SELECT count(*) FROM edge AS e), o.names, o.merges, o.evidence,
    (SELECT count(*) FROM degree AS d WHERE d.facts = 0), (
      SELECT coalesce(json_object_agg(t.type, t.nodes ORDER BY t.nodes DESC, t.type), '{}')
      FROM (SELECT c.type, count(*) AS nodes FROM card AS c WHERE c.type IS NOT NULL GROUP BY c.type) AS t
    ), (
      SELECT coalesce(json_object_agg(t.type, t.facts ORDER BY t.facts DESC, t.type), '{}')
      FROM (SELECT e.type, count(*) AS facts FROM edge AS e GROUP BY e.type) AS t
    ), (
      SELECT coalesce(json_agg(json_build_object(
        'node_id', d.node_id, 'type', c.type, 'label', c.label, 'facts', d.facts
      ) ORDER BY d.facts DESC, d.node_id), '[]')
      FROM (SELECT o.* FROM degree AS o WHERE o.facts > 0 ORDER BY o.facts DESC, o.node_id LIMIT 10) AS d
      INNER JOIN card AS c ON c.node_id = d.node_id
    ), (
      SELECT coalesce(json_agg(json_build_object(
        'from', CASE WHEN b.power IS NULL THEN 0 ELSE 2 ^ b.power END::bigint,
        'to', CASE WHEN b.power IS NULL THEN 0 ELSE 2 ^ (b.power + 1) - 1 END::bigint, 'nodes', b.nodes
      ) ORDER BY b.power NULLS FIRST), '[]')
      FROM bucket AS b
    )
  FROM memsvc.other_counts(p_user_id, p_as_of, p_known_at) AS o;
END
$$;
COMMENT ON FUNCTION memsvc.graph_stats(uuid, timestamptz, timestamptz) IS 'Statistics of a user''s graph.';

-- Names, merges and links of evidence of a user at two times.
CREATE OR REPLACE FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamptz, p_known_at timestamptz)
RETURNS TABLE (names bigint, merges bigint, evidence bigint)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY SELECT (
    SELECT count(*) FROM aliases AS a
    WHERE a.user_id = p_user_id AND a.recorded_from <= known AND (a.recorded_to = 'infinity' OR a.recorded_to > known)
      AND (p_as_of IS NULL OR (a.valid_from <= p_as_of AND a.valid_to > p_as_of))
  ), (
    SELECT count(*) FROM merges AS m
    WHERE m.user_id = p_user_id AND m.recorded_from <= known AND (m.recorded_to = 'infinity' OR m.recorded_to > known)
  ), (
    SELECT count(*) FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  );
END
$$;
COMMENT ON FUNCTION memsvc.other_counts(uuid, timestamptz, timestamptz) IS
  'Numbers of names, merges and links of evidence.';

-- A page of the whole graph. Part 'edges': facts in the order of (edge, version) after the given one, with the nodes at
-- their ends; then part 'nodes': nodes without facts after the given one (none if types are given). A page reads four
-- times as many rows as it may return, so pages before the last can be short, or even empty. next_part null: this was
-- the last page.
CREATE OR REPLACE FUNCTION memsvc.graph_page(
  p_user_id uuid, p_part text DEFAULT 'edges', p_after_edge uuid DEFAULT NULL, p_after_id uuid DEFAULT NULL,
  p_limit integer DEFAULT 500, p_types text[] DEFAULT NULL, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (nodes json, edges json, next_part text, next_edge uuid, next_id uuid)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort
AS $$
#variable_conflict use_column
DECLARE
  facts uuid[] := '{}';
  shown uuid[] := '{}';
  part text := p_part;
  edge uuid;
  id uuid;
  ended boolean;
BEGIN
  IF p_part = 'edges' THEN
    SELECT p.versions, p.last_edge, p.last_version, p.ended INTO facts, edge, id, ended
    FROM memsvc.page_of_edges(
      p_user_id, p_after_edge, p_after_id, p_limit, p_types, p_as_of, p_known_at
    ) AS p;
    SELECT memsvc.canonical_ids(p_user_id, array_agg(DISTINCT n.node_id), p_known_at) INTO shown
    FROM (
      SELECT o.from_node, o.to_node FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (facts) ORDER BY o.version_id OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id);
    IF ended THEN
      part := CASE WHEN p_types IS NULL THEN 'nodes' END;
      edge := NULL;
      id := NULL;
    END IF;
  ELSE
    SELECT p.nodes, p.last_node, p.ended INTO shown, id, ended
    FROM memsvc.page_of_nodes(p_user_id, p_after_id, p_limit, p_as_of, p_known_at) AS p;
    IF ended THEN
      part := NULL;
      id := NULL;
    END IF;
  END IF;
  RETURN QUERY SELECT g.nodes, g.edges, part, edge, id
  FROM memsvc.graph_shown(
    p_user_id, shown, array_fill(0, ARRAY[cardinality(shown)]), facts, p_as_of, p_known_at
  ) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.graph_page(
  uuid, text, uuid, uuid, integer, text[], timestamptz, timestamptz
) IS 'A page of the whole graph.';

-- The next facts in the order of (edge, version), the last row that was read, and whether that was the end.
CREATE OR REPLACE FUNCTION memsvc.page_of_edges(
  p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamptz,
  p_known_at timestamptz
) RETURNS TABLE (versions uuid[], last_edge uuid, last_version uuid, ended boolean)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
AS $$
DECLARE
  first_edge CONSTANT uuid := coalesce(p_after_edge, '00000000-0000-0000-0000-000000000000');
  first_id CONSTANT uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
BEGIN
  RETURN QUERY
  WITH looked AS MATERIALIZED (
    SELECT l.*, row_number() OVER (ORDER BY l.edge_id, l.version_id) AS rank,
      (p_types IS NULL OR l.type = ANY (p_types)) AND l.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (l.recorded_to = 'infinity' OR l.recorded_to > p_known_at)
      AND (p_as_of IS NULL OR (l.valid_from <= p_as_of AND l.valid_to > p_as_of)) AS wanted
    FROM (
      SELECT u.* FROM (
        (SELECT v.* FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.edge_id >= first_edge
          AND (v.edge_id, v.version_id) > (first_edge, first_id)
        ORDER BY v.edge_id, v.version_id LIMIT 4 * p_limit)
        UNION ALL
        (SELECT v.* FROM edge_versions AS v
        WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
          AND v.edge_id >= first_edge AND (v.edge_id, v.version_id) > (first_edge, first_id)
        ORDER BY v.edge_id, v.version_id LIMIT 4 * p_limit)
      ) AS u
      ORDER BY u.edge_id, u.version_id LIMIT 4 * p_limit
    ) AS l
  ),
  taken AS MATERIALIZED (
    SELECT l.* FROM looked AS l WHERE l.wanted ORDER BY l.rank LIMIT p_limit
  ),
  far AS (
    SELECT CASE WHEN (SELECT count(*) FROM looked AS l WHERE l.wanted) > p_limit
      THEN (SELECT max(t.rank) FROM taken AS t) ELSE (SELECT max(l.rank) FROM looked AS l) END AS rank
  )
  SELECT ARRAY(SELECT t.version_id FROM taken AS t ORDER BY t.rank), l.edge_id, l.version_id,
    coalesce(l.rank = (SELECT count(*) FROM looked AS o) AND l.rank < 4 * p_limit, true)
  FROM far AS f LEFT JOIN looked AS l ON l.rank = f.rank;
END
$$;
COMMENT ON FUNCTION memsvc.page_of_edges(uuid, uuid, uuid, integer, text[], timestamptz, timestamptz) IS
  'The next facts of a user.';

-- The next nodes without facts, the last node that was read, and whether that was the end.
CREATE OR REPLACE FUNCTION memsvc.page_of_nodes(
  p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamptz, p_known_at timestamptz
) RETURNS TABLE (nodes uuid[], last_node uuid, ended boolean)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
AS $$
#variable_conflict use_column
DECLARE
  candidates uuid[] := ARRAY(
    SELECT n.node_id FROM nodes AS n
    WHERE n.user_id = p_user_id AND n.node_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      AND n.created_at <= coalesce(p_known_at, 'infinity')
    ORDER BY n.node_id LIMIT 4 * p_limit
  );
BEGIN
  RETURN QUERY
  WITH candidate AS MATERIALIZED (
    SELECT s.canonical_id AS node_id, array_agg(s.node_id) AS same
    FROM memsvc.same_nodes(p_user_id, candidates, p_known_at) AS s
    GROUP BY s.canonical_id HAVING s.canonical_id = ANY (candidates)
  ),
  alone AS MATERIALIZED (
    SELECT c.node_id FROM candidate AS c
    WHERE NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (c.same) AND v.recorded_to = 'infinity'
        AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.from_node OFFSET 0
    ) AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (c.same) AND v.recorded_to = 'infinity'
        AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.to_node OFFSET 0
    ) AND (p_known_at IS NULL OR NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (c.same) AND v.recorded_to < 'infinity'
        AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.from_node OFFSET 0
    )) AND (p_known_at IS NULL OR NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (c.same) AND v.recorded_to < 'infinity'
        AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.to_node OFFSET 0
    ))
    ORDER BY c.node_id LIMIT p_limit + 1
  )
  SELECT (ARRAY(SELECT a.node_id FROM alone AS a ORDER BY a.node_id))[:p_limit],
    CASE WHEN (SELECT count(*) FROM alone AS a) > p_limit
      THEN (ARRAY(SELECT a.node_id FROM alone AS a ORDER BY a.node_id))[p_limit]
      ELSE candidates[cardinality(candidates)] END,
    cardinality(candidates) < 4 * p_limit AND (SELECT count(*) FROM alone AS a) <= p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.page_of_nodes(uuid, uuid, integer, timestamptz, timestamptz) IS
  'The next nodes of a user that have no facts.';
