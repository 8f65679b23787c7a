-- The data for habits: the days of each relation, and the days on which people are mentioned together.
-- memsvc.analysis.habits decides which of these are habits.

-- Relations with p_least days or more. A version that is true for at most 36 hours is a moment and counts on the day on
-- which it begins, on the clock of known_zone(p_zone). For longer ones the days of the messages that support them
-- count, on the speaker's clock.
CREATE OR REPLACE FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer)
RETURNS TABLE (from_node uuid, type text, to_node uuid, days date[], facts uuid[])
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT f.*, f.valid_from > '-infinity' AND f.valid_to <= f.valid_from + interval '36 hours' AS moment
    FROM memsvc.analysed_facts(p_user_id) AS f
  ),
  dated AS (
    SELECT f.from_node, f.type, f.to_node, f.version_id, (f.valid_from AT TIME ZONE zone)::date AS day
    FROM fact AS f WHERE f.moment
    UNION ALL
    SELECT f.from_node, f.type, f.to_node, f.version_id,
      (p.said_at AT TIME ZONE make_interval(mins => p.said_offset))::date
    FROM fact AS f
    INNER JOIN source_links AS l ON l.user_id = p_user_id AND l.edge_version_id = f.version_id
      AND l.recorded_to = 'infinity' AND l.stance = 'supports'
    INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = l.passage_id
    WHERE NOT f.moment
  )
  SELECT t.from_node, t.type, t.to_node, array_agg(DISTINCT t.day ORDER BY t.day),
    array_agg(DISTINCT t.version_id ORDER BY t.version_id)
  FROM dated AS t
  GROUP BY t.from_node, t.type, t.to_node
  HAVING count(DISTINCT t.day) >= p_least
  ORDER BY t.from_node, t.type, t.to_node;
END
$$;
COMMENT ON FUNCTION memsvc.days_of_facts(uuid, text, integer) IS 'Days on which relations happened or were mentioned.';

-- Days on which each person (other_id null) is mentioned, and days on which one message mentions two people, the
-- smaller id first, if there are p_least or more. Messages that mention more than twelve people say nothing about any
-- two.
CREATE OR REPLACE FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer)
RETURNS TABLE (node_id uuid, other_id uuid, days date[])
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH person AS MATERIALIZED (
    SELECT DISTINCT coalesce(r.canonical_id, v.node_id) AS node_id
    FROM node_versions AS v
    LEFT JOIN memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r ON r.node_id = v.node_id
    WHERE v.user_id = p_user_id AND v.type = 'Person' AND v.recorded_to = 'infinity'
  ),
  spoken AS MATERIALIZED (
    SELECT m.node_id, m.passage_id, m.day, count(*) OVER (PARTITION BY m.passage_id) AS people
    FROM memsvc.mentions(p_user_id) AS m
    INNER JOIN person AS p ON p.node_id = m.node_id
  ),
  together AS (
    SELECT a.node_id, b.node_id AS other_id, array_agg(DISTINCT a.day ORDER BY a.day) AS days
    FROM spoken AS a
    INNER JOIN spoken AS b ON b.passage_id = a.passage_id
    WHERE a.node_id < b.node_id AND a.people <= 12 AND b.people <= 12
    GROUP BY a.node_id, b.node_id
    HAVING count(DISTINCT a.day) >= p_least
  )
  SELECT s.node_id, NULL::uuid, array_agg(DISTINCT s.day ORDER BY s.day) FROM spoken AS s GROUP BY s.node_id
  UNION ALL
  SELECT t.node_id, t.other_id, t.days FROM together AS t
  ORDER BY 1, 2;
END
$$;
COMMENT ON FUNCTION memsvc.days_of_people(uuid, integer) IS
  'Days on which people are mentioned, each alone and two together.';
