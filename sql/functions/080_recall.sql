-- Recall: one statement, one round trip. The arms find candidates; recall() shows them with source and reason.

-- The words of a query behind the lexemes that matched, for people: {"move": "moved", …}. Long queries keep the
-- lexemes.
CREATE OR REPLACE FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[])
RETURNS text[]
LANGUAGE sql STABLE
RETURN CASE WHEN length(p_query) > 2000 THEN p_terms ELSE ARRAY(
  SELECT coalesce(min(t.token ORDER BY t.place), wanted.term)
  FROM unnest(p_terms) WITH ORDINALITY AS wanted (term, rank)
  LEFT JOIN (
    SELECT s.token, s.place, w.term
    FROM ts_parse('default', memsvc.set_signs_apart(p_query)) WITH ORDINALITY AS s (type, token, place)
    CROSS JOIN LATERAL unnest(tsvector_to_array(memsvc.to_words(p_form, p_language, s.token))) AS w (term)
    WHERE btrim(s.token) <> ''
  ) AS t ON t.term = wanted.term
  GROUP BY wanted.rank, wanted.term
  ORDER BY wanted.rank
) END;
COMMENT ON FUNCTION memsvc.words_behind(text, text, text, text[]) IS
  'The words of a query that stand behind matched lexemes.';

-- The read path. Returns up to p_limit passages, best first, each with its source, its score by arm and the words
-- that matched. p_form: stemmed (falls back to simple for a query of stop words only) or simple. Times: said_at in
-- [from, to).
--
-- With a vector, both arms are fused: each gives its best 200, each score is standardised over all candidates
-- (z-score; BM25 counts as 0 where a passage is not among the words' 200, a passage that has no vector yet counts as
-- average), and the two are averaged. Chosen by measurement on three sets (docs/adr/0006). Without a vector, the
-- score is BM25's own.
--
-- While the embedding model changes, the model that leaves answers for passages that the active one lacks (p_other_*;
-- docs/adr/0008). Cosines of two models cannot be compared, so its similarities are standardised among themselves:
-- over its own best 200 and the words'.
CREATE OR REPLACE FUNCTION memsvc.recall(
  p_user_id uuid,
  p_query text,
  p_limit integer,
  p_form text DEFAULT 'stemmed',
  p_language text DEFAULT 'english',
  p_kinds text[] DEFAULT '{message}',
  p_sources uuid[] DEFAULT NULL,
  p_not_sources uuid[] DEFAULT NULL,
  p_said_from timestamptz DEFAULT NULL,
  p_said_to timestamptz DEFAULT NULL,
  p_model_id smallint DEFAULT NULL,
  p_vector public.halfvec DEFAULT NULL,
  p_words_weight double precision DEFAULT 0.5,
  p_other_model_id smallint DEFAULT NULL,
  p_other_vector public.halfvec DEFAULT NULL
) RETURNS TABLE (
  passage_id uuid, source_id uuid, conversation text, session text, ordinal integer, part smallint, client_id text,
  speaker text, role text, text text, caption text, said_at timestamptz, said_offset smallint, recorded_at timestamptz,
  score double precision, arms jsonb, matched text[]
)
LANGUAGE sql STABLE
SET search_path = memsvc, public, pg_temp
SET plan_cache_mode = force_generic_plan -- every look-up goes by key; planning took as long as running
BEGIN ATOMIC
  WITH heard AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.score DESC, m.matched_id) AS rank
    FROM memsvc.match_words(
      p_user_id, p_query,
      CASE WHEN coalesce(p_vector, p_other_vector) IS NULL THEN p_limit ELSE greatest(200, p_limit) END, p_form,
      p_language, p_kinds, p_sources, p_not_sources, p_said_from, p_said_to, p_limit
    ) AS m
    WHERE coalesce(p_vector, p_other_vector) IS NULL OR p_words_weight > 0
  ),
  near AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.similarity DESC, m.matched_id) AS rank
    FROM memsvc.match_vectors(
      p_user_id, p_model_id, p_vector, greatest(200, p_limit), p_kinds, p_sources, p_not_sources, p_said_from, p_said_to
    ) AS m
    WHERE p_vector IS NOT NULL AND p_words_weight < 1
  ),
  other AS MATERIALIZED (
    SELECT m.*, row_number() OVER (ORDER BY m.similarity DESC, m.matched_id) AS rank
    FROM memsvc.match_vectors(
      p_user_id, p_other_model_id, p_other_vector, greatest(200, p_limit), p_kinds, p_sources, p_not_sources,
      p_said_from, p_said_to
    ) AS m
    WHERE p_other_vector IS NOT NULL AND p_words_weight < 1
  ),
  candidate AS MATERIALIZED (
    SELECT c.passage_id, h.score AS words, h.rank AS words_rank, h.matched_terms, h.matched_form, n.rank AS vector_rank,
      coalesce(n.similarity, (
        SELECT -(e.vector OPERATOR(public.<#>) p_vector) FROM memsvc.embeddings AS e
        WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = c.passage_id
      )) AS similarity,
      o.rank AS other_rank,
      CASE WHEN p_other_vector IS NOT NULL THEN coalesce(o.similarity, (
        SELECT -(e.vector OPERATOR(public.<#>) p_other_vector) FROM memsvc.embeddings AS e
        WHERE e.user_id = p_user_id AND e.model_id = p_other_model_id AND e.passage_id = h.matched_id
      )) END AS other_similarity
    FROM (
      SELECT h.matched_id FROM heard AS h
      UNION SELECT n.matched_id FROM near AS n
      UNION SELECT o.matched_id FROM other AS o
      WHERE p_vector IS NULL OR NOT EXISTS (
        SELECT FROM memsvc.embeddings AS e
        WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = o.matched_id
      )
    ) AS c (passage_id)
    LEFT JOIN heard AS h ON h.matched_id = c.passage_id
    LEFT JOIN near AS n ON n.matched_id = c.passage_id
    LEFT JOIN other AS o ON o.matched_id = c.passage_id
  ),
  found AS MATERIALIZED (
    SELECT c.*, CASE
      WHEN coalesce(p_vector, p_other_vector) IS NULL THEN c.words
      ELSE p_words_weight * coalesce((coalesce(c.words, 0) - s.words_mean) / nullif(s.words_spread, 0), 0)
        + (1 - p_words_weight) * coalesce(
          CASE WHEN c.similarity IS NOT NULL THEN (c.similarity - s.vector_mean) / nullif(s.vector_spread, 0)
            ELSE (c.other_similarity - o.mean) / nullif(o.spread, 0) END, 0)
    END AS score
    FROM candidate AS c
    CROSS JOIN (
      SELECT avg(coalesce(words, 0)) AS words_mean, stddev_pop(coalesce(words, 0)) AS words_spread,
        avg(similarity) AS vector_mean, stddev_pop(similarity) AS vector_spread
      FROM candidate
    ) AS s
    CROSS JOIN (
      SELECT avg(a.similarity) AS mean, stddev_pop(a.similarity) AS spread
      FROM (
        SELECT o.similarity FROM other AS o
        UNION ALL SELECT w.other_similarity FROM candidate AS w WHERE w.other_rank IS NULL
      ) AS a
    ) AS o
    ORDER BY score DESC, c.passage_id
    LIMIT p_limit
  ),
  -- Once for all passages: parsing the query takes longer than finding one.
  spoken AS MATERIALIZED (
    SELECT w.term, w.word
    FROM (
      SELECT f.matched_form, array_agg(DISTINCT t.term) AS terms
      FROM found AS f CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      GROUP BY f.matched_form
    ) AS q
    CROSS JOIN LATERAL
      unnest(q.terms, memsvc.words_behind(p_query, q.matched_form, p_language, q.terms)) AS w (term, word)
  )
  SELECT
    p.passage_id, p.source_id, s.identifier, p.session, p.ordinal, p.part, p.client_id, p.speaker, p.role, p.text,
    p.caption, p.said_at, p.said_offset, p.recorded_at, m.score,
    jsonb_strip_nulls(jsonb_build_object(
      'words', CASE WHEN m.words IS NOT NULL THEN jsonb_build_object(
        'score', round(m.words::numeric, 4), 'rank', m.words_rank, 'form', m.matched_form
      ) END,
      'vector', CASE WHEN m.similarity IS NOT NULL THEN jsonb_build_object(
        'score', round(m.similarity::numeric, 4), 'rank', m.vector_rank
      ) WHEN m.other_similarity IS NOT NULL THEN jsonb_build_object(
        'score', round(m.other_similarity::numeric, 4), 'rank', m.other_rank,
        'model', (SELECT e.name FROM memsvc.embedding_models AS e WHERE e.model_id = p_other_model_id)
      ) END
    )),
    ARRAY(
      SELECT h.word FROM unnest(m.matched_terms) WITH ORDINALITY AS t (term, rank)
      INNER JOIN spoken AS h ON h.term = t.term
      ORDER BY t.rank
    )
  FROM found AS m
  -- As the first row at or behind its key, in the one order that the primary key has: right whatever is estimated.
  CROSS JOIN LATERAL (
    SELECT r.* FROM memsvc.passages AS r
    WHERE r.user_id = p_user_id AND r.passage_id >= m.passage_id ORDER BY r.passage_id LIMIT 1
  ) AS p
  CROSS JOIN LATERAL (
    SELECT r.* FROM memsvc.sources AS r
    WHERE r.user_id = p_user_id AND r.source_id >= p.source_id ORDER BY r.source_id LIMIT 1
  ) AS s
  WHERE p.passage_id = m.passage_id AND s.source_id = p.source_id
  ORDER BY m.score DESC, p.passage_id;
END;
COMMENT ON FUNCTION memsvc.recall(
  uuid, text, integer, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, smallint, public.halfvec,
  double precision, smallint, public.halfvec
) IS 'Recall: passages that matter for a query, best first, each with source, score by arm and matched words.';
