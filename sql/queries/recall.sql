-- Statements of memsvc.recall.

-- name: recall
-- Without a vector, or where its model is not the active one, by words alone.
SELECT r.*
FROM (
  SELECT (
    SELECT m.model_id
    FROM memsvc.embedding_models AS m
    WHERE m.name = CAST(:model AS text) AND m.state = 'active'
  ) AS model_id
) AS a
CROSS JOIN LATERAL memsvc.recall(
  :user_id, :query, :limit, :form, :language, CAST(:kinds AS text []), CAST(:sources AS uuid []),
  CAST(:not_sources AS uuid []), CAST(:said_from AS timestamptz), CAST(:said_to AS timestamptz), a.model_id,
  CASE WHEN a.model_id IS NOT NULL THEN CAST(:vector AS public.halfvec) END, :words_weight
) AS r
ORDER BY r.score DESC, r.passage_id ASC;
