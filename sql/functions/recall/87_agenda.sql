-- What may fall into a span of time: what people said shortly before it, and what is known with a time. The words of
-- messages are read in Python (memsvc/times/plans.py).

-- What people said in a span, newest first: what may tell of a plan.
CREATE OR REPLACE FUNCTION memsvc.agenda_said(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_limit integer
) RETURNS TABLE (
  passage_id uuid, source_id uuid, session text, ordinal integer, part smallint, speaker text, role text, text text,
  said_at timestamptz, said_offset smallint
)
LANGUAGE plpgsql STABLE ROWS 500
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort; only passages_said gives the order without one
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.speaker, p.role, p.text, p.said_at, p.said_offset
  FROM passages AS p
  WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at >= p_from AND p.said_at <= p_to
    AND p.kind = 'message' AND p.role IN ('user', 'other')
  ORDER BY p.user_id DESC, p.said_at DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.agenda_said(uuid, timestamptz, timestamptz, integer) IS
  'What people said in a span, newest first.';

-- Facts that begin, end or hold as something bounded in a span, up to p_limit of each, with both bounds as they are.
CREATE OR REPLACE FUNCTION memsvc.agenda_facts(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_limit integer
) RETURNS TABLE (version_id uuid, type text, fact text, valid_from timestamptz, valid_to timestamptz)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT DISTINCT ON (f.version_id) f.version_id, f.type, f.fact, f.valid_from, f.valid_to
  FROM (
    (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
      AND v.valid_from >= p_from AND v.valid_from < p_to
    ORDER BY v.valid_from LIMIT p_limit)
    UNION ALL
    (SELECT v.version_id, v.type, v.fact, v.valid_from, v.valid_to FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
      AND v.valid_to > p_from AND (v.valid_to <= p_to OR (v.valid_from > '-infinity' AND v.valid_from < p_from))
    ORDER BY v.valid_to LIMIT p_limit)
  ) AS f;
END
$$;
COMMENT ON FUNCTION memsvc.agenda_facts(uuid, timestamptz, timestamptz, integer) IS
  'Facts that begin, end or hold as something bounded in a span.';

-- Nodes with a time: of the types Task and Event, or types that refine them, those with a bounded validity or a date in
-- their data; and all whose data have a day that comes again each year. The newest p_limit of each type are looked at.
CREATE OR REPLACE FUNCTION memsvc.agenda_nodes(p_user_id uuid, p_limit integer)
RETURNS TABLE (
  node_id uuid, kind text, label text, description text, data jsonb, valid_from timestamptz, valid_to timestamptz
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
BEGIN
  RETURN QUERY
  SELECT v.node_id, k.root, v.label, v.description, v.data, v.valid_from, v.valid_to
  FROM (
    SELECT DISTINCT t.name, coalesce(t.parent, t.name) AS root FROM node_types AS t
    WHERE 'Task' IN (t.name, t.parent) OR 'Event' IN (t.name, t.parent) OR 'Person' IN (t.name, t.parent)
  ) AS k
  CROSS JOIN LATERAL (
    SELECT o.* FROM node_versions AS o
    WHERE o.user_id = p_user_id AND o.type = k.name AND o.recorded_to = 'infinity'
    ORDER BY o.user_id DESC, o.type DESC, o.node_id DESC
    LIMIT p_limit
  ) AS v
  WHERE (v.data ?| yearly
      OR (k.root <> 'Person' AND (v.data ?| dated OR v.valid_from > '-infinity' OR v.valid_to < 'infinity')))
    AND NOT EXISTS (
      SELECT FROM merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
    );
END
$$;
COMMENT ON FUNCTION memsvc.agenda_nodes(uuid, integer) IS
  'Tasks and events with a time, and nodes with a day that comes again each year.';
