-- Brings AGE's tables in line with 10_wanted.sql. These functions are called by triggers that exist only with AGE
-- (sql/projection/020_graph.sql), under the caller's row security: every writer of a user's graph writes its
-- projection, in the same transaction. Writers of one user project one after another: a vertex that moves takes along
-- every edge at it, and must see those that another writer is adding.

CREATE OR REPLACE FUNCTION memsvc.has_projection() RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
-- callers: app, reader, cypher, eraser
BEGIN ATOMIC
  SELECT EXISTS (
    SELECT FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'memory' AND c.relname = '_ag_label_vertex'
  );
END;
COMMENT ON FUNCTION memsvc.has_projection() IS 'Whether this database has a graph for Cypher.';

-- A user's projection has three parts, each with its own lock: graph (nodes and edges), messages (30_passages.sql) and
-- turns (35_turns.sql). With one lock for all, a transaction that appends messages and then writes facts could deadlock
-- with another one.
CREATE OR REPLACE FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app, eraser
AS $$
DECLARE
  key CONSTANT bigint := hashtextextended(
    'memsvc projection of ' || CASE p_part WHEN 'messages' THEN 'passages of ' WHEN 'turns' THEN 'turns of ' ELSE '' END || p_user_id, 0
  );
BEGIN
  IF p_alone THEN
    PERFORM pg_advisory_xact_lock(key);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(key);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.lock_projection(uuid, text, boolean) IS
  'Locks a part of a user''s projection, exclusively or shared.';

-- Stores the missing vertices of these nodes. AGE makes a vertex's id of its label's number and our number, so nothing
-- has to be looked up.
CREATE OR REPLACE FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
AS $$
DECLARE
  stored bigint;
  inserts CONSTANT text := (
    SELECT string_agg(format(
      ', %1$I AS (INSERT INTO memory.%2$I (id, properties, user_id, node_id) '
      'SELECT ag_catalog._graphid(ag_catalog._label_id(''memory'', %2$L), w.gid), '
      'ag_catalog.agtype_in(textout(w.properties)), $1, w.node_id FROM wanted AS w WHERE w.label = %2$L '
      'ON CONFLICT DO NOTHING)',
      'stored_' || d.label, d.label
    ), '')
    FROM (SELECT DISTINCT v.label FROM memsvc.vertices_of(p_user_id, p_nodes) AS v) AS d
  );
BEGIN
  IF inserts IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE 'WITH wanted AS MATERIALIZED (SELECT * FROM memsvc.vertices_wanted($1, $2))' || inserts
    || ' SELECT count(*) FROM wanted' INTO stored USING p_user_id, p_nodes;
  RETURN stored;
END
$$;
COMMENT ON FUNCTION memsvc.store_vertices(uuid, uuid[]) IS 'Stores the vertices of these nodes; how many.';

-- Stores the missing edges of these versions (an import has stored those of its latest changes). AGE numbers them from
-- the sequence of each label, because Cypher distinguishes edges only by these numbers.
CREATE OR REPLACE FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
AS $$
DECLARE
  stored bigint;
  inserts CONSTANT text := (
    SELECT string_agg(format(
      ', %1$I AS (INSERT INTO memory.%2$I (start_id, end_id, properties, user_id, version_id) SELECT '
      'ag_catalog._graphid(ag_catalog._label_id(''memory'', w.start_label::name), w.start_gid), '
      'ag_catalog._graphid(ag_catalog._label_id(''memory'', w.end_label::name), w.end_gid), '
      'ag_catalog.agtype_in(textout(w.properties)), $1, w.version_id FROM wanted AS w WHERE w.label = %2$L '
      'ON CONFLICT DO NOTHING)',
      'stored_' || d.label, d.label
    ), '')
    FROM (
      SELECT DISTINCT coalesce(l.label, memsvc.other_label('edge')) AS label
      FROM (
        SELECT DISTINCT v.type
        FROM unnest(p_versions) AS w (version_id)
        CROSS JOIN LATERAL (
          SELECT o.type FROM edge_versions AS o WHERE o.user_id = p_user_id AND o.version_id = w.version_id OFFSET 0
        ) AS v
      ) AS used
      LEFT JOIN memsvc.labels_of(p_user_id, 'edge') AS l ON l.type = used.type
    ) AS d
  );
BEGIN
  IF inserts IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE 'WITH wanted AS MATERIALIZED (SELECT * FROM memsvc.edges_wanted($1, $2))' || inserts
    || ' SELECT count(*) FROM wanted' INTO stored USING p_user_id, p_versions;
  RETURN stored;
END
$$;
COMMENT ON FUNCTION memsvc.store_edges(uuid, uuid[]) IS 'Stores the edges of these versions; how many.';

-- Brings the projection up to date: p_nodes may have changed, p_closed are versions of edges that are not open any
-- more, p_opened those that are new. Edges move if the vertex at one of their ends has a new id: its type changed, or
-- the end has another canonical node than at p_before (null: unknown, so all of them move).
CREATE OR REPLACE FUNCTION memsvc.project(
  p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamptz
) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
DECLARE
  members CONSTANT uuid[] := ARRAY(SELECT DISTINCT s.node_id FROM memsvc.same_nodes(p_user_id, p_nodes) AS s);
  moved uuid[];
  along uuid[];
BEGIN
  IF members <> '{}' THEN
    WITH before AS MATERIALIZED (
      DELETE FROM memory._ag_label_vertex AS d WHERE d.user_id = p_user_id AND d.node_id = ANY (members)
      RETURNING d.node_id, d.id
    )
    SELECT array_agg(v.node_id) INTO moved
    FROM memsvc.vertices_of(p_user_id, members) AS v
    LEFT JOIN before AS b ON b.node_id = v.canonical_id
    LEFT JOIN memsvc.resolve_nodes(p_user_id, members, p_before) AS r ON r.node_id = v.node_id
    WHERE p_before IS NULL OR r.canonical_id <> v.canonical_id OR b.id::text IS DISTINCT FROM
      ag_catalog._graphid(ag_catalog._label_id('memory', v.label::name), v.gid)::text;
    PERFORM memsvc.store_vertices(p_user_id, members);
  END IF;
  IF moved IS NOT NULL THEN
    SELECT array_agg(e.version_id) INTO along
    FROM (
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (moved) AND v.recorded_to = 'infinity'
      UNION
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (moved) AND v.recorded_to = 'infinity'
    ) AS e
    WHERE e.version_id <> ALL (p_opened);
  END IF;
  IF p_closed <> '{}' OR along IS NOT NULL THEN
    DELETE FROM memory._ag_label_edge AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (p_closed || along);
  END IF;
  IF p_opened <> '{}' OR along IS NOT NULL THEN
    PERFORM memsvc.store_edges(p_user_id, p_opened || along);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.project(uuid, uuid[], uuid[], uuid[], timestamptz) IS
  'Brings the projection of a user up to date after some nodes and edges changed.';

-- Trigger, at the end of the transaction that made a change: everything that the change wrote or closed has its
-- recorded time. An older change comes from an import, which projects everything in one step.
CREATE OR REPLACE FUNCTION memsvc.project_change() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine CONSTANT uuid := new.user_id;
  moment CONSTANT timestamptz := new.recorded_at;
BEGIN
  IF moment < now() - interval '1 minute' THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'graph', p_alone => true);
  PERFORM memsvc.project(
    mine,
    ARRAY(
      SELECT v.node_id FROM node_versions AS v WHERE v.user_id = mine AND v.recorded_from = moment
      UNION
      SELECT v.node_id FROM node_versions AS v
      WHERE v.user_id = mine AND v.recorded_to = moment AND v.recorded_to < 'infinity'
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = mine AND m.recorded_from = moment
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = mine AND m.recorded_to = moment AND m.recorded_to < 'infinity'
    ),
    ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = mine AND v.recorded_to = moment AND v.recorded_to < 'infinity'
    ),
    ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = mine AND v.recorded_from = moment AND v.recorded_to = 'infinity'
    ),
    moment - interval '1 microsecond'
  );
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_change() IS 'Trigger: applies a change of the graph to the projection.';

-- Triggers of erasing. A statement deletes rows of one user; if the whole user is erased, nothing is stored again.
CREATE OR REPLACE FUNCTION memsvc.forget_edges() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  DELETE FROM memory._ag_label_edge AS d
  USING gone AS g WHERE d.user_id = g.user_id AND d.version_id = g.version_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.forget_edges() IS 'Trigger: deletes the edges of deleted versions.';

CREATE OR REPLACE FUNCTION memsvc.forget_vertices() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  DELETE FROM memory._ag_label_vertex AS d
  USING gone AS g WHERE d.user_id = g.user_id AND d.node_id = g.node_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.forget_vertices() IS 'Trigger: deletes the vertices of deleted nodes.';

CREATE OR REPLACE FUNCTION memsvc.project_remains() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine uuid;
  nodes uuid[];
BEGIN
  IF TG_TABLE_NAME = 'merges' THEN
    SELECT min(g.user_id::text)::uuid, array_agg(DISTINCT n.node_id) INTO mine, nodes
    FROM gone AS g CROSS JOIN unnest(ARRAY[g.node_id, g.canonical_id]) AS n (node_id);
  ELSE
    SELECT min(g.user_id::text)::uuid, array_agg(DISTINCT g.node_id) INTO mine, nodes FROM gone AS g;
  END IF;
  IF EXISTS (SELECT FROM users AS u WHERE u.user_id = mine AND u.erasing_since IS NULL) THEN
    PERFORM memsvc.lock_projection(mine, 'graph', p_alone => true);
    PERFORM memsvc.project(mine, nodes, '{}', '{}', NULL);
  ELSE
    DELETE FROM memory._ag_label_vertex AS d WHERE d.user_id = mine AND d.node_id = ANY (nodes);
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_remains() IS 'Trigger: projects again nodes whose versions or merges were deleted.';
