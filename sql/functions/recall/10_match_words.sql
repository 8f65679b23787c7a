-- owner: memsvc_recall

-- The word arm: BM25 (Robertson & Zaragoza 2009; Lucene's form of idf; k1 = 1.2, b = 0.75) over one user's passages,
-- with that user's own document frequencies (folded counters plus deltas). All numbers are double precision, as numeric
-- ones are slow.

-- The terms of a query that the user's passages of some kinds hold, rarest first, 64 at most, for each is a bit in
-- memsvc.match_words: how many passages hold each, and its idf. size and mean_length: of these passages. form: simple
-- where the query has stop words alone ("to be or not to be"). Where nothing is held, terms is null. The caller has
-- bound the user.
CREATE OR REPLACE FUNCTION memsvc.query_terms(
  p_user_id uuid, p_query text, p_form text, p_language text, p_kinds text[],
  OUT form text, OUT size double precision, OUT mean_length double precision, OUT terms text[],
  OUT needles tsquery[], OUT holders double precision[], OUT weights double precision[]
)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, public, pg_temp
-- callers: recall
-- plans: by-key
AS $$
DECLARE
  most_terms CONSTANT integer := 64;
  wanted text[] := tsvector_to_array(memsvc.to_words(p_form, p_language, p_query));
BEGIN
  form := p_form;
  IF form = 'stemmed' AND wanted = '{}' THEN
    form := 'simple';
    wanted := tsvector_to_array(memsvc.to_words(form, p_language, p_query));
  END IF;
  SELECT sum(c.passages), sum(c.length) / nullif(sum(c.passages), 0) INTO size, mean_length
  FROM (
    SELECT s.passages, s.length FROM corpora AS s
    WHERE s.user_id = p_user_id AND s.kind = ANY (p_kinds) AND s.form = query_terms.form
    UNION ALL
    SELECT d.passages, d.length FROM term_deltas AS d
    WHERE d.user_id = p_user_id AND d.kind = ANY (p_kinds) AND d.form = query_terms.form
  ) AS c;
  WITH counted AS (
    SELECT t.term, t.passages FROM terms AS t
    WHERE t.user_id = p_user_id AND t.kind = ANY (p_kinds) AND t.form = query_terms.form AND t.term = ANY (wanted)
    UNION ALL
    SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
    WHERE d.user_id = p_user_id AND d.kind = ANY (p_kinds) AND d.form = query_terms.form AND d.terms && wanted
      AND u.term = ANY (wanted)
  ),
  rarest AS (
    SELECT c.term, sum(c.passages)::double precision AS passages FROM counted AS c
    GROUP BY c.term HAVING sum(c.passages) > 0
    ORDER BY passages, c.term LIMIT most_terms
  )
  SELECT array_agg(r.term ORDER BY r.passages, r.term), array_agg(memsvc.as_tsquery(r.term) ORDER BY r.passages, r.term),
    array_agg(r.passages ORDER BY r.passages, r.term),
    array_agg(ln(1 + greatest(0, size - r.passages + 0.5) / (r.passages + 0.5)) ORDER BY r.passages, r.term)
  INTO terms, needles, holders, weights
  FROM rarest AS r;
END
$$;
COMMENT ON FUNCTION memsvc.query_terms(uuid, text, text, text, text[]) IS
  'The terms of a query that a user''s passages hold, rarest first, with what BM25 needs.';

-- How passages are looked for: p_needles, rarest first, each held by p_holders of p_size passages. Looks follow one
-- another until enough passages are found:
--   1. the rarest terms, as many as about `budget` passages hold, and each of the next two terms together with one of
--      the three behind it, as long as about `in_pairs` passages should hold such pairs; where all terms hold no more
--      than both, any of them;
--   2. where all terms hold no more than 2,000, any of them, and that is the last look; otherwise, of the common terms
--      that are left, as many at once as should leave p_limit passages;
--   3. the rarest common term alone; then, as where filters leave too little, any term.
-- Of the exact top 10, more than 99 % are kept at 10,000 passages and 98 % at 100,000, by some 330 passages looked at
-- (without pairs, a budget of 500 keeps 97 and 89 %, of 1,000 99 and 93 %). A passage takes twenty times as long as an
-- entry of the index, for its page is seldom in the processor's cache. is_rare: the first look asks for rare terms;
-- is_planned: it asks for common words alone, and needs a plan of its own.
CREATE OR REPLACE FUNCTION memsvc.word_looks(
  p_needles tsquery[], p_holders double precision[], p_size double precision, p_limit integer,
  OUT looks tsquery[], OUT is_rare boolean, OUT is_planned boolean
)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = memsvc, public, pg_temp
-- callers: recall
AS $$
DECLARE
  budget CONSTANT integer := 500;
  in_pairs CONSTANT integer := 300;
  walkable CONSTANT integer := 3000; -- entries of the index that the first look may go through
  held double precision := 0; -- passages, by the terms so far
  walked double precision := 0;
  expected double precision := 0;
  rare integer := 0;
  any_term tsquery;
  first tsquery;
  partners tsquery;
  several tsquery;
BEGIN
  FOR i IN 1..cardinality(p_needles) LOOP
    any_term := coalesce(any_term || p_needles[i], p_needles[i]);
    held := held + p_holders[i];
    IF held <= budget THEN
      rare := i;
      walked := held;
      first := any_term;
    END IF;
  END LOOP;
  is_rare := rare > 0;
  is_planned := false;
  IF held <= budget + in_pairs THEN
    looks := ARRAY[any_term];
    RETURN;
  END IF;

  FOR i IN rare + 1..rare + 2 LOOP
    walked := walked + p_holders[i];
    EXIT WHEN walked > walkable IS NOT FALSE;
    partners := NULL;
    FOR j IN i + 1..least(i + 3, cardinality(p_needles)) LOOP
      expected := expected + p_holders[i] * p_holders[j] / p_size;
      EXIT WHEN expected > in_pairs;
      partners := coalesce(partners || p_needles[j], p_needles[j]);
    END LOOP;
    EXIT WHEN partners IS NULL;
    first := coalesce(first || (p_needles[i] && partners), p_needles[i] && partners);
  END LOOP;

  several := p_needles[rare + 1];
  expected := p_holders[rare + 1];
  FOR i IN rare + 2..cardinality(p_needles) LOOP
    expected := expected * p_holders[i] / p_size;
    EXIT WHEN expected < p_limit;
    several := several && p_needles[i];
  END LOOP;
  IF several = p_needles[rare + 1] OR several = first THEN
    several := NULL; -- that look comes anyway
  END IF;
  is_planned := first IS NULL;
  looks := array_remove(CASE
    WHEN held <= 2000 THEN ARRAY[first, any_term] ELSE ARRAY[first, several, p_needles[rare + 1], any_term]
  END, NULL);
END
$$;
COMMENT ON FUNCTION memsvc.word_looks(tsquery[], double precision[], double precision, integer) IS
  'How passages that hold terms are looked for: one look after another until enough are found.';

-- Passages are matched by few of the query's terms (memsvc.word_looks), and those that match are scored on all of them.
-- Looks follow one another until p_enough passages (p_limit when not given) are found. A look stops at 3,000 passages.
--
-- SECURITY DEFINER, owned by memsvc_recall: `@@` is not leakproof, so under row security its index would not be used.
-- The first line binds the user to the token, and every table carries user_id = p_user_id.
--
-- The planner must not see whom rare words are looked for: it takes a user that its statistics do not know yet for one
-- without passages, and would read all of them (76 ms, not 6, for 30,000 new ones); `(SELECT asker)` hides the value.
-- Term frequency comes from ts_rank: for one lexeme with all weights 1 it is sum(1/i^2, i = 1..tf) / (pi^2/6), which
-- width_bucket turns back into tf. That is three times as fast as unnest(tsv).
CREATE OR REPLACE FUNCTION memsvc.match_words(
  p_user_id uuid,
  p_query text,
  p_limit integer,
  p_form text DEFAULT 'stemmed',
  p_language text DEFAULT 'english',
  p_scope memsvc.scope DEFAULT memsvc.scope(),
  p_enough integer DEFAULT NULL
) RETURNS TABLE (matched_id uuid, score double precision, matched_terms text[], matched_form text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
ROWS 10 -- with the default of 1,000, recall() reads all of a user's passages to join these
SET search_path = memsvc, public, pg_temp
-- callers: app, reader
-- plans: by-key; planning took half of a small user's time, and a common word would have everybody's rows read
AS $$
DECLARE
  -- Middles between sum(1/i^2, i = 1..n) for n = 0, 1, 2, …; beyond 12 BM25 hardly grows.
  steps CONSTANT double precision[] := ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615
  ];
  scale CONSTANT double precision := pi() ^ 2 / 6;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  asked record;
  used_form text;
  mean_length double precision;
  bits bigint[];
  plan record;
  needle tsquery;
  last_look tsquery;
  found_ids uuid[] := '{}';
  found_scores double precision[] := '{}';
  found_terms bigint[] := '{}';
BEGIN
  asked := memsvc.query_terms(asker, p_query, p_form, p_language, p_scope.kinds);
  IF asked.terms IS NULL THEN
    RETURN;
  END IF;
  used_form := asked.form;
  mean_length := asked.mean_length;
  bits := ARRAY(SELECT 1::bigint << g.bit FROM generate_series(0, cardinality(asked.terms) - 1) AS g (bit));
  plan := memsvc.word_looks(asked.needles, asked.holders, asked.size, p_limit);
  last_look := plan.looks[cardinality(plan.looks)];
  FOREACH needle IN ARRAY plan.looks LOOP
    IF plan.is_planned OR needle IS DISTINCT FROM plan.looks[1] THEN
      -- How common words are best looked for depends on them and on the user. Planning takes a tenth of the arm's time.
      PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
    END IF;
    WITH candidate AS MATERIALIZED (
      SELECT p.passage_id, w.words, 1.2 * (0.25 + 0.75 * w.length) AS norm
      FROM passages AS p
      CROSS JOIN LATERAL (
        SELECT
          CASE used_form WHEN 'simple' THEN p.tsv_simple ELSE p.tsv END AS words,
          CASE used_form WHEN 'simple' THEN p.length_simple ELSE p.length END / mean_length AS length
      ) AS w
      WHERE p.user_id = CASE WHEN plan.is_rare THEN (SELECT asker) ELSE asker END
        AND (
          p.tsv @@ CASE used_form WHEN 'stemmed' THEN needle END
          OR p.tsv_simple @@ CASE used_form WHEN 'simple' THEN needle END
        )
        AND p.passage_id <> ALL (found_ids)
        AND memsvc.in_scope(p_scope, p)
      -- The first look ends by itself. Of a limit that it does not see, the planner takes a tenth of the rows to be
      -- asked.
      LIMIT 3000
    ),
    scored AS (
      SELECT c.passage_id, bit_or(q.bit) AS terms,
        -- tf / (tf + norm), so written that tf stands there once
        sum(q.weight * (1 - c.norm / (c.norm + width_bucket(c.rank * scale, steps)))) AS score
      FROM unnest(asked.weights, asked.needles, bits) AS q (weight, needle, bit)
      CROSS JOIN LATERAL ( -- by itself: term by term is faster than passage by passage, whatever is estimated
        SELECT d.passage_id, d.norm, ts_rank('{1,1,1,1}', d.words, q.needle) AS rank FROM candidate AS d OFFSET 0
      ) AS c
      WHERE c.rank > 0
      GROUP BY c.passage_id
      UNION ALL
      -- What was found before is scored on all terms already: this look may stop before it meets them.
      SELECT f.passage_id, f.terms, f.score
      FROM unnest(found_ids, found_terms, found_scores) AS f (passage_id, terms, score)
    ),
    best AS (
      SELECT s.passage_id, s.score, s.terms FROM scored AS s ORDER BY s.score DESC, s.passage_id LIMIT p_limit
    )
    SELECT
      coalesce(array_agg(b.passage_id), '{}'), coalesce(array_agg(b.score), '{}'), coalesce(array_agg(b.terms), '{}')
    INTO found_ids, found_scores, found_terms
    FROM best AS b;
    EXIT WHEN cardinality(found_ids) >= coalesce(p_enough, p_limit) OR needle = last_look;
  END LOOP;
  PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);

  RETURN QUERY
  SELECT f.passage_id, f.score,
    ARRAY(SELECT q.term FROM unnest(asked.terms, bits) AS q (term, bit) WHERE q.bit & f.terms <> 0), used_form
  FROM unnest(found_ids, found_scores, found_terms) AS f (passage_id, score, terms)
  ORDER BY f.score DESC, f.passage_id;
END
$$;
COMMENT ON FUNCTION memsvc.match_words(
  uuid, text, integer, text, text, memsvc.scope, integer
) IS 'The word arm: BM25 over one user''s passages, best first.';
