-- Changing the embedding model (docs/adr/0008): building -> active -> leaving -> retired, and back from leaving to
-- active. Each change is one transaction under one lock, which storing vectors shares: a change sees everything stored
-- before it, and everything stored after it sees the new states. SQLSTATE MS001: a model's state forbids the change.

CREATE OR REPLACE FUNCTION memsvc.change_models() RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  SELECT pg_advisory_xact_lock(hashtextextended('memsvc.models', 0));
END;
COMMENT ON FUNCTION memsvc.change_models() IS
  'Locks models against changes and storing of vectors, in this transaction.';

-- Asks for a job for each user with messages that lack the model's vector. Returns the number of users.
CREATE OR REPLACE FUNCTION memsvc.ask_vectors(p_model_id smallint) RETURNS bigint
LANGUAGE sql
SET search_path = memsvc, pg_temp
AS $$
  WITH asked AS (
    INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id)
    SELECT l.user_id, 'embed', l.user_id
    FROM memsvc.users_lacking(p_model_id) AS l (user_id)
    INNER JOIN memsvc.users AS u ON u.user_id = l.user_id AND u.erasing_since IS NULL
    ORDER BY l.user_id
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
    DO UPDATE SET requests = j.requests + 1, run_after = least(j.run_after, clock_timestamp())
    RETURNING 1
  )
  SELECT count(*) FROM asked;
$$;
COMMENT ON FUNCTION memsvc.ask_vectors(smallint) IS
  'Asks for jobs that make missing vectors of a model, for all users.';

-- The model with this name.
CREATE OR REPLACE FUNCTION memsvc.known_model(p_name text) RETURNS memsvc.embedding_models
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'There is no embedding model % in this database.', quote_literal(p_name)
      USING ERRCODE = 'undefined_object', HINT = '''memsvc models'' lists them.';
  END IF;
  RETURN known;
END
$$;
COMMENT ON FUNCTION memsvc.known_model(text) IS 'The model with this name; an error if there is none.';

-- Begins to make vectors of a model next to those of the active one, or continues if some are missing; a database
-- without a model makes it the active one. A retired model may come back, also with another length of vectors, when all
-- of its old vectors are deleted. It comes back under a new number: recently deleted rows go into a new index as long
-- as some transaction may see them, and those of the old number may have another length. Returns the number of users
-- with a job.
CREATE OR REPLACE FUNCTION memsvc.build_model(p_name text, p_dimensions integer)
RETURNS TABLE (model_id smallint, state text, jobs bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, public, pg_temp
-- callers: app
AS $$
#variable_conflict use_column
DECLARE
  known embedding_models%ROWTYPE;
  begun CONSTANT text := CASE WHEN EXISTS (
    SELECT FROM embedding_models AS m WHERE m.state = 'active'
  ) THEN 'building' ELSE 'active' END;
  in_the_way text;
BEGIN
  PERFORM memsvc.change_models();
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF known.state IS NULL OR known.state = 'retired' THEN
    SELECT m.name INTO in_the_way FROM embedding_models AS m WHERE m.state = 'building';
    IF FOUND THEN
      RAISE EXCEPTION 'The model % is being built already.', in_the_way
        USING ERRCODE = 'MS001',
          HINT = 'Only one at a time: switch to it, or give it up with ''memsvc models retire''.';
    ELSIF EXISTS (SELECT FROM embeddings AS e WHERE e.model_id = known.model_id) THEN
      RAISE EXCEPTION 'Old vectors of the model % are still there.', p_name
        USING ERRCODE = 'MS001',
          HINT = 'Let ''memsvc models retire'' finish first.';
    END IF;
    IF known.model_id IS NOT NULL THEN
      EXECUTE format('DROP INDEX IF EXISTS memsvc.embeddings_near_%s', known.model_id);
      DELETE FROM embedding_models AS m WHERE m.model_id = known.model_id;
    END IF;
    INSERT INTO embedding_models AS m (name, dimensions, state) VALUES (p_name, p_dimensions, begun)
    RETURNING * INTO known;
    PERFORM memsvc.make_model_index(known.model_id, p_dimensions);
    PERFORM memsvc.audit('model.build', NULL, NULL, p_name);
  ELSIF known.dimensions <> p_dimensions THEN
    RAISE EXCEPTION 'model % has vectors of length %, not %', p_name, known.dimensions, p_dimensions
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT known.model_id, known.state,
    CASE WHEN known.paused THEN 0 ELSE memsvc.ask_vectors(known.model_id) END;
END
$$;
COMMENT ON FUNCTION memsvc.build_model(text, integer) IS 'Begins or continues to make a model''s vectors.';

-- Pauses the making of vectors of a model that is being built, or resumes it. Returns the number of users with a job.
CREATE OR REPLACE FUNCTION memsvc.pause_model(p_name text, p_paused boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  known := memsvc.known_model(p_name);
  IF known.state <> 'building' THEN
    RAISE EXCEPTION 'The model % is %; only one that is being built can be paused.', p_name, known.state
      USING ERRCODE = 'MS001';
  END IF;
  UPDATE embedding_models AS m SET paused = p_paused WHERE m.model_id = known.model_id;
  PERFORM memsvc.audit(CASE WHEN p_paused THEN 'model.pause' ELSE 'model.resume' END, NULL, NULL, p_name);
  RETURN CASE WHEN p_paused THEN 0 ELSE memsvc.ask_vectors(known.model_id) END;
END
$$;
COMMENT ON FUNCTION memsvc.pause_model(text, boolean) IS 'Pauses or resumes a model that is being built.';

-- Makes a model (NULL: the one that is leaving) the active one; the active one becomes the leaving one. Refused if
-- passages would only have vectors of the old model, unless p_now. behind: the number of those. jobs: users with a job
-- for them.
CREATE OR REPLACE FUNCTION memsvc.switch_model(p_name text, p_now boolean)
RETURNS TABLE (became text, leaves text, behind bigint, jobs bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  chosen embedding_models%ROWTYPE;
  active embedding_models%ROWTYPE;
  leaving embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  SELECT * INTO active FROM embedding_models AS m WHERE m.state = 'active';
  SELECT * INTO leaving FROM embedding_models AS m WHERE m.state = 'leaving';
  IF p_name IS NULL AND leaving.model_id IS NULL THEN
    RAISE EXCEPTION 'No model is leaving, so there is nothing to go back to.'
      USING ERRCODE = 'MS001', HINT = 'A retired model must be built again.';
  END IF;
  chosen := memsvc.known_model(coalesce(p_name, leaving.name));
  IF chosen.state NOT IN ('building', 'leaving') THEN
    RAISE EXCEPTION 'The model % is %.', chosen.name, chosen.state
      USING ERRCODE = 'MS001',
        HINT = 'One that is being built, or leaving, can become the active one; ''memsvc models build'' begins.';
  ELSIF leaving.model_id <> chosen.model_id THEN
    RAISE EXCEPTION 'The model % is still leaving.', leaving.name
      USING ERRCODE = 'MS001',
        HINT = 'Retire it first: ''memsvc models retire'' with its name. There is no way back to it then.';
  END IF;
  behind := memsvc.vectors_missing(chosen.model_id, active.model_id);
  IF behind > 0 AND NOT p_now THEN
    RAISE EXCEPTION '% messages still lack vectors of the model %.', behind, chosen.name
      USING ERRCODE = 'MS001',
        HINT = 'Wait (''memsvc models'' shows how far it is), or say --now: the old model answers for them meanwhile.';
  END IF;
  -- One state after the other, because each state allows only one model.
  UPDATE embedding_models AS m SET state = 'retired', paused = false WHERE m.model_id = chosen.model_id;
  UPDATE embedding_models AS m SET state = 'leaving' WHERE m.model_id = active.model_id;
  UPDATE embedding_models AS m SET state = 'active' WHERE m.model_id = chosen.model_id;
  PERFORM memsvc.audit('model.switch', NULL, NULL, chosen.name);
  became := chosen.name;
  leaves := active.name;
  jobs := memsvc.ask_vectors(chosen.model_id);
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.switch_model(text, boolean) IS 'Makes a model the active one; the previous one leaves.';

-- Retires a model: it is not searched any more and gets no more vectors. Its vectors are deleted by drop_model_index
-- and drop_vectors, which may be killed and called again. Returns its id.
CREATE OR REPLACE FUNCTION memsvc.retire_model(p_name text) RETURNS smallint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  known := memsvc.known_model(p_name);
  IF known.state = 'active' THEN
    RAISE EXCEPTION 'The model % is the active one.', p_name
      USING ERRCODE = 'MS001', HINT = 'Switch to another one first.';
  ELSIF known.state <> 'retired' THEN
    UPDATE embedding_models AS m SET state = 'retired', paused = false WHERE m.model_id = known.model_id;
    PERFORM memsvc.audit('model.retire', NULL, NULL, p_name);
  END IF;
  RETURN known.model_id;
END
$$;
COMMENT ON FUNCTION memsvc.retire_model(text) IS 'Retires a model; its vectors are deleted afterwards.';

-- The index is dropped first, because vectors are then deleted cheaply. It locks all vectors shortly, with a timeout.
CREATE OR REPLACE FUNCTION memsvc.drop_model_index(p_model_id smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
SET lock_timeout = '200ms'
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.change_models();
  IF EXISTS (SELECT FROM embedding_models AS m WHERE m.model_id = p_model_id AND m.state = 'retired') THEN
    EXECUTE format('DROP INDEX IF EXISTS memsvc.embeddings_near_%s', p_model_id);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.drop_model_index(smallint) IS 'Drops a retired model''s index.';

-- Deletes vectors of a retired model and their token vectors, user by user from p_from on. Returns the number of
-- vectors and the last user; no row if there are none left. A policy shows this function's owner only vectors of
-- retired models.
CREATE OR REPLACE FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer)
RETURNS TABLE (dropped bigint, last_user_id uuid)
LANGUAGE sql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  WITH chosen AS MATERIALIZED (
    SELECT e.user_id, e.passage_id FROM memsvc.embeddings AS e
    WHERE e.model_id = p_model_id AND e.user_id >= p_from
    ORDER BY e.user_id
    LIMIT p_limit
  ),
  tokens_gone AS (
    DELETE FROM memsvc.token_vectors AS t USING chosen AS c
    WHERE t.user_id = c.user_id AND t.model_id = p_model_id AND t.passage_id = c.passage_id
  ),
  gone AS (
    DELETE FROM memsvc.embeddings AS e USING chosen AS c
    WHERE e.user_id = c.user_id AND e.model_id = p_model_id AND e.passage_id = c.passage_id
    RETURNING e.user_id
  )
  SELECT count(*), max(g.user_id::text)::uuid FROM gone AS g HAVING count(*) > 0;
END;
COMMENT ON FUNCTION memsvc.drop_vectors(smallint, uuid, integer) IS 'Deletes some vectors of a retired model.';
