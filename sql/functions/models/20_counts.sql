-- owner: memsvc_recall

-- Counts of vectors over all users, for changes of the embedding model. They read past row security and bind no user:
-- the first returns only counts; the others are for functions of memsvc_owner, which cannot read memories.

CREATE OR REPLACE FUNCTION memsvc.embedding_totals()
RETURNS TABLE (model_id smallint, embedded bigint, messages bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT NULL::smallint, 0, count(*) FROM memsvc.passages AS p WHERE memsvc.has_vectors(p)
  UNION ALL
  SELECT e.model_id, count(*), 0 FROM memsvc.embeddings AS e GROUP BY e.model_id;
END;
COMMENT ON FUNCTION memsvc.embedding_totals() IS
  'How many vectors each model gave, over all users; in a row without model how many passages of messages and archived '
  'blocks there are.';

CREATE OR REPLACE FUNCTION memsvc.users_lacking(p_model_id smallint) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: owner
BEGIN ATOMIC
  SELECT DISTINCT p.user_id FROM memsvc.passages AS p
  WHERE memsvc.has_vectors(p) AND NOT EXISTS (
    SELECT FROM memsvc.embeddings AS e
    WHERE e.user_id = p.user_id AND e.model_id = p_model_id AND e.passage_id = p.passage_id
  );
END;
COMMENT ON FUNCTION memsvc.users_lacking(smallint) IS
  'Users with messages or archived blocks that lack a model''s vector.';

CREATE OR REPLACE FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: owner
BEGIN ATOMIC
  SELECT DISTINCT e.user_id FROM memsvc.embeddings AS e
  WHERE e.model_id = p_model_id AND NOT EXISTS (
    SELECT FROM memsvc.token_vectors AS t
    WHERE t.user_id = e.user_id AND t.model_id = p_model_id AND t.passage_id = e.passage_id
  );
END;
COMMENT ON FUNCTION memsvc.users_lacking_tokens(smallint) IS
  'Users with passages that have a model''s vector and lack its token vectors.';

CREATE OR REPLACE FUNCTION memsvc.vectors_missing(p_model_id smallint, p_ahead_id smallint) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: owner
RETURN (
  SELECT count(*) FROM memsvc.embeddings AS a
  WHERE a.model_id = p_ahead_id AND NOT EXISTS (
    SELECT FROM memsvc.embeddings AS e
    WHERE e.user_id = a.user_id AND e.model_id = p_model_id AND e.passage_id = a.passage_id
  )
);
COMMENT ON FUNCTION memsvc.vectors_missing(smallint, smallint) IS
  'How many passages have the vector of the one model and lack that of the other.';
