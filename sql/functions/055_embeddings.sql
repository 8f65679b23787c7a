-- Vectors: which model counts, what still lacks its vectors, storing them.

-- The model with this name, registered on first use: its vector index is made with it, and the first model of all is
-- active at once. Another length of vectors under a known name is an error. The index is partial and by expression, so
-- models of any length share the table.
CREATE OR REPLACE FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer)
RETURNS TABLE (model_id smallint, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF NOT FOUND THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('memsvc.ensure_model', 0));
    INSERT INTO embedding_models AS m (name, dimensions, state)
    SELECT p_name, p_dimensions, CASE WHEN EXISTS (
      SELECT FROM embedding_models AS a WHERE a.state = 'active'
    ) THEN 'building' ELSE 'active' END
    ON CONFLICT (name) DO NOTHING
    RETURNING * INTO known;
    IF FOUND THEN
      EXECUTE format(
        'CREATE INDEX embeddings_near_%s ON memsvc.embeddings USING hnsw ((vector::halfvec(%s)) halfvec_ip_ops) '
        'WHERE model_id = %s', known.model_id, p_dimensions, known.model_id
      );
    ELSE
      SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
    END IF;
  END IF;
  IF known.dimensions <> p_dimensions THEN
    RAISE EXCEPTION 'model % has vectors of length %, not %', p_name, known.dimensions, p_dimensions
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT known.model_id, known.state;
END
$$;
COMMENT ON FUNCTION memsvc.ensure_model(text, integer) IS
  'The embedding model with this name, registered on first use.';

-- Messages of a user that lack a model's vector, newest first, older than p_before (the last one of the page before);
-- traces get none. p_source_id NULL: of all conversations.
CREATE OR REPLACE FUNCTION memsvc.unembedded(
  p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer
) RETURNS TABLE (passage_id uuid, searched text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT p.passage_id, memsvc.searched_text(p.speaker, p.text, p.caption)
  FROM memsvc.passages AS p
  WHERE p.user_id = p_user_id AND p.kind = 'message' AND (p_source_id IS NULL OR p.source_id = p_source_id)
    AND (p_before IS NULL OR p.passage_id < p_before)
    AND NOT EXISTS (
      SELECT FROM memsvc.embeddings AS e
      WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = p.passage_id
    )
  ORDER BY p.passage_id DESC
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.unembedded(uuid, smallint, uuid, uuid, integer) IS
  'Messages that lack a model''s vector, newest first.';

-- Stores vectors, given as pgvector's text; a passage that has one keeps it, one that is gone gets none. How many
-- were new.
CREATE OR REPLACE FUNCTION memsvc.store_embeddings(
  p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[]
) RETURNS bigint
LANGUAGE sql
SET search_path = memsvc, public, pg_temp
AS $$
  WITH stored AS (
    INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector)
    SELECT p_user_id, p_model_id, v.passage_id, v.vector::public.halfvec
    FROM unnest(p_passage_ids, p_vectors) AS v (passage_id, vector)
    WHERE EXISTS (SELECT FROM memsvc.passages AS p WHERE p.user_id = p_user_id AND p.passage_id = v.passage_id)
    ORDER BY v.passage_id
    ON CONFLICT (user_id, model_id, passage_id) DO NOTHING
    RETURNING 1
  )
  SELECT count(*) FROM stored;
$$;
COMMENT ON FUNCTION memsvc.store_embeddings(uuid, smallint, uuid[], text[]) IS 'Stores vectors; how many were new.';

-- The models, and for each how many messages of the user have its vector and how many lack it.
CREATE OR REPLACE FUNCTION memsvc.embedding_progress(p_user_id uuid)
RETURNS TABLE (model_id smallint, name text, dimensions integer, state text, embedded bigint, lacking bigint)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT m.model_id, m.name, m.dimensions, m.state, e.embedded, p.messages - e.embedded
  FROM memsvc.embedding_models AS m
  CROSS JOIN (
    SELECT count(*) AS messages FROM memsvc.passages AS s WHERE s.user_id = p_user_id AND s.kind = 'message'
  ) AS p
  CROSS JOIN LATERAL (
    SELECT count(*) AS embedded FROM memsvc.embeddings AS v WHERE v.user_id = p_user_id AND v.model_id = m.model_id
  ) AS e
  ORDER BY m.model_id;
END;
COMMENT ON FUNCTION memsvc.embedding_progress(uuid) IS 'How many of a user''s messages have each model''s vector.';
