-- owner: memsvc_recall

-- Labels and names that are similar to a wanted one, by trigrams (pg_trgm's similarity: trigrams that two words share,
-- divided by those that either has; 0.6 and more).
--
-- SECURITY DEFINER, owned by memsvc_recall: `%` is not leakproof, so under row security its index would not be used.
-- The first line binds the user to the token, and every table is restricted by user_id = p_user_id. The inner condition
-- matches only the trigram index, so that no estimate makes the planner take an index by user alone.
CREATE OR REPLACE FUNCTION memsvc.similar_names(
  p_user_id uuid, p_forms text[], p_as_of timestamptz, p_known_at timestamptz
) RETURNS TABLE (form text, node_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
ROWS 10
SET search_path = memsvc, public, pg_temp
-- callers: app, reader
-- plans: by-key, no-parallel
AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_known_at, clock_timestamp());
  -- pg_trgm's setting exists once its library is loaded by its first call, so it cannot be SET above.
  same CONSTANT real := similarity('a', 'a');
  before CONSTANT text := current_setting('pg_trgm.similarity_threshold');
  threshold text := set_config('pg_trgm.similarity_threshold', (0.6 * same)::text, true);
BEGIN
  RETURN QUERY
  SELECT w.form, n.node_id, n.similarity::double precision
  FROM unnest(p_forms) AS w (form)
  CROSS JOIN LATERAL (
    (SELECT v.user_id, v.node_id, similarity(v.label_form, w.form) AS similarity, v.valid_from, v.valid_to,
      v.recorded_from, v.recorded_to
    FROM node_versions AS v WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.label_form % w.form OFFSET 0)
    UNION ALL
    (SELECT v.user_id, v.node_id, similarity(v.normal_form, w.form), v.valid_from, v.valid_to, v.recorded_from,
      v.recorded_to
    FROM aliases AS v WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.normal_form % w.form OFFSET 0)
  ) AS n
  WHERE n.user_id = asker AND n.valid_from <= moment AND n.valid_to > moment AND n.recorded_from <= known
    AND (n.recorded_to = 'infinity' OR n.recorded_to > known);
  threshold := set_config('pg_trgm.similarity_threshold', before, true);
END
$$;
COMMENT ON FUNCTION memsvc.similar_names(uuid, text[], timestamptz, timestamptz) IS
  'Labels and names that are similar to a wanted one, by trigrams.';
