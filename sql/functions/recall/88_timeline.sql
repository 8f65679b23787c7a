-- What happened when: everything of a user that has a time, for pages that show a day, a month, or all time.

-- The moments in a span that something of a user has, of the kinds p_kinds:
--   message   said then (thing: its conversation)
--   document  a version of it was stored then (thing: the document)
--   event     an event or a task begins then (thing: the node)
--   began, ended  a fact begins or ends then, as known now (thing: the relation). What another version of the same
--             relation continues did not begin or end then.
--   change    the graph was changed then (thing: the change)
-- With p_about only what is about these nodes: their facts, the messages that support them, themselves as events.
-- It is inlined into the statements that count and list, so that no moment is stored on the way: hence no SET.
CREATE OR REPLACE FUNCTION memsvc.timeline_moments(
  p_user_id uuid, p_from timestamptz, p_to timestamptz, p_kinds text[], p_about uuid[]
) RETURNS TABLE (at timestamptz, kind text, thing_id uuid, id uuid)
LANGUAGE sql STABLE ROWS 10000
-- callers: app, reader
AS $$
  SELECT p.said_at, 'message', p.source_id, p.passage_id FROM memsvc.passages AS p
  WHERE 'message' = ANY (p_kinds) AND p_about IS NULL AND p.user_id = p_user_id AND p.version_id IS NULL
    AND p.said_at >= p_from AND p.said_at < p_to AND p.kind = 'message' AND p.part = 0
  UNION ALL
  SELECT p.said_at, 'message', p.source_id, p.passage_id
  FROM (
    SELECT DISTINCT l.passage_id
    FROM (
      SELECT v.version_id FROM memsvc.edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (p_about) AND v.recorded_to = 'infinity'
      UNION
      SELECT v.version_id FROM memsvc.edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (p_about) AND v.recorded_to = 'infinity'
    ) AS f
    INNER JOIN memsvc.source_links AS l
      ON l.user_id = p_user_id AND l.edge_version_id = f.version_id AND l.recorded_to = 'infinity'
  ) AS t
  INNER JOIN memsvc.passages AS p ON p.user_id = p_user_id AND p.passage_id = t.passage_id
  WHERE 'message' = ANY (p_kinds) AND p_about IS NOT NULL AND p.kind = 'message' AND p.said_at >= p_from
    AND p.said_at < p_to
  UNION ALL
  SELECT d.recorded_from, 'document', d.source_id, d.source_id FROM memsvc.document_versions AS d
  WHERE 'document' = ANY (p_kinds) AND p_about IS NULL AND d.user_id = p_user_id AND d.recorded_from >= p_from
    AND d.recorded_from < p_to
  UNION ALL
  SELECT v.valid_from, 'event', v.node_id, v.version_id FROM memsvc.node_versions AS v
  WHERE 'event' = ANY (p_kinds) AND v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
    AND v.valid_from >= p_from AND v.valid_from < p_to AND (p_about IS NULL OR v.node_id = ANY (p_about))
    AND v.type IN (
      SELECT t.name FROM memsvc.node_types AS t
      WHERE t.name IN ('Event', 'Task') OR t.parent IN ('Event', 'Task')
    )
    AND NOT EXISTS (
      SELECT FROM memsvc.merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
    )
  UNION ALL
  SELECT v.valid_from, 'began', v.edge_id, v.version_id FROM memsvc.edge_versions AS v
  WHERE 'began' = ANY (p_kinds) AND v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
    AND v.valid_from >= p_from AND v.valid_from < p_to
    AND (p_about IS NULL OR v.from_node = ANY (p_about) OR v.to_node = ANY (p_about))
    AND NOT EXISTS (
      SELECT FROM memsvc.edge_versions AS b
      WHERE b.user_id = p_user_id AND b.edge_id = v.edge_id AND b.valid_to = v.valid_from AND b.recorded_to = 'infinity'
    )
  UNION ALL
  SELECT v.valid_to, 'ended', v.edge_id, v.version_id FROM memsvc.edge_versions AS v
  WHERE 'ended' = ANY (p_kinds) AND v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
    AND v.valid_to >= p_from AND v.valid_to < p_to
    AND (p_about IS NULL OR v.from_node = ANY (p_about) OR v.to_node = ANY (p_about))
    AND NOT EXISTS (
      SELECT FROM memsvc.edge_versions AS a
      WHERE a.user_id = p_user_id AND a.edge_id = v.edge_id AND a.valid_from = v.valid_to AND a.recorded_to = 'infinity'
    )
  UNION ALL
  SELECT c.recorded_at, 'change', c.change_id, c.change_id FROM memsvc.changes AS c
  WHERE 'change' = ANY (p_kinds) AND p_about IS NULL AND c.user_id = p_user_id AND c.recorded_at >= p_from
    AND c.recorded_at < p_to
$$;
COMMENT ON FUNCTION memsvc.timeline_moments(uuid, timestamptz, timestamptz, text[], uuid[]) IS
  'The moments in a span at which something of a user happened, by kind.';

-- How many there are in each period (p_step: day, week, month, year) of the user's clock that has any, the latest
-- periods first: p_limit rows, each a period and a kind. p_node: only what is about it, or nodes merged with it.
CREATE OR REPLACE FUNCTION memsvc.timeline_counts(
  p_user_id uuid, p_zone text, p_step text, p_from timestamptz, p_to timestamptz, p_kinds text[], p_node uuid,
  p_limit integer
) RETURNS TABLE (begins timestamptz, kind text, moments bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
  first CONSTANT timestamptz := coalesce(p_from, '-infinity');
  beyond CONSTANT timestamptz := coalesce(p_to, 'infinity');
  about uuid[];
BEGIN
  IF p_node IS NOT NULL THEN
    about := ARRAY(SELECT s.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[p_node]) AS s);
  END IF;
  RETURN QUERY
  SELECT date_trunc(p_step, m.at, zone), m.kind, count(*)
  FROM memsvc.timeline_moments(p_user_id, first, beyond, p_kinds, about) AS m
  GROUP BY 1, 2
  ORDER BY 1 DESC, 2
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.timeline_counts(
  uuid, text, text, timestamptz, timestamptz, text[], uuid, integer
) IS 'How much happened in each period of a span, by kind.';

-- What happened in a span, the latest first. The messages of a conversation on one day of the user's clock are one
-- entry, and so are all changes of a day. Entries after the given last one (p_at, p_kind, p_id), p_limit at most.
CREATE OR REPLACE FUNCTION memsvc.timeline_entries(
  p_user_id uuid, p_zone text, p_from timestamptz, p_to timestamptz, p_kinds text[], p_node uuid,
  p_at timestamptz, p_kind text, p_id uuid, p_limit integer
) RETURNS TABLE (at timestamptz, since timestamptz, kind text, thing_id uuid, id uuid, moments bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
  first CONSTANT timestamptz := coalesce(p_from, '-infinity');
  -- An entry ends at its last moment, which lies on the day of the last one given or before it.
  beyond CONSTANT timestamptz := least(
    coalesce(p_to, 'infinity'), date_trunc('day', p_at, zone) + interval '25 hours'
  );
  about uuid[];
BEGIN
  IF p_node IS NOT NULL THEN
    about := ARRAY(SELECT s.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[p_node]) AS s);
  END IF;
  RETURN QUERY
  SELECT e.at, e.since, e.kind, e.thing_id, e.id, e.moments
  FROM (
    SELECT max(m.at) AS at, min(m.at) AS since, m.kind, (min(ARRAY[m.thing_id]))[1] AS thing_id,
      (min(ARRAY[m.id]))[1] AS id, count(*) AS moments
    FROM memsvc.timeline_moments(p_user_id, first, beyond, p_kinds, about) AS m
    GROUP BY m.kind, date_trunc('day', m.at, zone),
      CASE m.kind WHEN 'message' THEN m.thing_id WHEN 'change' THEN NULL ELSE m.id END
  ) AS e
  WHERE p_at IS NULL OR (e.at, e.kind, e.id) < (p_at, p_kind, p_id)
  ORDER BY e.at DESC, e.kind DESC, e.id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.timeline_entries(
  uuid, text, timestamptz, timestamptz, text[], uuid, timestamptz, text, uuid, integer
) IS 'What happened in a span, the latest first: messages of a conversation and a day together.';

-- What memsvc has stored since a moment: of each kind how many (thing null), and of messages also by conversation, the
-- one that was written to last first, p_limit at most, with the first of its new messages. Rows are looked up by their
-- ids, which are ordered by the time of storing; what an import brings with older ids is not new.
CREATE OR REPLACE FUNCTION memsvc.timeline_news(p_user_id uuid, p_since timestamptz, p_limit integer)
RETURNS TABLE (kind text, thing_id uuid, id uuid, stored bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  -- An id is made a moment before or after the time that its row shows.
  -- An id's time begins in 1970.
  first CONSTANT uuid := uuidv7(
    greatest(p_since, '1970-01-02 00:00:00+00') - interval '1 minute' - clock_timestamp()
  );
BEGIN
  RETURN QUERY
  WITH fresh AS MATERIALIZED (
    SELECT p.source_id, p.passage_id
    FROM (
      SELECT o.* FROM passages AS o
      WHERE o.user_id = p_user_id AND o.passage_id >= first ORDER BY o.user_id, o.passage_id OFFSET 0
    ) AS p
    WHERE p.recorded_at > p_since AND p.version_id IS NULL AND p.kind = 'message' AND p.part = 0
  )
  SELECT 'message', NULL::uuid, NULL::uuid, count(*) FROM fresh
  UNION ALL
  SELECT c.* FROM (
    SELECT 'message', f.source_id, (min(ARRAY[f.passage_id]))[1], count(*) FROM fresh AS f
    GROUP BY f.source_id ORDER BY max(ARRAY[f.passage_id]) DESC LIMIT p_limit
  ) AS c;
  RETURN QUERY
  SELECT 'document', NULL::uuid, NULL::uuid, count(*) FROM document_versions AS d
  WHERE d.user_id = p_user_id AND d.recorded_from > p_since
  UNION ALL
  SELECT 'node', NULL, NULL, count(*) FROM nodes AS n
  WHERE n.user_id = p_user_id AND n.node_id >= first AND n.created_at > p_since
  UNION ALL
  SELECT 'fact', NULL, NULL, count(*) FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_from > p_since AND v.recorded_to = 'infinity' AND v.derived_from IS NULL
  UNION ALL
  SELECT 'change', NULL, NULL, count(*) FROM changes AS c
  WHERE c.user_id = p_user_id AND c.recorded_at > p_since;
END
$$;
COMMENT ON FUNCTION memsvc.timeline_news(uuid, timestamptz, integer) IS
  'How much was stored since a moment, by kind; messages also by conversation.';
