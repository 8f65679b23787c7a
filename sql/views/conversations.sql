-- Conversations with their size and time span; source_id is ordered by time and serves as the cursor. Sessions are
-- counted within each conversation, in the order of the index, so a page of conversations sorts no passages.
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
  c.messages,
  c.sessions,
  c.first_said_at,
  c.last_said_at
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT
    coalesce(sum(g.messages), 0)::bigint AS messages,
    count(*) AS sessions,
    min(g.first_said_at) AS first_said_at,
    max(g.last_said_at) AS last_said_at
  FROM (
    SELECT
      count(*) FILTER (WHERE p.part = 0) AS messages,
      min(p.said_at) AS first_said_at,
      max(p.said_at) AS last_said_at
    FROM memsvc.passages AS p
    WHERE p.user_id = s.user_id AND p.source_id = s.source_id
    GROUP BY p.session
  ) AS g
) AS c
WHERE s.kind = 'conversation';
COMMENT ON VIEW memsvc.conversations IS 'Conversations with their size and time span.';
