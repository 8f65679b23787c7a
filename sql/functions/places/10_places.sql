-- Places: distances, the extension that searches places, and locations of nodes.

-- Metres between two points along a great circle (haversine), on a sphere of the Earth's mean radius (IUGG: (2 a + b) /
-- 3 of WGS 84): within 0.6 % of the ellipsoid's geodesic. Every distance that is returned or compared comes from here,
-- so the index that finds a place does not matter.
CREATE OR REPLACE FUNCTION memsvc.metres_between(
  p_latitude double precision, p_longitude double precision, p_other_latitude double precision,
  p_other_longitude double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN 2 * 6371008.7714 * asin(sqrt(least(1,
  power(sin(radians(p_other_latitude - p_latitude) / 2), 2)
  + cos(radians(p_latitude)) * cos(radians(p_other_latitude))
  * power(sin(radians(p_other_longitude - p_longitude) / 2), 2)
)));
COMMENT ON FUNCTION memsvc.metres_between(double precision, double precision, double precision, double precision) IS
  'Metres between two points along a great circle.';

-- The extension whose index exists (memsvc.server.place_index makes it); null: none, so places cannot be searched.
CREATE OR REPLACE FUNCTION memsvc.places_by() RETURNS text
LANGUAGE sql STABLE
-- callers: app, reader, recall
RETURN CASE
  WHEN to_regclass('memsvc.locations_geography') IS NOT NULL THEN 'postgis'
  WHEN to_regclass('memsvc.locations_cube') IS NOT NULL THEN 'cube'
END;
COMMENT ON FUNCTION memsvc.places_by() IS 'The extension by which places are searched; null: none.';

-- Whether a location is true anywhere in [p_from, p_to), as known at a time (infinity: now), and is in a box (south,
-- west, north, east; null: anywhere). The poles are at every longitude, and the antimeridian is both in the east and
-- the west.
CREATE OR REPLACE FUNCTION memsvc.location_counts(
  p_location memsvc.locations, p_box double precision[], p_from timestamptz, p_to timestamptz, p_known timestamptz
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN p_location.valid_from < p_to AND p_location.valid_to > p_from
  AND p_location.recorded_from <= p_known
  AND (p_location.recorded_to = 'infinity' OR p_location.recorded_to > p_known)
  AND (p_box IS NULL OR (p_location.latitude BETWEEN p_box[1] AND p_box[3] AND (
    abs(p_location.latitude) = 90 OR (p_box[4] = 180 AND p_location.longitude = -180) OR CASE
      WHEN p_box[2] <= p_box[4] THEN p_location.longitude BETWEEN p_box[2] AND p_box[4]
      ELSE p_location.longitude >= p_box[2] OR p_location.longitude <= p_box[4]
    END
  )));
COMMENT ON FUNCTION memsvc.location_counts(
  memsvc.locations, double precision[], timestamptz, timestamptz, timestamptz
) IS 'Whether a location is true in a span of time and is in a box.';

-- Locations of nodes and all nodes merged with them, newest valid time first.
CREATE OR REPLACE FUNCTION memsvc.node_locations(
  p_user_id uuid, p_nodes uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  canonical_id uuid, node_id uuid, location_id uuid, latitude double precision, longitude double precision,
  radius_m double precision, asserted_by text, valid_from timestamptz, valid_to timestamptz,
  recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT s.canonical_id, v.node_id, v.location_id, v.latitude, v.longitude, v.radius_m, v.asserted_by, v.valid_from,
    v.valid_to, v.recorded_from, v.recorded_to
  FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  CROSS JOIN LATERAL (
    SELECT o.* FROM memsvc.locations AS o
    WHERE o.user_id = p_user_id AND o.node_id = s.node_id
      AND o.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (o.recorded_to = 'infinity' OR o.recorded_to > p_known_at)
      AND (p_as_of IS NULL OR (o.valid_from <= p_as_of AND o.valid_to > p_as_of))
    OFFSET 0
  ) AS v
  ORDER BY v.valid_from DESC, v.location_id;
END;
COMMENT ON FUNCTION memsvc.node_locations(uuid, uuid[], timestamptz, timestamptz) IS
  'Locations of nodes and all nodes merged with them, at a valid and a recorded time.';

-- Locations near a point, nearest first, that are true anywhere in [p_from, p_to), as known at p_known_at (null: now),
-- within p_radius_m metres (null: any distance), in p_box (south, west, north, east in degrees; west may be greater
-- than east: across the antimeridian), of nodes that have one of p_types then (null: any). Type and node are those of
-- the canonical node. p_from, as a moment, also selects the label.
CREATE OR REPLACE FUNCTION memsvc.nearby(
  p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision,
  p_box double precision[], p_types text[], p_from timestamptz, p_to timestamptz, p_as_of timestamptz,
  p_known_at timestamptz, p_limit integer
) RETURNS TABLE (
  canonical_id uuid, node_id uuid, location_id uuid, label text, type text, latitude double precision,
  longitude double precision, radius_m double precision, metres double precision, valid_from timestamptz,
  valid_to timestamptz, recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  merged_nodes uuid[] := '{}'; -- nodes that are merged into others
  fitting uuid[] := '{}'; -- those of them whose canonical node has one of the types
BEGIN
  IF merged AND p_types IS NOT NULL THEN
    merged_nodes := ARRAY(
      SELECT m.node_id FROM merges AS m
      WHERE m.user_id = p_user_id AND m.recorded_from <= known AND (m.recorded_to = 'infinity' OR m.recorded_to > known)
    );
    fitting := ARRAY(
      SELECT r.node_id FROM memsvc.resolve_nodes(p_user_id, merged_nodes, p_known_at) AS r
      WHERE r.canonical_id IN (
        SELECT s.node_id FROM memsvc.node_states(p_user_id, merged_nodes, NULL, p_known_at) AS s
        WHERE s.type = ANY (p_types) AND s.valid_from < p_to AND s.valid_to > p_from
      )
    );
  END IF;
  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT m.* FROM memsvc.match_locations(
      p_user_id, p_latitude, p_longitude, p_radius_m, p_box, p_types, merged_nodes, fitting, p_from, p_to, p_known_at,
      p_limit
    ) AS m
  )
  SELECT c.canonical_id, l.node_id, l.location_id, c.label, c.type, l.latitude, l.longitude, l.radius_m, f.metres,
    l.valid_from, l.valid_to, l.recorded_from, nullif(l.recorded_to, 'infinity')
  FROM found AS f
  INNER JOIN locations AS l ON l.user_id = p_user_id AND l.location_id = f.location_id
  INNER JOIN memsvc.node_cards(p_user_id, ARRAY(SELECT DISTINCT n.node_id FROM found AS n), p_as_of, p_known_at) AS c
    ON c.node_id = l.node_id
  ORDER BY f.metres, l.location_id;
END
$$;
COMMENT ON FUNCTION memsvc.nearby(
  uuid, double precision, double precision, double precision, double precision[], text[], timestamptz, timestamptz,
  timestamptz, timestamptz, integer
) IS 'Locations near a point, nearest first.';
