-- What messages told: the facts of one conversation, and the nodes that messages speak of.

-- Facts that passages of a source support, at p_as_of (null: any time) and as known at p_known_at (null: now), the
-- strongest first, with the nodes at their ends, as JSON. At most p_limit facts.
CREATE OR REPLACE FUNCTION memsvc.graph_told(
  p_user_id uuid, p_source_id uuid, p_types text[] DEFAULT NULL, p_limit integer DEFAULT 500,
  p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (nodes json, edges json, truncated boolean)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of passages
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  said uuid[];
  told uuid[];
  facts uuid[];
  ends uuid[];
BEGIN
  said := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = p_source_id ORDER BY p.user_id, p.source_id, p.passage_id
  );
  told := ARRAY(
    SELECT DISTINCT l.edge_version_id
    FROM (
      SELECT o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.passage_id = ANY (said) ORDER BY o.passage_id OFFSET 0
    ) AS l
    WHERE l.edge_version_id IS NOT NULL AND l.stance = 'supports' AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  );
  facts := ARRAY(
    SELECT v.version_id
    FROM (
      SELECT o.* FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (told) ORDER BY o.version_id OFFSET 0
    ) AS v
    WHERE (p_types IS NULL OR v.type = ANY (p_types)) AND v.recorded_from <= known
      AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
    ORDER BY v.weight DESC, v.version_id DESC LIMIT p_limit + 1
  );
  ends := memsvc.canonical_ids(p_user_id, ARRAY(
    SELECT e.node_id
    FROM unnest(facts[:p_limit]) WITH ORDINALITY AS f (version_id, position)
    INNER JOIN (
      SELECT o.* FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (facts) ORDER BY o.version_id OFFSET 0
    ) AS v ON v.version_id = f.version_id
    CROSS JOIN LATERAL (VALUES (1, v.from_node), (2, v.to_node)) AS e (side, node_id)
    ORDER BY f.position, e.side
  ), p_known_at);
  RETURN QUERY
  SELECT g.nodes, g.edges, cardinality(facts) > p_limit
  FROM memsvc.graph_shown(
    p_user_id, ends, array_fill(0, ARRAY[cardinality(ends)]), facts[:p_limit], p_as_of, p_known_at
  ) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.graph_told(uuid, uuid, text[], integer, timestamptz, timestamptz) IS
  'Facts that a source supports, as JSON.';

-- Canonical nodes that passages speak of: they support the nodes, their properties, names or locations, or facts at
-- them. In the order of the passages; at most p_limit.
CREATE OR REPLACE FUNCTION memsvc.nodes_told(p_user_id uuid, p_passages uuid[], p_limit integer) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of passages
AS $$
#variable_conflict use_column
DECLARE
  spoken uuid[];
BEGIN
  WITH link AS MATERIALIZED (
    SELECT w.position, l.*
    FROM unnest(p_passages) WITH ORDINALITY AS w (passage_id, position)
    INNER JOIN (
      SELECT o.* FROM source_links AS o
      WHERE o.user_id = p_user_id AND o.passage_id = ANY (p_passages) AND o.stance = 'supports'
        AND o.recorded_to = 'infinity'
      ORDER BY o.passage_id OFFSET 0
    ) AS l ON l.passage_id = w.passage_id
  )
  SELECT array_agg(s.node_id ORDER BY s.position, s.node_id) INTO spoken
  FROM (
    SELECT u.node_id, min(u.position) AS position
    FROM (
      SELECT l.node_id, l.position FROM link AS l WHERE l.node_id IS NOT NULL
      UNION ALL
      SELECT n.node_id, l.position FROM link AS l INNER JOIN (
        SELECT o.* FROM node_versions AS o
        WHERE o.user_id = p_user_id AND o.version_id = ANY (ARRAY(SELECT i.node_version_id FROM link AS i))
          AND o.recorded_to = 'infinity'
        ORDER BY o.version_id OFFSET 0
      ) AS n ON n.version_id = l.node_version_id
      UNION ALL
      SELECT n.node_id, l.position FROM link AS l INNER JOIN (
        SELECT o.* FROM aliases AS o
        WHERE o.user_id = p_user_id AND o.alias_id = ANY (ARRAY(SELECT i.alias_id FROM link AS i))
          AND o.recorded_to = 'infinity'
        ORDER BY o.alias_id OFFSET 0
      ) AS n ON n.alias_id = l.alias_id
      UNION ALL
      SELECT n.node_id, l.position FROM link AS l INNER JOIN (
        SELECT o.* FROM locations AS o
        WHERE o.user_id = p_user_id AND o.location_id = ANY (ARRAY(SELECT i.location_id FROM link AS i))
          AND o.recorded_to = 'infinity'
        ORDER BY o.location_id OFFSET 0
      ) AS n ON n.location_id = l.location_id
      UNION ALL
      SELECT e.node_id, l.position FROM link AS l INNER JOIN (
        SELECT o.* FROM edge_versions AS o
        WHERE o.user_id = p_user_id AND o.version_id = ANY (ARRAY(SELECT i.edge_version_id FROM link AS i))
          AND o.recorded_to = 'infinity'
        ORDER BY o.version_id OFFSET 0
      ) AS n ON n.version_id = l.edge_version_id
      CROSS JOIN LATERAL (VALUES (n.from_node), (n.to_node)) AS e (node_id)
    ) AS u
    GROUP BY u.node_id
  ) AS s;
  RETURN QUERY SELECT c.* FROM unnest((memsvc.canonical_ids(p_user_id, spoken, NULL))[:p_limit]) AS c;
END
$$;
COMMENT ON FUNCTION memsvc.nodes_told(uuid, uuid[], integer) IS 'Nodes that passages speak of.';

-- Whether what a version of a node rests on also supports one of some nodes, a name or location of it, or a fact at it.
-- So a summary is about a node if a message that it quotes tells something of that node.
CREATE OR REPLACE FUNCTION memsvc.tells_of(p_user_id uuid, p_version_id uuid, p_nodes uuid[]) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM source_links AS q
    INNER JOIN source_links AS l ON l.user_id = p_user_id AND l.passage_id = q.passage_id
    WHERE q.user_id = p_user_id AND q.node_version_id = p_version_id AND q.recorded_to = 'infinity'
      AND q.stance = 'supports' AND l.recorded_to = 'infinity' AND l.stance = 'supports'
      AND (
        l.node_id = ANY (p_nodes)
        OR EXISTS (
          SELECT FROM node_versions AS n
          WHERE n.user_id = p_user_id AND n.version_id = l.node_version_id AND n.node_id = ANY (p_nodes)
            AND n.recorded_to = 'infinity'
        )
        OR EXISTS (
          SELECT FROM aliases AS a
          WHERE a.user_id = p_user_id AND a.alias_id = l.alias_id AND a.node_id = ANY (p_nodes)
            AND a.recorded_to = 'infinity'
        )
        OR EXISTS (
          SELECT FROM locations AS o
          WHERE o.user_id = p_user_id AND o.location_id = l.location_id AND o.node_id = ANY (p_nodes)
            AND o.recorded_to = 'infinity'
        )
        OR EXISTS (
          SELECT FROM edge_versions AS e
          WHERE e.user_id = p_user_id AND e.version_id = l.edge_version_id AND e.recorded_to = 'infinity'
            AND (e.from_node = ANY (p_nodes) OR e.to_node = ANY (p_nodes))
        )
      )
  );
END
$$;
COMMENT ON FUNCTION memsvc.tells_of(uuid, uuid, uuid[]) IS
  'Whether what a version of a node rests on also tells of one of some nodes.';
