-- Nodes that are described alike, by the vectors of their cards (recall/12_known.sql). A card is compared by its first
-- part, whose passage has the id of the version that it repeats, and as soon as it has a vector.

-- A user's next vectors by a model, in the order in which they were made, behind p_made and p_card: those of cards that
-- stand, with their nodes, at most p_limit. A page that is not full ends with the last vector that was looked at, without
-- a node, so a reader goes on behind the last row until there is none. settled_at is the time up to which nothing comes
-- later: a vector bears the time at which it was made, and is seen when its transaction has committed.
CREATE OR REPLACE FUNCTION memsvc.cards_made(
  p_user_id uuid, p_model_id smallint, p_made timestamptz, p_card uuid, p_limit integer
) RETURNS TABLE (node_id uuid, made_at timestamptz, card uuid, settled_at timestamptz)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
BEGIN ATOMIC
  WITH looked AS MATERIALIZED (
    SELECT e.created_at, e.passage_id FROM memsvc.embeddings AS e
    WHERE e.user_id = p_user_id AND e.model_id = p_model_id AND (e.created_at, e.passage_id) > (p_made, p_card)
    ORDER BY e.created_at, e.passage_id
    LIMIT p_limit * 10
  ),
  cards AS MATERIALIZED (
    SELECT v.node_id, l.created_at, l.passage_id
    FROM looked AS l
    CROSS JOIN LATERAL (
      SELECT c.node_id, c.type, c.description, c.recorded_to FROM memsvc.node_versions AS c
      WHERE c.user_id = p_user_id AND c.version_id = l.passage_id
      OFFSET 0 -- found by its id, whatever the table holds
    ) AS v
    WHERE v.recorded_to = 'infinity' AND v.description <> ''
      AND v.type IN (SELECT t.name FROM memsvc.node_types AS t WHERE t.category = 'entity')
    ORDER BY l.created_at, l.passage_id
    LIMIT p_limit
  )
  SELECT f.node_id, f.created_at, f.passage_id, least(f.created_at, now() - interval '10 minutes')
  FROM (
    SELECT c.node_id, c.created_at, c.passage_id FROM cards AS c
    UNION ALL
    (
      SELECT NULL, l.created_at, l.passage_id FROM looked AS l
      WHERE (SELECT count(*) FROM cards AS c) < p_limit
      ORDER BY l.created_at DESC, l.passage_id DESC LIMIT 1
    )
  ) AS f
  ORDER BY f.created_at, f.passage_id, f.node_id;
END;
COMMENT ON FUNCTION memsvc.cards_made(uuid, smallint, timestamptz, uuid, integer) IS
  'Nodes with the vectors of their cards, in the order in which these were made; a page.';

-- The nearest others of each node, at most p_nearest, of pairs with their cosines (parallel arrays), as canonical nodes:
-- what is stored in duplicate_candidates, in whatever state, is left out first, and what was decided about merged nodes.
CREATE OR REPLACE FUNCTION memsvc.nearest_undecided(
  p_user_id uuid, p_nodes uuid[], p_others uuid[], p_similarities double precision[], p_nearest integer
) RETURNS TABLE (node_id uuid, other_id uuid, similarity double precision)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id FROM memsvc.resolve_nodes(p_user_id, p_nodes || p_others) AS r
  ),
  pair AS MATERIALIZED (
    SELECT a.canonical_id AS one, b.canonical_id AS two, max(u.similarity) AS similarity
    FROM unnest(p_nodes, p_others, p_similarities) AS u (one, two, similarity)
    INNER JOIN resolved AS a ON a.node_id = u.one
    INNER JOIN resolved AS b ON b.node_id = u.two
    WHERE a.canonical_id <> b.canonical_id
    GROUP BY a.canonical_id, b.canonical_id
  ),
  fresh AS MATERIALIZED (
    SELECT p.one, p.two, p.similarity FROM pair AS p
    WHERE NOT EXISTS (
      SELECT FROM memsvc.duplicate_candidates AS d
      WHERE d.user_id = p_user_id AND d.node_a = least(p.one, p.two) AND d.node_b = greatest(p.one, p.two)
    )
  ),
  refused AS MATERIALIZED (
    SELECT r.node_id, r.other_id
    FROM memsvc.refused_pairs(
      p_user_id, ARRAY(SELECT f.one FROM fresh AS f ORDER BY f.one, f.two),
      ARRAY(SELECT f.two FROM fresh AS f ORDER BY f.one, f.two)
    ) AS r
  )
  SELECT n.one, n.two, n.similarity
  FROM (
    SELECT f.*, row_number() OVER (PARTITION BY f.one ORDER BY f.similarity DESC, f.two) AS nth
    FROM fresh AS f
    WHERE NOT EXISTS (SELECT FROM refused AS r WHERE r.node_id = f.one AND r.other_id = f.two)
  ) AS n
  WHERE n.nth <= p_nearest;
END;
COMMENT ON FUNCTION memsvc.nearest_undecided(uuid, uuid[], uuid[], double precision[], integer) IS
  'The nearest others of nodes, without pairs that are stored or decided.';

-- Nodes of the same type whose cards are near to those of some nodes: at most p_nearest for each, with a cosine of at
-- least p_least, as canonical nodes. Pairs that are stored, and those that were rejected or split, take nobody's place.
-- Few cards are compared one by one, at .3 µs each, and all are read for that; so up to 20,000 at most. The vector index
-- takes about 1 ms for each node, and as many times longer as there are more vectors in the partition than the user has,
-- up to hnsw.max_scan_tuples of them. There, only what is among the user's 40 nearest passages of any kind is found.
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
  most_read CONSTANT integer := 20000;
  at_once CONSTANT integer := 40;
  of_each CONSTANT integer := 100; -- those that are compared one by one
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
  IF cards <= least(most_read, worth_an_index * greatest(1, neighbours / own)) THEN
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
    SELECT array_agg(a.node_id), array_agg(n.node_id), array_agg(n.similarity)
    INTO ids, other_ids, similarities
    FROM every AS a
    CROSS JOIN LATERAL (
      SELECT b.node_id, -(a.vector <#> b.vector) AS similarity FROM every AS b
      WHERE b.type = a.type AND b.node_id <> a.node_id AND a.vector <#> b.vector <= -p_least
      ORDER BY similarity DESC LIMIT of_each
    ) AS n
    WHERE a.node_id = ANY (p_nodes);
  ELSE
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('hnsw.ef_search', at_once::text, true);
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
  RETURN QUERY SELECT n.node_id, n.other_id, n.similarity
  FROM memsvc.nearest_undecided(p_user_id, ids, other_ids, similarities, p_nearest) AS n;
END
$$;
COMMENT ON FUNCTION memsvc.near_cards(uuid, smallint, uuid[], integer, double precision) IS
  'Nodes of one type whose cards are near to each other, as pairs.';
