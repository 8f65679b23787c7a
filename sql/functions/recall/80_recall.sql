-- Recall: one statement, one round trip. The arms find some hundred candidates at most (recall/77_memories.sql); what
-- is asked beyond that is asked of those alone, so it costs the same for a user of a thousand passages and of a
-- million.
--
-- Each candidate has a value for each factor (memsvc.factors), each factor has a weight, and value times weight is its
-- points; their sum is the score, by which candidates are ordered. Scores of words and vectors are standardised over
-- the candidates (z-score): of a passage itself, of the messages before and after it, and of the best of its session. A
-- passage that is not among the best by words counts as 0 there; what has no vector yet counts by meaning as it does by
-- words, and facts, where they have nothing to compare, as average. Cosines of two models cannot be compared, so the leaving one's are standardised
-- among themselves. Neighbours count where they are candidates themselves: taking in all of them found no more. Late
-- interaction (MaxSim) compares all candidates with the query word by word.

-- What the arms found of a memory, for people and for the reasons that a door gives.
CREATE OR REPLACE FUNCTION memsvc.arms_told(
  p_words jsonb, p_similarity double precision, p_vector_rank bigint, p_model text, p_late double precision,
  p_late_rank bigint, p_names jsonb, p_metres double precision
) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN jsonb_strip_nulls(jsonb_build_object(
  'words', p_words,
  'vector', CASE WHEN p_similarity IS NOT NULL THEN jsonb_build_object(
    'score', round(p_similarity::numeric, 4), 'rank', p_vector_rank, 'model', p_model
  ) END,
  'late', CASE WHEN p_late IS NOT NULL THEN jsonb_build_object(
    'score', round(p_late::numeric, 4), 'rank', p_late_rank
  ) END,
  'names', p_names,
  'place', CASE WHEN p_metres IS NOT NULL THEN jsonb_build_object('metres', round(p_metres)) END
));
COMMENT ON FUNCTION memsvc.arms_told(
  jsonb, double precision, bigint, text, double precision, bigint, jsonb, double precision
) IS 'What the arms of recall found of a memory.';

-- Memories for a query, best first, with what each arm found and the points that each factor gave. What they are is
-- shown by memsvc.memories_shown.
--
-- p_weights: as memsvc.weights_of has them; the traits of a query are: its candidates stand alone (memories of one
-- message each, not conversations), it is long (a dialogue or a document, not a question), nothing is compared by
-- meaning, the candidates are wordy (paragraphs, not turns). p_order: first or last, where the query asks for that. The others: as memsvc.recall_memories has them.
-- confidence: how likely it is that the answer is here at all (memsvc.confidence; in every row; null where there are no
-- token vectors). A fact tells it that holds more than half of the query's words, or half of them and is about what the
-- query names; a question that was asked before, in the same words, is no answer to itself. met: how many candidates
-- there were, by which arms, and the traits. weights: what each factor counted. All of the last three are the same in every row.
CREATE OR REPLACE FUNCTION memsvc.recall(
  p_user_id uuid,
  p_query text,
  p_limit integer,
  p_weights jsonb DEFAULT '{}',
  p_form text DEFAULT 'stemmed',
  p_language text DEFAULT 'english',
  p_kinds text[] DEFAULT '{message}',
  p_sources uuid[] DEFAULT NULL,
  p_not_sources uuid[] DEFAULT NULL,
  p_said_from timestamptz DEFAULT NULL,
  p_said_to timestamptz DEFAULT NULL,
  p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL,
  p_model_id smallint DEFAULT NULL,
  p_vector public.halfvec DEFAULT NULL,
  p_tokens bit(128)[] DEFAULT NULL,
  p_other_model_id smallint DEFAULT NULL,
  p_other_vector public.halfvec DEFAULT NULL,
  p_nodes uuid[] DEFAULT '{}',
  p_hops integer DEFAULT 1,
  p_begins timestamptz[] DEFAULT '{}',
  p_ends timestamptz[] DEFAULT '{}',
  p_order text DEFAULT NULL,
  p_facts boolean DEFAULT true,
  p_candidates integer DEFAULT 48,
  p_near uuid[] DEFAULT NULL
) RETURNS TABLE (
  memory_id uuid, kind text, rank bigint, score double precision, arms jsonb, factors jsonb, path text[],
  matched text[], confidence double precision, met jsonb, weights jsonb
)
LANGUAGE sql STABLE
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH memory AS MATERIALIZED (
    SELECT m.* FROM memsvc.recall_memories(
      p_user_id, p_query, least(p_limit, p_candidates), p_candidates, p_weights, p_form, p_language,
      p_kinds, p_sources, p_not_sources, p_said_from, p_said_to, p_as_of, p_known_at, p_model_id, p_vector, p_tokens,
      p_other_model_id, p_other_vector, p_nodes, p_hops, p_begins, p_ends, p_facts, p_near
    ) AS m
  ),
  trait AS MATERIALIZED (
    SELECT (sum(s.passages) < 1.5 * count(*) OR count(*) = 0)::integer AS apart, (length(p_query) > 200)::integer AS long,
      (coalesce(sum(s.compared), 0) = 0)::integer AS plain,
      coalesce(sum(s.words) > 40 * sum(s.passages), false)::integer AS wordy
    FROM (
      SELECT count(*) AS passages, count(coalesce(m.similarity, m.other_similarity)) AS compared, sum(m.length) AS words
      FROM memory AS m
      WHERE m.kind = 'passage'
      GROUP BY m.source_id, m.session
    ) AS s
  ),
  weight AS MATERIALIZED (
    SELECT memsvc.weights_of(p_weights, ARRAY[t.apart, t.long, t.plain, t.wordy]) AS of_factors,
      ARRAY(SELECT f.name FROM memsvc.factors() AS f ORDER BY f.nth) AS names
    FROM trait AS t
  ),
  value AS MATERIALIZED (
    SELECT v.memory_id, v.speaks, v.of_factors
    FROM memsvc.factor_values(
      ARRAY(SELECT ROW(m.*)::memsvc.memory FROM memory AS m), p_query, p_language, p_begins, p_ends, p_order,
      coalesce(p_as_of, p_known_at, now())
    ) AS v
  ),
  best AS MATERIALIZED ( -- by an inner product of pgvector: a sum over rows takes ten times as long
    SELECT v.* FROM value AS v CROSS JOIN weight AS w
    ORDER BY v.of_factors::public.vector OPERATOR(public.<#>) w.of_factors::public.vector, v.memory_id
    LIMIT p_limit
  ),
  found AS MATERIALIZED (
    SELECT m.*, b.of_factors, p.score, row_number() OVER (ORDER BY p.score DESC, m.memory_id) AS place
    FROM best AS b
    INNER JOIN memory AS m ON m.memory_id = b.memory_id
    CROSS JOIN weight AS w
    CROSS JOIN LATERAL (
      SELECT sum(u.value * u.weight) AS score FROM unnest(b.of_factors, w.of_factors) AS u (value, weight)
    ) AS p
  ),
  telling AS NOT MATERIALIZED ( -- whether a fact holds the words of the query
    SELECT 2 * max(t.words) > t.asked OR 2 * max(t.words) FILTER (WHERE t.named) >= t.asked AS told
    FROM (
      SELECT cardinality(m.matched_terms) AS words, m.distance = 0 AS named,
        (SELECT length(memsvc.to_words('stemmed', p_language, p_query))) AS asked
      FROM memory AS m
      WHERE m.kind = 'fact' AND m.words > 0
    ) AS t
    GROUP BY t.asked
  ),
  sure AS MATERIALIZED (
    SELECT memsvc.confidence(
      max(h.similarity), avg(h.late) FILTER (WHERE h.rank <= 3), bool_or(h.speaks) AND (SELECT memsvc.says_i(p_query)),
      max(h.late) FILTER (WHERE h.speaks), max(h.late) FILTER (WHERE NOT h.speaks), (SELECT t.told FROM telling AS t)
    ) AS confidence
    FROM (
      SELECT c.late, c.similarity, c.speaks, row_number() OVER (ORDER BY c.late DESC) AS rank
      FROM (
        SELECT v.speaks, CASE WHEN e.again THEN 0 ELSE m.late END AS late,
          CASE WHEN e.again THEN 0 ELSE coalesce(m.similarity, m.other_similarity) END AS similarity
        FROM memory AS m
        INNER JOIN value AS v ON v.memory_id = m.memory_id
        CROSS JOIN LATERAL (SELECT CASE WHEN m.late > 0.8 AND p_query ~ '[?？؟]' THEN (
          SELECT memsvc.plain_words(p.text) = memsvc.plain_words(p_query) FROM memsvc.passages AS p
          WHERE p.user_id = p_user_id AND p.passage_id = m.memory_id
        ) END AS again) AS e
        WHERE m.late IS NOT NULL
      ) AS c
    ) AS h
  ),
  counted AS (
    SELECT jsonb_build_object(
      'candidates', count(*), 'words', count(*) FILTER (WHERE m.words > 0),
      'vector', count(coalesce(m.vector_rank, m.other_rank)), 'late', count(m.late), 'names', count(m.node_id),
      'facts', count(*) FILTER (WHERE m.kind = 'fact'), 'place', count(m.metres),
      'time', count(*) FILTER (WHERE p_begins <> '{}' AND memsvc.time_fit(m.since, p_begins, p_ends, '1 second') = 1)
    ) || (SELECT to_jsonb(t) FROM trait AS t) AS met
    FROM memory AS m
  ),
  -- Once for all passages: parsing the query takes longer than finding one.
  spoken AS MATERIALIZED (
    SELECT q.form, jsonb_object(q.terms, memsvc.words_behind(p_query, q.form, p_language, q.terms)) AS words
    FROM (
      SELECT f.matched_form AS form, array_agg(DISTINCT t.term) AS terms
      FROM found AS f CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      GROUP BY f.matched_form
    ) AS q
  )
  SELECT
    f.memory_id, f.kind, f.place, f.score, memsvc.arms_told(
      CASE WHEN f.words > 0 THEN jsonb_build_object(
        'score', round(f.words::numeric, 4), 'rank', f.words_rank, 'form', f.matched_form
      ) END,
      coalesce(f.similarity, f.other_similarity), coalesce(f.vector_rank, f.other_rank),
      CASE WHEN f.similarity IS NULL AND f.other_similarity IS NOT NULL THEN (
        SELECT e.name FROM memsvc.embedding_models AS e WHERE e.model_id = p_other_model_id
      ) END,
      f.late, f.late_rank,
      CASE WHEN f.node_id IS NOT NULL THEN jsonb_build_object(
        'node_id', f.node_id, 'score', round(f.reach::numeric, 4), 'distance', f.distance
      ) END,
      f.metres
    ),
    (
      SELECT jsonb_object_agg(u.name, u.value * u.weight)
      FROM weight AS w CROSS JOIN LATERAL unnest(w.names, f.of_factors, w.of_factors) AS u (name, value, weight)
    ),
    f.path,
    memsvc.whole_words(ARRAY(
      SELECT h.words ->> t.term FROM spoken AS h CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      WHERE h.form = f.matched_form
    )),
    (SELECT s.confidence FROM sure AS s), (SELECT c.met FROM counted AS c),
    (
      SELECT jsonb_object_agg(u.name, u.weight)
      FROM weight AS w CROSS JOIN LATERAL unnest(w.names, w.of_factors) AS u (name, weight)
    )
  FROM found AS f
  ORDER BY f.place;
END;
COMMENT ON FUNCTION memsvc.recall(
  uuid, text, integer, jsonb, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz,
  smallint, public.halfvec, bit[], smallint, public.halfvec, uuid[], integer, timestamptz[], timestamptz[], text,
  boolean, integer, uuid[]
) IS 'Recall: memories that matter for a query, best first, with what each arm found and each factor gave.';
