-- Nodes by what is said about them. By their names, they are found by graph/60_search.sql.

-- Nodes whose card, note or instruction fits a query, best first; merged nodes once, as their canonical node. matched:
-- words, where it holds more than half of the query's words; else meaning, where its cosine is at least p_least. Where
-- p_least is null, no threshold is known for the model, so the nearest five count; so they do for the model that
-- leaves. Half of the query's words weigh as much as a difference of .25 between cosines. Each arm gives p_limit
-- passages at most, so the list ends; those of p_without, nodes that are left out, come on top: they take no place of
-- others.
CREATE OR REPLACE FUNCTION memsvc.nodes_found(
  p_user_id uuid, p_query text, p_least double precision, p_limit integer, p_scope memsvc.scope,
  p_question memsvc.question, p_without uuid[] DEFAULT '{}'
) RETURNS TABLE (node_id uuid, matched text, rank bigint)
LANGUAGE sql STABLE
ROWS 50
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, no-nested-loop; estimates know nothing of how many the arms find
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT w.form, length(memsvc.to_words(w.form, p_question.language, p_query)) AS words
    FROM (VALUES ('stemmed'), ('simple')) AS w (form)
  ),
  met AS MATERIALIZED (
    SELECT c.* FROM memsvc.recall_candidates(
      p_user_id, p_query, p_limit + cardinality(p_without), p_limit + cardinality(p_without), true, '{}', p_scope,
      p_question
    ) AS c
  ),
  candidate AS MATERIALIZED (
    SELECT c.passage_id, p.subject_id, coalesce(c.similarity, c.other_similarity, 0) AS similarity,
      coalesce(cardinality(c.matched_terms)::double precision / nullif(a.words, 0), 0) AS share,
      CASE
        WHEN c.similarity IS NULL THEN c.other_rank IS NOT NULL AND row_number() OVER (ORDER BY c.other_rank) <= 5
        WHEN p_least IS NULL THEN c.vector_rank IS NOT NULL AND row_number() OVER (ORDER BY c.vector_rank) <= 5
        ELSE c.similarity >= p_least
      END IS TRUE AS near
    FROM met AS c
    INNER JOIN memsvc.passages AS p ON p.passage_id = c.passage_id
    LEFT JOIN asked AS a ON a.form = c.matched_form
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT d.passage_id FROM met AS d))
      AND p.subject_id NOT IN (SELECT w.node_id FROM unnest(p_without) AS w (node_id))
  ),
  fitting AS MATERIALIZED (
    SELECT c.subject_id, c.similarity, c.share FROM candidate AS c WHERE c.near OR c.share > 0.5
  ),
  best AS (
    SELECT DISTINCT ON (r.canonical_id) r.canonical_id, f.share, f.similarity + f.share / 2 AS score
    FROM fitting AS f
    INNER JOIN memsvc.resolve_nodes(
      p_user_id, ARRAY(SELECT DISTINCT d.subject_id FROM fitting AS d), p_scope.known_at
    ) AS r ON r.node_id = f.subject_id
    WHERE r.canonical_id NOT IN (SELECT w.node_id FROM unnest(p_without) AS w (node_id))
    ORDER BY r.canonical_id, f.similarity + f.share / 2 DESC
  )
  SELECT b.canonical_id, CASE WHEN b.share > 0.5 THEN 'words' ELSE 'meaning' END,
    row_number() OVER (ORDER BY b.score DESC, b.canonical_id)
  FROM best AS b;
END;
COMMENT ON FUNCTION memsvc.nodes_found(
  uuid, text, double precision, integer, memsvc.scope, memsvc.question, uuid[]
) IS 'Nodes whose card, note or instruction fits a query by words or by meaning, best first.';
