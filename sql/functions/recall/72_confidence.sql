-- How likely it is that the answer is among what was found, 0 to 1; null without token vectors. p_cosine: the best
-- cosine; p_late: the mean of the best three MaxSims; p_mine: the query says "I", and the user speaks; else p_lead: by
-- how many points of the learnt order the best message of those whom the query names leads the best of all others, but
-- for the points that it has for its speaker (1 where nobody else speaks or nothing was learnt, so that it counts for
-- nothing; null: it names nobody who speaks here); p_told: a fact holds the words of the query. A logistic function of what make bench-confidence fits, for the
-- default embedding model (docs/adr/0036-confidence.md). Saying "I" counts only where something is near. A fact that
-- tells it is above the threshold, whatever the messages are.
CREATE OR REPLACE FUNCTION memsvc.confidence(
  p_cosine double precision, p_late double precision, p_mine boolean, p_lead double precision, p_told boolean
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_late IS NOT NULL THEN greatest(CASE WHEN p_told THEN 0.2 END, 1 / (1 + exp(-(
  -4.5
  + 4 * coalesce(p_cosine, 0)
  + 3.75 * p_late
  + CASE
    WHEN p_mine THEN 2 * greatest(0, least(1, (p_cosine - 0.35) / 0.1))
    WHEN p_lead IS NOT NULL THEN -0.8 + 0.8 * greatest(-1.5, least(1.5, p_lead))
    ELSE 0
  END
)))) END;
COMMENT ON FUNCTION memsvc.confidence(double precision, double precision, boolean, double precision, boolean) IS
  'How likely it is that the answer is among what was found, 0 to 1.';

-- Whether a memory holds the words of a query that are rare: all that at most 3 of a user's passages of the kinds asked
-- for hold (of a large memory one in 200, 10 at most), those that none holds too, so that one word alone tells nothing
-- where others are missing. A code tells by itself: a number with letters, of five digits, of four after a hyphen, or
-- with a decimal point. A question that was asked before, in the same words, is no answer to itself.
CREATE OR REPLACE FUNCTION memsvc.holds_rare_words(
  p_user_id uuid, p_query text, p_language text, p_kinds text[], p_memories memsvc.memory[]
) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept, by-key
BEGIN ATOMIC
  WITH memory AS MATERIALIZED (
    SELECT m.memory_id, m.matched_terms, m.matched_form FROM unnest(p_memories) AS m WHERE m.words > 0
  ),
  asked AS MATERIALIZED (
    SELECT f.matched_form AS form, tsvector_to_array(memsvc.to_words(f.matched_form, p_language, p_query)) AS terms
    FROM (SELECT m.matched_form FROM memory AS m LIMIT 1) AS f
  ),
  held AS MATERIALIZED (
    SELECT c.term, sum(c.passages) AS passages
    FROM (
      SELECT t.term, t.passages
      FROM memsvc.terms AS t
      WHERE t.user_id = p_user_id AND t.kind = ANY (p_kinds)
        AND t.form = (SELECT a.form FROM asked AS a) AND t.term = ANY (ARRAY(SELECT unnest(a.terms) FROM asked AS a))
      UNION ALL
      SELECT u.term, u.change
      FROM memsvc.term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
      WHERE d.user_id = p_user_id AND d.kind = ANY (p_kinds) AND d.form = (SELECT a.form FROM asked AS a)
        AND u.term = ANY (ARRAY(SELECT unnest(a.terms) FROM asked AS a))
    ) AS c
    GROUP BY c.term
  ),
  size AS MATERIALIZED (
    SELECT sum(c.passages) AS passages
    FROM (
      SELECT o.passages FROM memsvc.corpora AS o
      WHERE o.user_id = p_user_id AND o.kind = ANY (p_kinds) AND o.form = (SELECT a.form FROM asked AS a)
      UNION ALL
      SELECT d.passages FROM memsvc.term_deltas AS d
      WHERE d.user_id = p_user_id AND d.kind = ANY (p_kinds) AND d.form = (SELECT a.form FROM asked AS a)
    ) AS c
  ),
  rare AS MATERIALIZED (
    SELECT array_agg(w.term) AS terms, coalesce(array_agg(w.term) FILTER (
      WHERE w.passages > 0
        AND (w.term ~ '[0-9]' AND w.term ~ '[[:alpha:]]' AND length(w.term) > 3 OR w.term ~ '[0-9]{5}|^-[0-9]{4}|^#[0-9]+[.][0-9]')
    ), '{}') AS codes
    FROM (
      SELECT t.term, coalesce(h.passages, 0) AS passages
      FROM asked AS a CROSS JOIN LATERAL unnest(a.terms) AS t (term)
      LEFT JOIN held AS h ON h.term = t.term
    ) AS w
    WHERE w.passages <= (SELECT least(10, greatest(3, s.passages / 200)) FROM size AS s)
  )
  SELECT EXISTS (
    SELECT FROM memory AS m CROSS JOIN rare AS r
    WHERE (m.matched_terms @> r.terms OR m.matched_terms && r.codes)
      AND NOT (p_query ~ '[?？؟]' AND EXISTS (
        SELECT FROM memsvc.passages AS p
        WHERE p.user_id = p_user_id AND p.passage_id = m.memory_id
          AND memsvc.plain_words(p.text) = memsvc.plain_words(p_query)
      ))
  );
END;
COMMENT ON FUNCTION memsvc.holds_rare_words(uuid, text, text, text[], memsvc.memory[]) IS
  'Whether one of the memories that were found holds the words of a query that are rare.';

-- How likely it is that the answer to a query is here at all; null where nothing has token vectors. A fact tells it
-- that holds more than half of the query's words, or half of them and is about what the query names; so does any memory
-- that holds its rare words, which is looked up only where nothing else is sure. A question that was asked before, in
-- the same words, is no answer to itself. p_kinds: of passages that may be recalled; p_speaks, p_lead: whether those
-- speak whom the query asks about, and by how much they lead (memsvc.confidence).
CREATE OR REPLACE FUNCTION memsvc.recall_confidence(
  p_user_id uuid, p_query text, p_language text, p_kinds text[], p_memories memsvc.memory[], p_speaks boolean,
  p_lead double precision
) RETURNS double precision
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop
BEGIN ATOMIC
  WITH memory AS MATERIALIZED (
    SELECT m.* FROM unnest(p_memories) AS m
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
  )
  SELECT CASE
    WHEN s.sure < 0.2 AND memsvc.holds_rare_words(p_user_id, p_query, p_language, p_kinds, p_memories) THEN 0.2
    ELSE s.sure
  END
  FROM (SELECT memsvc.confidence(
    max(h.similarity), avg(h.late) FILTER (WHERE h.rank <= 3), p_speaks AND (SELECT memsvc.says_i(p_query)), p_lead,
    (SELECT t.told FROM telling AS t)
  )
  FROM (
    SELECT c.late, c.similarity, row_number() OVER (ORDER BY c.late DESC) AS rank
    FROM (
      SELECT CASE WHEN e.again THEN 0 ELSE m.late END AS late,
        CASE WHEN e.again THEN 0 ELSE coalesce(m.similarity, m.other_similarity) END AS similarity
      FROM memory AS m
      CROSS JOIN LATERAL (SELECT CASE WHEN m.late > 0.8 AND p_query ~ '[?？؟]' THEN (
        SELECT memsvc.plain_words(p.text) = memsvc.plain_words(p_query) FROM memsvc.passages AS p
        WHERE p.user_id = p_user_id AND p.passage_id = m.memory_id
      ) END AS again) AS e
      WHERE m.late IS NOT NULL
    ) AS c
  ) AS h) AS s (sure);
END;
COMMENT ON FUNCTION memsvc.recall_confidence(uuid, text, text, text[], memsvc.memory[], boolean, double precision) IS
  'How likely it is that the answer to a query is among its candidates.';
