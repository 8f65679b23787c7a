-- Walks of the graph from given nodes, at a valid time (null: any) and a recorded time (null: now). Merged nodes count
-- as one. The strongest edges of a node come first, and among equally strong ones the newest.
--
-- ORDER BY with enable_sort off selects the index: only the index with this order needs no sort. Without it, plans that
-- were made while the tables were empty may use the GiST index of a constraint and read all of the user's rows.

-- Whether any merge is known at a time; if not, all nodes are canonical and need not be resolved.
CREATE OR REPLACE FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamptz DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall, eraser
-- plans: by-key
AS $$
BEGIN
  IF p_known_at IS NULL THEN
    RETURN EXISTS (SELECT FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity');
  END IF;
  RETURN EXISTS (SELECT FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_from <= p_known_at);
END
$$;
COMMENT ON FUNCTION memsvc.any_merges(uuid, timestamptz) IS
  'Whether any merge is known at a recorded time; false: all nodes are canonical.';

-- Label, type and description of nodes: for each the properties that are true at p_as_of (null: now), else other known
-- ones, so that every known node has a label; those of the canonical node come first.
CREATE OR REPLACE FUNCTION memsvc.node_cards(
  p_user_id uuid, p_nodes uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  node_id uuid, canonical_id uuid, type text, label text, description text, data jsonb, importance real, holds boolean
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of nodes
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF p_nodes = '{}' THEN
    RETURN;
  END IF;
  IF memsvc.any_merges(p_user_id, p_known_at) THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  END IF;
  RETURN QUERY
  WITH same AS MATERIALIZED (
    SELECT DISTINCT u.* FROM unnest(canonical, stored) AS u (canonical_id, node_id)
  ),
  version AS (
    (SELECT v.* FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (stored) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY v.node_id OFFSET 0)
    UNION ALL
    (SELECT v.* FROM node_versions AS v
    WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.node_id = ANY (stored)
      AND v.recorded_to < 'infinity' AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
    ORDER BY v.node_id OFFSET 0)
  ),
  card AS (
    SELECT DISTINCT ON (s.canonical_id) s.canonical_id, v.type, v.label, v.description, v.data, v.importance,
      v.valid_from <= moment AND v.valid_to > moment AS holds
    FROM same AS s
    INNER JOIN version AS v ON v.node_id = s.node_id
    ORDER BY s.canonical_id, holds DESC, v.node_id = s.canonical_id DESC, v.valid_from DESC, v.version_id
  )
  SELECT s.node_id, s.canonical_id, c.type, c.label, c.description, c.data, c.importance, coalesce(c.holds, false)
  FROM same AS s LEFT JOIN card AS c ON c.canonical_id = s.canonical_id
  WHERE s.node_id IN (SELECT n.* FROM unnest(p_nodes) AS n);
END
$$;
COMMENT ON FUNCTION memsvc.node_cards(uuid, uuid[], timestamptz, timestamptz) IS
  'One label, type and description for each node.';

-- Start nodes with all nodes merged with them: p_nodes[i] is p_starts[i] or merged with it. It is a SQL function, so
-- that it is inlined into the calling statement; without merges nothing is sorted.
CREATE OR REPLACE FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[])
RETURNS TABLE (start_id uuid, node_id uuid, same uuid[])
LANGUAGE sql IMMUTABLE ROWS 100
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT u.node_id, u.node_id, ARRAY[u.node_id] FROM unnest(p_nodes) AS u (node_id) WHERE p_starts = p_nodes
  UNION ALL
  SELECT u.start_id, u.node_id, array_agg(u.node_id) OVER (PARTITION BY u.start_id)
  FROM unnest(p_starts, p_nodes) AS u (start_id, node_id) WHERE p_starts <> p_nodes;
END;
COMMENT ON FUNCTION memsvc.with_same(uuid[], uuid[]) IS 'Start nodes, each with all nodes merged with it.';

-- Open edges at stored nodes, each seen from one of them: p_nodes[i] is p_starts[i] or merged with it; edges among
-- merged nodes are left out. For each node and direction it returns the p_most strongest edges that are not weaker than
-- (p_weight, p_version), at most p_total in each direction (null: no bound). An index gives them in this order, so that
-- the long list of a node with many edges is not read to its end. Edges with an end of valid time are few, and are
-- searched only if the user has any. Each direction is a statement of its own, because starting a larger one takes
-- longer than reading a few edges.
CREATE OR REPLACE FUNCTION memsvc.open_edges(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamptz,
  p_known_at timestamptz, p_weight real, p_version uuid
) RETURNS TABLE (start_id uuid, other_id uuid, version_id uuid, weight real)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity');
  ended CONSTANT timestamptz := coalesce(p_as_of, '-infinity');
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  any_ends CONSTANT boolean := EXISTS (
    SELECT FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended
    ORDER BY v.valid_to OFFSET 0
  );
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_to = 'infinity' AND v.valid_from <= moment AND v.recorded_from <= known
        AND v.to_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'to' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
          AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment AND v.recorded_from <= known
          AND v.to_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_to = 'infinity' AND v.valid_from <= moment AND v.recorded_from <= known
        AND v.from_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
          AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment AND v.recorded_from <= known
          AND v.from_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.open_edges(
  uuid, uuid[], uuid[], text, integer, integer, timestamptz, timestamptz, real, uuid
) IS 'Open edges at stored nodes, the strongest of each.';

-- The same for some types. An array of one type and its order select the index: with an equality, a plan that was made
-- while the table was empty may read all types of a node.
CREATE OR REPLACE FUNCTION memsvc.open_edges_typed(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer,
  p_as_of timestamptz, p_known_at timestamptz, p_weight real, p_version uuid
) RETURNS TABLE (start_id uuid, other_id uuid, version_id uuid, weight real)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity');
  ended CONSTANT timestamptz := coalesce(p_as_of, '-infinity');
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  types CONSTANT text[] := ARRAY(SELECT DISTINCT u.type FROM unnest(p_types) AS u (type));
  any_ends CONSTANT boolean := EXISTS (
    SELECT FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended
    ORDER BY v.valid_to OFFSET 0
  );
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = ANY (ARRAY[t.type])
        AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity' AND v.valid_from <= moment
        AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type, v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'to' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = ANY (ARRAY[t.type])
          AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment
          AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
          AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.type, v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.type = ANY (ARRAY[t.type])
        AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity' AND v.valid_from <= moment
        AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type, v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.type = ANY (ARRAY[t.type])
          AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment
          AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
          AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.type, v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.open_edges_typed(
  uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid
) IS 'Open edges of some types at stored nodes, the strongest of each.';

-- The same for versions that are closed now and were known at p_known_at. All such versions of a node are read.
CREATE OR REPLACE FUNCTION memsvc.past_edges(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer,
  p_as_of timestamptz, p_known_at timestamptz, p_weight real, p_version uuid
) RETURNS TABLE (start_id uuid, other_id uuid, version_id uuid, weight real)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT s.start_id, x.other_id, x.version_id, x.weight
  FROM memsvc.with_same(p_starts, p_nodes) AS s
  CROSS JOIN LATERAL (
    SELECT b.* FROM (
      (SELECT v.to_node AS other_id, v.version_id, v.weight FROM edge_versions AS v
      WHERE p_side <> 'to' AND v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at AND v.recorded_from <= p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
        AND (p_types IS NULL OR v.type = ANY (p_types)) AND v.to_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type OFFSET 0)
      UNION ALL
      (SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE p_side <> 'from' AND v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at AND v.recorded_from <= p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
        AND (p_types IS NULL OR v.type = ANY (p_types)) AND v.from_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type OFFSET 0)
    ) AS b
    ORDER BY b.weight DESC, b.version_id DESC LIMIT p_most
  ) AS x
  LIMIT p_total;
END
$$;
COMMENT ON FUNCTION memsvc.past_edges(
  uuid, uuid[], uuid[], text[], text, integer, integer, timestamptz, timestamptz, real, uuid
) IS 'Edges at stored nodes that were known once, the strongest of each.';
