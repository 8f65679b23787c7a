-- Vectors: registering models, finding passages without vectors, storing vectors.

-- Makes a model's vector index: partial and on an expression, so that models with vectors of any length share the
-- table. With pgvector's default ef_construction, 64, one of ten nearest among a million was missed (recall .91; .96
-- with 128).
CREATE OR REPLACE FUNCTION memsvc.make_model_index(p_model_id smallint, p_dimensions integer) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, public, pg_temp
AS $$
BEGIN
  EXECUTE format(
    'CREATE INDEX IF NOT EXISTS embeddings_near_%1$s ON memsvc.embeddings '
    'USING hnsw ((vector::halfvec(%2$s)) halfvec_ip_ops) WITH (ef_construction = 128) WHERE model_id = %1$s',
    p_model_id, p_dimensions
  );
END
$$;
COMMENT ON FUNCTION memsvc.make_model_index(smallint, integer) IS 'Makes a model''s vector index.';

-- Returns the model with this name. The first model of a database is registered here and becomes active, with its
-- index; further ones are registered by build_model. A different length of vectors under a known name is an error.
CREATE OR REPLACE FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer)
RETURNS TABLE (model_id smallint, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, public, pg_temp
-- callers: app
AS $$
#variable_conflict use_column
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF NOT FOUND THEN
    PERFORM memsvc.change_models();
    SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  END IF;
  IF known.model_id IS NULL THEN
    IF EXISTS (SELECT FROM embedding_models AS m WHERE m.state = 'active') THEN
      RAISE EXCEPTION 'The model % is not one of this database''s.', p_name
        USING ERRCODE = 'MS001', HINT = 'Run ''memsvc models build'' with its name.';
    END IF;
    INSERT INTO embedding_models AS m (name, dimensions, state) VALUES (p_name, p_dimensions, 'active')
    RETURNING * INTO known;
    PERFORM memsvc.make_model_index(known.model_id, p_dimensions);
    PERFORM memsvc.audit('model.first', NULL, NULL, p_name);
  END IF;
  IF known.dimensions <> p_dimensions THEN
    RAISE EXCEPTION 'model % has vectors of length %, not %', p_name, known.dimensions, p_dimensions
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT known.model_id, known.state;
END
$$;
COMMENT ON FUNCTION memsvc.ensure_model(text, integer) IS
  'The embedding model with this name; the first one of a database is registered by it.';

-- Stores the projection by which a model's token vectors are made smaller, if it has none yet, and returns the stored
-- one. Users whose messages have its vectors but no token vectors, because they are older, get a job for that.
CREATE OR REPLACE FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) RETURNS bytea
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  kept bytea;
BEGIN
  PERFORM memsvc.change_models();
  UPDATE embedding_models AS m SET projection = p_projection
  WHERE m.model_id = p_model_id AND m.projection IS NULL AND m.state <> 'retired';
  IF FOUND THEN
    INSERT INTO jobs AS j (user_id, kind, subject_id)
    SELECT l.user_id, 'embed', l.user_id
    FROM memsvc.users_lacking_tokens(p_model_id) AS l (user_id)
    INNER JOIN users AS u ON u.user_id = l.user_id AND u.erasing_since IS NULL
    ORDER BY l.user_id
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1;
  END IF;
  SELECT m.projection INTO kept FROM embedding_models AS m WHERE m.model_id = p_model_id;
  RETURN kept;
END
$$;
COMMENT ON FUNCTION memsvc.keep_projection(smallint, bytea) IS 'Stores a model''s projection; returns the stored one.';

-- Passages of a user that lack a model's vector, newest first, older than p_before (the last one of the previous page):
-- of kinds that are compared, and only what stands now. p_source_id NULL: of all sources.
-- p_tokens: also those that lack its token vectors.
CREATE OR REPLACE FUNCTION memsvc.unembedded(
  p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean DEFAULT false
) RETURNS TABLE (passage_id uuid, searched text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT l.passage_id, l.searched
  FROM (
    (
      SELECT p.passage_id, memsvc.searched_text(p.speaker, p.text, p.caption) AS searched
      FROM memsvc.passages AS p
      WHERE p.user_id = p_user_id AND memsvc.has_vectors(p)
        AND (p_source_id IS NULL OR p.source_id = p_source_id)
        AND (p_before IS NULL OR p.passage_id < p_before)
        AND NOT EXISTS (
          SELECT FROM memsvc.embeddings AS e
          WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = p.passage_id
        )
      ORDER BY p.passage_id DESC
      LIMIT p_limit
    )
    -- Two branches instead of an OR: each is an anti-join.
    UNION
    (
      SELECT p.passage_id, memsvc.searched_text(p.speaker, p.text, p.caption)
      FROM memsvc.passages AS p
      WHERE p_tokens
        AND p.user_id = p_user_id AND memsvc.has_vectors(p)
        AND (p_source_id IS NULL OR p.source_id = p_source_id)
        AND (p_before IS NULL OR p.passage_id < p_before)
        AND NOT EXISTS (
          SELECT FROM memsvc.token_vectors AS t
          WHERE t.user_id = p_user_id AND t.model_id = p_model_id AND t.passage_id = p.passage_id
        )
      ORDER BY p.passage_id DESC
      LIMIT p_limit
    )
  ) AS l
  ORDER BY l.passage_id DESC
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.unembedded(uuid, smallint, uuid, uuid, integer, boolean) IS
  'Messages and blocks that lack a model''s vector, or its token vectors, newest first.';

-- Stores vectors, and token vectors, those of each passage given as the text of an array of bit(128). A passage that has
-- them keeps them. A deleted passage gets none, nor does the text of a block that was reworded in the meantime, nor does
-- a model that was retired in the meantime: the locks that prevent this are taken before any table is locked. Returns
-- the number of passages that got something new.
CREATE OR REPLACE FUNCTION memsvc.store_embeddings(
  p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors public.halfvec[], p_tokens text[] DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, public, pg_temp
-- callers: app
AS $$
DECLARE
  new_ones bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc.models', 0));
  PERFORM memsvc.keep_memories(p_user_id);
  IF EXISTS (
    SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passage_ids) AND p.kind = 'block'
  ) THEN
    -- A writer that rewords a block holds this lock exclusively.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc profile of ' || p_user_id, 0));
  END IF;
  WITH given AS MATERIALIZED (
    SELECT v.passage_id, v.vector, v.tokens
    FROM unnest(p_passage_ids, p_vectors, p_tokens) AS v (passage_id, vector, tokens)
    WHERE EXISTS (
        SELECT FROM passages AS p
        WHERE p.user_id = p_user_id AND p.passage_id = v.passage_id AND memsvc.has_vectors(p)
      )
      AND EXISTS (SELECT FROM embedding_models AS m WHERE m.model_id = p_model_id AND m.state <> 'retired')
  ),
  near AS (
    INSERT INTO embeddings AS e (user_id, model_id, passage_id, vector)
    SELECT p_user_id, p_model_id, g.passage_id, g.vector
    FROM given AS g
    ORDER BY g.passage_id
    ON CONFLICT (user_id, model_id, passage_id) DO NOTHING
    RETURNING e.passage_id
  ),
  late AS (
    INSERT INTO token_vectors AS t (user_id, model_id, passage_id, tokens)
    SELECT p_user_id, p_model_id, g.passage_id, g.tokens::bit(128)[]
    FROM given AS g
    WHERE g.tokens IS NOT NULL
    ORDER BY g.passage_id
    ON CONFLICT (user_id, model_id, passage_id) DO NOTHING
    RETURNING t.passage_id
  )
  SELECT count(*) INTO new_ones FROM (SELECT n.passage_id FROM near AS n UNION SELECT l.passage_id FROM late AS l) AS s;
  RETURN new_ones;
END
$$;
COMMENT ON FUNCTION memsvc.store_embeddings(uuid, smallint, uuid[], public.halfvec[], text[]) IS
  'Stores vectors and token vectors; how many passages got something new.';

-- The same with vectors as pgvector's text: processes of version 0.1 call it while the next version's upgrade is done.
CREATE OR REPLACE FUNCTION memsvc.store_embeddings(
  p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[] DEFAULT NULL
) RETURNS bigint
LANGUAGE sql
SET search_path = memsvc, public, pg_temp
-- callers: app
RETURN memsvc.store_embeddings(p_user_id, p_model_id, p_passage_ids, CAST(p_vectors AS public.halfvec[]), p_tokens);
COMMENT ON FUNCTION memsvc.store_embeddings(uuid, smallint, uuid[], text[], text[]) IS
  'Stores vectors that are given as text, and token vectors; how many passages got something new.';

-- The models, and for each the number of the user's messages and archival blocks, in passages, that have its vector and
-- that lack it.
CREATE OR REPLACE FUNCTION memsvc.embedding_progress(p_user_id uuid)
RETURNS TABLE (
  model_id smallint, name text, dimensions integer, state text, paused boolean, embedded bigint, lacking bigint
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT m.model_id, m.name, m.dimensions, m.state, m.paused, e.embedded, p.embeddable - e.embedded
  FROM memsvc.embedding_models AS m
  CROSS JOIN (
    SELECT count(*) AS embeddable FROM memsvc.passages AS s
    WHERE s.user_id = p_user_id AND memsvc.has_vectors(s)
  ) AS p
  CROSS JOIN LATERAL (
    SELECT count(*) AS embedded FROM memsvc.embeddings AS v WHERE v.user_id = p_user_id AND v.model_id = m.model_id
  ) AS e
  ORDER BY m.model_id;
END;
COMMENT ON FUNCTION memsvc.embedding_progress(uuid) IS
  'How many of a user''s messages and blocks have each model''s vector.';
