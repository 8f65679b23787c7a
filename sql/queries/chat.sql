-- Statements of memsvc.chat.

-- name: chat_last_said
-- A conversation by its identifier, and the client's id of what was said last in a session of it.
SELECT s.source_id, m.client_id
FROM memsvc.sources AS s
LEFT JOIN LATERAL (
  SELECT p.client_id
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.session = :session
  ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
  LIMIT 1
) AS m ON true
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier;
