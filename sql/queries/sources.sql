-- Statements of memsvc.sources.

-- name: list_conversations
-- Newest first; source_id is time-ordered and serves as the cursor.
SELECT * FROM memsvc.conversations AS c
WHERE c.user_id = :user_id
  AND (CAST(:identifier AS text) IS NULL OR c.identifier = :identifier)
  AND (CAST(:after AS uuid) IS NULL OR c.source_id < :after)
ORDER BY c.source_id DESC
LIMIT :limit;

-- name: list_messages
-- Messages of one conversation as they were said, after the place (said_at, session, ordinal).
WITH page AS MATERIALIZED (
  SELECT p.session, p.ordinal, p.said_at
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.part = 0
    AND (CAST(:said_at AS timestamptz) IS NULL OR (p.said_at, p.session, p.ordinal) > (:said_at, :session, :ordinal))
  ORDER BY p.said_at, p.session, p.ordinal
  LIMIT :limit
)
SELECT m.*
FROM page AS g
CROSS JOIN LATERAL (
  SELECT * FROM memsvc.messages AS w
  WHERE w.user_id = :user_id AND w.source_id = :source_id AND w.session = g.session AND w.ordinal = g.ordinal
) AS m
ORDER BY m.said_at, m.session, m.ordinal;

-- name: get_source
SELECT s.source_id, s.kind, s.identifier, s.title, s.status, s.metadata, s.created_at, s.last_ingested_at
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.source_id = :source_id;

-- name: messages_around
-- The message of a passage (or, without one, the newest message) with those said just before and after it.
WITH place AS (
  SELECT p.said_at, p.session, p.ordinal
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = :source_id
    AND (CAST(:around AS uuid) IS NULL OR p.passage_id = :around)
  ORDER BY p.said_at DESC, p.session DESC, p.ordinal DESC
  LIMIT 1
),
near AS MATERIALIZED (
  (
    SELECT p.session, p.ordinal
    FROM memsvc.passages AS p INNER JOIN place AS c
      ON (p.said_at, p.session, p.ordinal) <= (c.said_at, c.session, c.ordinal)
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.part = 0
    ORDER BY p.said_at DESC, p.session DESC, p.ordinal DESC
    LIMIT :before + 1
  )
  UNION ALL
  (
    SELECT p.session, p.ordinal
    FROM memsvc.passages AS p INNER JOIN place AS c
      ON (p.said_at, p.session, p.ordinal) > (c.said_at, c.session, c.ordinal)
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.part = 0
    ORDER BY p.said_at, p.session, p.ordinal
    LIMIT :after
  )
)
SELECT m.*
FROM near AS n
CROSS JOIN LATERAL (
  SELECT * FROM memsvc.messages AS w
  WHERE w.user_id = :user_id AND w.source_id = :source_id AND w.session = n.session AND w.ordinal = n.ordinal
) AS m
ORDER BY m.said_at, m.session, m.ordinal;

-- name: conversation_ids
-- Conversations by id or identifier; an identifier that looks like another conversation's id loses against the id.
SELECT DISTINCT ON (w.wanted) w.wanted, s.source_id
FROM unnest(CAST(:wanted AS text [])) AS w (wanted)
INNER JOIN memsvc.sources AS s
  ON s.user_id = :user_id AND s.kind = 'conversation'
  AND (s.identifier = w.wanted OR CAST(s.source_id AS text) = w.wanted)
ORDER BY w.wanted, (CAST(s.source_id AS text) = w.wanted) DESC;
