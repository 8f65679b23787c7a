-- Reads of the graph at two times: as_of, the valid time (null: any), and known_at, the recorded time (null: now). What
-- is known now is in the partial indexes of open versions; reads of the past use these and the indexes of closed ones.
-- Under row security, as the caller.
-- ORDER BY with enable_sort off selects the index, as in graph/10_traverse.sql.

-- Versions of edges at some stored nodes, as known at a time. p_side: from, to or both (an edge between two of the
-- nodes is returned once).
CREATE OR REPLACE FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamptz)
RETURNS SETOF memsvc.edge_versions
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = ANY (p_nodes) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY v.from_node;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.to_node = ANY (p_nodes) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity') AND (p_side = 'to' OR v.from_node <> ALL (p_nodes))
    ORDER BY v.to_node;
  END IF;
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  IF p_side <> 'to' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = ANY (p_nodes) AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
    ORDER BY v.from_node;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.to_node = ANY (p_nodes) AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
      AND (p_side = 'to' OR v.from_node <> ALL (p_nodes))
    ORDER BY v.to_node;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.edges_known(uuid, uuid[], text, timestamptz) IS
  'Versions of edges at some stored nodes, as known at a time.';

-- Facts about nodes and all nodes merged with them, ends resolved; the newest comes first. contested: somebody disputes
-- it, or the type allows one value at a time, but merged nodes have different ones.
CREATE OR REPLACE FUNCTION memsvc.facts(
  p_user_id uuid,
  p_about uuid[],
  p_types text[] DEFAULT NULL,
  p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL,
  p_side text DEFAULT 'both'
) RETURNS TABLE (
  version_id uuid, edge_id uuid, from_node uuid, type text, to_node uuid, key text, fact text, data jsonb, weight real,
  confidence real, asserted_by text, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz,
  recorded_to timestamptz, contested boolean, stored_from uuid, stored_to uuid
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  WITH about AS MATERIALIZED (
    SELECT array_agg(s.node_id) AS nodes FROM memsvc.same_nodes(p_user_id, p_about, p_known_at) AS s
  ),
  found AS MATERIALIZED (
    SELECT v.* FROM about AS a CROSS JOIN LATERAL memsvc.edges_known(p_user_id, a.nodes, p_side, p_known_at) AS v
    WHERE (p_types IS NULL OR v.type = ANY (p_types))
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
  ),
  -- A fact can be contested only if its type is functional and its start is one of several merged nodes.
  starts AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id
    FROM memsvc.same_nodes(
      p_user_id, ARRAY(SELECT DISTINCT f.from_node FROM found AS f WHERE f.functional), p_known_at
    ) AS s
  ),
  rival AS MATERIALIZED (
    SELECT v.from_node, v.to_node, v.type, v.valid_from, v.valid_to
    FROM memsvc.edges_known(p_user_id, ARRAY(
      SELECT s.node_id FROM starts AS s
      WHERE s.canonical_id IN (SELECT d.canonical_id FROM starts AS d GROUP BY d.canonical_id HAVING count(*) > 1)
    ), 'from', p_known_at) AS v
    WHERE v.functional
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT f.from_node FROM found AS f UNION SELECT f.to_node FROM found AS f
      UNION SELECT v.from_node FROM rival AS v UNION SELECT v.to_node FROM rival AS v
    ), p_known_at) AS r
  ),
  disputed AS MATERIALIZED (
    SELECT d.version_id
    FROM memsvc.disputed_versions(p_user_id, ARRAY(SELECT f.version_id FROM found AS f), p_known_at) AS d (version_id)
  )
  SELECT f.version_id, f.edge_id, rf.canonical_id, f.type, rt.canonical_id, e.key, f.fact, f.data, f.weight,
    f.confidence, f.asserted_by, f.valid_from, f.valid_to, f.recorded_from, f.recorded_to,
    f.functional AND EXISTS (
      SELECT FROM rival AS v
      INNER JOIN resolved AS vf ON vf.node_id = v.from_node
      INNER JOIN resolved AS vt ON vt.node_id = v.to_node
      WHERE v.type = f.type AND vf.canonical_id = rf.canonical_id AND vt.canonical_id <> rt.canonical_id
        AND v.valid_from < f.valid_to AND v.valid_to > f.valid_from
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
    ) OR f.version_id IN (SELECT d.version_id FROM disputed AS d), f.from_node, f.to_node
  FROM found AS f
  INNER JOIN resolved AS rf ON rf.node_id = f.from_node
  INNER JOIN resolved AS rt ON rt.node_id = f.to_node
  CROSS JOIN LATERAL (
    SELECT i.key FROM memsvc.edges AS i WHERE i.user_id = p_user_id AND i.edge_id = f.edge_id OFFSET 0
  ) AS e
  ORDER BY f.valid_from DESC, f.recorded_from DESC, f.version_id;
END;
COMMENT ON FUNCTION memsvc.facts(uuid, uuid[], text[], timestamptz, timestamptz, text) IS
  'Facts about nodes and all nodes merged with them, at a valid and a recorded time.';

-- Properties of nodes and all nodes merged with them; those of the canonical node first.
CREATE OR REPLACE FUNCTION memsvc.node_states(
  p_user_id uuid, p_nodes uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  canonical_id uuid, node_id uuid, version_id uuid, type text, label text, description text, data jsonb,
  importance real, asserted_by text, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz,
  recorded_to timestamptz
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
BEGIN ATOMIC
  SELECT s.canonical_id, v.node_id, v.version_id, v.type, v.label, v.description, v.data, v.importance, v.asserted_by,
    v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  CROSS JOIN LATERAL (
    (SELECT o.* FROM memsvc.node_versions AS o
    WHERE o.user_id = p_user_id AND o.node_id = ANY (ARRAY[s.node_id]) AND o.recorded_to = 'infinity'
      AND o.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY o.node_id OFFSET 0)
    UNION ALL
    (SELECT o.* FROM memsvc.node_versions AS o
    WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id AND o.node_id = ANY (ARRAY[s.node_id])
      AND o.recorded_to < 'infinity' AND o.recorded_from <= p_known_at AND o.recorded_to > p_known_at
    ORDER BY o.node_id OFFSET 0)
  ) AS v
  WHERE p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of)
  ORDER BY s.canonical_id, v.node_id = s.canonical_id DESC, v.valid_from DESC, v.version_id;
END;
COMMENT ON FUNCTION memsvc.node_states(uuid, uuid[], timestamptz, timestamptz) IS
  'Properties of nodes and all nodes merged with them, at a valid and a recorded time.';

-- Names of nodes and all nodes merged with them.
CREATE OR REPLACE FUNCTION memsvc.node_names(
  p_user_id uuid, p_nodes uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  canonical_id uuid, node_id uuid, alias_id uuid, alias text, normal_form text, confidence real, asserted_by text,
  valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
BEGIN ATOMIC
  SELECT s.canonical_id, v.node_id, v.alias_id, v.alias, v.normal_form, v.confidence, v.asserted_by, v.valid_from,
    v.valid_to, v.recorded_from, v.recorded_to
  FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  CROSS JOIN LATERAL (
    SELECT o.* FROM memsvc.aliases AS o
    WHERE o.user_id = p_user_id AND o.node_id = s.node_id
      AND o.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (o.recorded_to = 'infinity' OR o.recorded_to > p_known_at)
      AND (p_as_of IS NULL OR (o.valid_from <= p_as_of AND o.valid_to > p_as_of))
    ORDER BY o.normal_form OFFSET 0
  ) AS v
  ORDER BY v.recorded_from, v.alias_id;
END;
COMMENT ON FUNCTION memsvc.node_names(uuid, uuid[], timestamptz, timestamptz) IS
  'Names of nodes and all nodes merged with them, at a valid and a recorded time.';

-- Nodes that have a name, resolved: several if the name is ambiguous.
CREATE OR REPLACE FUNCTION memsvc.nodes_called(
  p_user_id uuid, p_names text[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (name text, canonical_id uuid, node_id uuid, alias text, confidence real)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
BEGIN ATOMIC
  WITH called AS MATERIALIZED (
    SELECT n.name, v.node_id, v.alias, v.confidence
    FROM unnest(p_names) AS n (name)
    CROSS JOIN LATERAL (
      (SELECT o.* FROM memsvc.aliases AS o
      WHERE o.user_id = p_user_id AND o.normal_form = ANY (ARRAY[memsvc.normal_form(n.name)])
        AND o.recorded_to = 'infinity' AND o.recorded_from <= coalesce(p_known_at, 'infinity')
      ORDER BY o.normal_form OFFSET 0)
      UNION ALL
      (SELECT o.* FROM memsvc.aliases AS o
      WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id
        AND o.normal_form = ANY (ARRAY[memsvc.normal_form(n.name)]) AND o.recorded_to < 'infinity'
        AND o.recorded_from <= p_known_at AND o.recorded_to > p_known_at
      ORDER BY o.normal_form OFFSET 0)
    ) AS v
    WHERE p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of)
  )
  SELECT c.name, r.canonical_id, c.node_id, c.alias, c.confidence
  FROM called AS c
  INNER JOIN memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT d.node_id FROM called AS d), p_known_at) AS r
    ON r.node_id = c.node_id
  ORDER BY c.name, c.confidence DESC, r.canonical_id, c.node_id;
END;
COMMENT ON FUNCTION memsvc.nodes_called(uuid, text[], timestamptz, timestamptz) IS
  'Nodes that have one of these names, at a valid and a recorded time.';

-- Everything that was recorded of a node and the nodes merged with it now, newest first: what was written and closed,
-- and merges. Rows with the same recorded time are never divided, so there can be more rows than p_limit.
CREATE OR REPLACE FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamptz, p_limit integer)
RETURNS TABLE (
  at timestamptz, event text, kind text, id uuid, subject uuid, content jsonb, asserted_by text,
  valid_from timestamptz, valid_to timestamptz, change_id uuid, changed_by text
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  WITH same AS MATERIALIZED (
    SELECT array_agg(s.node_id) AS nodes FROM memsvc.same_nodes(p_user_id, ARRAY[p_node]) AS s
  ),
  version AS (
    SELECT 'node' AS kind, v.version_id AS id, v.node_id AS subject, memsvc.content_of(v) AS content, v.asserted_by,
      v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
    FROM memsvc.node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (SELECT unnest(s.nodes) FROM same AS s)
    UNION ALL
    SELECT 'alias', v.alias_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from, v.recorded_to
    FROM memsvc.aliases AS v WHERE v.user_id = p_user_id AND v.node_id = ANY (SELECT unnest(s.nodes) FROM same AS s)
    UNION ALL
    SELECT 'place', v.location_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from, v.recorded_to
    FROM memsvc.locations AS v WHERE v.user_id = p_user_id AND v.node_id = ANY (SELECT unnest(s.nodes) FROM same AS s)
    UNION ALL
    SELECT 'edge', v.version_id, v.edge_id, memsvc.content_of(v)
      || jsonb_build_object('from_node', v.from_node, 'type', v.type, 'to_node', v.to_node),
      v.asserted_by, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
    FROM memsvc.edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = ANY (SELECT unnest(s.nodes) FROM same AS s)
    UNION ALL
    SELECT 'edge', v.version_id, v.edge_id, memsvc.content_of(v)
      || jsonb_build_object('from_node', v.from_node, 'type', v.type, 'to_node', v.to_node),
      v.asserted_by, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
    FROM memsvc.edge_versions AS v
    WHERE v.user_id = p_user_id AND v.to_node = ANY (SELECT unnest(s.nodes) FROM same AS s)
      AND v.from_node <> ALL (SELECT unnest(s.nodes) FROM same AS s)
    UNION ALL
    SELECT 'merge', m.merge_id, m.node_id, jsonb_build_object(
        'canonical_id', m.canonical_id, 'reason', m.reason, 'confidence', m.confidence
      ), m.asserted_by, NULL, NULL, m.recorded_from, m.recorded_to
    FROM memsvc.merges AS m
    WHERE m.user_id = p_user_id AND (
      m.node_id = ANY (SELECT unnest(s.nodes) FROM same AS s)
      OR m.canonical_id = ANY (SELECT unnest(s.nodes) FROM same AS s)
    )
  ),
  event AS (
    SELECT v.recorded_from AS at, 'written' AS event, v.* FROM version AS v
    UNION ALL
    SELECT v.recorded_to, 'closed', v.* FROM version AS v WHERE v.recorded_to < 'infinity'
  )
  SELECT e.at, e.event, e.kind, e.id, e.subject, e.content, e.asserted_by, e.valid_from, e.valid_to, c.change_id,
    c.asserted_by
  FROM (
    SELECT d.* FROM event AS d WHERE p_before IS NULL OR d.at < p_before
    ORDER BY d.at DESC FETCH FIRST p_limit ROWS WITH TIES
  ) AS e
  LEFT JOIN memsvc.changes AS c ON c.user_id = p_user_id AND c.recorded_at = e.at
  ORDER BY e.at DESC, e.event, e.id;
END;
COMMENT ON FUNCTION memsvc.history_of(uuid, uuid, timestamptz, integer) IS
  'What was recorded of a node and the nodes merged with it now, newest first.';
