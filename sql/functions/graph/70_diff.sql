-- What differs between two moments: in our knowledge (known), or in the world as we know it (valid).

-- Versions, names, locations and merges that were recorded or closed after p_from and at p_to at the latest. form
-- distinguishes the names of one node.
CREATE OR REPLACE FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamptz, p_to timestamptz)
RETURNS TABLE (
  kind text, id uuid, subject uuid, form text, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz,
  recorded_to timestamptz
)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM node_versions AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM aliases AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM locations AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'merge', m.merge_id, m.node_id, '', '-infinity', 'infinity', m.recorded_from, m.recorded_to
  FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_from > p_from AND m.recorded_from <= p_to
  UNION ALL
  SELECT 'merge', m.merge_id, m.node_id, '', '-infinity', 'infinity', m.recorded_from, m.recorded_to
  FROM merges AS m
  WHERE m.user_id = p_user_id AND m.recorded_to < 'infinity' AND m.recorded_to > p_from AND m.recorded_to <= p_to
    AND m.recorded_from <= p_from;
END
$$;
COMMENT ON FUNCTION memsvc.versions_touched(uuid, timestamptz, timestamptz) IS
  'Versions, names and merges that were recorded or closed in a span of recorded time.';

-- Versions, names and locations, as known at a time (null: now), that began or ended after p_from and at p_to at the
-- latest.
CREATE OR REPLACE FUNCTION memsvc.versions_turning(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_known_at timestamptz
) RETURNS TABLE (kind text, id uuid, subject uuid, form text, valid_from timestamptz, valid_to timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from;
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY -- versions that were closed since then, at any valid time
  SELECT c.* FROM (
    SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
  ) AS c (kind, id, subject, form, valid_from, valid_to)
  WHERE (c.valid_from > p_from AND c.valid_from <= p_to) OR (c.valid_to > p_from AND c.valid_to <= p_to);
END
$$;
COMMENT ON FUNCTION memsvc.versions_turning(uuid, timestamptz, timestamptz, timestamptz) IS
  'Versions and names that began or ended in a span of valid time, as known at a time.';

-- What differs between two moments, by thread (a node's properties, a name of a node, an edge, a node's merge), newest
-- first: the versions before, the versions after, and on the axis valid those that began and ended in between. p_axis:
-- known (what memsvc learnt; what was learnt and taken back in between is left out) or valid (what began and ended in
-- the world, as known at p_known_at). p_kinds: null for all. A page continues after (at, kind, subject, form) of the
-- last row.
CREATE OR REPLACE FUNCTION memsvc.graph_diff(
  p_user_id uuid, p_axis text, p_from timestamptz, p_to timestamptz, p_known_at timestamptz, p_kinds text[],
  p_after_at timestamptz, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer
) RETURNS TABLE (at timestamptz, kind text, subject uuid, form text, before uuid[], after uuid[], between_them uuid[])
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  WITH touched AS MATERIALIZED (
    SELECT t.kind, t.id, t.subject, t.form, t.valid_from, t.recorded_from <= p_from AS past,
      t.recorded_to > p_to AS present,
      CASE WHEN t.recorded_to <= p_to THEN t.recorded_to ELSE t.recorded_from END AS at
    FROM memsvc.versions_touched(p_user_id, p_from, p_to) AS t
    WHERE p_axis = 'known' AND (t.recorded_from <= p_from OR t.recorded_to > p_to)
    UNION ALL
    SELECT t.kind, t.id, t.subject, t.form, t.valid_from, t.valid_from <= p_from, t.valid_to > p_to,
      CASE WHEN t.valid_to <= p_to THEN t.valid_to ELSE t.valid_from END
    FROM memsvc.versions_turning(p_user_id, p_from, p_to, p_known_at) AS t
    WHERE p_axis = 'valid'
  ),
  thread AS (
    SELECT max(t.at) AS at, t.kind, t.subject, t.form,
      coalesce(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE t.past), '{}') AS before,
      coalesce(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE NOT t.past AND t.present), '{}') AS after,
      coalesce(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE NOT t.past AND NOT t.present), '{}')
        AS between_them
    FROM touched AS t
    WHERE p_kinds IS NULL OR t.kind = ANY (p_kinds)
    GROUP BY t.kind, t.subject, t.form
  )
  SELECT d.at, d.kind, d.subject, d.form, d.before, d.after, d.between_them
  FROM thread AS d
  WHERE p_after_at IS NULL OR d.at < p_after_at
    OR (d.at = p_after_at AND (d.kind, d.subject, d.form) > (p_after_kind, p_after_subject, p_after_form))
  ORDER BY d.at DESC, d.kind, d.subject, d.form
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.graph_diff(
  uuid, text, timestamptz, timestamptz, timestamptz, text[], timestamptz, text, uuid, text, integer
) IS 'What differs between two moments, in our knowledge or in the world.';

-- The content of one version, name or merge, with its times; content as in history_of.
CREATE OR REPLACE FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid)
RETURNS TABLE (
  subject uuid, content jsonb, from_node uuid, type text, to_node uuid, asserted_by text, valid_from timestamptz,
  valid_to timestamptz, recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  CASE p_kind
  WHEN 'node' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, v.type, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p_id;
  WHEN 'alias' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, NULL, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = p_id;
  WHEN 'place' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, NULL, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = p_id;
  WHEN 'edge' THEN
    RETURN QUERY SELECT v.edge_id, memsvc.content_of(v), v.from_node, v.type, v.to_node, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p_id;
  WHEN 'merge' THEN
    RETURN QUERY SELECT m.node_id, jsonb_build_object('reason', m.reason, 'confidence', m.confidence), NULL::uuid,
      NULL, m.canonical_id, m.asserted_by, NULL::timestamptz, NULL::timestamptz, m.recorded_from, m.recorded_to
    FROM merges AS m WHERE m.user_id = p_user_id AND m.merge_id = p_id;
  END CASE;
END
$$;
COMMENT ON FUNCTION memsvc.version_shown(uuid, text, uuid) IS 'One version, name or merge, with its content and times.';
