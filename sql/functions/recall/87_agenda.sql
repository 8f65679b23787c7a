-- What may fall into a span of time: what people said shortly before it, and what is known with a time. The words of
-- messages are read in Python (memsvc/times/plans.py).

-- What people said in a span with words of time, newest first. p_telling: regular expressions for them; of a
-- message the first 2,000 characters count. Up to p_look messages are looked at, and one more is given where there are
-- more (nth > p_look), whatever its words.
CREATE OR REPLACE FUNCTION memsvc.agenda_said(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_telling text[], p_look integer, p_limit integer
) RETURNS TABLE (
  passage_id uuid, source_id uuid, session text, ordinal integer, part smallint, speaker text, role text, text text,
  said_at timestamptz, said_offset smallint, nth bigint
)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort; only passages_said gives the order without one
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT s.passage_id, s.source_id, s.session, s.ordinal, s.part, s.speaker, s.role, s.text, s.said_at, s.said_offset,
    s.nth
  FROM (
    SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.speaker, p.role, p.text, p.said_at,
      p.said_offset, row_number() OVER () AS nth
    FROM (
      SELECT o.* FROM passages AS o
      WHERE o.user_id = p_user_id AND o.version_id IS NULL AND o.said_at >= p_from AND o.said_at <= p_to
        AND o.kind = 'message' AND o.role IN ('user', 'other')
      ORDER BY o.user_id DESC, o.said_at DESC
      LIMIT p_look + 1
    ) AS p
  ) AS s
  WHERE s.nth > p_look OR left(s.text, 2000) ~* ANY (p_telling)
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.agenda_said(uuid, timestamptz, timestamptz, text[], integer, integer) IS
  'What people said in a span with words of time, newest first.';

-- Facts that begin in a span (sort 1), end in it (2), or hold across it and for p_longest at most (3); as known at
-- p_known_at (null: now). Up to p_limit of each sort are given; and as many that were closed since p_known_at, whenever
-- they hold: 4 was known then, 5 was not. A fact may come as several sorts. Both bounds are as they are.
CREATE OR REPLACE FUNCTION memsvc.agenda_facts(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_longest interval, p_known_at timestamptz, p_limit integer
) RETURNS TABLE (
  version_id uuid, type text, fact text, valid_from timestamptz, valid_to timestamptz, sort smallint
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  reach CONSTANT timestamptz := p_from + p_longest; -- what holds across the span ends by then
BEGIN
  RETURN QUERY
  (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to, 1::smallint FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
    AND v.valid_from >= p_from AND v.valid_from < p_to AND v.recorded_from <= known
  ORDER BY v.user_id, v.valid_from LIMIT p_limit)
  UNION ALL
  (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to, 2::smallint FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
    AND v.valid_to >= p_from AND v.valid_to < p_to AND v.recorded_from <= known
  ORDER BY v.user_id, v.valid_to LIMIT p_limit)
  UNION ALL
  (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to, 3::smallint FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
    AND v.valid_to >= p_to AND v.valid_to < reach AND v.valid_from < p_from AND v.valid_from >= v.valid_to - p_longest
    AND v.recorded_from <= known
  ORDER BY v.user_id, v.valid_to LIMIT p_limit)
  UNION ALL
  (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to,
    CASE WHEN v.recorded_from <= p_known_at THEN 4 ELSE 5 END::smallint FROM edge_versions AS v
  WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
    AND v.recorded_to > p_known_at
  ORDER BY v.user_id, v.recorded_to LIMIT p_limit);
END
$$;
COMMENT ON FUNCTION memsvc.agenda_facts(uuid, timestamptz, timestamptz, interval, timestamptz, integer) IS
  'Facts that begin, end or hold as something bounded in a span.';

-- Nodes with a time, as known at p_known_at (null: now): of the types Task and Event, or types that refine them, those
-- with a bounded validity or a date in their data; and all whose data have a day that comes again each year. The newest
-- p_look of each type are looked at, and as many of those that were closed since p_known_at; where there are more,
-- one more is given (nth > p_look).
CREATE OR REPLACE FUNCTION memsvc.agenda_nodes(p_user_id uuid, p_known_at timestamptz, p_look integer)
RETURNS TABLE (
  node_id uuid, kind text, label text, description text, data jsonb, valid_from timestamptz, valid_to timestamptz,
  nth bigint
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  dated CONSTANT text[] := ARRAY['due', 'due_at', 'deadline', 'date', 'starts_at'];
  yearly CONSTANT text[] := ARRAY['birthday', 'birth_date', 'date_of_birth', 'anniversary', 'wedding_date'];
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY
  WITH kinds AS MATERIALIZED (
    SELECT DISTINCT t.name, coalesce(t.parent, t.name) AS root FROM node_types AS t
    WHERE 'Task' IN (t.name, t.parent) OR 'Event' IN (t.name, t.parent) OR 'Person' IN (t.name, t.parent)
  ),
  looked AS (
    SELECT v.*, k.root
    FROM kinds AS k
    CROSS JOIN LATERAL (
      SELECT o.node_id, o.label, o.description, o.data, o.valid_from, o.valid_to, o.recorded_from,
        row_number() OVER () AS nth
      FROM (
        SELECT n.* FROM node_versions AS n
        WHERE n.user_id = p_user_id AND n.type = k.name AND n.recorded_to = 'infinity'
        ORDER BY n.user_id DESC, n.type DESC, n.node_id DESC
        LIMIT p_look + 1
      ) AS o
    ) AS v
    UNION ALL
    SELECT c.node_id, c.label, c.description, c.data, c.valid_from, c.valid_to, c.recorded_from, c.nth, k.root
    FROM (
      SELECT o.*, row_number() OVER () AS nth
      FROM (
        SELECT n.* FROM node_versions AS n
        WHERE p_known_at IS NOT NULL AND n.user_id = p_user_id AND n.recorded_to < 'infinity'
          AND n.recorded_to > p_known_at
        ORDER BY n.user_id, n.recorded_to
        LIMIT p_look + 1
      ) AS o
    ) AS c
    LEFT JOIN kinds AS k ON k.name = c.type
    WHERE k.root IS NOT NULL OR c.nth > p_look
  )
  SELECT l.node_id, l.root, l.label, l.description, l.data, l.valid_from, l.valid_to, l.nth
  FROM looked AS l
  WHERE l.nth > p_look
    OR (
      l.recorded_from <= known
      AND (l.data ?| yearly
        OR (l.root <> 'Person' AND (l.data ?| dated OR l.valid_from > '-infinity' OR l.valid_to < 'infinity')))
      AND NOT EXISTS (
        SELECT FROM merges AS m
        WHERE m.user_id = p_user_id AND m.node_id = l.node_id AND m.recorded_from <= known
          AND m.recorded_to > coalesce(p_known_at, clock_timestamp())
      )
    );
END
$$;
COMMENT ON FUNCTION memsvc.agenda_nodes(uuid, timestamptz, integer) IS
  'Tasks and events with a time, and nodes with a day that comes again each year.';
