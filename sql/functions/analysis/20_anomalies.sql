-- Anomalies: facts that exclude each other, dates that cannot be right, days and weeks with much more messages than
-- usual. They are found in the stored rows alone; nothing is changed. docs/analysis.md has the rules.

-- Facts that exclude each other and overlap in time. what: two_values (of a functional type: only merged nodes can have
-- two), opposites (likes and dislikes), both_ways (a directed relation, in both directions), of_itself (the same thing
-- at both ends: mostly a wrong merge).
CREATE OR REPLACE FUNCTION memsvc.contradictions(p_user_id uuid)
RETURNS TABLE (what text, nodes uuid[], facts uuid[], confidence real)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop
AS $$
#variable_conflict use_column
DECLARE
  directed CONSTANT text[] := ARRAY[
    'PART_OF', 'PRECEDES', 'CAUSED_BY', 'DERIVED_FROM', 'SUPERSEDES', 'EXAMPLE_OF', 'VERSION_OF', 'CREATED'
  ];
  -- Relations of A to B that B cannot have to A.
  elders CONSTANT text[] := ARRAY[
    'mother', 'father', 'parent', 'son', 'daughter', 'child', 'grandmother', 'grandfather', 'grandparent', 'grandson',
    'granddaughter', 'grandchild', 'aunt', 'uncle', 'niece', 'nephew'
  ];
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (SELECT f.* FROM memsvc.analysed_facts(p_user_id) AS f),
  pair AS (
    SELECT 'two_values' AS what, a.version_id AS one, b.version_id AS two
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.from_node AND b.type = a.type
      AND b.version_id > a.version_id AND b.to_node <> a.to_node
    WHERE a.functional AND b.functional AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
    UNION ALL
    SELECT 'opposites', a.version_id, b.version_id
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.from_node AND b.to_node = a.to_node
    WHERE a.type = 'LIKES' AND b.type = 'DISLIKES' AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
    UNION ALL
    SELECT 'both_ways', a.version_id, b.version_id
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.to_node AND b.to_node = a.from_node AND b.type = a.type
      AND b.version_id > a.version_id
    WHERE a.from_node <> a.to_node AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
      AND (a.type = ANY (directed) OR (a.type = 'FAMILY_OF' AND a.relation = ANY (elders) AND b.relation = a.relation))
    UNION ALL
    SELECT 'of_itself', a.version_id, NULL
    FROM fact AS a
    WHERE a.from_node = a.to_node AND (a.type = ANY (directed) OR a.type IN ('KNOWS', 'FAMILY_OF'))
  )
  SELECT p.what,
    ARRAY(
      SELECT n.id FROM (
        VALUES (a.from_node, 1), (a.to_node, 2), (b.from_node, 3), (b.to_node, 4)
      ) AS n (id, place)
      WHERE n.id IS NOT NULL GROUP BY n.id ORDER BY min(n.place)
    ),
    array_remove(ARRAY[p.one, p.two], NULL), least(a.confidence, b.confidence)
  FROM pair AS p
  INNER JOIN fact AS a ON a.version_id = p.one
  LEFT JOIN fact AS b ON b.version_id = p.two
  ORDER BY p.what, p.one, p.two;
END
$$;
COMMENT ON FUNCTION memsvc.contradictions(uuid) IS 'Facts that exclude each other.';

-- The first day of a date as people and extractors write it into properties (2024, 2024-05, 2024-05-17); null: not a
-- date.
CREATE OR REPLACE FUNCTION memsvc.first_day(p_written text) RETURNS date
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
RETURN CASE
  WHEN p_written ~ '^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$'
    AND pg_input_is_valid(rpad(p_written, 10, substr('0001-01-01', length(p_written) + 1)), 'date')
    THEN rpad(p_written, 10, substr('0001-01-01', length(p_written) + 1))::date
END;
COMMENT ON FUNCTION memsvc.first_day(text) IS 'The first day of a written year, month or day; null: not a date.';

-- Times that cannot be right. what: before_birth and after_death (of the person who acts in the fact, by properties
-- such as born and died), long_ago (a fact of a life more than 150 years before it was recorded), far_ahead (begins
-- more than 30 years after it was recorded), said_ahead (a message said more than a day after it was stored),
-- said_at_zero (a clock that began at 1970). There is a tolerance of a day everywhere, for time zones.
CREATE OR REPLACE FUNCTION memsvc.impossible_dates(p_user_id uuid)
RETURNS TABLE (what text, nodes uuid[], facts uuid[], passages uuid[], day date, confidence real)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
DECLARE
  lived CONSTANT text[] := ARRAY[
    'KNOWS', 'WORKS_AT', 'LIVES_IN', 'LOCATED_AT', 'PARTICIPATED_IN', 'OWNS', 'LIKES', 'DISLIKES', 'FEELS', 'WANTS',
    'CREATED', 'USES'
  ];
BEGIN
  RETURN QUERY
  WITH resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r
  ),
  written AS (
    SELECT coalesce(r.canonical_id, v.node_id) AS node_id,
      coalesce(v.data ->> 'born', v.data ->> 'birth_date', v.data ->> 'date_of_birth') AS born,
      coalesce(v.data ->> 'died', v.data ->> 'death_date', v.data ->> 'date_of_death') AS died
    FROM node_versions AS v
    LEFT JOIN resolved AS r ON r.node_id = v.node_id
    WHERE v.user_id = p_user_id AND v.type = 'Person' AND v.recorded_to = 'infinity'
  ),
  person AS MATERIALIZED (
    SELECT w.node_id, min(memsvc.first_day(w.born)) AS born, max(
      memsvc.first_day(w.died)
      + CASE length(w.died) WHEN 4 THEN interval '1 year' WHEN 7 THEN interval '1 month' ELSE interval '1 day' END
    ) AS died
    FROM written AS w GROUP BY w.node_id
  ),
  dated AS (
    SELECT f.*, p.born, p.died FROM memsvc.analysed_facts(p_user_id) AS f
    INNER JOIN person AS p ON p.node_id = f.from_node
    WHERE f.type = ANY (lived) AND f.valid_from > '-infinity'
  ),
  wrong AS (
    SELECT CASE
        WHEN d.valid_from < d.born - interval '1 day' THEN 'before_birth'
        WHEN d.valid_from > d.died + interval '1 day' THEN 'after_death'
        WHEN d.born IS NULL AND d.valid_from < d.recorded_from - interval '150 years' THEN 'long_ago'
        WHEN d.valid_from > d.recorded_from + interval '30 years' THEN 'far_ahead'
      END AS what, ARRAY[d.from_node, d.to_node] AS nodes, ARRAY[d.version_id] AS facts, '{}'::uuid[] AS passages,
      d.valid_from AS at, d.confidence
    FROM dated AS d
    UNION ALL
    SELECT CASE WHEN p.said_at > p.recorded_at THEN 'said_ahead' ELSE 'said_at_zero' END, '{}', '{}',
      ARRAY[p.passage_id], p.said_at, 1
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.part = 0 AND (
      p.said_at > p.recorded_at + interval '1 day'
      OR p.said_at BETWEEN timestamptz '1969-12-31 00:00Z' AND timestamptz '1970-01-02 00:00Z'
    )
  )
  SELECT w.what, w.nodes, w.facts, w.passages, (w.at AT TIME ZONE 'UTC')::date, w.confidence
  FROM wrong AS w
  WHERE w.what IS NOT NULL
  ORDER BY w.what, w.at;
END
$$;
COMMENT ON FUNCTION memsvc.impossible_dates(uuid) IS 'Facts and messages whose times cannot be right.';

-- Days with many more messages than usual in the six weeks before and after. Counts are compared as square roots, which
-- makes their spread even (Anscombe 1948): distance is the distance from the median of active days, in units of their
-- spread, which counts at least as much as chance alone gives (1/2). around: messages of the week before, the day, and
-- the week after.
CREATE OR REPLACE FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision)
RETURNS TABLE (day date, messages bigint, usual double precision, distance double precision, around bigint[])
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
AS $$
#variable_conflict use_column
DECLARE
  least_days CONSTANT integer := 10;
BEGIN
  RETURN QUERY
  WITH active AS MATERIALIZED (
    SELECT a.day, a.messages, sqrt(a.messages + 0.375) AS root FROM memsvc.daily_activity AS a
    WHERE a.user_id = p_user_id AND a.messages > 0
  )
  SELECT a.day, a.messages, greatest(power(o.middle, 2) - 0.375, 0), (a.root - o.middle) / o.spread, ARRAY(
      SELECT coalesce(b.messages, 0)
      FROM generate_series(-7, 7) AS d (away) LEFT JOIN active AS b ON b.day = a.day + d.away
      ORDER BY d.away
    )
  FROM active AS a
  CROSS JOIN LATERAL (
    SELECT count(*) AS days, percentile_cont(0.5) WITHIN GROUP (ORDER BY b.root) AS middle, greatest(
        0.5, (percentile_cont(0.9) WITHIN GROUP (ORDER BY b.root) - percentile_cont(0.5) WITHIN GROUP (ORDER BY b.root))
        / 1.2816 -- distance between the ninth decile and the median of a normal distribution
      ) AS spread
    FROM active AS b WHERE b.day BETWEEN a.day - 42 AND a.day + 42 AND b.day <> a.day
  ) AS o
  WHERE a.messages >= p_least AND o.days >= least_days AND a.root > o.middle + p_distance * o.spread
  ORDER BY a.day;
END
$$;
COMMENT ON FUNCTION memsvc.busy_days(uuid, integer, double precision) IS
  'Days with many more messages than usual around them.';

-- For each node the week with most messages about it, if there are at least p_least: how many messages mention anything
-- in that week and in all weeks except its neighbours, and how many mention the node in those (in all, and in the best
-- one).
CREATE OR REPLACE FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) RETURNS TABLE (
  node_id uuid, week date, said bigint, weeks bigint, best_other bigint, said_other bigint, week_total bigint,
  other_total bigint
)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH spoken AS MATERIALIZED (
    SELECT m.node_id, m.passage_id, date_trunc('week', m.day::timestamp)::date AS week
    FROM memsvc.mentions(p_user_id) AS m
  ),
  weekly AS MATERIALIZED (SELECT s.node_id, s.week, count(*) AS said FROM spoken AS s GROUP BY s.node_id, s.week),
  total AS MATERIALIZED (SELECT s.week, count(DISTINCT s.passage_id) AS said FROM spoken AS s GROUP BY s.week),
  best AS MATERIALIZED (
    SELECT DISTINCT ON (w.node_id) w.node_id, w.week, w.said FROM weekly AS w
    ORDER BY w.node_id, w.said DESC, w.week
  ),
  other AS (
    SELECT b.node_id, count(*) AS weeks, max(w.said) AS best, sum(w.said) AS said
    FROM best AS b INNER JOIN weekly AS w ON w.node_id = b.node_id
    WHERE b.said >= p_least AND abs(w.week - b.week) > 7
    GROUP BY b.node_id
  )
  SELECT b.node_id, b.week, b.said, o.weeks, o.best, o.said::bigint, t.said, (
      SELECT sum(u.said) FROM total AS u WHERE abs(u.week - b.week) > 7
    )::bigint
  FROM best AS b
  INNER JOIN other AS o ON o.node_id = b.node_id
  INNER JOIN total AS t ON t.week = b.week
  ORDER BY b.node_id;
END
$$;
COMMENT ON FUNCTION memsvc.busiest_weeks(uuid, integer) IS 'The week with most messages about each node.';
