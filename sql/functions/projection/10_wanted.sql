-- What Cypher sees of a user's graph: one vertex for each canonical node, one edge for each open version of an edge
-- between the vertices of its ends. (30_passages.sql adds messages, 35_turns.sql turns of agents and documents.) These functions compute the wanted rows from our
-- own tables; 20_project.sql brings Apache AGE's tables in line with them, if AGE is installed. Nothing here depends on
-- the current time: valid times are properties, and a row changes only when somebody changes the graph.

-- The graph has one label for each core type, and one for all other types. A user's own types are not labels, because
-- everybody could see their names. They are shown as the core type that they refine, or under this label.
CREATE OR REPLACE FUNCTION memsvc.other_label(p_kind text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN CASE p_kind WHEN 'node' THEN 'Thing' ELSE 'RELATION' END;
COMMENT ON FUNCTION memsvc.other_label(text) IS 'The label of nodes or edges that have no core type.';

-- Every label of the graph: those of vertices (kind node) and of edges (kind edge).
CREATE OR REPLACE FUNCTION memsvc.graph_labels() RETURNS TABLE (kind text, label text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT 'node', t.name FROM memsvc.node_types AS t WHERE t.user_id = memsvc.core_user_id()
  UNION ALL
  SELECT 'edge', t.name FROM memsvc.edge_types AS t WHERE t.user_id = memsvc.core_user_id()
  UNION ALL
  SELECT k.kind, memsvc.other_label(k.kind) FROM (VALUES ('node'), ('edge')) AS k (kind)
  UNION ALL
  SELECT p.kind, p.label
  FROM (
    VALUES ('node', 'Passage'), ('node', 'Conversation'), ('edge', 'NEXT'), -- 30_passages.sql
      ('node', 'Turn') -- 35_turns.sql; its other labels are core types
  ) AS p (kind, label)
  ORDER BY 1, 2;
END;
COMMENT ON FUNCTION memsvc.graph_labels() IS 'Labels of the graph that Cypher sees.';

-- The label of each type of a user: of a core type its own, of others that of the core type that they refine. Types
-- that are missing here have other_label; so does a type of a new version of memsvc, until the graph has its label.
CREATE OR REPLACE FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) RETURNS TABLE (type text, label text)
LANGUAGE sql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, eraser
BEGIN ATOMIC
  SELECT t.name, t.label
  FROM (
    SELECT n.name, CASE WHEN n.user_id = memsvc.core_user_id() THEN n.name ELSE n.parent END AS label
    FROM memsvc.node_types AS n WHERE p_kind = 'node' AND n.user_id IN (memsvc.core_user_id(), p_user_id)
    UNION ALL
    SELECT e.name, CASE WHEN e.user_id = memsvc.core_user_id() THEN e.name ELSE e.parent END
    FROM memsvc.edge_types AS e WHERE p_kind = 'edge' AND e.user_id IN (memsvc.core_user_id(), p_user_id)
  ) AS t
  INNER JOIN pg_catalog.pg_class AS c ON c.relname = t.label
  INNER JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace AND s.nspname = 'memory';
END;
COMMENT ON FUNCTION memsvc.labels_of(uuid, text) IS 'The label of each type of a user.';

-- A moment as a property: UTC text that sorts by time; null if it is infinite.
CREATE OR REPLACE FUNCTION memsvc.moment_shown(p_moment timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN CASE WHEN isfinite(p_moment) THEN to_char(p_moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END;
COMMENT ON FUNCTION memsvc.moment_shown(timestamptz) IS 'A moment in UTC as text; null if it is infinite.';

-- Further properties in a form that AGE can store: its numbers are 64-bit integers and doubles, and very long or deeply
-- nested values would make comparisons expensive. Other values become text, so that no write fails because of them.
CREATE OR REPLACE FUNCTION memsvc.data_shown(p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN CASE
  WHEN p_data = '{}' THEN NULL
  WHEN length(p_data::text) > 4000 OR jsonb_path_exists(
    p_data, '$.** ? (@ >= 9223372036854775808 || @ < -9223372036854775808 || (@ > -1e-300 && @ < 1e-300 && @ != 0))'
  ) THEN to_jsonb(p_data::text)
  ELSE p_data
END;
COMMENT ON FUNCTION memsvc.data_shown(jsonb) IS 'Further properties in a form that AGE can store.';

-- For each of these nodes the vertex that shows it: that of its canonical node, with the properties of the open version
-- that ends last; among equals, the canonical node's own before those of merged nodes, then the one that begins last. A
-- node of which nothing is known any more keeps a vertex without properties, because facts may refer to it.
CREATE OR REPLACE FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[])
RETURNS TABLE (
  node_id uuid, canonical_id uuid, gid bigint, label text, type text, name text, description text, data jsonb,
  importance real, valid_from timestamptz, valid_to timestamptz
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
DECLARE
  asked uuid[] := p_nodes;
  resolved uuid[] := p_nodes;
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF memsvc.any_merges(p_user_id) THEN
    SELECT array_agg(r.node_id), array_agg(r.canonical_id) INTO asked, resolved
    FROM memsvc.resolve_nodes(p_user_id, p_nodes) AS r;
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes) AS s;
  END IF;
  RETURN QUERY
  WITH card AS MATERIALIZED (
    SELECT DISTINCT ON (g.canonical_id) g.canonical_id, v.type, v.label, v.description, v.data, v.importance,
      v.valid_from, v.valid_to
    FROM unnest(canonical, stored) AS g (canonical_id, node_id)
    CROSS JOIN LATERAL (
      SELECT o.* FROM node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = g.node_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS v
    ORDER BY g.canonical_id, v.valid_to DESC, v.node_id = g.canonical_id DESC, v.valid_from DESC, v.version_id
  ),
  labelled AS MATERIALIZED (
    SELECT t.type, t.label FROM memsvc.labels_of(p_user_id, 'node') AS t
  )
  SELECT DISTINCT ON (a.node_id) a.node_id, a.canonical_id, n.gid, coalesce(l.label, memsvc.other_label('node')),
    c.type, c.label, c.description, c.data, c.importance, c.valid_from, c.valid_to
  FROM unnest(asked, resolved) AS a (node_id, canonical_id)
  CROSS JOIN LATERAL (
    SELECT o.gid FROM nodes AS o WHERE o.user_id = p_user_id AND o.node_id = a.canonical_id OFFSET 0
  ) AS n
  LEFT JOIN card AS c ON c.canonical_id = a.canonical_id
  LEFT JOIN labelled AS l ON l.type = c.type;
END
$$;
COMMENT ON FUNCTION memsvc.vertices_of(uuid, uuid[]) IS 'For each node the vertex that shows it.';

-- The wanted vertices of these nodes, for those that are canonical. properties: a JSON object.
CREATE OR REPLACE FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[])
RETURNS TABLE (node_id uuid, gid bigint, label text, properties text)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, eraser
BEGIN ATOMIC
  SELECT v.node_id, v.gid, v.label, (
    jsonb_strip_nulls(jsonb_build_object(
      'id', v.node_id, 'type', v.type, 'name', v.name, 'description', nullif(v.description, ''),
      'importance', v.importance, 'valid_from', memsvc.moment_shown(v.valid_from),
      'valid_to', memsvc.moment_shown(v.valid_to)
    )) || coalesce(jsonb_build_object('data', memsvc.data_shown(v.data)), '{}')
  )::text
  FROM memsvc.vertices_of(p_user_id, p_nodes) AS v
  WHERE v.node_id = v.canonical_id;
END;
COMMENT ON FUNCTION memsvc.vertices_wanted(uuid, uuid[]) IS 'The wanted vertices of these nodes.';

-- The wanted edges of these versions, for those that are open. They have no numbers here: several open versions of a
-- relation are several edges, and AGE numbers each one when it is stored.
CREATE OR REPLACE FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[])
RETURNS TABLE (
  version_id uuid, label text, start_label text, start_gid bigint, end_label text, end_gid bigint,
  properties text
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT v.*
    FROM (SELECT DISTINCT u.version_id FROM unnest(p_versions) AS u (version_id)) AS w
    CROSS JOIN LATERAL (
      SELECT o.* FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = w.version_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS v
  ),
  vertex AS MATERIALIZED (
    SELECT n.node_id, n.gid, n.label
    FROM memsvc.vertices_of(p_user_id, ARRAY(
      SELECT e.from_node FROM edge AS e UNION SELECT e.to_node FROM edge AS e
    )) AS n
  ),
  labelled AS MATERIALIZED (
    SELECT t.type, t.label FROM memsvc.labels_of(p_user_id, 'edge') AS t
  )
  SELECT e.version_id, coalesce(l.label, memsvc.other_label('edge')), s.label, s.gid, o.label, o.gid, (
      jsonb_strip_nulls(jsonb_build_object(
        'id', e.edge_id, 'version', e.version_id, 'type', e.type, 'fact', e.fact, 'weight', e.weight,
        'confidence', e.confidence, 'asserted_by', e.asserted_by, 'valid_from', memsvc.moment_shown(e.valid_from),
        'valid_to', memsvc.moment_shown(e.valid_to), 'recorded_from', memsvc.moment_shown(e.recorded_from)
      )) || coalesce(jsonb_build_object('data', memsvc.data_shown(e.data)), '{}')
    )::text
  FROM edge AS e
  INNER JOIN vertex AS s ON s.node_id = e.from_node
  INNER JOIN vertex AS o ON o.node_id = e.to_node
  LEFT JOIN labelled AS l ON l.type = e.type;
END
$$;
COMMENT ON FUNCTION memsvc.edges_wanted(uuid, uuid[]) IS 'The wanted edges of these versions.';
