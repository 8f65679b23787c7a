-- Nodes that are described alike, by the vectors of their cards (recall/12_known.sql). A card is compared by its first
-- part, whose passage has the id of the version that it repeats, and as soon as it has a vector.

-- Nodes of people and things with the vector of a card by a model, after a node (p_after), in the order of their ids.
-- With p_since, those whose vector was made since then, or about which something was recorded.
CREATE OR REPLACE FUNCTION memsvc.nodes_with_cards(
  p_user_id uuid, p_model_id smallint, p_after uuid, p_since timestamptz, p_limit integer
) RETURNS SETOF uuid
LANGUAGE sql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
BEGIN ATOMIC
  SELECT DISTINCT v.node_id
  FROM memsvc.node_versions AS v
  CROSS JOIN LATERAL (
    SELECT e.created_at FROM memsvc.embeddings AS e
    WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND e.passage_id = v.version_id
    OFFSET 0
  ) AS e
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.description <> ''
    AND v.node_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
    AND (p_since IS NULL OR e.created_at >= p_since OR v.recorded_from >= p_since)
    AND v.type IN (SELECT t.name FROM memsvc.node_types AS t WHERE t.category = 'entity')
  ORDER BY v.node_id
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.nodes_with_cards(uuid, smallint, uuid, timestamptz, integer) IS
  'Nodes that have the vector of a card; a page.';

-- Nodes of the same type whose cards are near to those of some nodes: at most p_nearest for each, with a cosine of at
-- least p_least, as canonical nodes. Few cards are compared one by one, at .3 µs each; the vector index takes about 1
-- ms for each node, and as many times longer as there are more vectors in the partition than the user has. There,
-- only what is among the user's 40 nearest passages of any kind is found.
CREATE OR REPLACE FUNCTION memsvc.near_cards(
  p_user_id uuid, p_model_id smallint, p_nodes uuid[], p_nearest integer, p_least double precision
) RETURNS TABLE (node_id uuid, other_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, public, pg_temp
-- callers: app
-- plans: by-key, no-bitmap; the index gives the order of the nearest
AS $$
#variable_conflict use_column
DECLARE
  worth_an_index CONSTANT integer := 3300;
  at_once CONSTANT integer := 40;
  dimensions CONSTANT integer := (SELECT m.dimensions FROM embedding_models AS m WHERE m.model_id = p_model_id);
  cards double precision;
  own double precision;
  neighbours double precision;
  ids uuid[];
  other_ids uuid[];
  similarities double precision[];
BEGIN
  SELECT coalesce(sum(s.passages) FILTER (WHERE s.kind = 'card'), 0), greatest(coalesce(sum(s.passages), 0), 1)
  INTO cards, own
  FROM (
    SELECT c.kind, c.passages FROM corpora AS c WHERE c.user_id = p_user_id AND c.form = 'simple'
    UNION ALL
    SELECT d.kind, d.passages FROM term_deltas AS d WHERE d.user_id = p_user_id AND d.form = 'simple'
  ) AS s
  WHERE s.kind = ANY (memsvc.compared_kinds());
  SELECT (SELECT c.reltuples FROM pg_class AS c WHERE c.oid = o.tableoid) INTO neighbours
  FROM (
    SELECT e.tableoid FROM embeddings AS e WHERE e.user_id = p_user_id AND e.model_id = p_model_id
    ORDER BY e.passage_id LIMIT 1
  ) AS o;

  PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
  IF cards <= worth_an_index * greatest(1, neighbours / own) THEN
    WITH every AS MATERIALIZED (
      SELECT v.node_id, v.type, e.vector
      FROM node_versions AS v
      CROSS JOIN LATERAL (
        SELECT d.vector FROM embeddings AS d
        WHERE d.user_id = p_user_id AND d.model_id = p_model_id AND d.passage_id = v.version_id
        OFFSET 0
      ) AS e
      WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.description <> ''
    )
    SELECT array_agg(a.node_id), array_agg(b.node_id), array_agg(-(a.vector <#> b.vector))
    INTO ids, other_ids, similarities
    FROM every AS a
    INNER JOIN every AS b ON b.type = a.type AND b.node_id <> a.node_id
    WHERE a.node_id = ANY (p_nodes) AND a.vector <#> b.vector <= -p_least;
  ELSE
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('hnsw.ef_search', '60', true);
    SELECT array_agg(v.node_id), array_agg(o.node_id), array_agg(n.similarity)
    INTO ids, other_ids, similarities
    FROM node_versions AS v
    CROSS JOIN LATERAL (
      SELECT d.vector FROM embeddings AS d
      WHERE d.user_id = p_user_id AND d.model_id = p_model_id AND d.passage_id = v.version_id
      OFFSET 0
    ) AS e
    CROSS JOIN LATERAL (
      SELECT d.passage_id, -(halfvec(d.vector, dimensions, true) <#> e.vector) AS similarity
      FROM embeddings AS d
      WHERE d.user_id = p_user_id AND d.model_id = p_model_id
      ORDER BY halfvec(d.vector, dimensions, true) <#> e.vector
      LIMIT at_once
    ) AS n
    CROSS JOIN LATERAL (
      SELECT w.node_id FROM node_versions AS w
      WHERE w.user_id = p_user_id AND w.version_id = n.passage_id AND w.recorded_to = 'infinity' AND w.type = v.type
      OFFSET 0
    ) AS o
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity' AND v.description <> ''
      AND n.similarity >= p_least AND o.node_id <> v.node_id;
  END IF;
  PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);

  RETURN QUERY
  WITH resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id FROM memsvc.resolve_nodes(p_user_id, ids || other_ids) AS r
  ),
  pair AS (
    SELECT a.canonical_id AS one, b.canonical_id AS two, max(u.similarity) AS similarity
    FROM unnest(ids, other_ids, similarities) AS u (one, two, similarity)
    INNER JOIN resolved AS a ON a.node_id = u.one
    INNER JOIN resolved AS b ON b.node_id = u.two
    WHERE a.canonical_id <> b.canonical_id
    GROUP BY a.canonical_id, b.canonical_id
  )
  SELECT p.one, p.two, p.similarity
  FROM (
    SELECT q.*, row_number() OVER (PARTITION BY q.one ORDER BY q.similarity DESC, q.two) AS nth FROM pair AS q
  ) AS p
  WHERE p.nth <= p_nearest;
END
$$;
COMMENT ON FUNCTION memsvc.near_cards(uuid, smallint, uuid[], integer, double precision) IS
  'Nodes of one type whose cards are near to each other, as pairs.';
