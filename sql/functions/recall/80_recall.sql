-- Recall: one statement, one round trip. The arms find some hundred candidates at most (recall/70_candidates.sql); what
-- is asked beyond that is asked of those alone, so it costs the same for a user of a thousand passages and of a
-- million.

-- How many standard deviations a value lies above the mean; 0 where all are alike, or there is no value. The spread of
-- what is all alike may be what rounding left of it.
CREATE OR REPLACE FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN coalesce((p_value - p_mean) / CASE WHEN p_spread > 1e-9 THEN p_spread END, 0);
COMMENT ON FUNCTION memsvc.z_score(double precision, double precision, double precision) IS
  'How many standard deviations a value lies above the mean; 0 where all are alike or there is none.';

-- A text's words in small letters, for names: without signs.
CREATE OR REPLACE FUNCTION memsvc.plain_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN array_remove(regexp_split_to_array(lower(p_text), '[^[:alnum:]]+'), '');
COMMENT ON FUNCTION memsvc.plain_words(text) IS 'A text''s words in small letters, without signs.';

-- Whether a query speaks of the one who asks; in a conversation with an assistant that is the user. Not by "US" or "EU"
-- in capitals, nor by signs inside words that mean something else: 私 and 僕 are "I" in Japanese alone, which has kana
-- (in Chinese 私 is "private"), and there not before another sign (私立) or behind 公; 自我 is the self, 我国 a country.
CREATE OR REPLACE FUNCTION memsvc.says_i(p_query text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN p_query ~ '俺|(?<!自)我(?![国國])'
  OR p_query ~ '[ぁ-ヶ]' AND p_query ~ '(?<!公)[私僕](?![\u4E00-\u9FFF])|[私僕][達等]|私自身'
  OR memsvc.plain_words(regexp_replace(p_query, '\m(US|EU)\M', '', 'g')) && (memsvc.first_person_words() || ARRAY[
    'we', 'us', 'our', 'ours', 'wir', 'uns', 'unser', 'unsere', 'mon', 'mes', 'nous', 'mis', 'nosotros'
  ]);
COMMENT ON FUNCTION memsvc.says_i(text) IS 'Whether a query speaks of the one who asks.';

-- The words of a query by which it can name who speaks: the first 64 that mean something ("will" is no Will).
CREATE OR REPLACE FUNCTION memsvc.naming_words(p_query text, p_language text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY(
  SELECT w.word FROM unnest((memsvc.plain_words(p_query))[:64]) AS w (word)
  WHERE memsvc.to_words('stemmed', p_language, w.word) <> ''
);
COMMENT ON FUNCTION memsvc.naming_words(text, text) IS 'The words of a query by which it can name who speaks.';

-- How likely it is that the answer is among what was found, 0 to 1; null without token vectors. p_cosine: the best
-- cosine; p_late: the mean of the best three MaxSims; p_mine: the query says "I", and the user speaks; else p_named and
-- p_others: the best MaxSim of those whom the query names (null: it names nobody who speaks here) and of all others
-- (null: there are none, which counts as 0.3); p_told: a fact holds the words of the query. A logistic function of what
-- make bench-confidence fits, for the default embedding model (docs/adr/0036-confidence.md). Saying "I" counts only
-- where something is near. A fact that tells it is above the threshold, whatever the messages are.
CREATE OR REPLACE FUNCTION memsvc.confidence(
  p_cosine double precision, p_late double precision, p_mine boolean, p_named double precision,
  p_others double precision, p_told boolean
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_late IS NOT NULL THEN greatest(CASE WHEN p_told THEN 0.2 END, 1 / (1 + exp(-(
  -4.08
  + 2.5 * coalesce(p_cosine, 0)
  + 2.7 * p_late
  + CASE
    WHEN p_mine THEN 2 * greatest(0, least(1, (p_cosine - 0.35) / 0.1))
    WHEN p_named IS NOT NULL THEN -0.3 + 7 * greatest(-0.2, least(0.2, p_named - coalesce(p_others, 0.3)))
    ELSE 0
  END
)))) END;
COMMENT ON FUNCTION memsvc.confidence(
  double precision, double precision, boolean, double precision, double precision, boolean
) IS 'How likely it is that the answer is among what was found, 0 to 1.';

-- What each arm and factor counts, where nobody says otherwise. memsvc/recall/options.py has the same numbers, with
-- what they mean; a test compares them.
CREATE OR REPLACE FUNCTION memsvc.default_weights() RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN jsonb '{
  "words": 0.5, "nearby": 0.1, "session": 0.25, "vector": 0.4, "nearby_vector": 0, "session_vector": 0.5, "late": 0.5,
  "names": 0.5, "distance": 0.25, "place": 2, "speaker": 1.25, "time": 1.5, "order": 0, "recency": 0, "importance": 0,
  "strength": 0, "familiarity": 0, "usefulness": 0.3, "kind": 0, "sentiment": 0, "staleness": 0.5
}';
COMMENT ON FUNCTION memsvc.default_weights() IS 'What each arm and factor of recall counts by default.';

-- The read path: memories for a query, best first, with what each arm found and the points that each factor gave. What
-- they are is shown by memsvc.memories_shown.
--
-- Relevance is a sum of scores, each standardised over the candidates (z-score): of a passage's own words and vector,
-- of the messages before and after it, and of the best of its session. A passage that is not among the best by words
-- counts as 0 there; what has no vector yet, and facts where they have nothing to compare, count as average. Cosines
-- of two models cannot be compared, so the leaving one's are standardised among themselves. Neighbours count where they
-- are candidates themselves: taking in all of them found no more.
--
-- Late interaction (MaxSim) comes last, for passages among the best p_late; what stands behind these stays behind. The
-- same scores tell how likely it is that the answer is here at all (memsvc.confidence, in every row; null where there
-- are no token vectors). A fact tells it that holds more than half of the query's words, or half of them and is about
-- what the query names; a question that was asked before, in the same words, is no answer to itself.
--
-- p_weights: other weights than the default ones, by name. p_nodes: what the query names (memsvc.names_in_query).
-- p_order: first or last, where the query asks for that. p_near: only what speaks of one of these nodes, as they are
-- stored (null: anything); what does is found as if the query named it two steps away. p_except: not these; given only
-- by processes of the version before, for pages. met: how many candidates there were, and by which arms.
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
  p_candidates integer DEFAULT 64,
  p_late integer DEFAULT 30,
  p_except uuid[] DEFAULT '{}',
  p_near uuid[] DEFAULT NULL
) RETURNS TABLE (
  memory_id uuid, kind text, rank bigint, score double precision, arms jsonb, factors jsonb, path text[],
  matched text[], confidence double precision, met jsonb
)
LANGUAGE sql STABLE
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT w.*, coalesce(p_as_of, p_known_at, now()) AS moment
    FROM jsonb_to_record(memsvc.default_weights() || p_weights) AS w (
      words double precision, nearby double precision, session double precision, vector double precision,
      nearby_vector double precision, session_vector double precision, late double precision, names double precision,
      distance double precision, place double precision, speaker double precision, "time" double precision,
      "order" double precision, recency double precision, importance double precision, strength double precision,
      familiarity double precision, usefulness double precision, sentiment double precision, kind double precision,
      staleness double precision
    )
  ),
  beside AS MATERIALIZED (
    SELECT b.* FROM memsvc.nodes_beside(p_user_id, p_nodes, 1000, 20, p_as_of, p_known_at) AS b
    WHERE p_nodes <> '{}' AND p_hops > 0 AND memsvc.says_near(p_query) AND (SELECT a.place > 0 FROM asked AS a)
  ),
  reached AS MATERIALIZED ( -- what lies beside is that, even where facts lead to it, too
    SELECT e.*, NULL::double precision AS metres
    FROM memsvc.expand_names(p_user_id, p_nodes, p_hops, 10, p_as_of, p_known_at) AS e
    WHERE p_nodes <> '{}' AND e.node_id NOT IN (SELECT b.node_id FROM beside AS b)
    UNION ALL SELECT b.* FROM beside AS b
  ),
  goal AS MATERIALIZED (
    SELECT array_agg(r.node_id) FILTER (WHERE r.node_id IS NOT NULL) || n.nodes AS nodes,
      array_agg(r.reach) FILTER (WHERE r.node_id IS NOT NULL) || n.reach AS reach,
      array_agg(r.distance) FILTER (WHERE r.node_id IS NOT NULL) || n.distances AS distances
    FROM (
      SELECT coalesce(p_near, '{}') AS nodes,
        array_fill(1::double precision, ARRAY[coalesce(cardinality(p_near), 0)]) AS reach,
        array_fill(2, ARRAY[coalesce(cardinality(p_near), 0)]) AS distances
    ) AS n
    LEFT JOIN reached AS r ON true
    GROUP BY n.nodes, n.reach, n.distances
  ),
  about AS MATERIALIZED (
    SELECT n.* FROM goal AS g CROSS JOIN LATERAL memsvc.match_nodes(
      p_user_id, p_query, p_language, g.nodes, g.reach, g.distances, p_candidates, p_kinds, p_facts, p_sources,
      p_not_sources, p_said_from, p_said_to, p_as_of, p_known_at
    ) AS n
  ),
  mentioned AS MATERIALIZED (
    SELECT array_agg(a.memory_id) AS passages, array_agg(a.node_id) AS nodes, array_agg(a.reach) AS reach,
      array_agg(a.distance) AS distances
    FROM about AS a
    WHERE a.kind = 'passage'
  ),
  candidate AS MATERIALIZED (
    -- An arm that gives fewer than are wanted would look on and on.
    SELECT c.* FROM mentioned AS m CROSS JOIN LATERAL memsvc.recall_candidates(
      p_user_id, p_query, least(p_limit, p_candidates), p_candidates, p_form, p_language, p_kinds, p_sources,
      p_not_sources, p_said_from, least(p_said_to, p_as_of + interval '1 microsecond'), p_as_of, p_known_at,
      (SELECT a.words > 0 OR a.nearby > 0 OR a.session > 0 FROM asked AS a), p_model_id, p_vector, p_other_model_id,
      p_other_vector, m.passages, m.nodes, m.reach, m.distances, p_begins, p_ends
    ) AS c
    WHERE c.passage_id <> ALL (p_except)
      AND (p_near IS NULL OR memsvc.speaks_of(p_user_id, c.passage_id, p_near, p_known_at))
  ),
  spread AS MATERIALIZED (
    SELECT avg(coalesce(c.words, 0)) AS words_mean, stddev_pop(coalesce(c.words, 0)) AS words_spread,
      avg(c.similarity) AS vector_mean, stddev_pop(c.similarity) AS vector_spread,
      avg(c.other_similarity) AS other_mean, stddev_pop(c.other_similarity) AS other_spread
    FROM candidate AS c
  ),
  compared AS NOT MATERIALIZED ( -- two sums a row cost less than keeping all of its columns once more
    SELECT c.*, memsvc.z_score(coalesce(c.words, 0), s.words_mean, s.words_spread) AS words_z,
      CASE WHEN c.similarity IS NOT NULL THEN memsvc.z_score(c.similarity, s.vector_mean, s.vector_spread)
        ELSE memsvc.z_score(c.other_similarity, s.other_mean, s.other_spread) END AS vector_z
    FROM candidate AS c CROSS JOIN spread AS s
  ),
  speaking AS MATERIALIZED ( -- whom the query names
    SELECT s.speaker FROM (SELECT DISTINCT c.speaker FROM candidate AS c OFFSET 0) AS s
    WHERE CASE WHEN memsvc.plain_words(s.speaker) && (SELECT memsvc.plain_words(p_query)) -- most name none of them
      THEN memsvc.plain_words(s.speaker) && (SELECT memsvc.naming_words(p_query, p_language)) ELSE false END
  ),
  around AS MATERIALIZED (
    SELECT m.source_id, m.session, m.ordinal,
      (coalesce(sum(m.words) OVER beside, 0) + coalesce(sum(m.words) OVER about, 0)) / 2 AS nearby,
      m.vector_z, max(m.vector_z) OVER beside AS nearby_vector,
      max(m.words) OVER whole AS session_words, max(m.vector_z) OVER whole AS session_vector
    FROM (
      SELECT j.source_id, j.session, j.ordinal, max(coalesce(j.words, 0)) AS words, max(j.vector_z) AS vector_z
      FROM compared AS j
      GROUP BY j.source_id, j.session, j.ordinal
    ) AS m
    WINDOW
      whole AS (PARTITION BY m.source_id, m.session),
      beside AS (PARTITION BY m.source_id, m.session ORDER BY m.ordinal
        RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW),
      about AS (PARTITION BY m.source_id, m.session ORDER BY m.ordinal
        RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)
  ),
  matched AS MATERIALIZED (
    SELECT a.memory_id AS version_id, a.words, a.matched_terms, a.distance, a.node_id FROM about AS a
    WHERE a.kind = 'fact'
  ),
  told AS MATERIALIZED (
    SELECT m.* FROM matched AS m
    UNION ALL
    -- What began or ended at a time that the query names: it may have ended, for that may be the answer.
    SELECT t.version_id, NULL, NULL, NULL, NULL
    FROM memsvc.match_fact_times(p_user_id, p_begins, p_ends, p_candidates, p_as_of, p_known_at) AS t
    WHERE p_facts AND p_begins <> '{}' AND t.version_id NOT IN (SELECT m.version_id FROM matched AS m) AND (
      num_nonnulls(p_sources, p_not_sources, p_said_from, p_said_to) = 0 OR memsvc.fact_is_from(
        p_user_id, t.version_id, p_sources, p_not_sources, p_said_from, p_said_to, p_known_at
      )
    )
  ),
  fact AS MATERIALIZED (
    SELECT t.*, CASE WHEN t.words > 0 THEN row_number() OVER (ORDER BY t.words DESC NULLS LAST, t.version_id) END
        AS words_rank,
      v.valid_from, v.valid_to, v.recorded_from
    FROM told AS t
    INNER JOIN (
      SELECT e.version_id, e.from_node, e.to_node, e.valid_from, e.valid_to, e.recorded_from
      FROM memsvc.edge_versions AS e
      WHERE e.user_id = p_user_id AND e.version_id = ANY (ARRAY(SELECT o.version_id FROM told AS o))
      ORDER BY e.version_id OFFSET 0 -- by keys; a join alone reads all facts of the user
    ) AS v ON v.version_id = t.version_id
    WHERE t.version_id <> ALL (p_except)
      AND (p_near IS NULL OR v.from_node = ANY (p_near) OR v.to_node = ANY (p_near))
  ),
  memory AS MATERIALIZED (
    SELECT j.passage_id AS memory_id, 'passage' AS kind, j.said_at AS since, NULL::timestamptz AS until,
      j.said_at AS recorded, j.words_z, j.vector_z, b.nearby, b.session_words,
      coalesce(b.nearby_vector, (SELECT min(l.vector_z) FROM around AS l)) AS nearby_vector, b.session_vector,
      (j.role = 'user' AND (SELECT memsvc.says_i(p_query)))
        OR (j.speaker <> j.role AND j.speaker = ANY (ARRAY(SELECT n.speaker FROM speaking AS n))) AS speaks,
      j.node_id, j.reach, j.distance, j.words, j.words_rank, j.matched_terms, j.matched_form,
      coalesce(j.similarity, j.other_similarity) AS similarity, coalesce(j.vector_rank, j.other_rank) AS vector_rank,
      j.similarity IS NULL AND j.other_similarity IS NOT NULL AS by_other
    FROM compared AS j
    -- All are there; of an inner join the planner would expect one row, and build large tables to find small ones.
    LEFT JOIN around AS b ON b.source_id = j.source_id AND b.session = j.session AND b.ordinal = j.ordinal
    UNION ALL
    SELECT f.version_id, 'fact', f.valid_from, f.valid_to, f.recorded_from,
      memsvc.z_score(coalesce(f.words, 0), s.words_mean, s.words_spread), 0, NULL, NULL, NULL, NULL, false,
      f.node_id, coalesce(r.reach, 1), f.distance, f.words, f.words_rank, f.matched_terms, p_form, NULL, NULL, false
    FROM fact AS f
    CROSS JOIN spread AS s
    LEFT JOIN reached AS r ON r.node_id = f.node_id
  ),
  surroundings AS MATERIALIZED ( -- facts have none
    SELECT avg(m.nearby) AS nearby_mean, stddev_pop(m.nearby) AS nearby_spread,
      avg(m.session_words) AS session_mean, stddev_pop(m.session_words) AS session_spread,
      avg(m.nearby_vector) AS nearby_vector_mean, stddev_pop(m.nearby_vector) AS nearby_vector_spread,
      avg(m.session_vector) AS session_vector_mean, stddev_pop(m.session_vector) AS session_vector_spread
    FROM memory AS m
  ),
  -- 0 for what is farthest from the end that is asked for, 1 for what lies there; most queries ask for neither.
  turn AS MATERIALIZED (
    SELECT i.memory_id,
      percent_rank() OVER (ORDER BY CASE p_order WHEN 'last' THEN 1 ELSE -1 END * date_part('epoch', i.since)) AS place
    FROM memory AS i
    WHERE p_order IN ('first', 'last')
  ),
  judgement AS MATERIALIZED (
    SELECT s.memory_id, s.recalls, s.last_recalled_at, s.used, s.irrelevant, s.importance, s.sentiment
    FROM memsvc.memory_signals AS s
    WHERE p_known_at IS NULL -- of signals only today's are kept, so they do not count for what was known once
      AND s.user_id = p_user_id AND s.memory_id = ANY (ARRAY(SELECT m.memory_id FROM memory AS m))
    ORDER BY s.memory_id OFFSET 0
  ),
  -- What each factor gives before late interaction: value times weight.
  weighed AS MATERIALIZED (
    SELECT m.memory_id, m.kind, m.speaks, m.similarity, m.vector_rank, m.by_other, m.words, m.words_rank,
      m.matched_terms, m.matched_form, m.node_id, m.reach, m.distance, a.words * m.words_z AS words_points,
      a.nearby * memsvc.z_score(m.nearby, s.nearby_mean, s.nearby_spread) AS nearby_points,
      a.session * memsvc.z_score(m.session_words, s.session_mean, s.session_spread) AS session_points,
      a.vector * m.vector_z AS vector_points,
      a.nearby_vector * memsvc.z_score(m.nearby_vector, s.nearby_vector_mean, s.nearby_vector_spread)
        AS nearby_vector_points,
      a.session_vector * memsvc.z_score(m.session_vector, s.session_vector_mean, s.session_vector_spread)
        AS session_vector_points,
      CASE WHEN m.speaks THEN a.speaker ELSE 0 END AS speaker_points,
      CASE WHEN m.distance = 0 THEN a.names * m.reach ELSE 0 END AS names_points,
      CASE WHEN m.distance > 0 AND b.node_id IS NULL THEN a.distance * m.reach ELSE 0 END AS distance_points,
      CASE WHEN b.node_id IS NOT NULL THEN a.place * b.reach ELSE 0 END AS place_points, b.metres,
      a."time" * greatest(
        memsvc.time_fit(m.since, p_begins, p_ends, interval '7 days'),
        memsvc.time_fit(m.until, p_begins, p_ends, interval '7 days')
      ) AS time_points,
      a."order" * coalesce(o.place, 0) AS order_points,
      a.recency * coalesce(memsvc.recency(a.moment - m.since, interval '30 days'), 0) AS recency_points,
      CASE WHEN m.kind = 'fact' THEN a.kind ELSE 0 END AS kind_points,
      CASE WHEN m.kind = 'fact' THEN -a.staleness * memsvc.staleness(m.until, m.recorded, a.moment) ELSE 0 END
        AS staleness_points,
      a.importance * coalesce((g.importance - 1) / 9::double precision, 0) AS importance_points,
      a.strength * coalesce(
        memsvc.recall_strength(g.recalls, a.moment - g.last_recalled_at, interval '30 days'), 0
      ) AS strength_points,
      a.familiarity * memsvc.familiarity(g.recalls) AS familiarity_points,
      a.usefulness * memsvc.usefulness(g.used, g.irrelevant) AS usefulness_points,
      a.sentiment * coalesce(abs(g.sentiment), 0) AS sentiment_points
    FROM memory AS m
    CROSS JOIN asked AS a
    CROSS JOIN surroundings AS s
    LEFT JOIN beside AS b ON b.node_id = m.node_id
    LEFT JOIN turn AS o ON o.memory_id = m.memory_id
    LEFT JOIN judgement AS g ON g.memory_id = m.memory_id
  ),
  -- What is ranked is sorted and joined, so it is kept narrow: the rest of the rows is fetched for what is found.
  ranked AS MATERIALIZED (
    SELECT w.*, row_number() OVER (ORDER BY w.points DESC, w.memory_id) AS rank
    FROM (
      SELECT v.memory_id, v.kind, v.speaks, v.similarity,
        v.words_points + v.nearby_points + v.session_points + v.vector_points + v.nearby_vector_points
        + v.session_vector_points + v.speaker_points + v.names_points + v.distance_points + v.place_points
        + v.time_points + v.order_points + v.recency_points + v.kind_points + v.staleness_points + v.importance_points
        + v.strength_points + v.familiarity_points + v.usefulness_points + v.sentiment_points AS points
      FROM weighed AS v
    ) AS w
  ),
  late AS MATERIALIZED (
    SELECT l.passage_id, l.late,
      a.late * memsvc.z_score(l.late, avg(l.late) OVER (), stddev_pop(l.late) OVER ()) AS points,
      row_number() OVER (ORDER BY l.late DESC, l.passage_id) AS rank
    FROM asked AS a CROSS JOIN LATERAL memsvc.late_scores(
      p_user_id, p_model_id, p_tokens,
      ARRAY(SELECT r.memory_id FROM ranked AS r WHERE r.kind = 'passage' AND r.rank <= p_late)
    ) AS l
    WHERE p_tokens IS NOT NULL AND a.late > 0
  ),
  telling AS NOT MATERIALIZED ( -- whether a fact holds the words of the query
    SELECT 2 * max(t.words) > t.asked OR 2 * max(t.words) FILTER (WHERE t.named) >= t.asked AS told
    FROM (
      SELECT cardinality(f.matched_terms) AS words, f.distance = 0 AS named,
        (SELECT length(memsvc.to_words('stemmed', p_language, p_query))) AS asked
      FROM fact AS f
      WHERE f.words > 0
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
        SELECT r.speaks, CASE WHEN e.again THEN 0 ELSE l.late END AS late,
          CASE WHEN e.again THEN 0 ELSE r.similarity END AS similarity
        FROM late AS l
        INNER JOIN ranked AS r ON r.memory_id = l.passage_id
        CROSS JOIN LATERAL (SELECT CASE WHEN l.late > 0.8 AND p_query ~ '[?？؟]' THEN (
          SELECT memsvc.plain_words(p.text) = memsvc.plain_words(p_query) FROM memsvc.passages AS p
          WHERE p.user_id = p_user_id AND p.passage_id = l.passage_id
        ) END AS again) AS e
      ) AS c
    ) AS h
  ),
  found AS MATERIALIZED (
    SELECT w.*, o.late_points, o.score, o.late, o.late_rank, o.place
    FROM (
      SELECT s.*, row_number() OVER best AS place
      FROM (
        SELECT r.memory_id, r.rank <= p_late AS ahead, coalesce(l.points, 0) AS late_points,
          r.points + coalesce(l.points, 0) AS score, l.late, l.rank AS late_rank
        FROM ranked AS r
        LEFT JOIN late AS l ON l.passage_id = r.memory_id
      ) AS s
      WINDOW best AS (ORDER BY s.ahead DESC, s.score DESC, s.memory_id)
      ORDER BY s.ahead DESC, s.score DESC, s.memory_id
      LIMIT p_limit
    ) AS o
    INNER JOIN weighed AS w ON w.memory_id = o.memory_id
  ),
  counted AS (
    SELECT jsonb_build_object(
      'candidates', count(*), 'words', count(*) FILTER (WHERE m.words > 0), 'vector', count(m.vector_rank),
      'late', (SELECT count(*) FROM late), 'names', count(m.node_id), 'facts', count(*) FILTER (WHERE m.kind = 'fact'),
      'place', count(*) FILTER (WHERE m.node_id IN (SELECT b.node_id FROM beside AS b)),
      'time', count(*) FILTER (WHERE p_begins <> '{}' AND memsvc.time_fit(m.since, p_begins, p_ends, '1 second') = 1)
    ) AS met
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
    f.memory_id, f.kind, f.place, f.score,
    jsonb_strip_nulls(jsonb_build_object(
      'words', CASE WHEN f.words > 0 THEN jsonb_build_object(
        'score', round(f.words::numeric, 4), 'rank', f.words_rank, 'form', f.matched_form
      ) END,
      'vector', CASE WHEN f.similarity IS NOT NULL THEN jsonb_build_object(
        'score', round(f.similarity::numeric, 4), 'rank', f.vector_rank, 'model', CASE WHEN f.by_other THEN (
          SELECT e.name FROM memsvc.embedding_models AS e WHERE e.model_id = p_other_model_id
        ) END
      ) END,
      'late', CASE WHEN f.late IS NOT NULL THEN jsonb_build_object(
        'score', round(f.late::numeric, 4), 'rank', f.late_rank
      ) END,
      'names', CASE WHEN f.node_id IS NOT NULL THEN jsonb_build_object(
        'node_id', f.node_id, 'score', round(f.reach::numeric, 4), 'distance', f.distance
      ) END,
      'place', CASE WHEN f.metres IS NOT NULL THEN jsonb_build_object('metres', round(f.metres)) END
    )),
    jsonb_build_object(
      'words', f.words_points, 'nearby', f.nearby_points, 'session', f.session_points, 'vector', f.vector_points,
      'nearby_vector', f.nearby_vector_points, 'session_vector', f.session_vector_points, 'late', f.late_points,
      'speaker', f.speaker_points, 'names', f.names_points, 'distance', f.distance_points, 'place', f.place_points,
      'time', f.time_points, 'order', f.order_points, 'recency', f.recency_points, 'kind', f.kind_points, 'staleness', f.staleness_points,
      'importance', f.importance_points, 'strength', f.strength_points, 'familiarity', f.familiarity_points,
      'usefulness', f.usefulness_points, 'sentiment', f.sentiment_points
    ),
    coalesce((SELECT r.path FROM reached AS r WHERE r.node_id = f.node_id LIMIT 1), '{}'),
    memsvc.whole_words(ARRAY(
      SELECT h.words ->> t.term FROM spoken AS h CROSS JOIN LATERAL unnest(f.matched_terms) AS t (term)
      WHERE h.form = f.matched_form
    )),
    (SELECT s.confidence FROM sure AS s), (SELECT c.met FROM counted AS c)
  FROM found AS f
  ORDER BY f.place;
END;
COMMENT ON FUNCTION memsvc.recall(
  uuid, text, integer, jsonb, text, text, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz,
  smallint, public.halfvec, bit[], smallint, public.halfvec, uuid[], integer, timestamptz[], timestamptz[], text,
  boolean, integer, integer, uuid[], uuid[]
) IS 'Recall: memories that matter for a query, best first, with what each arm found and each factor gave.';
