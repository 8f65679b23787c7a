-- Statements of memsvc.recall.

-- name: recall
-- By the vectors of the active model and, while it takes over, of the one that is leaving; which of the given ones are
-- that, the database says at this moment. By words alone without a vector. One row at least, for the names that the
-- query holds; what several nodes are called comes with evidence, by which a person can tell them apart, but for things
-- that were only described ("wedding"): nobody can say which is meant. A page is a
-- part of one list: all of it is ranked (:depth), what was given before is left out of that, and so is what says the
-- same in the same words.
WITH model AS MATERIALIZED (
  SELECT m.*
  FROM memsvc.query_models(
    CAST(:model AS text), CAST(:vector AS public.halfvec), CAST(:other_model AS text),
    CAST(:other_vector AS public.halfvec), CAST(:tokens AS text)
  ) AS m
),

called AS MATERIALIZED (
  SELECT n.*, memsvc.is_text_type(:user_id, n.type) AS is_text
  FROM memsvc.names_in_query(
    :user_id, :query, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz), :language
  ) AS n
),

-- Documents, notes and other texts make no name ambiguous that a person, a place or a thing has.
competing AS (
  SELECT c.*, NOT c.is_text OR bool_and(c.is_text) OVER (PARTITION BY c.name) AS competes FROM called AS c
),

named AS MATERIALIZED (
  SELECT
    n.name, n.node_id, n.label, n.type, n.similarity, n.place,
    n.competes AND count(*) OVER of_name > 1 AND (
      min(n.type) OVER of_name <> max(n.type) OVER of_name OR bool_or(n.type = 'Person' OR NOT EXISTS (
        SELECT FROM memsvc.node_versions AS v
        WHERE v.user_id = :user_id AND v.node_id = n.node_id AND v.recorded_to = 'infinity'
          AND v.data ->> 'named' = 'false'
      )) OVER of_name
    ) AS ambiguous
  FROM competing AS n
  WINDOW of_name AS (PARTITION BY n.name, n.competes)
),

meant AS MATERIALIZED (
  SELECT
    coalesce(array_agg(DISTINCT n.node_id), '{}') AS nodes,
    array_agg(DISTINCT n.node_id) FILTER (WHERE n.ambiguous) AS ambiguous,
    jsonb_agg(to_jsonb(n.*) ORDER BY n.place ASC, n.similarity DESC, n.label ASC) AS names
  FROM named AS n
),

found AS MATERIALIZED (
  SELECT r.*, row_number() OVER (ORDER BY r.rank) AS nth
  FROM model
  CROSS JOIN meant
  CROSS JOIN LATERAL memsvc.recall(
    :user_id, :query, :depth,
    jsonb_populate_record(memsvc.scope(), CAST(:scope AS jsonb)),
    memsvc.question(
      :form, :language, model.active_id, model.active_vector, model.tokens, model.other_id,
      model.other_vector, meant.nodes, :hops, CAST(:begins AS timestamptz []), CAST(:ends AS timestamptz []),
      CAST(:sequence AS text)
    ),
    CAST(:weights AS jsonb), :candidates, CAST(:learnt AS jsonb)
  ) AS r
  WHERE r.memory_id <> all(CAST(:given AS uuid [])) AND NOT r.others && CAST(:given AS uuid [])
  ORDER BY r.rank
  LIMIT :limit
)

-- What belongs to the answer as a whole stands in its first row alone.
SELECT
  now() AS asked_at, CASE WHEN f.factors ->> 'speaker' <> '0' THEN (SELECT memsvc.says_i(:query)) END AS says_i,
  CASE WHEN f.nth > 1 THEN NULL ELSE meant.names END AS names,
  CASE WHEN f.nth > 1 THEN NULL ELSE (
    SELECT jsonb_object_agg(e.node_id, e.evidence)
    FROM memsvc.name_evidence(
      :user_id, (SELECT m.ambiguous FROM meant AS m), CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
    ) AS e
    WHERE (SELECT m.ambiguous IS NOT NULL FROM meant AS m)
  ) END AS evidence,
  f.rank, f.score, f.arms, f.factors, f.path, f.matched, f.times, f.last_said, f.others, f.confidence AS answers,
  CASE WHEN f.nth > 1 THEN NULL ELSE f.met END AS met,
  CASE WHEN f.nth > 1 THEN NULL ELSE f.weights END AS weights, s.*, t.remark, t.whole
FROM meant
LEFT JOIN found AS f ON TRUE
LEFT JOIN memsvc.memories_shown(
  :user_id, (SELECT array_agg(o.memory_id ORDER BY o.rank ASC) FROM found AS o), CAST(:as_of AS timestamptz),
  CAST(:known_at AS timestamptz)
) AS s ON f.memory_id = s.memory_id
LEFT JOIN memsvc.overtaken(
  :user_id, (SELECT array_agg(p.memory_id) FILTER (WHERE p.kind = 'passage') FROM found AS p),
  CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS t ON f.memory_id = t.passage_id
ORDER BY f.rank;

-- name: said_at_times
-- What was said at times, for a question that asks for no more: the days take turns, and each gives the latest first.
-- Of one role where it said anything then (null: of all), without what was given before.
WITH said AS MATERIALIZED (
  SELECT
    p.passage_id,
    p.role,
    p.said_at,
    p.ordinal,
    p.part
  FROM memsvc.match_times(
    :user_id, CAST(:begins AS timestamptz []), CAST(:ends AS timestamptz []), 3000,
    jsonb_populate_record(memsvc.scope(), CAST(:scope AS jsonb))
  ) AS t
  CROSS JOIN LATERAL (
    SELECT r.* FROM memsvc.passages AS r
    WHERE r.user_id = :user_id AND r.passage_id = t.matched_id
    OFFSET 0
  ) AS p
),

turned AS (
  SELECT
    s.passage_id,
    s.said_at,
    row_number() OVER (
      PARTITION BY (s.said_at AT TIME ZONE CAST(:zone AS text))::date
      ORDER BY s.said_at DESC, s.ordinal DESC, s.part DESC, s.passage_id DESC
    ) AS turn
  FROM said AS s
  WHERE
    s.passage_id <> all(CAST(:given AS uuid []))
    AND (
      s.role = CAST(:role AS text)
      OR NOT EXISTS (
        SELECT FROM said AS o
        WHERE o.role = CAST(:role AS text)
      )
    )
),

best AS MATERIALIZED (
  SELECT array_agg(b.passage_id ORDER BY b.turn ASC, b.said_at DESC, b.passage_id ASC) AS ids
  FROM (
    SELECT o.* FROM turned AS o
    ORDER BY o.turn ASC, o.said_at DESC, o.passage_id ASC
    LIMIT :limit
  ) AS b
)

SELECT
  s.*,
  t.remark,
  t.whole
FROM best AS b
CROSS JOIN LATERAL memsvc.memories_shown(
  :user_id, b.ids, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS s
LEFT JOIN memsvc.overtaken(
  :user_id, b.ids, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS t ON s.memory_id = t.passage_id
ORDER BY s.place;

-- name: summaries_of_times
-- Summaries that stand, by one writer, whose periods lie in one of some times; the longest periods first.
WITH best AS MATERIALIZED (
  SELECT
    b.version_id,
    row_number() OVER (ORDER BY b.lasts DESC, b.period_end DESC, b.version_id ASC) AS nth
  FROM (
    SELECT
      v.version_id,
      t.period_end,
      t.period_end - t.period_start AS lasts
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
      AND v.asserted_by = :writer
      AND (CAST(:as_of AS timestamptz) IS NULL OR v.valid_from <= CAST(:as_of AS timestamptz))
      AND EXISTS (
        SELECT FROM unnest(CAST(:begins AS timestamptz []), CAST(:ends AS timestamptz [])) AS w (begins, ends)
        WHERE t.period_start >= w.begins AND t.period_end <= w.ends
      )
  ) AS b
  ORDER BY nth
  LIMIT :limit
)

SELECT
  s.*,
  NULL AS remark,
  FALSE AS whole
FROM memsvc.memories_shown(
  :user_id, (SELECT array_agg(b.version_id ORDER BY b.nth) FROM best AS b), CAST(:as_of AS timestamptz)
) AS s
ORDER BY s.place;

-- name: known_words
-- The words of a query that a user's passages of these kinds hold, the 64 rarest, as match_words compares them.
WITH wanted AS (
  SELECT
    form, tsvector_to_array(memsvc.to_words(form, :language, :query)) AS terms
  FROM (
    SELECT CASE
      WHEN memsvc.to_words(:form, :language, :query) = '' THEN 'simple' ELSE CAST(:form AS text)
    END AS form
  ) AS f
),

counted AS (
  SELECT t.term, t.passages
  FROM wanted AS w
  INNER JOIN memsvc.terms AS t ON t.form = w.form AND t.term = any(w.terms)
  WHERE t.user_id = :user_id AND t.kind = any(CAST(:kinds AS text []))
  UNION ALL
  SELECT u.term, u.change
  FROM wanted AS w
  INNER JOIN memsvc.term_deltas AS d ON d.form = w.form AND d.terms && w.terms
  CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
  WHERE d.user_id = :user_id AND d.kind = any(CAST(:kinds AS text [])) AND u.term = any(w.terms)
),

known AS (
  SELECT array_agg(k.term ORDER BY k.passages ASC, k.term ASC) AS terms
  FROM (
    SELECT c.term, sum(c.passages) AS passages
    FROM counted AS c
    GROUP BY c.term
    HAVING sum(c.passages) > 0
    ORDER BY passages ASC, c.term ASC
    LIMIT 64
  ) AS k
)

SELECT memsvc.whole_words(memsvc.words_behind(:query, w.form, :language, k.terms)) AS words
FROM wanted AS w CROSS JOIN known AS k
WHERE k.terms IS NOT NULL;

-- name: changed_since
-- Whether anything of a user was stored, changed or erased after a moment. Events are kept for days; of a moment that
-- lies more than an hour back it is not looked up, but taken to be so.
SELECT CAST(:since AS timestamptz) < now() - interval '1 hour' OR EXISTS (
  SELECT FROM memsvc.outbox AS e
  WHERE
    e.user_id = :user_id AND e.kind <> 'memory.recalled' AND e.recorded_at > CAST(:since AS timestamptz)
    AND e.event_id > (SELECT uuidv7(CAST(:since AS timestamptz) - clock_timestamp() - interval '1 second'))
) AS changed;

-- name: append_recall
SELECT memsvc.append_recall(
  :user_id, :recall_id, :door, :mode, CAST(:memories AS uuid []), CAST(:conversation_id AS uuid),
  CAST(:instructions AS uuid [])
);

-- name: recalled_of
-- The memories of a recall that say something of some nodes, or are some blocks, by the id of the node or block.
SELECT s.memory_id
FROM memsvc.recall_events AS e
CROSS JOIN LATERAL memsvc.memories_shown(:user_id, array_remove(e.memories, NULL)) AS s
WHERE
  e.user_id = :user_id AND e.recall_id = :recall_id
  AND coalesce(s.node_id, s.source_id) = any(CAST(:ids AS uuid [])) AND s.kind <> 'fact';

-- name: give_feedback
SELECT f.memory_id, f.outcome, f.changed
FROM memsvc.give_feedback(
  :user_id, :recall_id, CAST(:used AS uuid []), CAST(:irrelevant AS uuid [])
) AS f
ORDER BY f.memory_id;

-- name: keep_memories
SELECT memsvc.keep_memories(:user_id);

-- name: note_echoes
-- Ids stay where they are; what was erased has none.
UPDATE memsvc.recall_events AS e
SET
  echoed = array(
    SELECT coalesce(m.id = any(CAST(:echoed AS uuid [])), FALSE)
    FROM unnest(e.memories) WITH ORDINALITY AS m (id, place)
    ORDER BY m.place
  )
WHERE e.user_id = :user_id AND e.recall_id = :recall_id;

-- name: recalls_judged
SELECT
  count(*) AS recalls, count(*) FILTER (WHERE 1 = any(e.verdicts) OR -1 = any(e.verdicts)) AS judged,
  count(e.echoed) AS answered
FROM memsvc.recall_events AS e
WHERE e.user_id = :user_id AND e.at >= CAST(:since AS timestamptz);

-- name: usefulness
SELECT
  g.door, g.kind, count(*) AS given,
  count(*) FILTER (WHERE g.verdict = 1) AS used, count(*) FILTER (WHERE g.verdict = -1) AS irrelevant,
  count(g.echoed) AS seen, count(*) FILTER (WHERE g.echoed) AS echoed
FROM (
  SELECT
    e.door, m.verdict, m.echoed, CASE WHEN m.id IS NULL THEN 'erased' ELSE coalesce(p.kind, 'fact') END AS kind
  FROM memsvc.recall_events AS e
  CROSS JOIN LATERAL unnest(e.memories, e.verdicts, e.echoed) AS m (id, verdict, echoed)
  LEFT JOIN memsvc.passages AS p ON e.user_id = p.user_id AND m.id = p.passage_id
  WHERE e.user_id = :user_id AND e.at >= CAST(:since AS timestamptz)
) AS g
GROUP BY g.door, g.kind
ORDER BY given DESC, g.door ASC, g.kind ASC;

-- name: passage_of_node
-- The passage that a node's present version is filed as: its note or its card. No row: it has none, or is an
-- instruction.
SELECT p.passage_id
FROM memsvc.passages AS p
WHERE
  p.user_id = :user_id AND p.source_id = :user_id AND p.session = CAST(CAST(:node_id AS uuid) AS text) AND p.part = 0
  AND p.kind IN ('note', 'card') AND p.recorded_to = 'infinity' AND p.valid_from <= now() AND p.valid_to > now()
ORDER BY p.valid_from DESC
LIMIT 1;

-- name: mark_memory
-- Pins or unpins a memory, or says how much it matters; null leaves what was said. No row: nothing has this id.
INSERT INTO memsvc.memory_signals AS s (user_id, memory_id, kind, pinned, importance)
SELECT :user_id, k.memory_id, k.kind, coalesce(CAST(:pinned AS boolean), FALSE), CAST(:importance AS smallint)
FROM memsvc.kinds_of(:user_id, ARRAY[CAST(:memory_id AS uuid)]) AS k
ON CONFLICT (user_id, memory_id) DO UPDATE SET
  pinned = coalesce(CAST(:pinned AS boolean), s.pinned),
  importance = coalesce(CAST(:importance AS smallint), s.importance)
RETURNING s.memory_id, s.pinned, s.importance;

-- name: top_of_mind
WITH best AS MATERIALIZED (
  SELECT t.*
  FROM memsvc.top_of_mind(
    :user_id, :limit, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz), CAST(:kinds AS text []), :facts
  ) AS t
)
SELECT
  s.*, t.remark, t.whole, b.score, b.recency, b.importance, b.strength, b.usefulness, b.pinned, b.salience, b.recalls,
  b.used, b.irrelevant, b.judged, b.at
FROM (SELECT array_agg(o.memory_id ORDER BY o.score DESC, o.at DESC, o.memory_id ASC) AS ids FROM best AS o) AS a
CROSS JOIN LATERAL memsvc.memories_shown(
  :user_id, a.ids, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS s
INNER JOIN best AS b ON s.memory_id = b.memory_id
LEFT JOIN memsvc.overtaken(
  :user_id, a.ids, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS t ON s.memory_id = t.passage_id
ORDER BY s.place;

-- name: random_memory
SELECT s.*, t.remark, t.whole
FROM memsvc.memories_shown(
  :user_id, ARRAY[memsvc.random_memory(
    :user_id, :seed, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
  )], CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS s
LEFT JOIN memsvc.overtaken(
  :user_id, ARRAY[s.memory_id], CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS t ON s.memory_id = t.passage_id;

-- name: nodes_found
-- Nodes by the words and the meaning of what their cards, notes and instructions say, best first, but those that are
-- called as :named says (null: all count), and those that were given before; :without take no place of others.
WITH model AS MATERIALIZED (
  SELECT m.*
  FROM memsvc.query_models(
    CAST(:model AS text), CAST(:vector AS public.halfvec), CAST(:other_model AS text),
    CAST(:other_vector AS public.halfvec)
  ) AS m
),

found AS MATERIALIZED (
  SELECT f.node_id, f.matched, f.rank
  FROM model
  CROSS JOIN LATERAL memsvc.nodes_found(
    :user_id, :query, CAST(:least AS double precision), :most,
    memsvc.scope(
      CAST(:kinds AS text []), p_as_of => CAST(:as_of AS timestamptz), p_known_at => CAST(:known_at AS timestamptz),
      p_types => CAST(:types AS text []), p_metadata => CAST(:metadata AS jsonb), p_ended => :ended
    ),
    memsvc.question(
      p_language => :language, p_model_id => model.active_id, p_vector => model.active_vector,
      p_other_model_id => model.other_id, p_other_vector => model.other_vector
    ),
    CAST(:without AS uuid [])
  ) AS f
)

SELECT f.node_id, f.matched
FROM found AS f
WHERE
  f.node_id <> all(CAST(:given AS uuid []))
  AND (
    CAST(:named AS text) IS NULL OR f.node_id NOT IN (
      SELECT c.node_id
      FROM memsvc.nodes_called_like(
        :user_id, :named, array(SELECT g.node_id FROM found AS g), CAST(:named_as_of AS timestamptz),
        CAST(:known_at AS timestamptz)
      ) AS c (node_id)
    )
  )
ORDER BY f.rank;
