-- What recall puts in order: the candidates of all arms, with what each arm knows of them.

-- What speaks of the nodes that the scope is near to is found as if the query named it two steps away.
-- metres: how far from a place that the query names; path: from what it names to the memory.
CREATE OR REPLACE FUNCTION memsvc.recall_memories(
  p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_weights jsonb, p_scope memsvc.scope,
  p_question memsvc.question
) RETURNS SETOF memsvc.memory
LANGUAGE sql STABLE
ROWS 150
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH beside AS MATERIALIZED (
    SELECT b.* FROM memsvc.nodes_beside(
      p_user_id, p_question.nodes, 1000, 20, p_scope.as_of, p_scope.known_at
    ) AS b
    WHERE p_question.nodes <> '{}' AND p_question.hops > 0 AND memsvc.says_near(p_query)
      AND NOT p_weights @> '{"place": 0}'
  ),
  reached AS MATERIALIZED ( -- what lies beside is that, even where facts lead to it, too
    SELECT e.*, NULL::double precision AS metres
    FROM memsvc.expand_names(
      p_user_id, p_question.nodes, p_question.hops, 10, p_scope.as_of, p_scope.known_at
    ) AS e
    WHERE p_question.nodes <> '{}' AND e.node_id NOT IN (SELECT b.node_id FROM beside AS b)
    UNION ALL SELECT b.* FROM beside AS b
  ),
  goal AS MATERIALIZED (
    SELECT coalesce(array_agg(r.node_id), '{}') AS nodes, coalesce(array_agg(r.reach), '{}') AS reach,
      coalesce(array_agg(r.distance), '{}') AS distances
    FROM (
      SELECT e.node_id, e.reach, e.distance FROM reached AS e
      UNION ALL SELECT n.node_id, 1, 2 FROM unnest(p_scope.near) AS n (node_id)
    ) AS r
  ),
  about AS MATERIALIZED (
    SELECT n.memory_id, n.node_id, n.reach, n.distance
    FROM goal AS g
    CROSS JOIN LATERAL memsvc.match_nodes(p_user_id, g.nodes, g.reach, g.distances, p_candidates, p_scope) AS n
    UNION ALL
    -- What began, ended or held at a time that the query names: it may have ended, for that may be the answer.
    SELECT t.version_id, NULL, NULL, NULL
    FROM memsvc.match_fact_times(
      p_user_id, p_question.begins, p_question.ends, p_candidates, p_scope.as_of, p_scope.known_at
    ) AS t
    WHERE p_question.begins <> '{}' AND 'fact' = ANY (p_scope.kinds)
  ),
  met AS MATERIALIZED (
    SELECT a.memory_id, min(a.distance) AS distance, max(a.reach) AS reach,
      (array_agg(a.node_id ORDER BY a.distance))[1] AS node_id
    FROM about AS a
    GROUP BY a.memory_id
  ),
  memory AS MATERIALIZED (
    SELECT c.passage_id AS memory_id, c.kind, CASE WHEN c.kind <> 'fact' THEN c.source_id END AS source_id, c.session,
      c.ordinal, c.role, c.speaker, c.since, c.until, c.recorded,
      CASE WHEN c.kind <> 'fact' THEN c.length END AS length,
      c.asks, c.answers, c.words, c.words_rank, c.matched_terms, c.matched_form, c.similarity, c.vector_rank,
      c.other_similarity, c.other_rank, m.node_id, m.reach, m.distance
    FROM memsvc.recall_candidates(
      p_user_id, p_query, p_enough, p_candidates, memsvc.by_words(p_weights),
      ARRAY(SELECT a.memory_id FROM met AS a), p_scope, p_question
    ) AS c
    LEFT JOIN met AS m ON m.memory_id = c.passage_id
    WHERE p_scope.near IS NULL OR memsvc.speaks_of(p_user_id, c.passage_id, p_scope.near, p_scope.known_at)
  ),
  late AS MATERIALIZED (
    SELECT l.passage_id, l.late, row_number() OVER (ORDER BY l.late DESC, l.passage_id) AS rank
    FROM memsvc.late_scores(
      p_user_id, p_question.model_id, p_question.tokens, ARRAY(SELECT m.memory_id FROM memory AS m)
    ) AS l
    WHERE p_question.tokens IS NOT NULL
  ),
  judgement AS MATERIALIZED (
    SELECT s.memory_id, s.recalls, s.last_recalled_at, s.used, s.irrelevant, s.importance, s.sentiment
    FROM memsvc.memory_signals AS s
    WHERE p_scope.known_at IS NULL -- of signals only today's are kept, so they do not count for what was known once
      AND s.user_id = p_user_id AND s.memory_id = ANY (ARRAY(SELECT m.memory_id FROM memory AS m))
    ORDER BY s.memory_id OFFSET 0
  )
  SELECT m.memory_id, m.kind, m.source_id, m.session, m.ordinal, m.role, m.speaker, m.since, m.until, m.recorded,
    m.length, m.asks, m.answers, m.words, m.words_rank, m.matched_terms, m.matched_form, m.similarity, m.vector_rank,
    m.other_similarity, m.other_rank, l.late, l.rank, m.node_id,
    CASE WHEN m.node_id IS NOT NULL THEN coalesce(m.reach, r.reach, 1) END, m.distance, r.metres,
    coalesce(r.path, '{}'), g.recalls, g.last_recalled_at, g.used, g.irrelevant, g.importance::double precision,
    g.sentiment::double precision
  FROM memory AS m
  LEFT JOIN reached AS r ON r.node_id = m.node_id
  LEFT JOIN late AS l ON l.passage_id = m.memory_id
  LEFT JOIN judgement AS g ON g.memory_id = m.memory_id;
END;
COMMENT ON FUNCTION memsvc.recall_memories(
  uuid, text, integer, integer, jsonb, memsvc.scope, memsvc.question
) IS 'The candidates of all arms of recall, with what each arm knows of them.';
