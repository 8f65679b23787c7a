-- What recall looks at: the best that each arm finds among one user's passages, with what the arms know of them.

-- Arms: words (BM25) and vectors give their best p_candidates each; names give passages that support what p_nodes are
-- called and do, and what lies p_hops around them; times give passages said in the windows [p_begins, p_ends). Each
-- passage comes once, with the scores of all arms: BM25 null where it is not among the best by words, and a similarity
-- wherever it has a vector.
--
-- While the embedding model changes, the model that leaves answers for passages that the active one lacks (p_other_*;
-- docs/adr/0008).
CREATE OR REPLACE FUNCTION memsvc.recall_candidates(
  p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[],
  p_sources uuid[], p_not_sources uuid[], p_said_from timestamptz, p_said_to timestamptz, p_as_of timestamptz,
  p_known_at timestamptz, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint,
  p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[],
  p_begins timestamptz[], p_ends timestamptz[]
) RETURNS TABLE (
  passage_id uuid, source_id uuid, session text, ordinal integer, role text, speaker text, said_at timestamptz,
  words double precision, words_rank bigint, matched_terms text[], matched_form text, similarity double precision,
  vector_rank bigint, other_similarity double precision, other_rank bigint, node_id uuid, reach double precision,
  distance integer
)
LANGUAGE sql STABLE
ROWS 150
SET search_path = memsvc, public, pg_temp
SET plan_cache_mode = force_generic_plan -- every look-up goes by key; planning took as long as running
SET enable_seqscan = off
SET enable_nestloop = off -- estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH heard AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.score DESC, m.matched_id) AS rank
    FROM memsvc.match_words(
      p_user_id, p_query, p_candidates, p_form, p_language, p_kinds, p_sources, p_not_sources, p_said_from, p_said_to,
      p_enough, p_known_at
    ) AS m
    WHERE p_by_words
  ),
  near AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.similarity DESC, m.matched_id) AS rank
    FROM memsvc.match_vectors(
      p_user_id, p_model_id, p_vector, p_candidates, p_kinds, p_sources, p_not_sources, p_said_from, p_said_to,
      p_known_at
    ) AS m
    WHERE p_vector IS NOT NULL
  ),
  other AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.similarity DESC, m.matched_id) AS rank
    FROM memsvc.match_vectors(
      p_user_id, p_other_model_id, p_other_vector, p_candidates, p_kinds, p_sources, p_not_sources, p_said_from,
      p_said_to, p_known_at
    ) AS m
    WHERE p_other_vector IS NOT NULL
  ),
  mentioned AS MATERIALIZED (
    SELECT m.*
    FROM memsvc.match_mentions(
      p_user_id, p_nodes, p_reach, p_distances, p_candidates, p_kinds, p_sources, p_not_sources, p_said_from,
      p_said_to, p_as_of, p_known_at
    ) AS m
    WHERE p_nodes <> '{}'
  ),
  found AS MATERIALIZED (
    SELECT h.matched_id FROM heard AS h
    UNION SELECT n.matched_id FROM near AS n
    UNION SELECT m.matched_id FROM mentioned AS m
    UNION SELECT t.matched_id
    FROM memsvc.match_times(
      p_user_id, p_begins, p_ends, p_candidates, p_kinds, p_sources, p_not_sources, p_said_from, p_said_to, p_as_of,
      p_known_at
    ) AS t
    WHERE p_begins <> '{}'
    UNION SELECT o.matched_id FROM other AS o
    WHERE p_vector IS NULL OR NOT EXISTS (
      SELECT FROM memsvc.embeddings AS e
      WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = o.matched_id
    )
  ),
  known AS MATERIALIZED (
    SELECT e.passage_id, -(e.vector OPERATOR(public.<#>) p_vector) AS similarity
    FROM memsvc.embeddings AS e
    WHERE p_vector IS NOT NULL AND e.user_id = p_user_id AND e.model_id = p_model_id
      AND e.passage_id = ANY (ARRAY(SELECT f.matched_id FROM found AS f EXCEPT SELECT n.matched_id FROM near AS n))
  )
  -- By keys, all at once: one by one takes three times as long.
  SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.role,
    CASE WHEN p.kind IN ('block', 'former') THEN p.role ELSE p.speaker END, -- a block's name speaks to nobody
    p.said_at,
    h.score, h.rank, h.matched_terms, h.matched_form, coalesce(n.similarity, k.similarity), n.rank,
    CASE WHEN p_other_vector IS NOT NULL THEN coalesce(o.similarity, (
      SELECT -(e.vector OPERATOR(public.<#>) p_other_vector) FROM memsvc.embeddings AS e
      WHERE e.user_id = p_user_id AND e.model_id = p_other_model_id AND e.passage_id = c.matched_id
    )) END,
    o.rank, m.node_id, m.reach, m.distance
  FROM found AS c
  LEFT JOIN heard AS h ON h.matched_id = c.matched_id
  LEFT JOIN near AS n ON n.matched_id = c.matched_id
  LEFT JOIN other AS o ON o.matched_id = c.matched_id
  LEFT JOIN mentioned AS m ON m.matched_id = c.matched_id
  LEFT JOIN known AS k ON k.passage_id = c.matched_id
  INNER JOIN memsvc.passages AS p ON p.passage_id = c.matched_id
  WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT f.matched_id FROM found AS f))
    AND p.kind = ANY (p_kinds) -- the vector of a block may be made while it changes
    AND CASE WHEN p.kind <> 'former' THEN true ELSE EXISTS (
      SELECT FROM memsvc.profile_versions AS v
      WHERE v.user_id = p_user_id AND v.block_id = p.source_id AND v.version = p.ordinal
        AND v.recorded_to > p_known_at
    ) END;
END;
COMMENT ON FUNCTION memsvc.recall_candidates(
  uuid, text, integer, integer, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz,
  boolean, smallint, public.halfvec, smallint, public.halfvec, uuid[], double precision[], integer[], timestamptz[],
  timestamptz[]
) IS 'Passages that the arms of recall find for a query, each once, with what the arms know of them.';
