-- owner: memsvc_recall

-- One user's locations around a point, nearest first: the index of PostGIS or of cube walks outwards and stops after
-- p_limit. Parameters as in memsvc.nearby; p_merged: nodes whose own type does not count, and p_fitting: those of them
-- that have a wanted type.
--
-- SECURITY DEFINER, owned by memsvc_recall, like match_words: neither ST_DWithin nor the operators of cube are
-- leakproof, so under row security their indexes would not be used. The first statement binds the user.
--
-- The index returns a little more than the radius, and metres_between decides, so both extensions give the same result.
-- PostGIS is told to use the sphere, as metres_between does; cube holds points of the unit sphere, whose chords grow
-- with the arcs. Names from these extensions are resolved when a branch first runs, not before. ORDER BY with
-- enable_sort off selects the index, as in graph/10_traverse.sql: on empty tables the index of a constraint has the
-- same cost.
CREATE OR REPLACE FUNCTION memsvc.match_locations(
  p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision,
  p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamptz, p_to timestamptz,
  p_known_at timestamptz, p_limit integer
) RETURNS TABLE (location_id uuid, node_id uuid, metres double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort, no-bitmap
AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  half_way CONSTANT double precision := pi() * 6371008.7714;
  radius CONSTANT double precision := least(p_radius_m, half_way); -- least ignores null, which means everything
  search_radius CONSTANT double precision := radius * 1.0001 + 1;
  chord CONSTANT double precision := 2 * sin(least(radius / half_way, 1) * pi() / 2) * 1.000001 + 0.0000001;
BEGIN
  CASE memsvc.places_by()
  WHEN 'postgis' THEN
    RETURN QUERY
    SELECT l.location_id, l.node_id, memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude)
    FROM locations AS l
    WHERE l.user_id = asker
      AND public.ST_DWithin(
        public.geography(public.ST_MakePoint(l.longitude, l.latitude)),
        public.geography(public.ST_MakePoint(p_longitude, p_latitude)), search_radius, false
      )
      AND memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude) <= radius
      AND memsvc.location_counts(l, p_box, p_from, p_to, known)
      AND (p_types IS NULL OR l.node_id = ANY (p_fitting) OR (l.node_id <> ALL (p_merged) AND (
        EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to = 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
        ) OR (p_known_at IS NOT NULL AND EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to < 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
            AND v.recorded_to > known
        ))
      )))
    ORDER BY public.geography(public.ST_MakePoint(l.longitude, l.latitude))
      OPERATOR(public.<->) public.geography(public.ST_MakePoint(p_longitude, p_latitude))
    LIMIT p_limit;
  WHEN 'cube' THEN
    RETURN QUERY
    SELECT l.location_id, l.node_id, memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude)
    FROM locations AS l
    WHERE l.user_id = asker
      AND public.cube(ARRAY[
        cosd(l.latitude) * cosd(l.longitude), cosd(l.latitude) * sind(l.longitude), sind(l.latitude)
      ]) OPERATOR(public.<@) public.cube_enlarge(public.cube(ARRAY[
        cosd(p_latitude) * cosd(p_longitude), cosd(p_latitude) * sind(p_longitude), sind(p_latitude)
      ]), chord, 3)
      AND memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude) <= radius
      AND memsvc.location_counts(l, p_box, p_from, p_to, known)
      AND (p_types IS NULL OR l.node_id = ANY (p_fitting) OR (l.node_id <> ALL (p_merged) AND (
        EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to = 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
        ) OR (p_known_at IS NOT NULL AND EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to < 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
            AND v.recorded_to > known
        ))
      )))
    ORDER BY public.cube(ARRAY[
      cosd(l.latitude) * cosd(l.longitude), cosd(l.latitude) * sind(l.longitude), sind(l.latitude)
    ]) OPERATOR(public.<->) public.cube(ARRAY[
      cosd(p_latitude) * cosd(p_longitude), cosd(p_latitude) * sind(p_longitude), sind(p_latitude)
    ])
    LIMIT p_limit;
  ELSE
    RAISE EXCEPTION 'neither PostGIS nor cube is here' USING ERRCODE = 'MS005';
  END CASE;
END
$$;
COMMENT ON FUNCTION memsvc.match_locations(
  uuid, double precision, double precision, double precision, double precision[], text[], uuid[], uuid[], timestamptz,
  timestamptz, timestamptz, integer
) IS 'One user''s locations around a point, nearest first.';
