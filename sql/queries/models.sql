-- Statements about embedding models.

-- name: known_models
SELECT m.model_id, m.name, m.dimensions, m.state, m.paused
FROM memsvc.embedding_models AS m
ORDER BY m.model_id ASC;

-- name: projections
SELECT m.name, m.projection
FROM memsvc.embedding_models AS m
WHERE m.projection IS NOT NULL AND m.name = any(CAST(:names AS text []));

-- name: models_over_all_users
-- These counts read all vectors of all users: seconds if there are millions.
WITH counted AS MATERIALIZED (
  SELECT t.model_id, t.embedded, t.messages FROM memsvc.embedding_totals() AS t
)

SELECT
  m.model_id, m.name, m.dimensions, m.state, m.paused, coalesce(c.embedded, 0) AS embedded,
  a.messages - coalesce(c.embedded, 0) AS lacking
FROM memsvc.embedding_models AS m
CROSS JOIN (SELECT sum(t.messages)::bigint AS messages FROM counted AS t) AS a
LEFT JOIN counted AS c ON c.model_id = m.model_id
ORDER BY m.model_id ASC;

-- name: vectors_later
-- A job for the missing vectors of a user's messages, besides the one that failed; a waiting one keeps its time.
INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id) VALUES (:user_id, 'embed', :user_id)
ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
DO UPDATE SET requests = j.requests + 1;

-- name: unembedded
-- Passages that lack a model's vectors, or its token vectors.
SELECT * FROM memsvc.unembedded(
  :user_id, CAST(:model_id AS smallint), :source_id, :before, :limit, CAST(:tokens AS boolean)
);

-- name: store_embeddings
-- Stores vectors and token vectors of passages; returns how many.
SELECT memsvc.store_embeddings(
  :user_id, CAST(:model_id AS smallint), CAST(:ids AS uuid []), CAST(:vectors AS public.halfvec []),
  CAST(:tokens AS text [])
);
