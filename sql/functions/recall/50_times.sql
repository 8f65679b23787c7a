-- Recall by time: how well a moment fits the times that a query names, and what was said, began or ended in them. The
-- windows are two arrays of one length, from begins up to ends, as memsvc/times/reading.py reads them; null or an empty
-- array names no time.

-- More than four windows: time_fit below. PL/pgSQL, because an SQL function with a subquery is not inlined and takes
-- longer to start than this one to run; without a search path of its own, which takes longer still: all names are built
-- in.
CREATE OR REPLACE FUNCTION memsvc.windows_fit(
  p_moment timestamptz, p_begins timestamptz[], p_ends timestamptz[], p_scale interval
) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
AS $$
DECLARE
  distance interval;
BEGIN
  FOR i IN 1..cardinality(p_begins) LOOP
    distance := least(distance, greatest(p_begins[i] - p_moment, p_moment - p_ends[i]));
  END LOOP;
  RETURN exp(-least(700, date_part('epoch', greatest(distance, interval '0')) / date_part('epoch', p_scale)));
END
$$;
COMMENT ON FUNCTION memsvc.windows_fit(timestamptz, timestamptz[], timestamptz[], interval) IS
  'How well a moment fits many windows: time_fit for more than four.';

-- 1 inside a window, else exp(-distance / p_scale) to the nearest one, so 0.37 at the distance p_scale, and next to
-- nothing at an infinite one; 0 where no window or no moment is given. p_scale must be longer than nothing. Up to four
-- windows it is inlined into the statement that asks: 1 µs, where a call takes 5. A distance is negative inside its
-- window and null where there is no such window, which least() and greatest() leave out.
CREATE OR REPLACE FUNCTION memsvc.time_fit(
  p_moment timestamptz, p_begins timestamptz[], p_ends timestamptz[], p_scale interval
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_moment IS NULL OR coalesce(cardinality(p_begins), 0) = 0 THEN 0::double precision
  WHEN cardinality(p_begins) = 1 THEN exp(-least(
    700, date_part('epoch', greatest(p_begins[1] - p_moment, p_moment - p_ends[1], interval '0'))
      / date_part('epoch', p_scale)
  ))
  WHEN cardinality(p_begins) <= 4 THEN exp(-least(
    700, date_part('epoch', greatest(interval '0', least(
      greatest(p_begins[1] - p_moment, p_moment - p_ends[1]), greatest(p_begins[2] - p_moment, p_moment - p_ends[2]),
      greatest(p_begins[3] - p_moment, p_moment - p_ends[3]), greatest(p_begins[4] - p_moment, p_moment - p_ends[4])
    ))) / date_part('epoch', p_scale)
  ))
  ELSE memsvc.windows_fit(p_moment, p_begins, p_ends, p_scale)
END;
COMMENT ON FUNCTION memsvc.time_fit(timestamptz, timestamptz[], timestamptz[], interval) IS
  'How well a moment fits windows of time: 1 inside one, less the farther away it is.';

-- Passages said inside a window, newest first; the windows share p_limit, so that one long one leaves room for others.
-- In all no more than 3,000 passages are looked at, by the index passages_said: where filters leave few of a long
-- window's newest, older ones are left to the other arms. Under row security as it is: comparisons of times are
-- leakproof, so the index is used.
CREATE OR REPLACE FUNCTION memsvc.match_times(
  p_user_id uuid,
  p_begins timestamptz[],
  p_ends timestamptz[],
  p_limit integer,
  p_scope memsvc.scope DEFAULT memsvc.scope()
) RETURNS TABLE (matched_id uuid, fit double precision)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort; only passages_said gives the order without one
AS $$
DECLARE
  windows CONSTANT integer := coalesce(cardinality(p_begins), 0);
  tick CONSTANT interval := interval '1 microsecond'; -- makes one bound of two: a scan begins at either of them
  reach integer;
  share integer;
BEGIN
  IF windows = 0 OR p_limit <= 0 THEN
    RETURN;
  END IF;
  share := (p_limit - 1) / windows + 1;
  reach := greatest(3000 / windows, share);
  RETURN QUERY
  SELECT f.passage_id, 1::double precision
  FROM unnest(p_begins, p_ends) AS w (begins, ends)
  CROSS JOIN LATERAL (
    SELECT c.passage_id, c.said_at
    FROM (
      SELECT p.passage_id, p.said_at, memsvc.in_scope(p_scope, p) AS fits FROM passages AS p
      WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at >= greatest(w.begins, p_scope.said_from)
        AND p.said_at < least(w.ends, p_scope.said_to, p_scope.as_of + tick)
      ORDER BY p.said_at DESC LIMIT reach
    ) AS c
    WHERE c.fits
    LIMIT share
  ) AS f
  GROUP BY f.passage_id -- windows may overlap
  ORDER BY max(f.said_at) DESC, f.passage_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_times(
  uuid, timestamptz[], timestamptz[], integer, memsvc.scope
) IS 'The time arm: passages said inside windows of time, newest first.';

-- Facts that began or ended inside a window, or held throughout it and have an end, the latest first: versions of edges
-- as known at p_known_at (null: now). What holds without an end is no more about one time than about another.
-- With p_as_of only those that were true then; null: whatever their valid time, for what has ended may be the answer.
-- The windows share p_limit, a third each for beginnings, ends, and what held; in all no more than 2,000 versions are
-- looked at for each of the three, by edge_versions_began and _ended, and of those that were closed since p_known_at by
-- edge_versions_closed.
CREATE OR REPLACE FUNCTION memsvc.match_fact_times(
  p_user_id uuid,
  p_begins timestamptz[],
  p_ends timestamptz[],
  p_limit integer,
  p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (version_id uuid, fit double precision)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  windows CONSTANT integer := coalesce(cardinality(p_begins), 0);
  tick CONSTANT interval := interval '1 microsecond'; -- makes one bound of two: a scan begins at either of them
  first timestamptz; -- for what was known once
  last timestamptz;
  reach integer;
  share integer;
BEGIN
  IF windows = 0 OR p_limit <= 0 THEN
    RETURN;
  END IF;
  share := (p_limit - 1) / (3 * windows) + 1;
  reach := greatest(2000 / windows, share);
  IF p_known_at IS NOT NULL THEN
    first := (SELECT min(b.begins) FROM unnest(p_begins) AS b (begins));
    last := (SELECT max(e.ends) FROM unnest(p_ends) AS e (ends));
  END IF;
  RETURN QUERY
  SELECT f.version_id, 1::double precision
  FROM (
    SELECT o.version_id, o.turned
    FROM unnest(p_begins, p_ends) AS w (begins, ends)
    CROSS JOIN LATERAL (
      (SELECT c.version_id, c.valid_from AS turned
      FROM (
        SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
          AND v.valid_from >= w.begins AND v.valid_from < least(w.ends, p_as_of + tick)
        ORDER BY v.valid_from DESC LIMIT reach
      ) AS c
      WHERE (p_known_at IS NULL OR c.recorded_from <= p_known_at)
        AND (p_as_of IS NULL OR c.valid_to > p_as_of)
      LIMIT share)
      UNION ALL
      (SELECT c.version_id, c.valid_to
      FROM (
        SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
          AND v.valid_to >= greatest(w.begins, p_as_of + tick) AND v.valid_to < w.ends
        ORDER BY v.valid_to DESC LIMIT reach
      ) AS c
      WHERE (p_known_at IS NULL OR c.recorded_from <= p_known_at)
        AND (p_as_of IS NULL OR c.valid_from <= p_as_of)
      LIMIT share)
      UNION ALL
      (SELECT c.version_id, w.ends
      FROM (
        SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
          AND v.valid_to >= greatest(w.ends, p_as_of + tick)
        ORDER BY v.valid_to LIMIT reach
      ) AS c
      WHERE c.valid_from < w.begins
        AND (p_known_at IS NULL OR c.recorded_from <= p_known_at)
        AND (p_as_of IS NULL OR c.valid_from <= p_as_of)
      LIMIT share)
    ) AS o
    UNION ALL
    SELECT c.version_id, t.turned
    FROM (
      SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
      WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at
      ORDER BY v.recorded_to LIMIT 2000
    ) AS c
    CROSS JOIN LATERAL (
      SELECT max(CASE
          WHEN c.valid_to >= w.begins AND c.valid_to < w.ends THEN c.valid_to
          WHEN c.valid_from >= w.begins AND c.valid_from < w.ends THEN c.valid_from
          WHEN c.valid_from < w.begins AND c.valid_to >= w.ends AND c.valid_to < 'infinity' THEN w.ends
        END) AS turned
      FROM unnest(p_begins, p_ends) AS w (begins, ends)
    ) AS t
    WHERE t.turned IS NOT NULL AND c.recorded_from <= p_known_at AND c.valid_from < last AND c.valid_to >= first
      AND (p_as_of IS NULL OR (c.valid_from <= p_as_of AND c.valid_to > p_as_of))
  ) AS f
  GROUP BY f.version_id -- it may have begun and ended in the windows
  ORDER BY max(f.turned) DESC, f.version_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_fact_times(
  uuid, timestamptz[], timestamptz[], integer, timestamptz, timestamptz
) IS 'The time arm for facts: versions that began, ended or held, with an end, in windows of time, the latest first.';
