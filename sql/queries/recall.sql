-- Statements of memsvc.recall.

-- name: recall
SELECT * FROM memsvc.recall(
  :user_id, :query, :limit, :form, :language, CAST(:kinds AS text []), CAST(:sources AS uuid []),
  CAST(:not_sources AS uuid []), CAST(:said_from AS timestamptz), CAST(:said_to AS timestamptz)
);

-- name: conversation_ids
-- Conversations by id or identifier; an identifier that looks like another conversation's id loses against the id.
SELECT DISTINCT ON (w.wanted) w.wanted, s.source_id
FROM unnest(CAST(:wanted AS text [])) AS w (wanted)
INNER JOIN memsvc.sources AS s
  ON s.user_id = :user_id AND s.kind = 'conversation' AND (s.identifier = w.wanted OR CAST(s.source_id AS text) = w.wanted)
ORDER BY w.wanted, (CAST(s.source_id AS text) = w.wanted) DESC;
