-- Statements of memsvc.summaries and of the task of sleep mode that writes them.

-- name: summary_sittings
-- Sittings of conversations, in the order of their times. A session that the client names is a sitting; else a pause
-- ends one. A long one falls into parts of so many messages, or words of others than assistants, at most. digest: of
-- the messages, which never change. left_out: kinds of sources.
WITH said AS (
  SELECT
    p.source_id, p.session, p.ordinal, p.part, p.passage_id, p.said_at, p.recorded_at, p.length, p.role,
    CASE
      WHEN p.session = '' AND p.said_at - lag(p.said_at) OVER told > CAST(:pause AS interval) THEN 1 ELSE 0
    END AS begins
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.kind = 'message' AND (
      cardinality(CAST(:left_out AS text [])) = 0 OR p.source_id = any(array(
        SELECT s.source_id FROM memsvc.sources AS s
        WHERE s.user_id = :user_id AND s.kind = 'conversation'
          AND memsvc.kind_of_source(:user_id, s.source_id) <> all(CAST(:left_out AS text []))
      ))
    )
  WINDOW told AS (PARTITION BY p.source_id, p.session ORDER BY p.ordinal, p.part)
),

sat AS (
  SELECT
    s.*,
    sum(s.begins) OVER (PARTITION BY s.source_id, s.session ORDER BY s.ordinal, s.part) AS sitting
  FROM said AS s
),

numbered AS (
  SELECT
    s.*,
    (dense_rank() OVER told - 1) / :most
    + coalesce(sum(s.length) FILTER (WHERE s.role <> 'assistant') OVER (
      told
      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP
    ), 0) / :most_words AS piece
  FROM sat AS s
  WINDOW told AS (PARTITION BY s.source_id, s.session, s.sitting ORDER BY s.ordinal)
)

SELECT
  n.source_id, n.session, min(n.ordinal) AS first_ordinal, max(n.ordinal) AS last_ordinal,
  min(n.said_at) AS first_at, max(n.said_at) AS last_at, max(n.recorded_at) AS recorded_at,
  count(*) FILTER (WHERE n.part = 0 AND n.length >= :content AND n.role <> 'assistant') AS told,
  count(*) FILTER (WHERE n.part = 0) AS messages, sum(n.length) AS words,
  md5(string_agg(CAST(n.passage_id AS text), ' ' ORDER BY n.ordinal, n.part)) AS digest
FROM numbered AS n
GROUP BY n.source_id, n.session, n.sitting, n.piece
ORDER BY first_at ASC, n.source_id ASC, n.session ASC, first_ordinal ASC;

-- name: summary_versions
-- What each summary was made of, in any of its versions; whether one stands. key: of its period.
SELECT
  v.node_id, max(v.data ->> 'key') AS key, array_agg(DISTINCT v.data ->> 'digest') AS digests,
  bool_or(v.recorded_to = 'infinity' AND v.valid_to = 'infinity') AS stands
FROM memsvc.node_versions AS v
WHERE v.user_id = :user_id AND v.type = 'Summary' AND v.asserted_by = :writer
GROUP BY v.node_id;

-- name: summaries_looked
-- Since when all that was over then has been looked at: the begin of the last run that looked at everything, if nothing
-- was erased since. Null: never.
SELECT max(r.started_at) AS looked_at
FROM memsvc.sleep_runs AS r
WHERE
  r.user_id = :user_id AND r.task = 'summaries' AND r.state = 'done' AND r.within_budget AND r.from_node IS NULL
  AND (r.nightly OR r.since IS NULL)
  AND r.started_at > coalesce((
    SELECT max(e.finished_at)
    FROM memsvc.erasures AS e
    WHERE e.user_id = :user_id
  ), '-infinity');

-- name: summary_texts
-- What summaries say, and what each line rests on.
SELECT v.node_id, v.description, v.data
FROM memsvc.node_versions AS v
WHERE
  v.user_id = :user_id AND v.node_id = any(CAST(:nodes AS uuid [])) AND v.recorded_to = 'infinity'
  AND v.valid_to = 'infinity';

-- name: summary_messages
-- The messages of sittings, in order. centrality: cosine of a message's vector and the mean of its sitting's, from the
-- model that counts; null: it has none. facts: how many facts it supports.
WITH wanted AS (
  SELECT w.place, w.source_id, w.session, w.first_ordinal, w.last_ordinal
  FROM unnest(
    CAST(:sources AS uuid []), CAST(:sessions AS text []), CAST(:firsts AS integer []), CAST(:lasts AS integer [])
  ) WITH ORDINALITY AS w (source_id, session, first_ordinal, last_ordinal, place)
),

said AS MATERIALIZED (
  SELECT
    w.place, p.passage_id, p.ordinal, p.part, p.speaker, p.role, p.text, p.said_at, p.said_offset, (
      SELECT e.vector
      FROM memsvc.embeddings AS e
      WHERE
        e.user_id = :user_id AND e.passage_id = p.passage_id
        AND e.model_id = (
          SELECT m.model_id FROM memsvc.embedding_models AS m
          WHERE m.state = 'active'
        )
    ) AS vector
  FROM wanted AS w
  INNER JOIN memsvc.passages AS p
    ON
      p.user_id = :user_id AND w.source_id = p.source_id AND w.session = p.session
      AND p.ordinal BETWEEN w.first_ordinal AND w.last_ordinal
  WHERE p.kind = 'message'
),

mean AS MATERIALIZED (
  SELECT s.place, public.avg(s.vector) AS vector
  FROM said AS s
  GROUP BY s.place
)

SELECT
  s.place, s.passage_id, s.speaker, s.role, s.text, s.said_at, s.said_offset,
  1 - (s.vector OPERATOR (public.<=>) m.vector) AS centrality, (
    SELECT count(*)
    FROM memsvc.source_links AS l
    WHERE
      l.user_id = :user_id AND l.passage_id = s.passage_id AND l.edge_version_id IS NOT NULL
      AND l.stance = 'supports' AND l.recorded_to = 'infinity'
  ) AS facts
FROM said AS s
INNER JOIN mean AS m ON s.place = m.place
ORDER BY s.place, s.ordinal, s.part;

-- name: summary_words
-- In how many messages a user's words stand; and, in a row without a word, how many messages there are.
SELECT t.term, t.passages
FROM memsvc.terms AS t
WHERE t.user_id = :user_id AND t.kind = 'message' AND t.form = 'simple' AND t.term = any(CAST(:words AS text []))
UNION ALL
SELECT NULL, coalesce(sum(c.passages), 0)
FROM memsvc.corpora AS c
WHERE c.user_id = :user_id AND c.kind = 'message' AND c.form = 'simple';

-- name: summaries_quote
-- Which passages versions of summaries quote, and the level of each.
SELECT v.version_id, v.data ->> 'level' AS level, array_agg(DISTINCT l.passage_id) AS passages
FROM memsvc.node_versions AS v
INNER JOIN memsvc.source_links AS l ON v.user_id = l.user_id AND v.version_id = l.node_version_id
WHERE
  v.user_id = :user_id AND v.version_id = any(CAST(:versions AS uuid [])) AND v.type = 'Summary'
  AND l.recorded_to = 'infinity'
GROUP BY v.version_id, v.data ->> 'level';

-- name: list_summaries
-- Summaries that stand, of some levels or all, whose period meets a span, and that quote what tells of a node, if one
-- is given; the latest period first; a page. Data that somebody else wrote, so that no period can be read in it, are
-- passed over.
SELECT
  v.node_id, v.version_id, v.label, v.description AS text, v.importance, v.data, t.period_end
FROM memsvc.node_versions AS v
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN pg_input_is_valid(v.data ->> 'period_start', 'timestamptz')
        THEN CAST(v.data ->> 'period_start' AS timestamptz)
    END AS period_start,
    CASE
      WHEN pg_input_is_valid(v.data ->> 'period_end', 'timestamptz')
        THEN CAST(v.data ->> 'period_end' AS timestamptz)
    END AS period_end
) AS t
WHERE
  v.user_id = :user_id AND v.type = 'Summary' AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
  AND v.asserted_by = :writer AND t.period_start IS NOT NULL AND t.period_end IS NOT NULL
  AND (CAST(:levels AS text []) IS NULL OR v.data ->> 'level' = any(CAST(:levels AS text [])))
  AND (CAST(:begins AS timestamptz) IS NULL OR t.period_end > CAST(:begins AS timestamptz))
  AND (CAST(:ends AS timestamptz) IS NULL OR t.period_start < CAST(:ends AS timestamptz))
  AND (CAST(:as_of AS timestamptz) IS NULL OR v.valid_from <= CAST(:as_of AS timestamptz))
  AND (
    CAST(:node AS uuid) IS NULL
    OR memsvc.tells_of(:user_id, v.version_id, array(
      SELECT s.node_id FROM memsvc.same_nodes(:user_id, ARRAY[CAST(:node AS uuid)]) AS s
    ))
  )
  AND (
    CAST(:after_end AS timestamptz) IS NULL
    OR (t.period_end, v.node_id) < (CAST(:after_end AS timestamptz), CAST(:after_node AS uuid))
  )
ORDER BY t.period_end DESC, v.node_id DESC
LIMIT :limit;

-- name: has_summaries
-- Whether sleep mode has told anything of the user's memory in short, by the statistics of words.
SELECT EXISTS (
  SELECT FROM memsvc.corpora AS c
  WHERE c.user_id = :user_id AND c.kind = 'summary' AND c.passages > 0
) OR EXISTS (
  SELECT FROM memsvc.term_deltas AS d
  WHERE d.user_id = :user_id AND d.kind = 'summary'
) AS has_summaries;
