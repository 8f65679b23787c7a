-- owner: memsvc_recall

-- The word arm for facts: BM25 over the sentences of one user's facts, as known at a time and true at another. Length
-- and document frequencies are those of the user's messages (match_words has the formula), so that scores of facts and
-- of messages compare; a word that no message holds has a frequency of 0.
--
-- SECURITY DEFINER, owned by memsvc_recall, as match_words is, and for the same reason.
--
-- How many facts hold a word is counted nowhere, so the newest `sample` of them say which words are common. Of a user
-- with fewer all are compared. Else the rarest words are looked up in the index one after the other, as many as about
-- one fact in fifty should hold; a word that many messages hold counts as common, too. Of each word some facts are
-- taken, so that one which is commoner than it seemed does not crowd out the others. Where that leaves too few, facts
-- with any of the words come from the newest `walk` ones, where common words are met soon: p_limit where there is one
-- common word, for nothing else tells its facts apart; as many as the sample where some may have several. Where none of
-- the sample has one of the words that were not looked up, they are not met soon, so the index is asked first whether
-- any fact has one (0.1 ms, where a walk in vain takes 1). Where none of the sample has any word at all, that is asked
-- at once: a question about what no fact speaks of is done then. Where the newest facts may not count, since others
-- held at another time or come from some sources, the walk is longer.
--
-- p_versions: facts that the caller has read; their words (p_texts, p_lengths) are compared, too, and all that have any
-- are given.
CREATE OR REPLACE FUNCTION memsvc.match_fact_words(
  p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_texts tsvector[], p_lengths integer[],
  p_limit integer, p_scope memsvc.scope
) RETURNS TABLE (version_id uuid, score double precision, matched_terms text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
ROWS 50
SET search_path = memsvc, public, pg_temp
-- callers: app, reader
-- plans: by-key, no-parallel
AS $$
#variable_conflict use_column
DECLARE
  sample CONSTANT integer := 200;
  each CONSTANT integer := greatest(300, p_limit);
  budget CONSTANT integer := 2 * each;
  most_terms CONSTANT integer := 16;
  share CONSTANT double precision := 0.02; -- of all facts, may be read from the index
  usual_length CONSTANT double precision := 10; -- where there are no messages
  -- As in match_words.
  steps CONSTANT double precision[] := ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615
  ];
  scale CONSTANT double precision := pi() ^ 2 / 6;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  moment CONSTANT timestamptz := coalesce(p_scope.as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_scope.known_at, clock_timestamp());
  filtered CONSTANT boolean := memsvc.asks_of_messages(p_scope);
  walk CONSTANT integer := CASE WHEN filtered OR p_scope.as_of IS NOT NULL THEN 5000 ELSE 2000 END;
  wanted text[] := tsvector_to_array(memsvc.to_words('stemmed', p_language, p_query));
  seen integer;
  sampled tsvector[]; -- those that have any of the words
  size double precision;
  mean_length double precision;
  terms text[];
  weights double precision[];
  needles tsquery[];
  every tsquery; -- any of the terms
  rare tsquery[];
  common tsquery; -- any of the terms that are not rare
  several boolean; -- there are two of these or more
  soon boolean; -- one of them is met in the sample
  ids uuid[] := '{}';
  texts tsvector[] := '{}';
  lengths integer[] := '{}';
  walks boolean;
  met tsquery; -- what a walk looks for
  more record;
BEGIN
  IF wanted = '{}' THEN
    RETURN;
  END IF;
  needles := ARRAY(SELECT memsvc.as_tsquery(w.term) FROM unnest(wanted) AS w (term));
  -- By its text: put together word by word, it would be copied for each, and a query may be a whole document.
  every := (SELECT string_agg(n.needle::text, ' | ')::tsquery FROM unnest(needles) AS n (needle));
  SELECT count(*), array_agg(n.tsv) FILTER (WHERE n.tsv @@ every) INTO seen, sampled
  FROM (
    SELECT v.tsv FROM edge_versions AS v WHERE v.user_id = asker ORDER BY v.recorded_from DESC LIMIT sample
  ) AS n;
  IF sampled IS NULL THEN
    IF seen < sample THEN
      RETURN;
    END IF;
    IF p_versions = '{}' THEN
      PERFORM FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ every LIMIT 1;
      IF NOT FOUND THEN
        RETURN;
      END IF;
    END IF;
  END IF;

  SELECT coalesce(sum(c.passages), 0), coalesce(sum(c.length) / nullif(sum(c.passages), 0), usual_length)
  INTO size, mean_length
  FROM (
    SELECT passages, length FROM corpora WHERE user_id = asker AND kind = 'message' AND form = 'stemmed'
    UNION ALL
    SELECT passages, length FROM term_deltas WHERE user_id = asker AND kind = 'message' AND form = 'stemmed'
  ) AS c;
  WITH counted AS (
    SELECT c.term, sum(c.passages) AS passages
    FROM (
      SELECT t.term, t.passages FROM terms AS t
      WHERE t.user_id = asker AND t.kind = 'message' AND t.form = 'stemmed' AND t.term = ANY (wanted)
      UNION ALL
      SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
      WHERE d.user_id = asker AND d.kind = 'message' AND d.form = 'stemmed' AND d.terms && wanted
        AND u.term = ANY (wanted)
    ) AS c
    GROUP BY c.term
  ),
  held AS (
    SELECT t.term, count(*) AS facts
    FROM unnest(sampled) AS s (tsv) CROSS JOIN LATERAL unnest(tsvector_to_array(s.tsv)) AS t (term)
    GROUP BY t.term
  ),
  weighed AS (
    SELECT w.term, w.needle, greatest(0, coalesce(c.passages, 0))::double precision AS passages,
      greatest((coalesce(h.facts, 0) + 0.5) / sample, c.passages / nullif(size, 0)) AS part, h.facts > 0 AS recent
    FROM unnest(wanted, needles) AS w (term, needle)
    LEFT JOIN held AS h ON h.term = w.term
    LEFT JOIN counted AS c ON c.term = w.term
    WHERE seen = sample OR h.facts > 0
    ORDER BY passages, w.term LIMIT most_terms
  ),
  placed AS (
    SELECT w.*, ln(1 + greatest(0, size - w.passages + 0.5) / (w.passages + 0.5)) AS weight,
      sum(w.part) OVER (ORDER BY w.part, w.passages, w.term) > share AS common
    FROM weighed AS w
  )
  SELECT array_agg(p.term), array_agg(p.weight), array_agg(p.needle), string_agg(p.needle::text, ' | ')::tsquery,
    array_agg(p.needle ORDER BY p.part, p.passages, p.term) FILTER (WHERE NOT p.common),
    string_agg(p.needle::text, ' | ') FILTER (WHERE p.common)::tsquery, count(*) FILTER (WHERE p.common) > 1,
    bool_or(p.common AND p.recent)
  INTO terms, weights, needles, every, rare, common, several, soon
  FROM placed AS p;

  IF seen = sample AND rare IS NOT NULL THEN
    SELECT coalesce(array_agg(c.version_id), '{}'), coalesce(array_agg(c.tsv), '{}'),
      coalesce(array_agg(c.length), '{}')
    INTO ids, texts, lengths
    FROM (
      SELECT DISTINCT ON (f.version_id) f.* FROM (
        SELECT m.* FROM unnest(rare) AS r (needle)
        CROSS JOIN LATERAL (
          SELECT v.version_id, v.tsv, v.length
          FROM ( -- by itself: only the index of words has this, whatever is estimated
            SELECT e.* FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ r.needle OFFSET 0
          ) AS v
          WHERE v.user_id = asker AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known
            AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
            AND (NOT filtered OR memsvc.fact_in_scope(asker, v.version_id, p_scope))
          LIMIT each
        ) AS m
        LIMIT budget
      ) AS f
      ORDER BY f.version_id
    ) AS c;
  END IF;
  -- Where fewer than p_limit were found, all that have a rare word are: what is still to be met has a common one.
  walks := seen < sample OR (common IS NOT NULL AND cardinality(ids) < p_limit);
  IF walks AND seen = sample AND NOT soon THEN
    walks := EXISTS (SELECT FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ common);
  END IF;
  met := CASE WHEN seen < sample THEN every ELSE common END;
  IF walks THEN
    SELECT array_agg(c.version_id) AS ids, array_agg(c.tsv) AS texts, array_agg(c.length) AS lengths INTO more
    FROM (
      SELECT v.version_id, v.tsv, v.length
      FROM (
        SELECT n.* FROM edge_versions AS n WHERE n.user_id = asker AND n.recorded_from <= known
        ORDER BY n.recorded_from DESC LIMIT walk
      ) AS v
      WHERE v.tsv @@ met AND v.version_id <> ALL (ids) AND v.valid_from <= moment AND v.valid_to > moment
        AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
        AND (NOT filtered OR memsvc.fact_in_scope(asker, v.version_id, p_scope))
      LIMIT CASE WHEN seen < sample OR several THEN greatest(sample, p_limit) ELSE p_limit END
    ) AS c;
    ids := ids || more.ids;
    texts := texts || more.texts;
    lengths := lengths || more.lengths;
  END IF;
  IF p_versions <> '{}' THEN
    SELECT array_agg(v.version_id) AS ids, array_agg(v.tsv) AS texts, array_agg(v.length) AS lengths INTO more
    FROM unnest(p_versions, p_texts, p_lengths) AS v (version_id, tsv, length)
    WHERE v.tsv @@ every AND v.version_id NOT IN (SELECT u.version_id FROM unnest(ids) AS u (version_id));
    ids := ids || more.ids;
    texts := texts || more.texts;
    lengths := lengths || more.lengths;
  END IF;
  IF ids = '{}' THEN
    RETURN;
  END IF;

  RETURN QUERY
  WITH scored AS (
    SELECT c.version_id,
      sum(q.weight * (1 - n.norm / (n.norm + width_bucket(ts_rank('{1,1,1,1}', c.tsv, q.needle) * scale, steps))))
        AS score,
      array_agg(q.term ORDER BY q.weight DESC, q.term) AS held
    FROM unnest(ids, texts, lengths) AS c (version_id, tsv, length)
    CROSS JOIN LATERAL (SELECT 1.2 * (0.25 + 0.75::double precision * c.length / mean_length) AS norm) AS n
    INNER JOIN unnest(terms, weights, needles) AS q (term, weight, needle) ON c.tsv @@ q.needle
    GROUP BY c.version_id
  )
  SELECT s.version_id, s.score, s.held FROM (
    SELECT b.*, row_number() OVER (ORDER BY b.score DESC, b.version_id DESC) AS place FROM scored AS b
  ) AS s
  WHERE s.place <= p_limit OR s.version_id IN (SELECT u.version_id FROM unnest(p_versions) AS u (version_id))
  ORDER BY s.place;
END
$$;
COMMENT ON FUNCTION memsvc.match_fact_words(
  uuid, text, text, uuid[], tsvector[], integer[], integer, memsvc.scope
) IS 'The word arm for facts: BM25 over their sentences, best first; p_versions are scored whatever their place.';
