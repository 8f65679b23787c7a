-- The values of memories by each factor, in the order of memsvc.factors, and whether a message is by whom the query asks
-- about: whom it names, or the user where it says "I" (null: it is no message). p_moment: from then ages are counted. A passage that has no vector yet counts by meaning as it does by words, so that what was
-- just written is found among what has one.
CREATE OR REPLACE FUNCTION memsvc.factor_values(
  p_memories memsvc.memory[], p_query text, p_question memsvc.question, p_moment timestamptz
) RETURNS TABLE (memory_id uuid, speaks boolean, of_factors double precision[])
LANGUAGE sql STABLE
ROWS 150
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop
BEGIN ATOMIC
  WITH memory AS MATERIALIZED (
    SELECT m.*, coalesce(m.words, 0) AS found_words, ln(1 + m.length) AS size FROM unnest(p_memories) AS m
  ),
  spread AS MATERIALIZED (
    SELECT avg(m.found_words) AS words, stddev_pop(m.found_words) AS words_spread, avg(m.similarity) AS vector,
      stddev_pop(m.similarity) AS vector_spread, avg(m.other_similarity) FILTER (WHERE m.similarity IS NULL) AS other,
      stddev_pop(m.other_similarity) FILTER (WHERE m.similarity IS NULL) AS other_spread, avg(m.late) AS late,
      stddev_pop(m.late) AS late_spread, avg(m.size) AS size,
      -- A name that most candidates support tells none of them apart, as a word does that stands everywhere. Few
      -- candidates say nothing about that.
      power(1 - count(*) FILTER (WHERE m.distance = 0) / (20.0 + count(*)), 4)::double precision AS rarity
    FROM memory AS m
  ),
  compared AS MATERIALIZED (
    SELECT m.memory_id, m.kind, m.source_id, m.session, m.ordinal, m.found_words, w.words_z,
      CASE WHEN m.similarity IS NOT NULL THEN memsvc.z_score(m.similarity, s.vector, s.vector_spread)
        WHEN m.other_similarity IS NOT NULL THEN memsvc.z_score(m.other_similarity, s.other, s.other_spread)
        WHEN num_nonnulls(s.vector, s.other) > 0 THEN w.words_z ELSE 0 END AS vector_z,
      CASE WHEN m.similarity IS NULL AND s.late IS NOT NULL THEN w.words_z
        ELSE memsvc.z_score(m.late, s.late, s.late_spread) END AS late_z
    FROM memory AS m
    CROSS JOIN spread AS s
    CROSS JOIN LATERAL (SELECT memsvc.z_score(m.found_words, s.words, s.words_spread) AS words_z) AS w
  ),
  speaking AS MATERIALIZED ( -- whom the query names
    SELECT array_agg(s.speaker) AS names FROM (SELECT DISTINCT m.speaker FROM memory AS m) AS s
    WHERE CASE WHEN memsvc.plain_words(s.speaker) && (SELECT memsvc.plain_words(p_query)) -- most name none of them
      THEN memsvc.plain_words(s.speaker) && (SELECT memsvc.naming_words(p_query, p_question.language)) ELSE false END
  ),
  place AS MATERIALIZED ( -- in a conversation, with the best of its parts
    SELECT m.source_id, m.session, m.ordinal, max(m.found_words) AS words, max(m.vector_z) AS vector_z,
      max(m.late_z) AS late_z
    FROM compared AS m
    WHERE m.kind = 'passage'
    GROUP BY m.source_id, m.session, m.ordinal
  ),
  around AS MATERIALIZED (
    SELECT p.source_id, p.session, p.ordinal,
      (coalesce(sum(p.words) OVER beside, 0) + coalesce(sum(p.words) OVER about, 0)) / 2 AS nearby,
      coalesce(max(p.vector_z) OVER beside, (SELECT min(l.vector_z) FROM place AS l)) AS nearby_vector,
      max(p.words) OVER whole AS session_words, max(p.vector_z) OVER whole AS session_vector,
      max(p.late_z) OVER whole AS session_late
    FROM place AS p
    WINDOW
      whole AS (PARTITION BY p.source_id, p.session),
      beside AS (PARTITION BY p.source_id, p.session ORDER BY p.ordinal
        RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW),
      about AS (PARTITION BY p.source_id, p.session ORDER BY p.ordinal
        RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)
  ),
  surrounded AS MATERIALIZED (
    SELECT c.memory_id, c.words_z, c.vector_z, c.late_z, a.nearby,
      CASE c.kind WHEN 'passage' THEN a.nearby_vector ELSE c.vector_z END AS nearby_vector,
      CASE c.kind WHEN 'passage' THEN a.session_vector ELSE c.vector_z END AS session_vector,
      CASE c.kind WHEN 'passage' THEN a.session_late ELSE c.late_z END AS session_late,
      CASE c.kind WHEN 'passage' THEN a.session_words ELSE c.found_words END AS session_words
    FROM compared AS c
    LEFT JOIN around AS a ON a.source_id = c.source_id AND a.session = c.session AND a.ordinal = c.ordinal
  ),
  surroundings AS MATERIALIZED (
    SELECT avg(m.nearby) AS nearby, stddev_pop(m.nearby) AS nearby_spread,
      avg(m.session_words) AS words, stddev_pop(m.session_words) AS words_spread,
      avg(m.nearby_vector) AS beside, stddev_pop(m.nearby_vector) AS beside_spread,
      avg(m.session_vector) AS vector, stddev_pop(m.session_vector) AS vector_spread,
      avg(m.session_late) AS late, stddev_pop(m.session_late) AS late_spread
    FROM surrounded AS m
  ),
  -- 0 for what is farthest from the end that is asked for, 1 for what lies there; most queries ask for neither.
  turn AS MATERIALIZED (
    SELECT m.memory_id, percent_rank() OVER (
      ORDER BY CASE p_question.sequence WHEN 'last' THEN 1 ELSE -1 END * date_part('epoch', m.since)
    ) AS place
    FROM memory AS m
    WHERE p_question.sequence IN ('first', 'last')
  ),
  asked AS MATERIALIZED (SELECT memsvc.says_i(p_query) AS says_i, (SELECT s.names FROM speaking AS s) AS named)
  SELECT m.memory_id, CASE m.kind WHEN 'passage' THEN v.speaks IS TRUE END, ARRAY[
    c.words_z,
    memsvc.z_score(c.nearby, s.nearby, s.nearby_spread),
    memsvc.z_score(c.session_words, s.words, s.words_spread),
    c.vector_z,
    memsvc.z_score(c.nearby_vector, s.beside, s.beside_spread),
    memsvc.z_score(c.session_vector, s.vector, s.vector_spread),
    c.late_z,
    memsvc.z_score(c.session_late, s.late, s.late_spread),
    CASE WHEN m.length IS NULL THEN 0 ELSE greatest(-1, least(1, m.size - t.size)) END, -- length
    CASE WHEN m.asks THEN 1 ELSE 0 END,
    CASE WHEN m.answers THEN 1 ELSE 0 END,
    CASE WHEN v.speaks OR (m.kind <> 'passage' AND q.says_i) THEN 1 ELSE 0 END, -- what is known is the user's, too
    CASE WHEN p_question.begins <> '{}' THEN greatest(
      memsvc.time_fit(m.since, p_question.begins, p_question.ends, interval '7 days'),
      memsvc.time_fit(m.until, p_question.begins, p_question.ends, interval '7 days'),
      CASE WHEN m.kind = 'fact' AND m.until < 'infinity' AND EXISTS ( -- it held throughout, and has ended since
        SELECT FROM unnest(p_question.begins, p_question.ends) AS w (begins, ends)
        WHERE coalesce(m.since, '-infinity') < w.begins AND m.until >= w.ends
      ) THEN 1 ELSE 0 END
    ) ELSE 0 END,
    CASE WHEN m.distance = 0 THEN m.reach * t.rarity ELSE 0 END, -- names
    CASE WHEN m.distance > 0 AND m.metres IS NULL THEN m.reach ELSE 0 END, -- distance
    CASE WHEN m.metres IS NOT NULL THEN m.reach ELSE 0 END, -- place
    coalesce((SELECT o.place FROM turn AS o WHERE o.memory_id = m.memory_id), 0), -- order
    coalesce(memsvc.recency(p_moment - m.since, interval '30 days'), 0),
    CASE WHEN m.kind = 'fact' THEN 1 ELSE 0 END,
    CASE WHEN m.kind = 'fact' THEN -memsvc.staleness(m.until, m.recorded, p_moment) ELSE 0 END,
    coalesce((m.importance - 1) / 9, 0),
    coalesce(memsvc.recall_strength(m.recalls, p_moment - m.last_recalled_at, interval '30 days'), 0),
    memsvc.familiarity(m.recalls),
    memsvc.usefulness(m.used, m.irrelevant),
    coalesce(abs(m.sentiment), 0)
  ]
  FROM memory AS m
  INNER JOIN surrounded AS c ON c.memory_id = m.memory_id
  CROSS JOIN surroundings AS s CROSS JOIN spread AS t CROSS JOIN asked AS q
  CROSS JOIN LATERAL (
    SELECT (m.role = 'user' AND q.says_i) OR (m.speaker <> m.role AND m.speaker = ANY (q.named)) AS speaks
  ) AS v;
END;
COMMENT ON FUNCTION memsvc.factor_values(
  memsvc.memory[], text, memsvc.question, timestamptz
) IS 'What memories are worth for a query by each factor of recall''s order.';
