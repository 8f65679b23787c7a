-- The whole graph of a user at once in the projection: made anew, and compared with what it should be. (204: messages.)

-- Stores the vertices of some nodes that have none yet, in the order of gid behind p_after (null: from the first). The
-- last gid; null: there are no more, or there is no AGE.
CREATE OR REPLACE FUNCTION memsvc.project_more_nodes(p_user_id uuid, p_after bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  batch uuid[];
  last bigint;
BEGIN
  IF memsvc.has_projection() THEN
    SELECT array_agg(b.node_id), max(b.gid) INTO batch, last
    FROM (
      SELECT n.node_id, n.gid FROM nodes AS n WHERE n.user_id = p_user_id AND n.gid > coalesce(p_after, -1)
      ORDER BY n.gid LIMIT p_limit
    ) AS b;
    PERFORM memsvc.store_vertices(p_user_id, batch);
  END IF;
  RETURN last;
END
$$;
COMMENT ON FUNCTION memsvc.project_more_nodes(uuid, bigint, integer) IS 'Stores vertices of some nodes; the last gid.';

-- The same of open versions of edges, in the order of their ids.
CREATE OR REPLACE FUNCTION memsvc.project_more_edges(p_user_id uuid, p_after uuid, p_limit integer) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  batch uuid[];
BEGIN
  IF memsvc.has_projection() THEN
    batch := ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
        AND v.recorded_to = 'infinity'
      ORDER BY v.version_id LIMIT p_limit
    );
    PERFORM memsvc.store_edges(p_user_id, batch);
  END IF;
  RETURN batch[cardinality(batch)];
END
$$;
COMMENT ON FUNCTION memsvc.project_more_edges(uuid, uuid, integer) IS 'Stores edges of some versions; the last one.';

-- Makes a user's projection anew, some thousand rows at a time. A token that ended meanwhile would hide the rest.
CREATE OR REPLACE FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_batch integer DEFAULT 5000) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  node bigint;
  version uuid;
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN;
  END IF;
  PERFORM memsvc.lock_projection(p_user_id);
  DELETE FROM memory._ag_label_edge AS d
  WHERE d.user_id = p_user_id
    AND ag_catalog._extract_label_id(d.start_id) <> ag_catalog._label_id('memory', 'Passage');
  DELETE FROM memory._ag_label_vertex AS d
  WHERE d.user_id = p_user_id AND ag_catalog._extract_label_id(d.id) NOT IN (
    ag_catalog._label_id('memory', 'Passage'), ag_catalog._label_id('memory', 'Conversation')
  );
  LOOP
    node := memsvc.project_more_nodes(p_user_id, node, p_batch);
    EXIT WHEN node IS NULL;
  END LOOP;
  LOOP
    version := memsvc.project_more_edges(p_user_id, version, p_batch);
    EXIT WHEN version IS NULL;
  END LOOP;
  PERFORM memsvc.require_identity(p_user_id);
END
$$;
COMMENT ON FUNCTION memsvc.rebuild_projection(uuid, integer) IS 'Makes the projection of a user anew.';

-- What is wrong with a user's projection, all in one snapshot: rows that are missing, rows that should not be there,
-- and rows that say something else. All zero: nothing.
CREATE OR REPLACE FUNCTION memsvc.compare_projection(p_user_id uuid)
RETURNS TABLE (kind text, stored bigint, missing bigint, surplus bigint, different bigint)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
AS $$
BEGIN
  RETURN QUERY
  WITH wanted AS (
    SELECT 'node' AS kind, w.node_id AS subject,
      concat_ws(' ', w.label, ag_catalog._graphid(ag_catalog._label_id('memory', w.label::name), w.gid)) AS place,
      ag_catalog.agtype_in(textout(w.properties)) AS properties
    FROM memsvc.vertices_wanted(p_user_id, ARRAY(
      SELECT n.node_id FROM nodes AS n WHERE n.user_id = p_user_id
    )) AS w
    UNION ALL
    SELECT 'edge', w.version_id, concat_ws(
        ' ', w.label, ag_catalog._label_id('memory', w.label::name),
        ag_catalog._graphid(ag_catalog._label_id('memory', w.start_label::name), w.start_gid),
        ag_catalog._graphid(ag_catalog._label_id('memory', w.end_label::name), w.end_gid)
      ), ag_catalog.agtype_in(textout(w.properties))
    FROM memsvc.edges_wanted(p_user_id, ARRAY(
      SELECT v.version_id FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity'
    )) AS w
  ),
  found AS (
    SELECT 'node' AS kind, v.node_id AS subject, concat_ws(' ', c.relname, v.id) AS place, v.properties
    FROM memory._ag_label_vertex AS v INNER JOIN pg_class AS c ON c.oid = v.tableoid
    WHERE v.user_id = p_user_id AND c.relname NOT IN ('Passage', 'Conversation')
    UNION ALL
    SELECT 'edge', e.version_id, concat_ws(
        ' ', c.relname, ag_catalog._extract_label_id(e.id), e.start_id, e.end_id,
        CASE WHEN count(*) OVER (PARTITION BY e.id::text) > 1 THEN 'another edge has its number' END
      ), e.properties
    FROM memory._ag_label_edge AS e INNER JOIN pg_class AS c ON c.oid = e.tableoid
    WHERE e.user_id = p_user_id
      AND ag_catalog._extract_label_id(e.start_id) <> ag_catalog._label_id('memory', 'Passage')
  )
  SELECT k.kind, count(f.subject), count(*) FILTER (WHERE f.subject IS NULL AND w.subject IS NOT NULL),
    count(*) FILTER (WHERE w.subject IS NULL AND f.subject IS NOT NULL),
    count(*) FILTER (
      WHERE w.place <> f.place OR w.properties OPERATOR(ag_catalog.<>) f.properties
    )
  FROM (VALUES ('node'), ('edge')) AS k (kind)
  LEFT JOIN (wanted AS w FULL JOIN found AS f ON f.kind = w.kind AND f.subject = w.subject)
    ON coalesce(w.kind, f.kind) = k.kind
  GROUP BY k.kind
  ORDER BY k.kind DESC;
END
$$;
COMMENT ON FUNCTION memsvc.compare_projection(uuid) IS 'What is wrong with the projection of a user.';
