-- When the user spoke last, and last before the present sitting, which goes on until a pause of p_sitting; newest first.
-- The latest 200 passages of p_now are looked at. A function, because a kept plan needs to be told that the order names
-- the index: it knows neither the user nor the moment, and read all of a user's passages where it took them for few.
CREATE OR REPLACE FUNCTION memsvc.last_spoken(
  p_user_id uuid, p_now timestamptz, p_known_at timestamptz, p_sitting interval
) RETURNS TABLE (said_at timestamptz, said_offset smallint)
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off -- only passages_said gives the order without one
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH latest AS MATERIALIZED (
    SELECT p.said_at, p.said_offset, p.kind, p.role
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at <= p_now AND (p_known_at IS NULL OR p.recorded_at <= p_known_at)
    ORDER BY p.user_id DESC, p.said_at DESC
    LIMIT 200
  ),
  said AS (
    SELECT l.said_at, l.said_offset, row_number() OVER newest AS place,
      lag(l.said_at, 1, p_now) OVER newest - l.said_at > p_sitting AS before
    FROM latest AS l
    WHERE l.kind = 'message' AND l.role = 'user'
    WINDOW newest AS (ORDER BY l.said_at DESC)
  )
  SELECT s.said_at, s.said_offset FROM said AS s
  WHERE s.place = 1 OR s.before
  ORDER BY s.said_at DESC
  LIMIT 2;
END
$$;
COMMENT ON FUNCTION memsvc.last_spoken(uuid, timestamptz, timestamptz, interval) IS
  'When the user spoke last, and last before the present sitting.';
