-- What lies near a place that a query names.

-- Whether a query asks for what is near something, in words of the languages whose "I" is known (memsvc.says_i). Words
-- that hardly ever mean a place ("by", "at") are left out; of "around", "beside" and the like it is enough that they
-- are said, for they count only where the query names something that is somewhere.
CREATE OR REPLACE FUNCTION memsvc.says_near(p_query text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN lower(p_query) ~ (
  '\m(near(by|er|est)?|closest|close (to|by)|around|round the corner|beside|next (door )?to|not far|opposite'
  '|neighbou?r(s|ing|hood)?|vicinity|surroundings|walking distance|steps (from|away)'
  '|nahe|nähe|neben|bei|beim|unweit|umgebung|nachbarschaft|rund um|um die ecke|gegenüber'
  '|près|proche|autour|voisinage|alentours|cerca|alrededor|junto|vecindario|perto|próximo|arredores)\M'
  '|附近|旁边|旁邊|周围|周圍|边上|邊上|近く|周辺|そば|隣|근처|주변|옆'
);
COMMENT ON FUNCTION memsvc.says_near(text) IS 'Whether a query asks for what is near something.';

-- Nodes with a location within p_radius_m metres of one of some nodes, as it is at p_as_of (null: now), as known at
-- p_known_at (null: now); each once, from the nearest of them, nearest first, at most p_limit. Of the given nodes three
-- locations count. A location that itself reaches farther than p_radius_m (a town, a country) is an area, and its
-- middle says nothing: neither is it looked around, nor found. reach: 1 at the same spot, falling by e up to
-- p_radius_m. path: as expand_names gives it, with the metres for a type. Without an extension to search by there is
-- nothing; a user without locations pays for one look at an index.
CREATE OR REPLACE FUNCTION memsvc.nodes_beside(
  p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (node_id uuid, distance integer, reach double precision, path text[], metres double precision)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-bitmap
AS $$
#variable_conflict use_column
DECLARE
  most_starts CONSTANT integer := 3;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
BEGIN
  PERFORM FROM locations AS l WHERE l.user_id = p_user_id ORDER BY l.recorded_from LIMIT 1;
  IF NOT FOUND OR memsvc.places_by() IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH start AS MATERIALIZED (
    SELECT l.canonical_id, l.latitude, l.longitude
    FROM memsvc.node_locations(p_user_id, p_nodes, moment, p_known_at) AS l
    WHERE l.radius_m <= p_radius_m
    ORDER BY l.canonical_id, l.location_id
    LIMIT most_starts
  ),
  found AS MATERIALIZED (
    SELECT DISTINCT ON (n.canonical_id) n.canonical_id, n.label, n.metres, s.canonical_id AS start_id
    FROM start AS s
    CROSS JOIN LATERAL memsvc.nearby( -- more than are wanted, for some are the same, areas, or named themselves
      p_user_id, s.latitude, s.longitude, p_radius_m, NULL, NULL, moment, moment + interval '1 microsecond', moment,
      p_known_at, 2 * p_limit
    ) AS n
    WHERE n.radius_m <= p_radius_m
      AND n.canonical_id <> ALL (memsvc.canonical_ids(p_user_id, p_nodes, p_known_at))
    ORDER BY n.canonical_id, n.metres, s.canonical_id
  ),
  card AS MATERIALIZED (
    SELECT c.canonical_id, c.label
    FROM memsvc.node_cards(p_user_id, ARRAY(SELECT s.canonical_id FROM start AS s), moment, p_known_at) AS c
  )
  SELECT f.canonical_id, 1, exp(-f.metres / greatest(p_radius_m, 1)), ARRAY[
      coalesce(c.label, ''), format('NEAR %s m', 10 * round(f.metres / 10)), coalesce(f.label, '')
    ], f.metres
  FROM found AS f LEFT JOIN card AS c ON c.canonical_id = f.start_id
  ORDER BY f.metres, f.canonical_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.nodes_beside(uuid, uuid[], double precision, integer, timestamptz, timestamptz) IS
  'Nodes near the places of some nodes, with how well they are reached and from where.';
