-- Statements of memsvc.recall.

-- name: recall
-- By the vectors of the active model and, while it takes over, of the one that is leaving; which of the given ones are
-- that, the database says at this moment. By words alone without a vector.
SELECT r.*
FROM (
  SELECT
    max(m.model_id) FILTER (WHERE m.state = 'active') AS active_id,
    max(v.vector) FILTER (WHERE m.state = 'active') AS active_vector,
    max(m.model_id) FILTER (WHERE m.state = 'leaving') AS other_id,
    max(v.vector) FILTER (WHERE m.state = 'leaving') AS other_vector
  FROM (
    VALUES (CAST(:model AS text), CAST(:vector AS text)), (CAST(:other_model AS text), CAST(:other_vector AS text))
  ) AS v (name, vector)
  INNER JOIN memsvc.embedding_models AS m ON m.name = v.name AND v.vector IS NOT NULL
) AS a
CROSS JOIN LATERAL memsvc.recall(
  :user_id, :query, :limit, :form, :language, CAST(:kinds AS text []), CAST(:sources AS uuid []),
  CAST(:not_sources AS uuid []), CAST(:said_from AS timestamptz), CAST(:said_to AS timestamptz), a.active_id,
  CAST(a.active_vector AS public.halfvec), :words_weight, a.other_id, CAST(a.other_vector AS public.halfvec)
) AS r
ORDER BY r.score DESC, r.passage_id ASC;
