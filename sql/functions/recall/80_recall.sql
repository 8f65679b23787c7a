-- Recall: one statement, one round trip. The arms find some hundred candidates at most (recall/77_memories.sql); what
-- is asked beyond that is asked of those alone, so it costs the same for a user of a thousand passages and of a
-- million.
--
-- Each candidate has a value for each factor (memsvc.factors), each factor has a weight, and value times weight is its
-- points; their sum is the score, by which candidates are ordered. Scores of words and vectors are standardised over
-- the candidates (z-score): of a passage itself, of the messages before and after it, and of the best of its session. A
-- passage that is not among the best by words counts as 0 there; what has no vector yet counts by meaning as it does by
-- words, and facts, where they have nothing to compare, as average. Cosines of two models cannot be compared, so the
-- leaving one's are standardised among themselves. Neighbours count where they are candidates themselves: taking in all
-- of them found no more. Late interaction (MaxSim) compares all candidates with the query word by word.

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

-- Numbers by their names, each times its weight.
CREATE OR REPLACE FUNCTION memsvc.told_by_name(
  p_names text[], p_values double precision[], p_weights double precision[] DEFAULT '{}'
) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (
  SELECT jsonb_object_agg(u.name, u.value * coalesce(u.weight, 1))
  FROM unnest(p_names, p_values, p_weights) AS u (name, value, weight)
);
COMMENT ON FUNCTION memsvc.told_by_name(text[], double precision[], double precision[]) IS
  'Numbers by their names, each times its weight.';

-- How many candidates there were, by which arms, and the traits of the query.
CREATE OR REPLACE FUNCTION memsvc.candidates_told(
  p_memories memsvc.memory[], p_question memsvc.question, p_traits double precision[]
) RETURNS jsonb
LANGUAGE sql STABLE
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT jsonb_build_object(
    'candidates', count(*), 'words', count(*) FILTER (WHERE m.words > 0),
    'vector', count(coalesce(m.vector_rank, m.other_rank)), 'late', count(m.late), 'names', count(m.node_id),
    'facts', count(*) FILTER (WHERE m.kind = 'fact'), 'place', count(m.metres),
    'time', count(*) FILTER (
      WHERE p_question.begins <> '{}' AND memsvc.time_fit(m.since, p_question.begins, p_question.ends, '1 second') = 1
    )
  ) || (
    SELECT jsonb_object_agg(t.name, t.value) FROM unnest(memsvc.trait_names(), p_traits) AS t (name, value)
  )
  FROM unnest(p_memories) AS m;
END;
COMMENT ON FUNCTION memsvc.candidates_told(memsvc.memory[], memsvc.question, double precision[]) IS
  'How many candidates a recall had, by which arms, and the traits of its query.';

-- Memories for a query, best first, with what each arm found and the points that each factor gave. What they are is
-- shown by memsvc.memories_shown.
--
-- p_scope: what may be recalled (memsvc.scope); p_question: what is asked beside the words (memsvc.question).
-- p_weights: as memsvc.weights_of has them (memsvc.checked_weights refuses others), for the traits of memsvc.traits_of.
-- p_candidates: of each arm. p_learnt: the learnt weights, whatever p_weights are, for the confidence was fitted on their
-- points (null: whom the query names counts for nothing in it).
-- confidence: how likely it is that the answer is here at all (memsvc.recall_confidence).
-- met: how many candidates there were, by which arms, and the traits. weights: what each factor counted. All three are
-- the same in every row. What the same person said in the same words (memsvc.said_again) comes once, at the place of the
-- best: times, last_said: how often among the candidates, and when last; others: the rest of them, the latest first.
CREATE OR REPLACE FUNCTION memsvc.recall(
  p_user_id uuid, p_query text, p_limit integer, p_scope memsvc.scope DEFAULT memsvc.scope(),
  p_question memsvc.question DEFAULT memsvc.question(), p_weights jsonb DEFAULT '{}', p_candidates integer DEFAULT 48,
  p_learnt jsonb DEFAULT NULL
) RETURNS TABLE (
  memory_id uuid, kind text, rank bigint, score double precision, arms jsonb, factors jsonb, path text[],
  matched text[], confidence double precision, met jsonb, weights jsonb, times bigint, last_said timestamptz,
  others uuid[]
)
LANGUAGE sql STABLE
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH memory AS MATERIALIZED (
    SELECT m.* FROM memsvc.recall_memories(
      p_user_id, p_query, least(p_limit, p_candidates), p_candidates, memsvc.checked_weights(p_weights), p_scope,
      p_question
    ) AS m
  ),
  every AS MATERIALIZED (
    SELECT coalesce(array_agg(ROW(m.*)::memsvc.memory), '{}') AS memories FROM memory AS m
  ),
  weight AS MATERIALIZED ( -- a weight of a factor takes long to look up, so not twice
    SELECT t.of_query AS traits, o.of_factors, CASE
        WHEN p_learnt = p_weights THEN o.of_factors
        WHEN p_learnt IS NOT NULL THEN memsvc.weights_of(p_learnt, t.of_query)
      END AS learnt,
      ARRAY(SELECT f.name FROM memsvc.factors() AS f ORDER BY f.nth) AS names
    FROM every AS e
    CROSS JOIN LATERAL memsvc.traits_of(e.memories, p_query) AS t (of_query)
    CROSS JOIN LATERAL (SELECT memsvc.weights_of(p_weights, t.of_query) AS of_factors OFFSET 0) AS o
  ),
  value AS MATERIALIZED (
    SELECT v.memory_id, v.speaks, v.of_factors
    FROM every AS e
    CROSS JOIN LATERAL memsvc.factor_values(
      e.memories, p_query, p_question, coalesce(p_scope.as_of, p_scope.known_at, now())
    ) AS v
  ),
  again AS MATERIALIZED (
    SELECT a.* FROM every AS e CROSS JOIN LATERAL memsvc.said_again(p_user_id, e.memories) AS a
  ),
  best AS MATERIALIZED ( -- by an inner product of pgvector: a sum over rows takes ten times as long
    SELECT o.*
    FROM (
      SELECT v.memory_id, v.of_factors, p.points, a.times, a.last_said, a.ids,
        row_number() OVER (PARTITION BY coalesce(a.ids[1], v.memory_id) ORDER BY p.points, v.memory_id) AS nth
      FROM value AS v
      CROSS JOIN weight AS w
      LEFT JOIN again AS a ON a.memory_id = v.memory_id
      CROSS JOIN LATERAL (
        SELECT v.of_factors::public.vector OPERATOR(public.<#>) w.of_factors::public.vector AS points
      ) AS p
    ) AS o
    WHERE o.nth = 1
    ORDER BY o.points, o.memory_id
    LIMIT p_limit
  ),
  found AS MATERIALIZED (
    SELECT m.*, b.of_factors, b.times, b.last_said, array_remove(b.ids, b.memory_id) AS others, p.score,
      row_number() OVER (ORDER BY p.score DESC, m.memory_id) AS place
    FROM best AS b
    INNER JOIN memory AS m ON m.memory_id = b.memory_id
    CROSS JOIN weight AS w
    CROSS JOIN LATERAL (
      SELECT sum(u.value * u.weight) AS score FROM unnest(b.of_factors, w.of_factors) AS u (value, weight)
    ) AS p
  ),
  named AS MATERIALIZED ( -- those whom the query asks about, and how far they lead, but for that they speak
    SELECT bool_or(v.speaks) AS speaks, CASE WHEN bool_or(v.speaks) THEN coalesce(
        max(p.points) FILTER (WHERE v.speaks) - max(p.points) FILTER (WHERE NOT v.speaks), 1
      ) END AS lead
    FROM value AS v
    CROSS JOIN weight AS w
    CROSS JOIN LATERAL (SELECT array_position(w.names, 'speaker') AS nth) AS f
    CROSS JOIN LATERAL (
      SELECT -(v.of_factors::public.vector OPERATOR(public.<#>) w.learnt::public.vector)
        - v.of_factors[f.nth] * w.learnt[f.nth] AS points
    ) AS p
  ),
  sure AS MATERIALIZED (
    SELECT memsvc.recall_confidence(
      p_user_id, p_query, p_question.language, p_scope.kinds, e.memories, n.speaks, n.lead
    ) AS confidence
    FROM every AS e CROSS JOIN named AS n
  ),
  counted AS MATERIALIZED (
    SELECT memsvc.candidates_told(e.memories, p_question, w.traits) AS met,
      memsvc.told_by_name(w.names, w.of_factors) AS weights
    FROM every AS e CROSS JOIN weight AS w
  ),
  -- Once for all passages: parsing the query takes longer than finding one.
  spoken AS MATERIALIZED (
    SELECT q.form, jsonb_object(
      q.terms, memsvc.words_behind(p_query, q.form, p_question.language, q.terms)
    ) AS words
    FROM (
      SELECT f.matched_form AS form, array_agg(DISTINCT t.term) AS terms
      FROM found AS f CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      GROUP BY f.matched_form
    ) AS q
  )
  SELECT
    f.memory_id, CASE f.kind WHEN 'fact' THEN 'fact' ELSE 'passage' END, f.place, f.score, memsvc.arms_told(
      CASE WHEN f.words > 0 THEN jsonb_build_object(
        'score', round(f.words::numeric, 4), 'rank', f.words_rank, 'form', f.matched_form
      ) END,
      coalesce(f.similarity, f.other_similarity), coalesce(f.vector_rank, f.other_rank),
      CASE WHEN f.similarity IS NULL AND f.other_similarity IS NOT NULL THEN (
        SELECT e.name FROM memsvc.embedding_models AS e WHERE e.model_id = p_question.other_model_id
      ) END,
      f.late, f.late_rank,
      CASE WHEN f.node_id IS NOT NULL THEN jsonb_build_object(
        'node_id', f.node_id, 'score', round(f.reach::numeric, 4), 'distance', f.distance
      ) END,
      f.metres
    ),
    memsvc.told_by_name(w.names, f.of_factors, w.of_factors), f.path,
    memsvc.whole_words(ARRAY(
      SELECT h.words ->> t.term FROM spoken AS h CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      WHERE h.form = f.matched_form
    )),
    (SELECT s.confidence FROM sure AS s), (SELECT c.met FROM counted AS c),
    (SELECT c.weights FROM counted AS c), coalesce(f.times, 1), f.last_said, coalesce(f.others, '{}')
  FROM found AS f CROSS JOIN weight AS w
  ORDER BY f.place;
END;
COMMENT ON FUNCTION memsvc.recall(
  uuid, text, integer, memsvc.scope, memsvc.question, jsonb, integer, jsonb
) IS 'Recall: memories that matter for a query, best first, with what each arm found and each factor gave.';
