-- Writes the plan of plan_history: closes versions, writes new ones, links their evidence.

-- p_steps as in plan_history, and for each step "evidence": [{"passage_id": …, "span_from": null|n,
-- "span_to": null|n, "confidence": 0.9}, …]. The caller holds locks on the nodes, and p_at is later than everything
-- that is open on them. Result: the outcome of each step (written; known: it was already recorded; superseded: a later
-- step of the batch says otherwise; closed: something was taken away; unchanged: there was nothing to take away) and
-- its versions.
CREATE OR REPLACE FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamptz, p_steps jsonb)
RETURNS TABLE (nth integer, outcome text, versions uuid[])
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  plan CONSTANT jsonb := (
    SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') FROM memsvc.plan_history(p_user_id, p_steps) AS p
  );
  closed uuid[] := (
    SELECT array_agg((p.value ->> 'version_id')::uuid) FROM jsonb_array_elements(plan) AS p
    WHERE p.value ->> 'action' = 'close'
  );
BEGIN
  IF closed IS NOT NULL THEN
    UPDATE node_versions AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.version_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE edge_versions AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.version_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE aliases AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.alias_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE locations AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.location_id = ANY (closed) AND v.recorded_to = 'infinity';
  END IF;
  PERFORM memsvc.write_versions(p_user_id, p_actor, p_at, plan);
  PERFORM memsvc.link_evidence(p_user_id, p_actor, p_at, p_steps, plan);

  RETURN QUERY
  SELECT s.position,
    CASE
      WHEN s.takes THEN CASE WHEN bool_or(p.action = 'end') THEN 'closed' ELSE 'unchanged' END
      WHEN bool_or(p.action = 'write') THEN 'written'
      WHEN bool_or(p.action = 'past') THEN 'superseded'
      ELSE 'known'
    END,
    array_agg(p.version_id) FILTER (WHERE p.action IN ('bear', 'end'))
  FROM (
    SELECT g.position, g.content IS NULL AS takes
    FROM jsonb_to_recordset(p_steps) AS g (position integer, content jsonb)
  ) AS s
  LEFT JOIN (
    SELECT w.* FROM jsonb_to_recordset(plan) AS w (action text, version_id uuid, nth integer)
  ) AS p ON p.nth = s.position
  GROUP BY s.position, s.takes;
END
$$;
COMMENT ON FUNCTION memsvc.apply_steps(uuid, text, timestamptz, jsonb) IS
  'Closes and writes versions as planned, with their evidence; one result row for each step.';

CREATE OR REPLACE FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamptz, p_plan jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  INSERT INTO node_versions (
    user_id, version_id, node_id, type, label, description, data, importance, asserted_by, derived_from, valid_from,
    valid_to, recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, w.content ->> 'type', w.content ->> 'label', w.content ->> 'description',
    w.content -> 'data', (w.content ->> 'importance')::real, coalesce(w.asserted_by, p_actor), w.derived_from,
    w.valid_from, w.valid_to, p_at, CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'node' AND w.action IN ('write', 'past');

  INSERT INTO aliases (
    user_id, alias_id, node_id, alias, normal_form, confidence, asserted_by, derived_from, valid_from, valid_to,
    recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, w.content ->> 'alias', w.form, (w.content ->> 'confidence')::real,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, form text, version_id uuid, derived_from uuid, content jsonb,
    asserted_by text, valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'alias' AND w.action IN ('write', 'past');

  INSERT INTO locations (
    user_id, location_id, node_id, latitude, longitude, radius_m, asserted_by, derived_from, valid_from, valid_to,
    recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, (w.content ->> 'latitude')::double precision,
    (w.content ->> 'longitude')::double precision, (w.content ->> 'radius_m')::double precision,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'place' AND w.action IN ('write', 'past');

  INSERT INTO edge_versions (
    user_id, version_id, edge_id, from_node, type, to_node, functional, fact, data, weight, confidence, asserted_by,
    derived_from, valid_from, valid_to, recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, e.from_node, e.type, e.to_node, e.one_value AND t.functional,
    w.content ->> 'fact',
    w.content -> 'data', (w.content ->> 'weight')::real, (w.content ->> 'confidence')::real,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  CROSS JOIN LATERAL (
    SELECT i.from_node, i.type, i.to_node, i.key <> 'beside' AS one_value FROM edges AS i
    WHERE i.user_id = p_user_id AND i.edge_id = w.subject OFFSET 0
  ) AS e
  INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = e.type
  WHERE w.kind = 'edge' AND w.action IN ('write', 'past');

  -- A pin, and how much something matters, are said of the fact or the node: its next version has what the last one has.
  -- Of a node they stand at the passage that its version is filed as.
  INSERT INTO memory_signals (user_id, memory_id, kind, pinned, importance)
  SELECT p_user_id, w.version_id, k.kind, k.pinned, k.importance
  FROM jsonb_to_recordset(p_plan) AS w (action text, kind text, subject uuid, version_id uuid)
  CROSS JOIN LATERAL (
    (SELECT 'fact' AS kind, s.pinned, s.importance
    FROM edge_versions AS v INNER JOIN memory_signals AS s ON s.user_id = v.user_id AND s.version_id = v.version_id
    WHERE w.kind = 'edge' AND v.user_id = p_user_id AND v.edge_id = w.subject AND v.version_id <> w.version_id
    ORDER BY v.recorded_from DESC, v.version_id DESC LIMIT 1)
    UNION ALL
    (SELECT 'passage', s.pinned, s.importance
    FROM node_versions AS v INNER JOIN memory_signals AS s ON s.user_id = v.user_id AND s.passage_id = v.version_id
    WHERE w.kind = 'node' AND v.user_id = p_user_id AND v.node_id = w.subject AND v.version_id <> w.version_id
      AND EXISTS (SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = w.version_id)
    ORDER BY v.recorded_from DESC, v.version_id DESC LIMIT 1)
  ) AS k
  WHERE w.action = 'write' AND (k.pinned OR k.importance IS NOT NULL)
  ON CONFLICT (user_id, memory_id) DO NOTHING;
END
$$;
COMMENT ON FUNCTION memsvc.write_versions(uuid, text, timestamptz, jsonb) IS 'Writes the new versions of a plan.';

-- Links a step's evidence to all versions with its content; a remainder or a restored version takes over the evidence
-- of the version that it derives from. Existing links are not repeated.
CREATE OR REPLACE FUNCTION memsvc.link_evidence(
  p_user_id uuid, p_actor text, p_at timestamptz, p_steps jsonb, p_plan jsonb
) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  INSERT INTO source_links (
    user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, location_id, stance,
    confidence, asserted_by, recorded_from
  )
  SELECT p_user_id, l.passage_id, l.span_from, l.span_to, CASE l.kind WHEN 'node' THEN l.version_id END,
    CASE l.kind WHEN 'edge' THEN l.version_id END, CASE l.kind WHEN 'alias' THEN l.version_id END,
    CASE l.kind WHEN 'place' THEN l.version_id END, l.stance, l.confidence, coalesce(l.asserted_by, p_actor), p_at
  FROM (
    SELECT DISTINCT ON (w.version_id, e.passage_id, e.span_from, e.span_to, w.action) w.kind, w.version_id,
      e.passage_id, e.span_from, e.span_to, CASE w.action WHEN 'end' THEN 'ends' ELSE 'supports' END AS stance,
      coalesce(e.confidence, 1) AS confidence, NULL AS asserted_by
    FROM jsonb_to_recordset(p_steps) AS s (position integer, evidence jsonb)
    CROSS JOIN LATERAL jsonb_to_recordset(s.evidence) AS e (
      passage_id uuid, span_from integer, span_to integer, confidence real
    )
    INNER JOIN (
      SELECT p.* FROM jsonb_to_recordset(p_plan) AS p (action text, kind text, version_id uuid, nth integer)
    ) AS w ON w.nth = s.position AND w.action IN ('bear', 'end')
    ORDER BY w.version_id, e.passage_id, e.span_from, e.span_to, w.action, s.position
  ) AS l
  WHERE NOT EXISTS (SELECT FROM memsvc.links_of(p_user_id, l.kind, l.version_id) AS k
    WHERE (k.passage_id, k.span_from, k.span_to, k.stance)
      IS NOT DISTINCT FROM (l.passage_id, l.span_from, l.span_to, l.stance));

  INSERT INTO source_links (
    user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, location_id, stance,
    confidence, asserted_by, recorded_from
  )
  SELECT p_user_id, k.passage_id, k.span_from, k.span_to, CASE w.kind WHEN 'node' THEN w.version_id END,
    CASE w.kind WHEN 'edge' THEN w.version_id END, CASE w.kind WHEN 'alias' THEN w.version_id END,
    CASE w.kind WHEN 'place' THEN w.version_id END, k.stance, k.confidence, k.asserted_by, p_at
  FROM jsonb_to_recordset(p_plan) AS w (action text, kind text, version_id uuid, derived_from uuid, content jsonb)
  CROSS JOIN LATERAL memsvc.links_of(p_user_id, w.kind, w.derived_from) AS k
  WHERE w.action = 'write' AND w.derived_from IS NOT NULL
    -- What is marked stays so while it says the same.
    AND (k.stance = 'supports' OR k.stance IN ('validated', 'disputed') AND w.content = (
      SELECT v.content FROM memsvc.version_of(p_user_id, w.derived_from) AS v
    ))
    AND NOT EXISTS (SELECT FROM memsvc.links_of(p_user_id, w.kind, w.version_id) AS d
      WHERE (d.passage_id, d.span_from, d.span_to, d.stance)
        IS NOT DISTINCT FROM (k.passage_id, k.span_from, k.span_to, k.stance))
  ORDER BY k.recorded_from, k.link_id; -- sources are shown in this order
END
$$;
COMMENT ON FUNCTION memsvc.link_evidence(uuid, text, timestamptz, jsonb, jsonb) IS
  'Links the versions of a plan with their evidence.';

-- Evidence of one version, as known at a time (null: now).
CREATE OR REPLACE FUNCTION memsvc.links_of(
  p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamptz DEFAULT NULL
) RETURNS SETOF memsvc.source_links
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall, eraser
-- plans: by-key
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  CASE p_kind
  WHEN 'node' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.node_version_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'edge' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.edge_version_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'alias' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.alias_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'place' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.location_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'merge' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.merge_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  END CASE;
END
$$;
COMMENT ON FUNCTION memsvc.links_of(uuid, text, uuid, timestamptz) IS
  'Evidence of one version or merge, as known at a time.';
