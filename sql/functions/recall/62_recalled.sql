-- What is recalled most, by which sleep mode decides where it works first. Under row security, as the caller.

-- Memories that were ever recalled, and how strong they are at p_moment: memsvc.recall_strength with a half-life of 30
-- days. passage_id, version_id: the memory, a passage or a fact; the other one is null.
CREATE OR REPLACE FUNCTION memsvc.recalled_memories(p_user_id uuid, p_moment timestamptz)
RETURNS TABLE (passage_id uuid, version_id uuid, strength double precision)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT s.passage_id, s.version_id, memsvc.recall_strength(s.recalls, p_moment - s.last_recalled_at, interval '30 days')
  FROM memsvc.memory_signals AS s
  WHERE s.user_id = p_user_id AND s.last_recalled_at IS NOT NULL;
END;
COMMENT ON FUNCTION memsvc.recalled_memories(uuid, timestamptz) IS 'Memories that were recalled, and how strong they are.';

-- Sources by the strength of the memories that come from them, added up: of their messages, and of facts that these
-- support.
CREATE OR REPLACE FUNCTION memsvc.recalled_sources(p_user_id uuid, p_moment timestamptz)
RETURNS TABLE (source_id uuid, strength double precision)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT p.source_id, round(sum(r.strength)::numeric, 6)::double precision
  FROM memsvc.recalled_memories(p_user_id, p_moment) AS r
  CROSS JOIN LATERAL (
    SELECT r.passage_id
    WHERE r.passage_id IS NOT NULL
    UNION
    SELECT l.passage_id FROM memsvc.source_links AS l
    WHERE l.user_id = p_user_id AND l.edge_version_id = r.version_id AND l.stance = 'supports'
  ) AS m
  INNER JOIN memsvc.passages AS p ON p.user_id = p_user_id AND p.passage_id = m.passage_id
  GROUP BY p.source_id;
END;
COMMENT ON FUNCTION memsvc.recalled_sources(uuid, timestamptz) IS
  'Sources by how strongly what comes from them is recalled.';

-- Nodes, resolved, by the strength of the recalled memories that are about them, added up, the strongest first, at most
-- p_limit (null: all): facts at whose ends they are, their own descriptions, notes and names, and messages that support
-- something about them.
CREATE OR REPLACE FUNCTION memsvc.recalled_nodes(p_user_id uuid, p_moment timestamptz, p_limit integer)
RETURNS TABLE (node_id uuid, strength double precision)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  ids uuid[];
  strengths double precision[];
BEGIN
  WITH recalled AS MATERIALIZED (SELECT r.* FROM memsvc.recalled_memories(p_user_id, p_moment) AS r),
  support AS MATERIALIZED (
    SELECT r.passage_id, r.strength, l.node_id, l.node_version_id, l.edge_version_id, l.alias_id
    FROM recalled AS r
    CROSS JOIN LATERAL (
      SELECT o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.passage_id = r.passage_id AND o.recorded_to = 'infinity'
        AND o.stance = 'supports' OFFSET 0
    ) AS l
  ),
  told AS MATERIALIZED (
    SELECT r.version_id AS edge_version, r.version_id AS memory, r.strength FROM recalled AS r
    WHERE r.version_id IS NOT NULL
    UNION
    SELECT s.edge_version_id, s.passage_id, s.strength FROM support AS s WHERE s.edge_version_id IS NOT NULL
  ),
  about AS (
    SELECT n.node_id, t.memory, t.strength
    FROM told AS t
    CROSS JOIN LATERAL (
      SELECT v.from_node, v.to_node FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id = t.edge_version OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id)
    UNION
    SELECT s.node_id, s.passage_id, s.strength FROM support AS s WHERE s.node_id IS NOT NULL
    UNION
    SELECT v.node_id, s.passage_id, s.strength FROM support AS s
    CROSS JOIN LATERAL (
      SELECT o.node_id FROM node_versions AS o WHERE o.user_id = p_user_id AND o.version_id = s.node_version_id OFFSET 0
    ) AS v
    UNION
    SELECT a.node_id, s.passage_id, s.strength FROM support AS s
    CROSS JOIN LATERAL (
      SELECT o.node_id FROM aliases AS o WHERE o.user_id = p_user_id AND o.alias_id = s.alias_id OFFSET 0
    ) AS a
    UNION
    SELECT p.subject_id, r.passage_id, r.strength FROM recalled AS r
    CROSS JOIN LATERAL (
      SELECT o.subject_id FROM passages AS o
      WHERE o.user_id = p_user_id AND o.passage_id = r.passage_id AND o.kind <> 'fact' OFFSET 0
    ) AS p
    WHERE p.subject_id IS NOT NULL
  )
  SELECT array_agg(a.node_id), array_agg(a.strength) INTO ids, strengths FROM about AS a;
  RETURN QUERY
  SELECT c.canonical_id, sum(u.strength)
  FROM unnest(ids, strengths) AS u (node_id, strength)
  INNER JOIN memsvc.resolve_nodes(p_user_id, ids) AS c ON c.node_id = u.node_id
  GROUP BY c.canonical_id
  ORDER BY sum(u.strength) DESC, c.canonical_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.recalled_nodes(uuid, timestamptz, integer) IS
  'Nodes by how strongly what is said about them is recalled.';
