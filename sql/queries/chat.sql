-- Statements of memsvc.chat.

-- name: chat_last_stored
-- The last messages of a session of a conversation, which is given by its identifier, newest first, with digests of
-- their texts; then the clients' ids of its last traces, and those of the given ids that messages of the conversation
-- have ("taken"), both without digests.
SELECT
  l.role, l.speaker, coalesce(l.client_id, l.passage_id::text) AS id,
  (
    SELECT encode(sha256(convert_to(string_agg(v.text, '' ORDER BY v.part), 'UTF8')), 'hex')
    FROM memsvc.passages AS v
    WHERE v.user_id = :user_id AND v.source_id = s.source_id AND v.session = :session AND v.ordinal = l.ordinal
  ) AS digest
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT p.role, p.speaker, p.client_id, p.passage_id, p.ordinal
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.session = :session AND p.part = 0
    AND p.role IN ('user', 'other', 'assistant')
  ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
  LIMIT :limit
) AS l
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier
UNION ALL
SELECT t.role, t.speaker, t.client_id, NULL
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT p.role, p.speaker, p.client_id
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.session = :session AND p.part = 0
    AND p.role IN ('system', 'tool', 'thinking') AND p.client_id IS NOT NULL
  ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
  LIMIT :traces
) AS t
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier
UNION ALL
SELECT 'taken', '', i.id, NULL
FROM memsvc.sources AS s
CROSS JOIN unnest(CAST(:ids AS text [])) AS i (id)
CROSS JOIN LATERAL (
  SELECT p.source_id, p.client_id
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.client_id IS NOT NULL AND (p.source_id, p.client_id) >= (s.source_id, i.id)
  ORDER BY p.source_id, p.client_id, p.part
  LIMIT 1
) AS f
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier
  AND f.source_id = s.source_id AND f.client_id = i.id;

-- name: chat_conversation
-- A conversation, only by its identifier.
SELECT s.source_id
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :identifier;

-- name: append_noted
-- Stores a message and notes what was recalled for it, unless the message is refused: then nobody received the recall.
-- The message has locked its conversation, for which an erasure may wait, so the note never waits for an erasure.
SELECT
  s.*,
  CASE
    WHEN s.outcome <> 'conflict'
      THEN memsvc.try_append_recall(
        :user_id, :recall_id, :door, :mode, CAST(:memories AS uuid []), CAST(:conversation_id AS uuid),
        CAST(:instructions AS uuid [])
      )
  END AS noted
FROM memsvc.append_messages(:user_id, CAST(:rows AS jsonb)) AS s;

-- name: words_of_texts
-- The stemmed words of each text, in the order of the texts.
SELECT tsvector_to_array(memsvc.to_words('stemmed', CAST(:language AS text), t.text)) AS words
FROM unnest(CAST(:texts AS text [])) WITH ORDINALITY AS t (text, number)
ORDER BY t.number;

-- name: mark_to_forget
-- Sets the time without messages after which a conversation is forgotten; null removes it.
UPDATE memsvc.sources AS s SET forget_after = make_interval(hours => CAST(:hours AS integer))
WHERE s.user_id = :user_id AND s.source_id = :source_id;

-- name: is_to_forget
SELECT s.forget_after IS NOT NULL AS marked
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.source_id = :source_id;

-- name: lock_to_forget
-- Takes the same lock as an erasure and as writers of the conversation. What is read afterwards stays until the commit.
SELECT memsvc.lock_memories(:user_id, 'source', :source_id);

-- name: sources_to_forget
-- Some marked conversations without messages for the time that their mark gives, or one of them. Ids of passages are in
-- the order of their arrival; the ORDER BY selects the key.
SELECT s.source_id
FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.forget_after IS NOT NULL
  AND (CAST(:source_id AS uuid) IS NULL OR s.source_id = CAST(:source_id AS uuid))
  AND coalesce(
    (
      SELECT p.recorded_at
      FROM memsvc.passages AS p
      WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.kind = 'message'
      ORDER BY p.user_id DESC, p.source_id DESC, p.passage_id DESC
      LIMIT 1
    ),
    s.created_at
  ) < now() - s.forget_after
ORDER BY s.source_id
LIMIT :limit;
