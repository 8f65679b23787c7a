-- What an extractor reads next: turns of one source in the order of their arrival, and those that stand before them.

-- Messages of a source that an extractor has not read, p_limit of them, and p_before that stand before the first one,
-- which it has read or was told to leave out; what it could not read is no context. Traces (tools, system, context
-- blocks of ours) are not read. A source that is not there has none.
CREATE OR REPLACE FUNCTION memsvc.turns_to_read(
  p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer
) RETURNS TABLE (
  passage_id uuid, speaker text, role text, text text, caption text, said_at timestamptz, said_offset smallint,
  language text, read boolean
)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-sort, no-incremental-sort, no-bitmap; the order is that of the one index which has it
AS $$
#variable_conflict use_column
DECLARE
  place CONSTANT uuid := coalesce((
    SELECT e.upto FROM extractions AS e
    WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  ), '00000000-0000-0000-0000-000000000000');
  passed_over CONSTANT uuid[] := coalesce((
    SELECT e.passed_over FROM extractions AS e
    WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  ), '{}');
BEGIN
  RETURN QUERY
  SELECT p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language, false
  FROM passages AS p
  WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'message' AND p.passage_id > place
  ORDER BY p.user_id, p.source_id, p.passage_id
  LIMIT p_limit;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language, true
  FROM passages AS p
  WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'message' AND p.passage_id <= place
    AND p.passage_id <> ALL (passed_over)
  ORDER BY p.user_id DESC, p.source_id DESC, p.passage_id DESC
  LIMIT p_before;
END
$$;
COMMENT ON FUNCTION memsvc.turns_to_read(uuid, uuid, text, integer, integer) IS
  'What an extractor reads next of a source, and what stands before it.';

-- Whether an extractor has anything left to read of a source.
CREATE OR REPLACE FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: kept
BEGIN ATOMIC
  SELECT EXISTS (SELECT FROM memsvc.turns_to_read(p_user_id, p_source_id, p_extractor, 0, 1));
END;
COMMENT ON FUNCTION memsvc.anything_to_read(uuid, uuid, text) IS 'Whether an extractor has anything left of a source.';

-- Begins to write what was read of a source, in the caller's transaction: nobody erases meanwhile, and all who write
-- facts of this user take turns, so that two conversations that meet somebody new at once do not make two nodes. How
-- far the extractor had read (the nil UUID: nothing yet); null where the source is gone.
CREATE OR REPLACE FUNCTION memsvc.begin_reading(
  p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text
) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  place uuid;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc facts of ' || p_user_id, 0));
  INSERT INTO extractions (user_id, source_id, extractor, backend)
  SELECT p_user_id, s.source_id, p_extractor, p_backend FROM sources AS s
  WHERE s.user_id = p_user_id AND s.source_id = p_source_id
  ON CONFLICT (user_id, source_id, extractor) DO NOTHING;
  SELECT coalesce(e.upto, '00000000-0000-0000-0000-000000000000') INTO place FROM extractions AS e
  WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  FOR UPDATE;
  RETURN place;
END
$$;
COMMENT ON FUNCTION memsvc.begin_reading(uuid, uuid, text, text) IS
  'Begins to write what was read of a source; how far it had been read.';
