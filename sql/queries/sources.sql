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
-- Messages of one conversation in their order, after (said_at, session, ordinal).
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

-- name: messages_said
-- The last messages of all conversations within a span, in the order in which they were said.
WITH page AS MATERIALIZED (
  SELECT p.source_id, p.session, p.ordinal
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.version_id IS NULL AND p.kind = 'message' AND p.part = 0
    AND p.said_at >= CAST(:since AS timestamptz) AND p.said_at < CAST(:until AS timestamptz)
  ORDER BY p.said_at DESC, p.passage_id DESC
  LIMIT :limit
)
SELECT m.*
FROM page AS g
CROSS JOIN LATERAL (
  SELECT * FROM memsvc.messages AS w
  WHERE w.user_id = :user_id AND w.source_id = g.source_id AND w.session = g.session AND w.ordinal = g.ordinal
) AS m
ORDER BY m.said_at, m.session, m.ordinal;

-- name: get_source
SELECT s.source_id, s.kind, s.identifier, s.title, s.status, s.metadata, s.created_at, s.last_ingested_at
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.source_id = :source_id;

-- name: messages_around
-- The message of a passage (or, without one, the newest message) with the messages just before and after it.
WITH centre AS (
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
    FROM memsvc.passages AS p INNER JOIN centre AS c
      ON (p.said_at, p.session, p.ordinal) <= (c.said_at, c.session, c.ordinal)
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.part = 0
    ORDER BY p.said_at DESC, p.session DESC, p.ordinal DESC
    LIMIT :before + 1
  )
  UNION ALL
  (
    SELECT p.session, p.ordinal
    FROM memsvc.passages AS p INNER JOIN centre AS c
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
-- Conversations by id or identifier; an id has priority over an equal identifier of another conversation.
SELECT DISTINCT ON (w.wanted) w.wanted, s.source_id
FROM unnest(CAST(:wanted AS text [])) AS w (wanted)
INNER JOIN memsvc.sources AS s
  ON s.user_id = :user_id AND s.kind = 'conversation'
  AND (s.identifier = w.wanted OR CAST(s.source_id AS text) = w.wanted)
ORDER BY w.wanted, (CAST(s.source_id AS text) = w.wanted) DESC;

-- name: memories_called
-- Messages, facts (by version, or by edge), nodes and blocks of the profile with ids in a range, which is the meaning
-- of a short id: a few rows by key. first_id: for a part of a message, its first part. Passages of a block lead to the
-- block. Chunks of documents have ids like messages.
SELECT *
FROM (
  (
    SELECT
      CASE
        WHEN p.version_id IS NOT NULL THEN 'node' WHEN p.kind IN ('block', 'former') THEN 'block'
        WHEN p.kind = 'chunk' THEN 'chunk' ELSE 'message'
      END AS kind,
      CASE WHEN p.kind IN ('block', 'former') THEN p.source_id ELSE coalesce(p.subject_id, p.passage_id) END
        AS memory_id,
      coalesce(p.subject_id, p.source_id) AS belongs_to, p.text, (
        SELECT f.passage_id
        FROM memsvc.passages AS f
        WHERE f.user_id = :user_id AND f.source_id = p.source_id AND f.session = p.session AND f.ordinal = p.ordinal
          AND f.part = 0
      ) AS first_id
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.passage_id >= CAST(:first AS uuid) AND p.passage_id <= CAST(:last AS uuid)
      AND p.kind <> 'fact'
    ORDER BY p.passage_id
    LIMIT 20
  )
  UNION ALL
  (
    SELECT 'fact' AS kind, v.version_id AS memory_id, v.edge_id AS belongs_to, v.fact AS text, NULL AS first_id
    FROM memsvc.edge_versions AS v
    WHERE v.user_id = :user_id AND v.version_id >= CAST(:first AS uuid) AND v.version_id <= CAST(:last AS uuid)
    ORDER BY v.version_id
    LIMIT 20
  )
  UNION ALL
  (
    SELECT 'fact' AS kind, e.edge_id AS memory_id, e.edge_id AS belongs_to, l.fact AS text, NULL AS first_id
    FROM memsvc.edges AS e
    CROSS JOIN LATERAL (
      SELECT v.fact
      FROM memsvc.edge_versions AS v
      WHERE v.user_id = :user_id AND v.edge_id = e.edge_id
      ORDER BY v.recorded_from DESC
      LIMIT 1
    ) AS l
    WHERE e.user_id = :user_id AND e.edge_id = CAST(:first AS uuid) AND CAST(:first AS uuid) = CAST(:last AS uuid)
  )
  UNION ALL
  (
    SELECT 'node' AS kind, n.node_id AS memory_id, n.node_id AS belongs_to, '' AS text, NULL AS first_id
    FROM memsvc.nodes AS n
    WHERE n.user_id = :user_id AND n.node_id >= CAST(:first AS uuid) AND n.node_id <= CAST(:last AS uuid)
    ORDER BY n.node_id
    LIMIT 20
  )
  UNION ALL
  (
    SELECT DISTINCT ON (v.block_id)
      'block' AS kind, v.block_id AS memory_id, v.block_id AS belongs_to, v.text, NULL AS first_id
    FROM memsvc.profile_versions AS v
    WHERE v.user_id = :user_id AND v.block_id >= CAST(:first AS uuid) AND v.block_id <= CAST(:last AS uuid)
    ORDER BY v.block_id DESC, v.version DESC
    LIMIT 20
  )
) AS m
WHERE CAST(:kind AS text) IS NULL OR CASE m.kind WHEN 'chunk' THEN 'message' ELSE m.kind END = CAST(:kind AS text)
ORDER BY m.kind, m.memory_id
LIMIT 20;

-- name: facts_supported
-- Facts that a passage supports, as known now.
SELECT v.version_id, v.edge_id, v.fact, l.stance
FROM memsvc.source_links AS l
INNER JOIN memsvc.edge_versions AS v
  ON v.user_id = :user_id AND v.version_id = l.edge_version_id AND v.recorded_to = 'infinity'
WHERE l.user_id = :user_id AND l.passage_id = CAST(:passage_id AS uuid) AND l.edge_version_id IS NOT NULL
  AND l.recorded_to = 'infinity'
ORDER BY v.version_id, l.link_id
LIMIT 100;

-- name: title_conversations
-- Names for people of conversations whose identifiers are another program's ids.
UPDATE memsvc.sources AS s SET title = n.title
FROM unnest(CAST(:identifiers AS text []), CAST(:titles AS text [])) AS n (identifier, title)
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = n.identifier AND s.title <> n.title;

-- name: documents_alike
-- Identifiers of documents whose last version has a content.
SELECT s.identifier
FROM memsvc.document_versions AS v
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = v.source_id AND s.kind = 'document'
WHERE v.user_id = :user_id AND v.sha256 = :sha256 AND NOT EXISTS (
  SELECT FROM memsvc.document_versions AS n
  WHERE n.user_id = :user_id AND n.source_id = v.source_id AND n.version > v.version
)
ORDER BY s.source_id;

-- name: documents_under
-- Identifiers of current documents that begin in a certain way.
SELECT s.identifier
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.kind = 'document' AND starts_with(s.identifier, :folder) AND EXISTS (
  SELECT FROM memsvc.document_versions AS v
  WHERE v.user_id = :user_id AND v.source_id = s.source_id AND v.recorded_to = 'infinity'
)
ORDER BY s.source_id;

-- name: stored_text
-- The text of a message by the client's ids.
SELECT string_agg(p.text, '' ORDER BY p.part)
FROM memsvc.sources AS s
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.source_id = s.source_id AND p.client_id = :client_id
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier;

-- name: list_documents
-- Documents as their last versions have them, those stored last first; source_id is time-ordered and serves as the
-- cursor. source_id: this one alone. name: only those with these characters in their title, path or identifier.
SELECT
  s.source_id AS document_id, s.identifier, v.title, v.path, v.format, v.version, c.chunks, v.pages, v.characters,
  v.bytes, v.sha256, v.recorded_to < 'infinity' AS gone, s.status, v.metadata, s.created_at, v.recorded_from
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT * FROM memsvc.document_versions AS o
  WHERE o.user_id = :user_id AND o.source_id = s.source_id
  ORDER BY o.version DESC
  LIMIT 1
) AS v
CROSS JOIN LATERAL (
  SELECT count(*) AS chunks
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.recorded_to = 'infinity'
) AS c
WHERE s.user_id = :user_id AND s.kind = 'document'
  AND (CAST(:source_id AS uuid) IS NULL OR s.source_id = CAST(:source_id AS uuid))
  AND (CAST(:after AS uuid) IS NULL OR s.source_id < CAST(:after AS uuid))
  AND (CAST(:gone AS boolean) IS NULL OR (v.recorded_to < 'infinity') = CAST(:gone AS boolean))
  AND (CAST(:format AS text) IS NULL OR v.format = CAST(:format AS text))
  AND (CAST(:status AS text) IS NULL OR s.status = CAST(:status AS text))
  AND (
    CAST(:name AS text) IS NULL
    OR strpos(lower(concat_ws(chr(10), v.title, v.path, s.identifier)), lower(CAST(:name AS text))) > 0
  )
ORDER BY s.source_id DESC
LIMIT :limit;

-- name: document_called
-- A document by id, by identifier, or by the path of its last version.
SELECT s.source_id
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT o.path FROM memsvc.document_versions AS o
  WHERE o.user_id = :user_id AND o.source_id = s.source_id
  ORDER BY o.version DESC
  LIMIT 1
) AS v
WHERE s.user_id = :user_id AND s.kind = 'document'
  AND (CAST(s.source_id AS text) = :wanted OR s.identifier = :wanted OR v.path = :wanted)
ORDER BY (CAST(s.source_id AS text) = :wanted) DESC, (s.identifier = :wanted) DESC, s.source_id DESC
LIMIT 1;

-- name: document_versions
SELECT
  v.version, v.title, v.path, v.format, (
    SELECT count(*) FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.recorded_at <= v.recorded_from
      AND p.recorded_to > v.recorded_from
  ) AS chunks, v.pages, v.characters, v.bytes, v.sha256, v.recorded_from,
  nullif(v.recorded_to, 'infinity') AS recorded_to
FROM memsvc.document_versions AS v
WHERE v.user_id = :user_id AND v.source_id = :source_id
ORDER BY v.version DESC
LIMIT 1000;

-- name: document_chunks
-- Chunks of a version in reading order, after a position.
SELECT p.passage_id, p.text, p.metadata, p.ordinal
FROM memsvc.document_versions AS v
INNER JOIN memsvc.passages AS p
  ON p.user_id = :user_id AND p.source_id = v.source_id AND p.recorded_at <= v.recorded_from
    AND p.recorded_to > v.recorded_from
WHERE v.user_id = :user_id AND v.source_id = :source_id AND v.version = :version
  AND (CAST(:after AS integer) IS NULL OR p.ordinal > CAST(:after AS integer))
ORDER BY p.ordinal
LIMIT :limit;

-- name: chunk_place
SELECT memsvc.document_told(:user_id, :passage_id, NULL) AS place;

-- name: chunks_around
-- A chunk with those before and after it in a version of its document.
WITH centre AS (
  SELECT p.source_id, p.ordinal, v.recorded_from
  FROM memsvc.passages AS p
  INNER JOIN memsvc.document_versions AS v
    ON v.user_id = :user_id AND v.source_id = p.source_id AND v.version = :version
  WHERE p.user_id = :user_id AND p.passage_id = :passage_id
),
near AS (
  (
    SELECT p.passage_id, p.text, p.metadata, p.ordinal
    FROM memsvc.passages AS p INNER JOIN centre AS c ON c.source_id = p.source_id AND p.ordinal <= c.ordinal
    WHERE p.user_id = :user_id AND p.recorded_at <= c.recorded_from AND p.recorded_to > c.recorded_from
    ORDER BY p.ordinal DESC
    LIMIT :before + 1
  )
  UNION ALL
  (
    SELECT p.passage_id, p.text, p.metadata, p.ordinal
    FROM memsvc.passages AS p INNER JOIN centre AS c ON c.source_id = p.source_id AND p.ordinal > c.ordinal
    WHERE p.user_id = :user_id AND p.recorded_at <= c.recorded_from AND p.recorded_to > c.recorded_from
    ORDER BY p.ordinal
    LIMIT :after
  )
)
SELECT n.passage_id, n.text, n.metadata
FROM near AS n
ORDER BY n.ordinal;
