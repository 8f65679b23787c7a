-- owner: memsvc_recall

-- The vector arm: passages whose vectors are nearest to the query's, by inner product (all vectors have length 1).
--
-- SECURITY DEFINER, owned by memsvc_recall, so that the filters below may be looked at before row security, as in
-- match_words; the first line binds the user to the token.
--
-- Small users are compared one by one, by key: exact, and faster than an index most of whose hits are others' (200 rows
-- of a user beside 40,000 came back as none). Large ones go through HNSW (Malkov & Yashunin 2018) with iterative scan.
-- The branch is taken here, for the planner does not know how many passages the user has. One by one takes 0.7 µs a
-- passage within recall, whose other steps leave few vectors in the processor's cache; HNSW takes 1.7 ms and 0.9 ms for
-- each vector of the partition that stands behind one of the user's, as it walks past all the others. Both take the
-- same at 2,500 passages and 1,250 more for each such vector: 3,750 passages of a user alone, 5,000 of one among 10,000
-- vectors, 10,000 of one among 60,000, 37,000 of one among a million.
-- The index is asked for more than are wanted, so that a few of others' do not cost another round, and in relaxed
-- order, which drops nothing that a later round finds; they are sorted here. The more vectors a partition has, the more
-- are asked for: of the exact ten nearest, 83 candidates keep 99.9 % among 10,000 vectors (100 take a tenth longer, 150
-- half as long again), 150 keep 99 % among 100,000, 250 keep 93 % among 300,000 and 80 % among a million; 600
-- keep 98 % among 300,000, 1,000 keep 96 % among a million (with ef_construction 128 of models/10_embeddings.sql).
-- Where filters or others' rows leave fewer than asked for, the exact way has the last word.
--
-- Filters: what a filter leaves is looked up first, up to a number. Is there no more, that is compared one by one, at
-- 2 µs each; else the index is asked, with a look at each passage that it meets, 10 to 45 µs: it meets p_limit ×
-- partition / left of them. The number is sqrt(8 × p_limit × partition), 7,000 of 100,000: there either way takes 1 to
-- 45 ms, and behind a filter that leaves most 10; comparing all that it leaves took 50 to 250. The index finds the
-- farther ones less surely the more it passes over, so half as many again are asked for.
CREATE OR REPLACE FUNCTION memsvc.match_vectors(
  p_user_id uuid, p_model_id smallint, p_vector halfvec, p_limit integer, p_scope memsvc.scope DEFAULT memsvc.scope()
) RETURNS TABLE (matched_id uuid, similarity double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
ROWS 200
SET search_path = memsvc, public, pg_temp
SET jit = off -- a kept plan is costed as if filters were asked for
-- callers: app, reader
-- plans: by-key, no-sort, no-bitmap; the index gives the order, and a look that ends early must not collect all first
AS $$
DECLARE
  worth_an_index CONSTANT integer := 2500;
  worth_a_neighbour CONSTANT integer := 1250;
  worth_a_look CONSTANT double precision := 8; -- a passage that the index meets, in passages compared one by one
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  dimensions CONSTANT integer := vector_dims(p_vector);
  filtered boolean; -- something is to be looked at in each passage
  size bigint;
  few bigint; -- what a filter may leave to be compared one by one
  left_over uuid[];
  neighbours double precision;
  found_ids uuid[];
  found_similarities double precision[];
BEGIN
  IF NOT p_scope.kinds && memsvc.compared_kinds() THEN
    RETURN; -- nothing of these kinds has vectors, and to find that out all of the user's would be looked at
  END IF;
  SELECT coalesce(sum(c.passages) FILTER (WHERE c.wanted), 0),
    memsvc.is_filtered(p_scope) OR bool_or(c.passages > 0) FILTER (WHERE NOT c.wanted) IS TRUE
  INTO size, filtered
  FROM (
    SELECT s.kind = ANY (p_scope.kinds) AS wanted, sum(s.passages) AS passages
    FROM (
      SELECT kind, passages FROM corpora WHERE user_id = asker AND form = 'simple'
      UNION ALL
      SELECT kind, passages FROM term_deltas WHERE user_id = asker AND form = 'simple'
    ) AS s
    WHERE s.kind = ANY (memsvc.compared_kinds())
    GROUP BY s.kind
  ) AS c;

  IF size > worth_an_index THEN
    SELECT (SELECT c.reltuples FROM pg_class AS c WHERE c.oid = own.tableoid) INTO neighbours
    FROM (
      -- The order is for the plan: without it all of the user's keys went into a bitmap, for one row.
      SELECT e.tableoid FROM embeddings AS e WHERE e.user_id = asker AND e.model_id = p_model_id
      ORDER BY e.passage_id LIMIT 1
    ) AS own;
  END IF;

  -- Nobody has counted a partition where it says -1.
  few := CASE WHEN neighbours IS NOT NULL THEN sqrt(worth_a_look * p_limit * greatest(neighbours, size)) END;
  IF filtered AND size > few THEN
    PERFORM set_config('plan_cache_mode', 'force_custom_plan', true); -- how they are best found depends on the filter
    left_over := ARRAY(
      -- What was said apart: by itself it may be found by an index of times, sources or metadata.
      SELECT p.passage_id FROM passages AS p
      WHERE p.user_id = asker AND p.version_id IS NULL AND memsvc.holds_in(p_scope, p) AND memsvc.is_from(p_scope, p)
      UNION ALL
      SELECT p.passage_id FROM passages AS p
      WHERE p.user_id = asker AND p.version_id IS NOT NULL AND memsvc.in_scope(p_scope, p)
      LIMIT few + 1
    );
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
    IF cardinality(left_over) <= few THEN
      RETURN QUERY
      SELECT e.passage_id, -(e.vector <#> p_vector) AS similarity
      FROM embeddings AS e
      WHERE e.user_id = asker AND e.model_id = p_model_id AND e.passage_id = ANY (left_over)
      ORDER BY similarity DESC, e.passage_id LIMIT p_limit;
      RETURN;
    END IF;
  END IF;

  IF neighbours <= size * ((size - worth_an_index)::double precision / worth_a_neighbour)
    AND (NOT filtered OR size > few)
  THEN
    -- Planned each time: the partial index by expression is only seen where model and length are known.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('hnsw.ef_search', least(1000, greatest(
        80, greatest(least(150, 76 + neighbours / 1350), p_limit * 1.25) * greatest(1, neighbours / 150000)
      ))::integer::text, true),
      set_config('plan_cache_mode', 'force_custom_plan', true);
    -- As vector::halfvec(384) of the index, whose length can be no parameter.
    SELECT array_agg(n.passage_id), array_agg(n.similarity) INTO found_ids, found_similarities
    FROM (
      SELECT e.passage_id, -(halfvec(e.vector, dimensions, true) <#> p_vector) AS similarity
      FROM embeddings AS e
      WHERE e.user_id = asker AND e.model_id = p_model_id
        AND (NOT filtered OR ( -- no EXISTS: that becomes a join, which loses the order
          SELECT memsvc.in_scope(p_scope, p) FROM passages AS p
          WHERE p.user_id = asker AND p.passage_id = e.passage_id
        ))
      ORDER BY halfvec(e.vector, dimensions, true) <#> p_vector
      LIMIT CASE WHEN filtered THEN p_limit * 3 / 2 ELSE p_limit END
    ) AS n;
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
    IF cardinality(found_ids) >= least(p_limit, size) THEN
      RETURN QUERY SELECT f.passage_id, f.similarity
      FROM unnest(found_ids, found_similarities) AS f (passage_id, similarity)
      ORDER BY f.similarity DESC, f.passage_id LIMIT p_limit;
      RETURN;
    END IF;
  END IF;

  IF filtered THEN -- how passages are best looked up depends on how many the user has
    PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
  END IF;
  RETURN QUERY
  SELECT n.passage_id, n.similarity
  FROM (
    SELECT e.passage_id, -(e.vector <#> p_vector) AS similarity
    FROM embeddings AS e
    WHERE e.user_id = asker AND e.model_id = p_model_id
      AND (NOT filtered OR EXISTS (
        SELECT FROM passages AS p
        WHERE p.user_id = asker AND p.passage_id = e.passage_id AND memsvc.in_scope(p_scope, p)
      ))
  ) AS n
  ORDER BY n.similarity DESC, n.passage_id LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_vectors(
  uuid, smallint, halfvec, integer, memsvc.scope
) IS 'The vector arm: passages nearest to the query''s vector, best first.';
