-- The whole projection of a user at once: made anew, and compared with what it should be.

-- Makes a user's projection anew, some thousand nodes at a time. Where there is no AGE there is nothing to do.
CREATE OR REPLACE FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_batch integer DEFAULT 5000)
RETURNS TABLE (vertices bigint, edges bigint)
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  batch uuid[];
  place bigint := -1;
  version uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  vertices := 0;
  edges := 0;
  IF NOT memsvc.has_projection() THEN
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM memsvc.lock_projection(p_user_id);
  DELETE FROM memory._ag_label_edge AS d WHERE d.user_id = p_user_id;
  DELETE FROM memory._ag_label_vertex AS d WHERE d.user_id = p_user_id;
  LOOP
    SELECT array_agg(b.node_id), max(b.gid) INTO batch, place
    FROM (
      SELECT n.node_id, n.gid FROM nodes AS n WHERE n.user_id = p_user_id AND n.gid > place ORDER BY n.gid LIMIT p_batch
    ) AS b;
    EXIT WHEN batch IS NULL;
    vertices := vertices + memsvc.store_vertices(p_user_id, batch);
  END LOOP;
  LOOP
    SELECT array_agg(b.version_id), max(b.version_id::text)::uuid INTO batch, version
    FROM (
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id > version AND v.recorded_to = 'infinity'
      ORDER BY v.version_id LIMIT p_batch
    ) AS b;
    EXIT WHEN batch IS NULL;
    edges := edges + memsvc.store_edges(p_user_id, batch);
  END LOOP;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.rebuild_projection(uuid, integer) IS
  'Makes the projection of a user anew; how many vertices and edges it has.';

-- What is wrong with a user's projection, all in one snapshot: rows that are missing, rows that should not be there, and
-- rows that say something else. All zero: nothing.
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
        ' ', w.label, ag_catalog._graphid(ag_catalog._label_id('memory', w.label::name), w.number),
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
    WHERE v.user_id = p_user_id
    UNION ALL
    SELECT 'edge', e.version_id, concat_ws(' ', c.relname, e.id, e.start_id, e.end_id), e.properties
    FROM memory._ag_label_edge AS e INNER JOIN pg_class AS c ON c.oid = e.tableoid
    WHERE e.user_id = p_user_id
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
