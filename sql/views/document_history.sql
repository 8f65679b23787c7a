-- Versions of documents, with who made them and which calls of agents saw or wrote each.
CREATE OR REPLACE VIEW memsvc.document_history WITH (security_invoker = TRUE) AS
SELECT
  v.user_id,
  v.source_id AS document_id,
  coalesce(s.local, s.identifier) AS document,
  v.version,
  v.sha256,
  v.bytes,
  v.by_agent,
  v.chunked AS ingested,
  v.recorded_from,
  nullif(v.recorded_to, 'infinity') AS recorded_to,
  k.calls,
  k.conversations
FROM memsvc.document_versions AS v
INNER JOIN memsvc.sources AS s ON v.user_id = s.user_id AND v.source_id = s.source_id
CROSS JOIN LATERAL (
  SELECT
    count(*) AS calls,
    array_agg(DISTINCT o.identifier ORDER BY o.identifier) FILTER (WHERE o.identifier IS NOT NULL) AS conversations
  FROM memsvc.tool_calls AS c
  INNER JOIN memsvc.turns AS t ON c.user_id = t.user_id AND c.turn_id = t.turn_id
  INNER JOIN memsvc.sources AS o ON t.user_id = o.user_id AND t.source_id = o.source_id
  WHERE c.user_id = v.user_id AND c.document_id = v.source_id AND c.version = v.version
) AS k;
COMMENT ON VIEW memsvc.document_history IS 'Versions of documents, and which conversations of agents touched each.';
COMMENT ON COLUMN memsvc.document_history.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.document_history.document_id IS 'The document.';
COMMENT ON COLUMN memsvc.document_history.document IS 'Its name: project and path, else path or address.';
COMMENT ON COLUMN memsvc.document_history.version IS 'From 1.';
COMMENT ON COLUMN memsvc.document_history.sha256 IS 'Of the content, in hexadecimal digits.';
COMMENT ON COLUMN memsvc.document_history.bytes IS 'Size of the content; 0: an agent did not say.';
COMMENT ON COLUMN memsvc.document_history.by_agent IS
  'An agent''s call wrote it; else it came from outside.';
COMMENT ON COLUMN memsvc.document_history.ingested IS 'Its text is stored; false: only its digest.';
COMMENT ON COLUMN memsvc.document_history.recorded_from IS 'When it was recorded.';
COMMENT ON COLUMN memsvc.document_history.recorded_to IS 'When a newer one was, or the file was gone; null: current.';
COMMENT ON COLUMN memsvc.document_history.calls IS 'Calls of tools after which it was current.';
COMMENT ON COLUMN memsvc.document_history.conversations IS 'The client''s names of the conversations of those calls.';
