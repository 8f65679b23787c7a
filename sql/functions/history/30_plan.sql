-- Plans the effect of a batch of changes on the versions that are open now; nothing is written here.

-- The content of a version, without its times and author: versions with equal content state the same knowledge.
CREATE OR REPLACE FUNCTION memsvc.content_of(p_version memsvc.node_versions) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN jsonb_build_object(
  'type', p_version.type, 'label', p_version.label, 'description', p_version.description, 'data', p_version.data,
  'importance', p_version.importance
);
COMMENT ON FUNCTION memsvc.content_of(memsvc.node_versions) IS 'The content of a version of a node.';

CREATE OR REPLACE FUNCTION memsvc.content_of(p_version memsvc.edge_versions) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN jsonb_build_object(
  'fact', p_version.fact, 'data', p_version.data, 'weight', p_version.weight, 'confidence', p_version.confidence
);
COMMENT ON FUNCTION memsvc.content_of(memsvc.edge_versions) IS 'The content of a version of an edge.';

CREATE OR REPLACE FUNCTION memsvc.content_of(p_version memsvc.aliases) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN jsonb_build_object('alias', p_version.alias, 'confidence', p_version.confidence);
COMMENT ON FUNCTION memsvc.content_of(memsvc.aliases) IS 'The content of an alias.';

CREATE OR REPLACE FUNCTION memsvc.content_of(p_version memsvc.locations) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN jsonb_build_object(
  'latitude', p_version.latitude, 'longitude', p_version.longitude, 'radius_m', p_version.radius_m
);
COMMENT ON FUNCTION memsvc.content_of(memsvc.locations) IS 'The content of a version of a location.';

-- Whether one content shares any words, or its location, with another. Types and numbers do not count as words.
CREATE OR REPLACE FUNCTION memsvc.keeps_words(p_was jsonb, p_is jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN EXISTS (
  SELECT FROM jsonb_each(p_was - '{type,data,importance,weight,confidence,radius_m}'::text[]) AS k (name, value)
  WHERE k.value NOT IN ('""', 'null') AND p_is -> k.name = k.value
) OR EXISTS (
  SELECT FROM jsonb_each(p_was -> 'data') AS k (name, value) WHERE p_is -> 'data' -> k.name = k.value
);
COMMENT ON FUNCTION memsvc.keeps_words(jsonb, jsonb) IS 'Whether one content shares any words with another.';

-- One content without the parts that it shares with another (null: there is no other).
CREATE OR REPLACE FUNCTION memsvc.words_beyond(p_content jsonb, p_other jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN (
  SELECT coalesce(jsonb_object_agg(k.name, k.value), '{}') FROM jsonb_each(p_content - 'data') AS k (name, value)
  WHERE p_other -> k.name IS DISTINCT FROM k.value
) || jsonb_build_object('data', (
  SELECT coalesce(jsonb_object_agg(k.name, k.value), '{}') FROM jsonb_each(p_content -> 'data') AS k (name, value)
  WHERE p_other -> 'data' -> k.name IS DISTINCT FROM k.value
));
COMMENT ON FUNCTION memsvc.words_beyond(jsonb, jsonb) IS 'One content without the parts that it shares with another.';

-- The content of a remainder of an edge's version. What its times are called (data.times, memsvc.times.untold) was said of
-- the begin and the end of the whole: where those lie elsewhere now, it goes. p_before: the content of the step that
-- stands before it now (null: none); where nobody told when that ended, nobody told since when the remainder holds.
CREATE OR REPLACE FUNCTION memsvc.content_of_remainder(
  p_content jsonb, p_begins boolean, p_ends boolean, p_valid_from timestamptz, p_before jsonb
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app
RETURN (
  SELECT CASE
    WHEN jsonb_typeof(t.was) <> 'object' OR k.times = coalesce(t.was, '{}') THEN p_content
    WHEN k.times = '{}' THEN p_content #- '{data,times}'
    ELSE jsonb_set(p_content, '{data,times}', k.times)
  END
  FROM (
    SELECT p_content #> '{data,times}' AS was,
      'by ' || to_char(p_valid_from AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS began
  ) AS t
  CROSS JOIN LATERAL (
    SELECT CASE WHEN jsonb_typeof(t.was) = 'object' THEN t.was ELSE '{}' END
      - CASE WHEN p_begins THEN '{}' ELSE '{since}'::text[] END - CASE WHEN p_ends THEN '{}' ELSE '{until}'::text[] END
      || CASE
        WHEN NOT p_begins AND p_before #>> '{data,times,until}' = t.began THEN jsonb_build_object('since', t.began)
        ELSE '{}'
      END AS times
  ) AS k
);
COMMENT ON FUNCTION memsvc.content_of_remainder(jsonb, boolean, boolean, timestamptz, jsonb) IS
  'The content of a remainder of an edge''s version; what its times are called goes where they changed.';

-- Open versions on a line of valid time. On a line at most one thing is true at a time: a node's properties ('node',
-- node), a name of a node ('alias', node, normal form), a node's location ('place', node), an edge ('edge', edge), and
-- for functional types all edges of one start node ('edge', start, type), but for those whose key is 'beside': they
-- hold beside the one value, each on a line of its own.
CREATE OR REPLACE FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text)
RETURNS TABLE (
  version_id uuid, subject uuid, content jsonb, asserted_by text, valid_from timestamptz, valid_to timestamptz,
  recorded_from timestamptz
)
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  CASE
  WHEN p_kind = 'node' THEN
    RETURN QUERY SELECT v.version_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM node_versions AS v WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.recorded_to = 'infinity';
  WHEN p_kind = 'alias' THEN
    RETURN QUERY SELECT v.alias_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.normal_form = p_form AND v.recorded_to = 'infinity';
  WHEN p_kind = 'place' THEN
    RETURN QUERY SELECT v.location_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM locations AS v WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.recorded_to = 'infinity';
  WHEN p_form = '' THEN
    RETURN QUERY SELECT v.version_id, v.edge_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.edge_id = p_line AND v.recorded_to = 'infinity';
  ELSE
    RETURN QUERY SELECT v.version_id, v.edge_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = p_line AND v.type = p_form AND v.functional
      AND v.recorded_to = 'infinity';
  END CASE;
END
$$;
COMMENT ON FUNCTION memsvc.open_versions(uuid, text, uuid, text) IS
  'Open versions on a line of valid time.';

-- Plans a batch of steps. Each line is cut into cells at every begin and end of a version or step. In a cell the last
-- step with a content wins, unless a later step takes the same subject away. A version with the winning content stays.
--
-- p_steps: [{"position": 0, "kind": "edge", "subject": edge, "line": …, "form": "", "content": {…} or null (not true),
--   "valid_from": …, "valid_to": …, "derived_from": null|version, "asserted_by": …}, …]
-- Result, by action: close (close this version); write (write a new one: a step's, or the remainder of a closed one);
-- past (write a step's version that was superseded within its batch; it was known at no time); bear (version_id has the
-- step's content and takes its evidence); end (the step took this version, or a part of it, away).
CREATE OR REPLACE FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb)
RETURNS TABLE (
  action text, kind text, subject uuid, form text, version_id uuid, derived_from uuid, nth integer, content jsonb,
  asserted_by text, valid_from timestamptz, valid_to timestamptz
)
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-nested-loop; estimates know nothing of a batch; rows of a batch meet by their keys
BEGIN ATOMIC
  WITH given AS MATERIALIZED (
    SELECT s.* FROM jsonb_to_recordset(p_steps) AS s (
      position integer, kind text, subject uuid, line uuid, form text, content jsonb, derived_from uuid,
      asserted_by text, valid_from timestamptz, valid_to timestamptz
    )
  ),
  line AS MATERIALIZED (
    SELECT row_number() OVER () AS n, d.kind, d.line, d.form
    FROM (SELECT DISTINCT g.kind, g.line, g.form FROM given AS g) AS d
  ),
  step AS MATERIALIZED (
    SELECT l.n, g.position, g.subject, g.content, g.derived_from, g.asserted_by, g.valid_from, g.valid_to
    FROM given AS g INNER JOIN line AS l ON l.kind = g.kind AND l.line = g.line AND l.form = g.form
  ),
  old AS MATERIALIZED (
    SELECT l.n, o.* FROM line AS l CROSS JOIN LATERAL memsvc.open_versions(p_user_id, l.kind, l.line, l.form) AS o
  ),
  cell AS MATERIALIZED (
    SELECT p.n, row_number() OVER by_bound AS cell, p.bound AS cell_from, lead(p.bound) OVER by_bound AS cell_to
    FROM (
      SELECT s.n, s.valid_from AS bound FROM step AS s
      UNION SELECT s.n, s.valid_to FROM step AS s
      UNION SELECT o.n, o.valid_from FROM old AS o
      UNION SELECT o.n, o.valid_to FROM old AS o
    ) AS p
    WINDOW by_bound AS (PARTITION BY p.n ORDER BY p.bound)
  ),
  covered AS MATERIALIZED (
    SELECT c.n, c.cell, s.position, s.subject, s.content, s.content IS NULL AS taken
    FROM cell AS c INNER JOIN step AS s ON s.n = c.n AND s.valid_from <= c.cell_from AND s.valid_to >= c.cell_to
  ),
  said AS MATERIALIZED (
    SELECT DISTINCT ON (c.n, c.cell) c.n, c.cell, c.position, c.subject, c.content
    FROM covered AS c WHERE NOT c.taken ORDER BY c.n, c.cell, c.position DESC
  ),
  taken AS MATERIALIZED (
    SELECT c.n, c.cell, c.subject, max(c.position) AS position
    FROM covered AS c WHERE c.taken GROUP BY c.n, c.cell, c.subject
  ),
  winner AS MATERIALIZED (
    SELECT s.n, s.cell, s.position, s.subject, s.content
    FROM said AS s
    LEFT JOIN taken AS t ON t.n = s.n AND t.cell = s.cell AND t.subject = s.subject
    WHERE t.position IS NULL OR t.position < s.position
  ),
  held AS MATERIALIZED (
    SELECT h.*, bool_and(h.stays) OVER (PARTITION BY h.version_id) AS whole
    FROM (
      SELECT c.n, c.cell, o.version_id, o.subject, o.content, CASE
        WHEN s.position IS NULL THEN t.position IS NULL
        ELSE coalesce(w.subject = o.subject AND w.content = o.content, false)
      END AS stays
      FROM cell AS c
      INNER JOIN old AS o ON o.n = c.n AND o.valid_from <= c.cell_from AND o.valid_to >= c.cell_to
      LEFT JOIN said AS s ON s.n = c.n AND s.cell = c.cell
      LEFT JOIN winner AS w ON w.n = c.n AND w.cell = c.cell
      LEFT JOIN taken AS t ON t.n = c.n AND t.cell = c.cell AND t.subject = o.subject
    ) AS h
  ),
  -- Neighbouring cells with the same reason become one piece.
  piece AS MATERIALIZED (
    SELECT uuidv7() AS version_id, p.n, p.subject, p.position, p.origin, min(p.cell) AS first, max(p.cell) AS last
    FROM (
      SELECT h.n, h.subject, NULL::integer AS position, h.version_id AS origin, h.cell,
        h.cell - row_number() OVER (PARTITION BY h.version_id ORDER BY h.cell) AS island
      FROM held AS h WHERE h.stays AND NOT h.whole
      UNION ALL
      SELECT w.n, w.subject, w.position, NULL, w.cell,
        w.cell - row_number() OVER (PARTITION BY w.position ORDER BY w.cell)
      FROM winner AS w
      LEFT JOIN held AS h ON h.n = w.n AND h.cell = w.cell AND h.subject = w.subject AND h.stays
      WHERE h.version_id IS NULL
    ) AS p
    GROUP BY p.n, p.subject, p.position, p.origin, p.island
  ),
  written AS MATERIALIZED (
    SELECT p.version_id, p.n, p.subject, p.position, p.first, p.last, b.cell_from AS valid_from, e.cell_to AS valid_to,
      coalesce(p.origin, s.derived_from) AS derived_from, CASE
        WHEN p.origin IS NULL THEN s.content
        WHEN l.kind <> 'edge' THEN o.content
        ELSE memsvc.content_of_remainder(
          o.content, b.cell_from = o.valid_from, e.cell_to = o.valid_to, b.cell_from, w.content
        )
      END AS content,
      coalesce(o.asserted_by, s.asserted_by) AS asserted_by
    FROM piece AS p
    INNER JOIN cell AS b ON b.n = p.n AND b.cell = p.first
    INNER JOIN cell AS e ON e.n = p.n AND e.cell = p.last
    INNER JOIN line AS l ON l.n = p.n
    LEFT JOIN old AS o ON o.version_id = p.origin
    LEFT JOIN winner AS w ON w.n = p.n AND w.cell = p.first - 1
    LEFT JOIN step AS s ON s.position = p.position
  ),
  borne AS MATERIALIZED (
    SELECT DISTINCT c.position, f.version_id, c.n, c.subject
    FROM covered AS c
    INNER JOIN (
      SELECT h.n, h.cell, h.subject, h.content, h.version_id FROM held AS h WHERE h.whole
      UNION ALL
      SELECT w.n, d.cell, w.subject, w.content, w.version_id
      FROM written AS w INNER JOIN cell AS d ON d.n = w.n AND d.cell BETWEEN w.first AND w.last
    ) AS f ON f.n = c.n AND f.cell = c.cell AND f.subject = c.subject AND f.content = c.content
    WHERE NOT c.taken
  ),
  lost AS MATERIALIZED (
    SELECT uuidv7() AS version_id, s.*
    FROM step AS s LEFT JOIN borne AS b ON b.position = s.position
    WHERE s.content IS NOT NULL AND b.position IS NULL
  ),
  outcome AS (
    SELECT DISTINCT 'close' AS action, h.n, h.subject, h.version_id, NULL::uuid AS derived_from, NULL::integer AS nth,
      NULL::jsonb AS content, NULL::text AS asserted_by, NULL::timestamptz AS valid_from, NULL::timestamptz AS valid_to
    FROM held AS h WHERE NOT h.whole
    UNION ALL
    SELECT 'write', w.n, w.subject, w.version_id, w.derived_from, w.position, w.content, w.asserted_by, w.valid_from,
      w.valid_to
    FROM written AS w
    UNION ALL
    SELECT 'past', s.n, s.subject, s.version_id, s.derived_from, s.position, s.content, s.asserted_by, s.valid_from,
      s.valid_to
    FROM lost AS s
    UNION ALL
    SELECT 'bear', b.n, b.subject, b.version_id, NULL, b.position, NULL, NULL, NULL, NULL FROM borne AS b
    UNION ALL
    SELECT 'bear', s.n, s.subject, s.version_id, NULL, s.position, NULL, NULL, NULL, NULL FROM lost AS s
    UNION ALL
    SELECT DISTINCT 'end', c.n, c.subject, h.version_id, NULL::uuid, c.position, NULL::jsonb, NULL::text,
      NULL::timestamptz, NULL::timestamptz
    FROM covered AS c
    INNER JOIN held AS h ON h.n = c.n AND h.cell = c.cell AND h.subject = c.subject AND NOT h.stays
    WHERE c.taken
  )
  SELECT o.action, l.kind, o.subject, CASE l.kind WHEN 'alias' THEN l.form ELSE '' END, o.version_id, o.derived_from,
    o.nth, o.content, o.asserted_by, o.valid_from, o.valid_to
  FROM outcome AS o INNER JOIN line AS l ON l.n = o.n;
END;
COMMENT ON FUNCTION memsvc.plan_history(uuid, jsonb) IS
  'Plans the effect of a batch of steps on the open versions; writes nothing.';
