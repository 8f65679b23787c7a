-- What recall looks at: the best that each arm finds among one user's passages, with what the arms know of them.

-- Arms: words (BM25) and vectors give their best p_candidates each; p_mentions are passages that support what is known
-- about nodes (memsvc.match_nodes finds them); times give passages said in the windows that the question names. By
-- words alone only what holds some is found; with a vector, what stands up to two messages before and after the best
-- quarter of both arms comes along. Each passage comes once, with the scores of all arms: BM25 null where it is not
-- among the best by words, and a similarity wherever it has a vector. kind: fact, known (of a node), passage (all
-- else); since, until: of a fact when it holds, else when it was said; asks: it ends with a question; answers: the
-- message before it does. Chunks of a document have gaps between their ordinals, so theirs are counted in gaps.
--
-- While the embedding model changes, the model that leaves answers for passages that the active one lacks
-- (docs/adr/0008).
CREATE OR REPLACE FUNCTION memsvc.recall_candidates(
  p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_by_words boolean, p_mentions uuid[],
  p_scope memsvc.scope, p_question memsvc.question
) RETURNS TABLE (
  passage_id uuid, kind text, source_id uuid, session text, ordinal integer, role text, speaker text, since timestamptz,
  until timestamptz, recorded timestamptz, length integer, asks boolean, answers boolean, words double precision,
  words_rank bigint, matched_terms text[], matched_form text, similarity double precision, vector_rank bigint,
  other_similarity double precision, other_rank bigint
)
LANGUAGE sql STABLE
ROWS 150
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop; planning took as long as running; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH other AS MATERIALIZED (
    SELECT m.*
    FROM memsvc.match_vectors(
      p_user_id, p_question.other_model_id, p_question.other_vector, p_candidates, p_scope
    ) WITH ORDINALITY AS m (matched_id, similarity, rank)
    WHERE p_question.other_vector IS NOT NULL
  ),
  -- Each arm has columns of its own, and gives a passage once.
  hit AS MATERIALIZED (
    SELECT a.matched_id, any_value(a.words) AS words, any_value(a.words_rank) AS words_rank,
      any_value(a.matched_terms) AS matched_terms, any_value(a.matched_form) AS matched_form,
      any_value(a.similarity) AS similarity, any_value(a.vector_rank) AS vector_rank
    FROM (
      SELECT m.matched_id, m.score AS words, m.rank AS words_rank, m.matched_terms, m.matched_form,
        NULL::double precision AS similarity, NULL::bigint AS vector_rank
      FROM memsvc.match_words(
        p_user_id, p_query, p_candidates, p_question.form, p_question.language, p_scope, p_enough
      ) WITH ORDINALITY AS m (matched_id, score, matched_terms, matched_form, rank)
      WHERE p_by_words
      UNION ALL
      SELECT m.matched_id, NULL, NULL, NULL, NULL, m.similarity, m.rank
      FROM memsvc.match_vectors(
        p_user_id, p_question.model_id, p_question.vector, p_candidates, p_scope
      ) WITH ORDINALITY AS m (matched_id, similarity, rank)
      WHERE p_question.vector IS NOT NULL
      UNION ALL
      SELECT m.matched_id, NULL, NULL, NULL, NULL, NULL, NULL FROM unnest(p_mentions) AS m (matched_id)
      UNION ALL
      SELECT m.matched_id, NULL, NULL, NULL, NULL, NULL, NULL
      FROM memsvc.match_times(p_user_id, p_question.begins, p_question.ends, p_candidates, p_scope) AS m
      WHERE p_question.begins <> '{}'
      UNION ALL
      SELECT o.matched_id, NULL, NULL, NULL, NULL, NULL, NULL FROM other AS o
      WHERE p_question.vector IS NULL OR NOT EXISTS (
        SELECT FROM memsvc.embeddings AS e
        WHERE e.user_id = p_user_id AND e.model_id = p_question.model_id AND e.passage_id = o.matched_id
      )
    ) AS a
    GROUP BY a.matched_id
  ),
  found AS MATERIALIZED (
    SELECT h.* FROM hit AS h
    UNION ALL
    SELECT b.passage_id, NULL, NULL, NULL, NULL, NULL, NULL
    FROM memsvc.passages_beside(
      p_user_id, ARRAY(
        SELECT h.matched_id FROM hit AS h WHERE least(h.words_rank, h.vector_rank) <= p_candidates / 4
      ), 2, p_scope
    ) AS b
    WHERE p_question.vector IS NOT NULL AND b.passage_id NOT IN (SELECT h.matched_id FROM hit AS h)
  ),
  known AS MATERIALIZED (
    SELECT e.passage_id, -(e.vector OPERATOR(public.<#>) p_question.vector) AS similarity
    FROM memsvc.embeddings AS e
    WHERE p_question.vector IS NOT NULL AND e.user_id = p_user_id AND e.model_id = p_question.model_id
      AND e.passage_id = ANY (ARRAY(SELECT f.matched_id FROM found AS f WHERE f.similarity IS NULL))
  )
  -- By keys, all at once: one by one takes three times as long.
  SELECT p.passage_id, CASE WHEN p.kind = 'fact' THEN 'fact' WHEN p.version_id IS NULL THEN 'passage' ELSE 'known' END,
    p.source_id, p.session, CASE p.kind WHEN 'chunk' THEN p.ordinal / 1024 ELSE p.ordinal END, p.role,
    CASE WHEN p.kind IN ('message', 'trace') THEN p.speaker ELSE p.role END, -- a title speaks to nobody
    CASE p.kind WHEN 'fact' THEN p.valid_from ELSE p.said_at END, CASE p.kind WHEN 'fact' THEN p.valid_to END,
    CASE p.kind WHEN 'fact' THEN p.recorded_at ELSE p.said_at END, p.length_simple, memsvc.is_question(p.text),
    p.version_id IS NULL AND p.kind <> 'chunk' AND EXISTS (
      SELECT FROM memsvc.passages AS n
      WHERE n.user_id = p_user_id AND n.source_id = p.source_id AND n.session = p.session AND n.ordinal = p.ordinal - 1
        AND (p_scope.known_at IS NULL OR n.recorded_at <= p_scope.known_at) AND memsvc.is_question(n.text)
    ),
    f.words, f.words_rank, f.matched_terms, f.matched_form, coalesce(f.similarity, k.similarity), f.vector_rank,
    CASE WHEN p_question.other_vector IS NOT NULL THEN coalesce(o.similarity, (
      SELECT -(e.vector OPERATOR(public.<#>) p_question.other_vector) FROM memsvc.embeddings AS e
      WHERE e.user_id = p_user_id AND e.model_id = p_question.other_model_id AND e.passage_id = f.matched_id
    )) END,
    o.rank
  FROM found AS f
  LEFT JOIN other AS o ON o.matched_id = f.matched_id
  LEFT JOIN known AS k ON k.passage_id = f.matched_id
  INNER JOIN memsvc.passages AS p ON p.passage_id = f.matched_id
  WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT c.matched_id FROM found AS c))
    AND memsvc.in_scope(p_scope, p) -- the vector of a block may be made while it changes
    AND CASE WHEN p.kind <> 'former' THEN true ELSE EXISTS (
      SELECT FROM memsvc.profile_versions AS v
      WHERE v.user_id = p_user_id AND v.block_id = p.source_id AND v.version = p.ordinal
        AND v.recorded_to > p_scope.known_at
    ) END;
END;
COMMENT ON FUNCTION memsvc.recall_candidates(
  uuid, text, integer, integer, boolean, uuid[], memsvc.scope, memsvc.question
) IS 'Passages that the arms of recall find for a query, each once, with what the arms know of them.';
