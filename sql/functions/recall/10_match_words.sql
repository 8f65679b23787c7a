-- owner: memsvc_recall

-- The word arm: BM25 (Robertson & Zaragoza 2009; Lucene's form of idf; k1 = 1.2, b = 0.75) over one user's passages,
-- with that user's own document frequencies (folded counters plus deltas).
--
-- SECURITY DEFINER, owned by memsvc_recall: `@@` is not leakproof, so under row security its index would not be used.
-- The first line binds the user to the token, and every table carries user_id = p_user_id.
--
-- Passages are matched by few of the query's terms, and those that match are scored on all of them. Looks follow one
-- another until p_enough passages (p_limit when not given) are found:
--   1. the rarest terms, as many as about `budget` passages hold, and each of the next two terms together with one of
--      the three behind it, as long as about `in_pairs` passages should hold such pairs; where all terms hold no more
--      than both, any of them;
--   2. where all terms hold no more than 2,000, any of them, and that is the last look; otherwise, of the common terms
--      that are left, as many at once as should leave p_limit passages;
--   3. the rarest common term alone; then, as where filters leave too little, any term.
-- A look stops at 3,000 passages. Of the exact top 10, more than 99 % are kept at 10,000 passages and 98 % at 100,000,
-- by some 330 passages looked at (without pairs, a budget of 500 keeps 97 and 89 %, of 1,000 99 and 93 %). A passage
-- takes twenty times as long as an entry of the index, for its page is seldom in the processor's cache.
--
-- The planner must not see whom rare words are looked for: it takes a user that its statistics do not know yet for one
-- without passages, and would read all of them (76 ms, not 6, for 30,000 new ones); `(SELECT asker)` hides the value.
-- Term frequency comes from ts_rank: for one lexeme with all weights 1 it is sum(1/i^2, i = 1..tf) / (pi^2/6), which
-- width_bucket turns back into tf. That is three times as fast as unnest(tsv). All numbers are double precision, as
-- numeric ones are slow.
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
  budget CONSTANT integer := 500;
  in_pairs CONSTANT integer := 300;
  walkable CONSTANT integer := 3000;
  most_terms CONSTANT integer := 64; -- each is a bit of found_terms
  -- Middles between sum(1/i^2, i = 1..n) for n = 0, 1, 2, …; beyond 12 BM25 hardly grows.
  steps CONSTANT double precision[] := ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615
  ];
  scale CONSTANT double precision := pi() ^ 2 / 6;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  wanted text[];
  size double precision;
  mean_length double precision;
  known text[];
  weights double precision[];
  needles tsquery[];
  bits bigint[];
  reach double precision;
  rare tsquery;
  every tsquery;
  common tsquery[];
  holders double precision[]; -- passages that hold each of the common ones
  expected double precision := 0;
  walked double precision; -- entries of the index that the first look goes through
  few boolean;
  partners tsquery;
  first tsquery;
  several tsquery;
  needle tsquery;
  used_form text := p_form;
  found_ids uuid[] := '{}';
  found_scores double precision[] := '{}';
  found_terms bigint[] := '{}';
BEGIN
  wanted := tsvector_to_array(memsvc.to_words(used_form, p_language, p_query));
  IF used_form = 'stemmed' AND wanted = '{}' THEN
    -- Only stop words ("to be or not to be"): the simple form has them.
    used_form := 'simple';
    wanted := tsvector_to_array(memsvc.to_words(used_form, p_language, p_query));
  END IF;

  SELECT sum(c.passages), sum(c.length) / nullif(sum(c.passages), 0) INTO size, mean_length
  FROM (
    SELECT passages, length FROM corpora WHERE user_id = asker AND kind = ANY (p_scope.kinds) AND form = used_form
    UNION ALL
    SELECT passages, length FROM term_deltas WHERE user_id = asker AND kind = ANY (p_scope.kinds) AND form = used_form
  ) AS c;

  WITH counted AS (
    SELECT t.term, t.passages FROM terms AS t
    WHERE t.user_id = asker AND t.kind = ANY (p_scope.kinds) AND t.form = used_form AND t.term = ANY (wanted)
    UNION ALL
    SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
    WHERE d.user_id = asker AND d.kind = ANY (p_scope.kinds) AND d.form = used_form AND d.terms && wanted
      AND u.term = ANY (wanted)
  ),
  rarest AS (
    SELECT c.term, sum(c.passages)::double precision AS passages FROM counted AS c
    GROUP BY c.term HAVING sum(c.passages) > 0
    ORDER BY passages, c.term LIMIT most_terms
  ),
  weighed AS (
    SELECT r.term, r.passages, memsvc.as_tsquery(r.term) AS needle,
      ln(1 + greatest(0, size - r.passages + 0.5) / (r.passages + 0.5)) AS weight,
      row_number() OVER byrarity AS rank, sum(r.passages) OVER byrarity AS reach
    FROM rarest AS r
    WINDOW byrarity AS (ORDER BY r.passages, r.term)
  )
  SELECT
    array_agg(w.term ORDER BY w.rank), array_agg(w.weight ORDER BY w.rank), array_agg(w.needle ORDER BY w.rank),
    array_agg(1::bigint << (w.rank - 1)::integer ORDER BY w.rank),
    max(w.reach), coalesce(max(w.reach) FILTER (WHERE w.reach <= budget), 0),
    string_agg(w.needle::text, ' | ') FILTER (WHERE w.reach <= budget)::tsquery,
    string_agg(w.needle::text, ' | ')::tsquery,
    array_agg(w.needle ORDER BY w.rank) FILTER (WHERE w.reach > budget),
    array_agg(w.passages ORDER BY w.rank) FILTER (WHERE w.reach > budget)
  INTO known, weights, needles, bits, reach, walked, rare, every, common, holders
  FROM weighed AS w;

  IF known IS NULL THEN
    RETURN;
  END IF;

  few := reach <= budget + in_pairs;
  first := CASE WHEN few THEN every ELSE rare END;
  FOR i IN 1..CASE WHEN few THEN 0 ELSE 2 END LOOP
    walked := walked + holders[i];
    EXIT WHEN walked > walkable;
    partners := NULL;
    FOR j IN i + 1..least(i + 3, cardinality(common)) LOOP
      expected := expected + holders[i] * holders[j] / size;
      EXIT WHEN expected > in_pairs;
      partners := coalesce(partners || common[j], common[j]);
    END LOOP;
    EXIT WHEN partners IS NULL;
    first := coalesce(first || (common[i] && partners), common[i] && partners);
  END LOOP;

  IF cardinality(common) > 1 THEN
    several := common[1];
    expected := holders[1];
    FOR i IN 2..cardinality(common) LOOP
      expected := expected * holders[i] / size;
      EXIT WHEN expected < p_limit;
      several := several && common[i];
    END LOOP;
    IF several = common[1] OR several = first THEN
      several := NULL; -- that look comes anyway
    END IF;
  END IF;

  FOREACH needle IN ARRAY CASE
    WHEN reach <= 2000 THEN ARRAY[first, every]
    ELSE ARRAY[first, several, common[1], every]
  END LOOP
    CONTINUE WHEN needle IS NULL;
    IF needle IS DISTINCT FROM first THEN
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
      WHERE p.user_id = CASE WHEN rare IS NULL THEN asker ELSE (SELECT asker) END
        AND (
          p.tsv @@ CASE used_form WHEN 'stemmed' THEN needle END
          OR p.tsv_simple @@ CASE used_form WHEN 'simple' THEN needle END
        )
        AND p.passage_id <> ALL (found_ids)
        AND memsvc.in_scope(p_scope, p)
      -- As walkable: the first look ends by itself. Of a limit that it does not see, the planner takes a tenth of the
      -- rows to be asked.
      LIMIT 3000
    ),
    scored AS (
      SELECT c.passage_id, bit_or(q.bit) AS terms,
        -- tf / (tf + norm), so written that tf stands there once
        sum(q.weight * (1 - c.norm / (c.norm + width_bucket(c.rank * scale, steps)))) AS score
      FROM unnest(weights, needles, bits) AS q (weight, needle, bit)
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
    EXIT WHEN cardinality(found_ids) >= coalesce(p_enough, p_limit) OR needle = every;
  END LOOP;
  PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);

  RETURN QUERY
  SELECT f.passage_id, f.score,
    ARRAY(SELECT q.term FROM unnest(known, bits) AS q (term, bit) WHERE q.bit & f.terms <> 0), used_form
  FROM unnest(found_ids, found_scores, found_terms) AS f (passage_id, score, terms)
  ORDER BY f.score DESC, f.passage_id;
END
$$;
COMMENT ON FUNCTION memsvc.match_words(
  uuid, text, integer, text, text, memsvc.scope, integer
) IS 'The word arm: BM25 over one user''s passages, best first.';
