-- Messages as they were sent: the parts of a long message are joined again.
CREATE OR REPLACE VIEW memsvc.messages WITH (security_invoker = true) AS
SELECT
  p.user_id,
  p.source_id,
  p.session,
  p.ordinal,
  (array_agg(p.passage_id ORDER BY p.part))[1] AS passage_id,
  min(p.client_id) AS client_id,
  min(p.kind) AS kind,
  min(p.speaker) AS speaker,
  min(p.role) AS role,
  string_agg(p.text, '' ORDER BY p.part) AS text,
  string_agg(p.caption, '' ORDER BY p.part) AS caption,
  min(p.said_at) AS said_at,
  min(p.said_offset) AS said_offset,
  (array_agg(p.metadata ORDER BY p.part))[1] AS metadata,
  min(p.recorded_at) AS recorded_at,
  count(*) AS parts
FROM memsvc.passages AS p
WHERE p.kind IN ('message', 'trace')
GROUP BY p.user_id, p.source_id, p.session, p.ordinal;
COMMENT ON VIEW memsvc.messages IS 'Messages as they were sent: the parts of a long message are joined again.';
