-- What recall puts in order: the candidates of all arms, passages and facts, with what each arm knows of them.

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
    WHERE p_question.nodes <> '{}' AND p_question.hops > 0 AND memsvc.says_near(p_query) AND NOT p_weights @> '{"place": 0}'
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
    SELECT n.* FROM goal AS g CROSS JOIN LATERAL memsvc.match_nodes(
      p_user_id, p_query, p_question.language, g.nodes, g.reach, g.distances, p_candidates, p_scope
    ) AS n
  ),
  passage AS MATERIALIZED (
    SELECT c.*, a.node_id, a.reach, a.distance
    FROM memsvc.recall_candidates(
      p_user_id, p_query, p_enough, p_candidates, memsvc.by_words(p_weights),
      ARRAY(SELECT m.memory_id FROM about AS m WHERE m.kind = 'passage'), p_scope, p_question
    ) AS c
    LEFT JOIN about AS a ON a.kind = 'passage' AND a.memory_id = c.passage_id
    WHERE p_scope.near IS NULL OR memsvc.speaks_of(p_user_id, c.passage_id, p_scope.near, p_scope.known_at)
  ),
  matched AS MATERIALIZED (
    SELECT a.memory_id AS version_id, a.words, a.matched_terms, a.distance, a.node_id FROM about AS a
    WHERE a.kind = 'fact'
  ),
  fact AS MATERIALIZED (
    SELECT m.* FROM matched AS m
    UNION ALL
    -- What began or ended at a time that the query names: it may have ended, for that may be the answer.
    SELECT t.version_id, NULL, NULL, NULL, NULL
    FROM memsvc.match_fact_times(
      p_user_id, p_question.begins, p_question.ends, p_candidates, p_scope.as_of, p_scope.known_at
    ) AS t
    WHERE 'fact' = ANY (p_scope.kinds) AND p_question.begins <> '{}'
      AND t.version_id NOT IN (SELECT m.version_id FROM matched AS m)
      AND (NOT memsvc.asks_of_messages(p_scope) OR memsvc.fact_in_scope(p_user_id, t.version_id, p_scope))
  ),
  memory AS MATERIALIZED (
    SELECT c.passage_id AS memory_id, CASE WHEN c.known THEN 'known' ELSE 'passage' END AS kind, c.source_id, c.session, c.ordinal, c.role, c.speaker,
      c.said_at AS since, NULL::timestamptz AS until, c.said_at AS recorded, c.length, c.asks, c.answers, c.words,
      c.words_rank, c.matched_terms, c.matched_form, c.similarity, c.vector_rank, c.other_similarity, c.other_rank,
      c.node_id, c.reach, c.distance
    FROM passage AS c
    UNION ALL
    SELECT f.version_id, 'fact', NULL, f.version_id::text, 0, NULL, NULL, v.valid_from, v.valid_to, v.recorded_from,
      NULL, NULL, NULL, f.words,
      CASE WHEN f.words > 0 THEN row_number() OVER (ORDER BY f.words DESC NULLS LAST, f.version_id) END,
      f.matched_terms, p_question.form, NULL, NULL, NULL, NULL, f.node_id, NULL, f.distance
    FROM fact AS f
    INNER JOIN (
      SELECT e.version_id, e.from_node, e.to_node, e.valid_from, e.valid_to, e.recorded_from
      FROM memsvc.edge_versions AS e
      WHERE e.user_id = p_user_id AND e.version_id = ANY (ARRAY(SELECT o.version_id FROM fact AS o))
      ORDER BY e.version_id OFFSET 0 -- by keys; a join alone reads all facts of the user
    ) AS v ON v.version_id = f.version_id
    WHERE p_scope.near IS NULL OR v.from_node = ANY (p_scope.near) OR v.to_node = ANY (p_scope.near)
  ),
  late AS MATERIALIZED (
    SELECT l.passage_id, l.late, row_number() OVER (ORDER BY l.late DESC, l.passage_id) AS rank
    FROM memsvc.late_scores(
      p_user_id, p_question.model_id, p_question.tokens,
      ARRAY(SELECT m.memory_id FROM memory AS m WHERE m.kind <> 'fact')
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
) IS 'The candidates of all arms of recall, passages and facts, with what each arm knows of them.';
