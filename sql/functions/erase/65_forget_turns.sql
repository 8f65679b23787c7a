-- owner: memsvc_eraser

-- Deletes turns that go with some passages, with their calls and the documents that only they knew, and keeps them from
-- coming back; calls that touched a document that is erased lose it. Returns what was deleted: ids, and numbers of rows by table.
CREATE OR REPLACE FUNCTION memsvc.forget_turns(p_user_id uuid, p_passages uuid[], p_source_id uuid)
RETURNS TABLE (ids uuid[], counts jsonb)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  lost record;
  calls bigint;
  versions bigint;
BEGIN
  UPDATE tool_calls AS c SET document_id = NULL, version = NULL
  WHERE c.user_id = p_user_id AND c.document_id = p_source_id;
  SELECT l.turns, l.documents INTO lost FROM memsvc.turns_lost(p_user_id, p_passages, p_source_id) AS l;
  INSERT INTO tombstones AS b (user_id, digest, recorded_at)
  SELECT p_user_id, memsvc.turn_digest(s.identifier, t.session), clock_timestamp()
  FROM turns AS t INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = t.source_id
  WHERE t.user_id = p_user_id AND t.turn_id = ANY (lost.turns)
    AND t.chat_id IS NOT NULL -- others are buried by their own ids
  ON CONFLICT (user_id, digest) DO UPDATE SET recorded_at = excluded.recorded_at;
  DELETE FROM tool_calls AS d WHERE d.user_id = p_user_id AND d.turn_id = ANY (lost.turns);
  GET DIAGNOSTICS calls = ROW_COUNT;
  DELETE FROM turns AS d WHERE d.user_id = p_user_id AND d.turn_id = ANY (lost.turns);
  DELETE FROM document_versions AS d WHERE d.user_id = p_user_id AND d.source_id = ANY (lost.documents);
  GET DIAGNOSTICS versions = ROW_COUNT;
  DELETE FROM sources AS d WHERE d.user_id = p_user_id AND d.source_id = ANY (lost.documents);
  RETURN QUERY SELECT lost.turns || lost.documents, jsonb_build_object(
    'turns', cardinality(lost.turns), 'tool_calls', calls, 'document_versions', versions,
    'sources', cardinality(lost.documents)
  );
END
$$;
COMMENT ON FUNCTION memsvc.forget_turns(uuid, uuid[], uuid) IS
  'Deletes turns that go with some passages, and the documents that only they knew.';
