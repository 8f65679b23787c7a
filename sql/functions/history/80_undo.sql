-- Undoes a change by another change, which restores what the first one altered, if nobody has altered it since.

-- What a change altered, by span of valid time: the content before, and the content that must be found now to undo it.
CREATE OR REPLACE FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamptz)
RETURNS TABLE (
  kind text, node_id uuid, subject uuid, form text, valid_from timestamptz, valid_to timestamptz, was_id uuid,
  was jsonb, was_asserted_by text, became jsonb
)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (
    SELECT 'node' AS kind, v.node_id, v.node_id AS subject, '' AS form, v.version_id, memsvc.content_of(v) AS content,
      v.asserted_by, v.valid_from, v.valid_to, v.recorded_from < p_at AS past
    FROM node_versions AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'alias', v.node_id, v.node_id, v.normal_form, v.alias_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM aliases AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'place', v.node_id, v.node_id, '', v.location_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM locations AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'edge', v.from_node, v.edge_id, '', v.version_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
  ),
  cell AS MATERIALIZED (
    SELECT p.kind, p.node_id, p.subject, p.form, p.bound AS cell_from, lead(p.bound) OVER (
      PARTITION BY p.kind, p.subject, p.form ORDER BY p.bound
    ) AS cell_to
    FROM (
      SELECT t.kind, t.node_id, t.subject, t.form, t.valid_from AS bound FROM touched AS t
      UNION SELECT t.kind, t.node_id, t.subject, t.form, t.valid_to FROM touched AS t
    ) AS p
  )
  SELECT c.kind, c.node_id, c.subject, c.form, c.cell_from, c.cell_to, b.version_id, b.content, b.asserted_by, a.content
  FROM cell AS c
  LEFT JOIN touched AS b
    ON b.past AND b.kind = c.kind AND b.subject = c.subject AND b.form = c.form AND b.valid_from <= c.cell_from
    AND b.valid_to >= c.cell_to
  LEFT JOIN touched AS a
    ON NOT a.past AND a.kind = c.kind AND a.subject = c.subject AND a.form = c.form AND a.valid_from <= c.cell_from
    AND a.valid_to >= c.cell_to
  WHERE c.cell_to IS NOT NULL AND b.content IS DISTINCT FROM a.content;
END
$$;
COMMENT ON FUNCTION memsvc.altered_by(uuid, timestamptz) IS 'What a change altered, with the content before it.';

-- Undoes a change; refused if something that it altered was altered again. Result: the new change.
CREATE OR REPLACE FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid)
RETURNS TABLE (change_id uuid, recorded_at timestamptz)
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  undone CONSTANT timestamptz := (
    SELECT c.recorded_at FROM changes AS c WHERE c.user_id = p_user_id AND c.change_id = p_change_id
  );
  change changes;
  steps jsonb;
  mergers jsonb;
BEGIN
  IF undone IS NULL THEN
    PERFORM memsvc.refuse_change('change_unknown', NULL, format('There is no change %s.', p_change_id));
  END IF;
  change := memsvc.begin_change(
    p_user_id, p_actor, '{undo}',
    ARRAY(
      SELECT a.node_id FROM memsvc.altered_by(p_user_id, undone) AS a
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = p_user_id AND (m.recorded_from = undone OR m.recorded_to = undone)
      UNION
      SELECT v.from_node FROM memsvc.marks_touched(p_user_id, undone) AS l
      INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = l.edge_version_id
    ), p_change_id
  );
  IF EXISTS (
    SELECT FROM memsvc.altered_by(p_user_id, undone) AS a
    WHERE memsvc.differs_now(p_user_id, a.kind, a.subject, a.form, a.valid_from, a.valid_to, a.became)
  ) THEN
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later change builds on this one.');
  END IF;

  SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') INTO steps
  FROM (
    SELECT row_number() OVER () AS position, a.kind, a.subject, a.subject AS line, a.form, a.was AS content,
      a.was_id AS derived_from,
      -- Instructions of the user's own are rules in contexts: nobody else brings one back as theirs.
      CASE
        WHEN p_actor <> 'user' AND a.kind = 'node' AND a.was ->> 'type' IN (
          SELECT t.name FROM node_types AS t WHERE 'Instruction' IN (t.name, t.parent)
        ) THEN p_actor
        ELSE a.was_asserted_by
      END AS asserted_by, a.valid_from, a.valid_to, '{}'::jsonb[] AS evidence
    FROM memsvc.altered_by(p_user_id, undone) AS a
  ) AS s;
  BEGIN
    PERFORM memsvc.apply_steps(p_user_id, p_actor, change.recorded_at, steps);
  EXCEPTION WHEN exclusion_violation THEN -- another edge is now the only value of a functional type
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later change builds on this one.');
  END;

  mergers := memsvc.merges_back(p_user_id, undone);
  PERFORM memsvc.apply_merges(p_user_id, p_actor, change.recorded_at, mergers);

  -- Evidence that it added to existing versions; evidence of versions that it wrote is closed with them.
  UPDATE source_links AS l SET recorded_to = change.recorded_at
  WHERE l.user_id = p_user_id AND l.recorded_from = undone AND l.recorded_to = 'infinity'
    AND coalesce(
      (SELECT v.recorded_from FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = l.node_version_id),
      (SELECT v.recorded_from FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = l.edge_version_id),
      (SELECT v.recorded_from FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = l.alias_id),
      (SELECT v.recorded_from FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = l.location_id),
      (SELECT m.recorded_from FROM merges AS m WHERE m.user_id = p_user_id AND m.merge_id = l.merge_id)
    ) < undone;
  -- A mark that it made goes from later versions, too, to which the same words carried it on.
  UPDATE source_links AS l SET recorded_to = change.recorded_at
  FROM source_links AS m
  INNER JOIN edge_versions AS v ON v.user_id = m.user_id AND v.version_id = m.edge_version_id
  WHERE m.user_id = p_user_id AND m.recorded_from = undone AND m.stance IN ('validated', 'disputed')
    AND v.user_id = p_user_id AND v.recorded_from < undone
    AND l.user_id = p_user_id AND l.passage_id = m.passage_id AND l.stance = m.stance AND l.recorded_from > undone
    AND l.recorded_to = 'infinity';
  PERFORM memsvc.links_back(p_user_id, change.recorded_at, undone);
  RETURN QUERY SELECT change.change_id, change.recorded_at;
END
$$;
COMMENT ON FUNCTION memsvc.undo_change(uuid, text, uuid) IS 'Undoes a change by a new one.';

-- Evidence that the undo at a time took away. It has the passages of what the undone change had added.
CREATE OR REPLACE FUNCTION memsvc.links_taken(p_user_id uuid, p_at timestamptz) RETURNS SETOF memsvc.source_links
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT l.* FROM source_links AS l
  WHERE l.user_id = p_user_id AND l.recorded_to = p_at AND l.passage_id = ANY (ARRAY(
    SELECT m.passage_id
    FROM changes AS u
    INNER JOIN changes AS c ON c.user_id = p_user_id AND c.change_id = u.undoes
    INNER JOIN source_links AS m ON m.user_id = p_user_id AND m.recorded_from = c.recorded_at
    WHERE u.user_id = p_user_id AND u.recorded_at = p_at
  ));
END
$$;
COMMENT ON FUNCTION memsvc.links_taken(uuid, timestamptz) IS 'Evidence that the undo at a time took away.';

-- Marks of facts that a change made or took away.
CREATE OR REPLACE FUNCTION memsvc.marks_touched(p_user_id uuid, p_at timestamptz) RETURNS SETOF memsvc.source_links
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT l.* FROM source_links AS l
  WHERE l.user_id = p_user_id AND l.recorded_from = p_at AND l.stance IN ('validated', 'disputed')
  UNION ALL
  SELECT l.* FROM memsvc.links_taken(p_user_id, p_at) AS l WHERE l.stance IN ('validated', 'disputed');
END
$$;
COMMENT ON FUNCTION memsvc.marks_touched(uuid, timestamptz) IS 'Marks of facts that a change made or took away.';

-- Restores, at a time, the evidence that an undo took away. A mark also goes to versions written since the undo that say
-- the same and derive from the one that had it.
CREATE OR REPLACE FUNCTION memsvc.links_back(p_user_id uuid, p_at timestamptz, p_undone timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  INSERT INTO source_links (
    user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, location_id, merge_id, stance,
    confidence, asserted_by, recorded_from
  )
  WITH RECURSIVE back AS (
    SELECT l.passage_id, l.span_from, l.span_to, l.node_version_id, l.edge_version_id, l.alias_id, l.location_id,
      l.merge_id, l.stance, l.confidence, l.asserted_by, l.link_id
    FROM memsvc.links_taken(p_user_id, p_undone) AS l
    UNION
    SELECT b.passage_id, b.span_from, b.span_to, b.node_version_id, v.version_id, b.alias_id, b.location_id,
      b.merge_id, b.stance, b.confidence, b.asserted_by, b.link_id
    FROM back AS b
    INNER JOIN edge_versions AS w ON w.user_id = p_user_id AND w.version_id = b.edge_version_id
    INNER JOIN edge_versions AS v
      ON v.user_id = p_user_id AND v.edge_id = w.edge_id AND v.derived_from = w.version_id AND v.recorded_from > p_undone
    WHERE b.stance IN ('validated', 'disputed') AND memsvc.content_of(v) = memsvc.content_of(w)
  )
  SELECT p_user_id, b.passage_id, b.span_from, b.span_to, b.node_version_id, b.edge_version_id, b.alias_id,
    b.location_id, b.merge_id, b.stance, b.confidence, b.asserted_by, p_at
  FROM back AS b
  WHERE NOT EXISTS (
    SELECT FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.passage_id = b.passage_id AND l.recorded_to = 'infinity'
      AND (l.span_from, l.span_to, l.node_version_id, l.edge_version_id, l.alias_id, l.location_id, l.merge_id, l.stance)
      IS NOT DISTINCT FROM
      (b.span_from, b.span_to, b.node_version_id, b.edge_version_id, b.alias_id, b.location_id, b.merge_id, b.stance)
  )
  ORDER BY b.link_id; -- sources are shown in this order
END
$$;
COMMENT ON FUNCTION memsvc.links_back(uuid, timestamptz, timestamptz) IS 'Restores evidence that an undo took away.';

-- Whether anything but this content (null: nothing) is true anywhere in a span of valid time.
CREATE OR REPLACE FUNCTION memsvc.differs_now(
  p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamptz, p_valid_to timestamptz,
  p_content jsonb
) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT CASE
    WHEN p_content IS NULL THEN count(*) > 0
    ELSE coalesce(bool_or(v.content <> p_content), true)
      OR range_agg(tstzrange(v.valid_from, v.valid_to)) @> tstzrange(p_valid_from, p_valid_to) IS NOT TRUE
  END
  FROM memsvc.open_versions(p_user_id, p_kind, p_subject, p_form) AS v
  WHERE v.valid_from < p_valid_to AND v.valid_to > p_valid_from;
END;
COMMENT ON FUNCTION memsvc.differs_now(uuid, text, uuid, text, timestamptz, timestamptz, jsonb) IS
  'Whether anything but this content is true now in a span of valid time.';

-- Operations that restore merges as they were before a change; refused if they were changed again.
CREATE OR REPLACE FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  operations jsonb;
  built_upon boolean;
BEGIN
  WITH altered AS (
    SELECT n.node_id, b.merge_id, b.canonical_id AS was, b.reason, b.confidence, a.canonical_id AS became,
      o.canonical_id AS now_is
    FROM (
      SELECT DISTINCT m.node_id FROM merges AS m
      WHERE m.user_id = p_user_id AND (m.recorded_from = p_at OR m.recorded_to = p_at)
    ) AS n
    LEFT JOIN merges AS b
      ON b.user_id = p_user_id AND b.node_id = n.node_id AND b.recorded_to = p_at AND b.recorded_from < p_at
    LEFT JOIN merges AS a
      ON a.user_id = p_user_id AND a.node_id = n.node_id AND a.recorded_from = p_at AND a.recorded_to > p_at
    LEFT JOIN merges AS o ON o.user_id = p_user_id AND o.node_id = n.node_id AND o.recorded_to = 'infinity'
    WHERE b.canonical_id IS DISTINCT FROM a.canonical_id
  ),
  todo AS (
    SELECT 1 AS turn, a.node_id, 'unmerge' AS op, NULL::uuid AS canonical_id, '' AS reason, 1::real AS confidence,
      '[]'::jsonb AS evidence
    FROM altered AS a WHERE a.became IS NOT NULL
    UNION ALL
    SELECT 2, a.node_id, 'merge', a.was, a.reason, a.confidence, (
      SELECT coalesce(jsonb_agg(to_jsonb(l)), '[]') FROM memsvc.links_of(p_user_id, 'merge', a.merge_id) AS l
      WHERE l.stance = 'supports'
    )
    FROM altered AS a WHERE a.was IS NOT NULL
  )
  SELECT (SELECT bool_or(a.became IS DISTINCT FROM a.now_is) FROM altered AS a),
    (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.turn, d.node_id) AS position FROM todo AS d
    ) AS t)
  INTO built_upon, operations;
  IF built_upon THEN
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later merge builds on this one.');
  END IF;
  RETURN operations;
END
$$;
COMMENT ON FUNCTION memsvc.merges_back(uuid, timestamptz) IS 'Operations that restore merges as they were.';
