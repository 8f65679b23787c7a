-- Statements of memsvc.recall.

-- name: recall
SELECT * FROM memsvc.recall(
  :user_id, :query, :limit, :form, :language, CAST(:kinds AS text []), CAST(:sources AS uuid []),
  CAST(:not_sources AS uuid []), CAST(:said_from AS timestamptz), CAST(:said_to AS timestamptz)
);
