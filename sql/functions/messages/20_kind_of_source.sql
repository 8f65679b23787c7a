-- By which settings tell sources apart (docs/configuration.md).

-- The kind of a source: of a conversation, the kind of file from which 'memsvc ingest' read its first message (whatsapp,
-- mail, chatgpt …), or messages, if a client sent it; of others document, block or graph. Null: there is no such source.
CREATE OR REPLACE FUNCTION memsvc.kind_of_source(p_user_id uuid, p_source_id uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  SELECT CASE WHEN s.kind <> 'conversation' THEN s.kind ELSE coalesce((
    SELECT p.metadata #>> '{origin,kind}' FROM memsvc.passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'message'
    ORDER BY p.user_id, p.source_id, p.passage_id LIMIT 1
  ), 'messages') END
  FROM memsvc.sources AS s
  WHERE s.user_id = p_user_id AND s.source_id = p_source_id;
END;
COMMENT ON FUNCTION memsvc.kind_of_source(uuid, uuid) IS 'The kind of a source, by which settings tell sources apart.';
