-- Canonical nodes. A merge moves no data: every read of the graph resolves its nodes here.

-- For each node its canonical node, as known at a time (null: now): the node itself if it is not merged.
CREATE OR REPLACE FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS TABLE (node_id uuid, canonical_id uuid)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall, eraser
-- plans: by-key
BEGIN ATOMIC
  WITH RECURSIVE walk AS (
    SELECT n.node_id AS start, n.node_id AS current_id, 0 AS steps FROM unnest(p_nodes) AS n (node_id)
    UNION
    SELECT w.start, m.canonical_id, w.steps + 1
    FROM walk AS w
    CROSS JOIN LATERAL (
      SELECT o.canonical_id FROM memsvc.merges AS o
      WHERE o.user_id = p_user_id AND o.node_id = w.current_id
        AND o.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (o.recorded_to = 'infinity' OR o.recorded_to > p_known_at)
      OFFSET 0
    ) AS m
  )
  SELECT DISTINCT ON (w.start) w.start, w.current_id FROM walk AS w ORDER BY w.start, w.steps DESC;
END;
COMMENT ON FUNCTION memsvc.resolve_nodes(uuid, uuid[], timestamptz) IS
  'The canonical node of each node, as known at a time.';

-- For each node all nodes that are merged with it, and itself, as known at a time (null: now).
CREATE OR REPLACE FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS TABLE (canonical_id uuid, node_id uuid)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall, eraser
-- plans: by-key
BEGIN ATOMIC
  WITH RECURSIVE walk AS (
    SELECT DISTINCT r.canonical_id AS root, r.canonical_id AS member_id
    FROM memsvc.resolve_nodes(p_user_id, p_nodes, p_known_at) AS r
    UNION
    SELECT w.root, m.node_id
    FROM walk AS w
    CROSS JOIN LATERAL (
      SELECT o.node_id FROM memsvc.merges AS o
      WHERE o.user_id = p_user_id AND o.canonical_id = w.member_id
        AND o.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (o.recorded_to = 'infinity' OR o.recorded_to > p_known_at)
      OFFSET 0
    ) AS m
  )
  SELECT w.root, w.member_id FROM walk AS w;
END;
COMMENT ON FUNCTION memsvc.same_nodes(uuid, uuid[], timestamptz) IS
  'The given nodes and all nodes merged with them, by canonical node, as known at a time.';

-- The merges that make some nodes, and all nodes merged with them, one, as known at a time (null: now).
CREATE OR REPLACE FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS SETOF memsvc.merges
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT m.*
  FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  CROSS JOIN LATERAL (
    SELECT o.* FROM memsvc.merges AS o
    WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (o.recorded_to = 'infinity' OR o.recorded_to > p_known_at)
    OFFSET 0
  ) AS m
  ORDER BY m.merge_id;
END;
COMMENT ON FUNCTION memsvc.merges_among(uuid, uuid[], timestamptz) IS
  'The merges between some nodes and all nodes merged with them.';
