-- Late interaction (MaxSim; Khattab & Zaharia 2020): for each token of the query the most similar token of a passage,
-- and the mean of these similarities. A token is the signs of its vector's 128 projections
-- (memsvc/llm/embedders/reduction.py); the share of bits that differ between two is their angle over pi, so similarity
-- is 1 less twice that share: 1 for the same direction, about 0 for unrelated ones.
--
-- For the best candidates alone, 50 or so: each costs as many comparisons as the query has tokens times the passage.
-- Eight tokens of the query are columns of one row, for comparing in one pass over a passage's tokens takes a third of
-- the time that a row for each pair takes.
CREATE OR REPLACE FUNCTION memsvc.late_scores(
  p_user_id uuid, p_model_id smallint, p_query bit(128)[], p_passages uuid[]
) RETURNS TABLE (passage_id uuid, late double precision)
LANGUAGE sql STABLE
ROWS 50
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT p_query[f.at] AS q1, p_query[f.at + 1] AS q2, p_query[f.at + 2] AS q3, p_query[f.at + 3] AS q4,
      p_query[f.at + 4] AS q5, p_query[f.at + 5] AS q6, p_query[f.at + 6] AS q7, p_query[f.at + 7] AS q8
    FROM generate_series(1, cardinality(p_query), 8) AS f (at)
  )
  SELECT c.passage_id, s.late
  FROM unnest(p_passages) AS c (passage_id)
  CROSS JOIN LATERAL (
    SELECT t.tokens FROM memsvc.token_vectors AS t
    WHERE t.user_id = p_user_id AND t.model_id = p_model_id AND t.passage_id = c.passage_id
    OFFSET 0
  ) AS t
  CROSS JOIN LATERAL (
    SELECT 1 - 2 * sum(m.bits) / (128 * cardinality(p_query)) AS late
    FROM asked AS a
    CROSS JOIN LATERAL (
      SELECT coalesce(min(k.token OPERATOR(public.<~>) a.q1), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q2), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q3), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q4), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q5), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q6), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q7), 0)
        + coalesce(min(k.token OPERATOR(public.<~>) a.q8), 0) AS bits
      FROM (SELECT unnest(t.tokens) AS token) AS k -- without a table between, as a function in FROM fills one
    ) AS m
  ) AS s
  WHERE t.tokens <> '{}' AND s.late IS NOT NULL;
END;
COMMENT ON FUNCTION memsvc.late_scores(uuid, smallint, bit[], uuid[]) IS
  'Late interaction of a query''s tokens with passages'': mean of largest similarities, -1 to 1; no tokens, no row.';
