-- Conversations with their size and time span; source_id is ordered by time and serves as the cursor.
CREATE OR REPLACE VIEW memsvc.conversations WITH (security_invoker = true) AS
SELECT
  s.user_id,
  s.source_id,
  s.identifier,
  s.title,
  s.status,
  s.metadata,
  s.created_at,
  s.last_ingested_at,
  count(p.passage_id) FILTER (WHERE p.part = 0) AS messages,
  count(DISTINCT p.session) AS sessions,
  min(p.said_at) AS first_said_at,
  max(p.said_at) AS last_said_at
FROM memsvc.sources AS s
LEFT JOIN memsvc.passages AS p ON p.user_id = s.user_id AND p.source_id = s.source_id
WHERE s.kind = 'conversation'
GROUP BY s.user_id, s.source_id;
COMMENT ON VIEW memsvc.conversations IS 'Conversations with their size and time span.';
