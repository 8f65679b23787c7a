-- owner: memsvc_recall

-- Labels and names that contain these forms as whole words ("anna" in "anna berg"), by trigrams (pg_trgm's word
-- similarity, 0.9 and more); at most p_limit labels and p_limit names for each form.
--
-- SECURITY DEFINER, owned by memsvc_recall, for the same reasons as memsvc.similar_names.
CREATE OR REPLACE FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer)
RETURNS TABLE (form text, node_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
ROWS 10
SET search_path = memsvc, public, pg_temp
-- callers: app, reader
-- plans: by-key, no-parallel
AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  -- pg_trgm's setting exists once its library is loaded by its first call, so it cannot be SET above.
  same CONSTANT real := similarity('a', 'a');
  threshold CONSTANT text := current_setting('pg_trgm.word_similarity_threshold');
BEGIN
  PERFORM set_config('pg_trgm.word_similarity_threshold', (0.9 * same)::text, true);
  RETURN QUERY
  SELECT w.form, n.node_id, n.similarity::double precision
  FROM unnest(p_forms) AS w (form)
  CROSS JOIN LATERAL (
    (SELECT v.user_id, v.node_id, similarity(v.label_form, w.form) AS similarity
    FROM node_versions AS v
    WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.label_form %> w.form AND v.recorded_to = 'infinity'
    LIMIT p_limit)
    UNION ALL
    (SELECT v.user_id, v.node_id, similarity(v.normal_form, w.form)
    FROM aliases AS v
    WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.normal_form %> w.form AND v.recorded_to = 'infinity'
    LIMIT p_limit)
  ) AS n
  WHERE n.user_id = asker;
  PERFORM set_config('pg_trgm.word_similarity_threshold', threshold, true);
END
$$;
COMMENT ON FUNCTION memsvc.names_with_words(uuid, text[], integer) IS
  'Labels and names that contain these forms as whole words.';
