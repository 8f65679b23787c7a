-- Facts (versions of edges) that matter for a query: by the words of their sentence, and because of what they are
-- about.

-- How much an edge of a type tells about its ends, 0 to 1. Who somebody is and lives with first; then what somebody
-- does and likes; then how things hang together; what was only mentioned, and where knowledge comes from, last. Types
-- that users add (none of these) stand with what people do, for somebody thought them worth a name.
CREATE OR REPLACE FUNCTION memsvc.edge_type_weight(p_type text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN p_type IN ('LIVES_IN', 'WORKS_AT', 'FAMILY_OF') THEN 1.0
  WHEN p_type IN ('KNOWS', 'LIKES', 'DISLIKES', 'WANTS', 'FEELS', 'OWNS', 'PARTICIPATED_IN', 'HAPPENED_ON') THEN 0.9
  WHEN p_type IN ('CREATED', 'USES', 'LOCATED_AT', 'PART_OF') THEN 0.7
  WHEN p_type IN ('DEPENDS_ON', 'CAUSED_BY', 'ANSWERS', 'SUPPORTS', 'CONTRADICTS', 'EXTENDS', 'EXAMPLE_OF', 'PRECEDES')
    THEN 0.5
  WHEN p_type IN ('RELATED_TO', 'ABOUT', 'MENTIONS') THEN 0.3
  WHEN p_type IN (
    'SUPERSEDES', 'DERIVED_FROM', 'SUMMARIZES', 'REFLECTS_ON', 'VERSION_OF', 'TOOL_CALL'
  ) THEN 0.2
  ELSE 0.7
END;
COMMENT ON FUNCTION memsvc.edge_type_weight(text) IS 'How much an edge of a type tells about its ends, 0 to 1.';

-- Whether a passage of these sources (null: any), said in [p_said_from, p_said_to), supports a fact, as known at a
-- time.
CREATE OR REPLACE FUNCTION memsvc.fact_is_from(
  p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamptz,
  p_said_to timestamptz, p_known_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN EXISTS (
    SELECT FROM source_links AS l
    CROSS JOIN LATERAL (
      SELECT i.* FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[l.passage_id])
      ORDER BY i.passage_id OFFSET 0
    ) AS p
    WHERE l.user_id = p_user_id AND l.edge_version_id = p_version_id AND l.stance = 'supports'
      AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
      AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
      AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
      AND (p_said_from IS NULL OR p.said_at >= p_said_from)
      AND (p_said_to IS NULL OR p.said_at < p_said_to)
  );
END
$$;
COMMENT ON FUNCTION memsvc.fact_is_from(
  uuid, uuid, uuid[], uuid[], timestamptz, timestamptz, timestamptz
) IS 'Whether a passage of some sources and times supports a fact.';

-- Facts that hold at p_as_of (null: now), as known at p_known_at (null: now): those whose sentence has words of the
-- query (words: BM25; null: not one), and those about nodes (p_nodes, each p_distances away from what the query names;
-- null: not about any). Of a node the strongest facts are looked at: 50 either way at distance 0; of the others about
-- p_limit together, but 10 of each at least. Of these the ones of telling types go first; edges among nodes that are
-- the same are found by words alone. p_sources to p_said_to: only what such a passage supports. Best first, at most
-- p_limit: the best by words and the best about the nodes take turns.
CREATE OR REPLACE FUNCTION memsvc.match_facts(
  p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer,
  p_sources uuid[] DEFAULT NULL, p_not_sources uuid[] DEFAULT NULL, p_said_from timestamptz DEFAULT NULL,
  p_said_to timestamptz DEFAULT NULL, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (version_id uuid, words double precision, matched_terms text[], distance integer, node_id uuid)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET enable_nestloop = off -- estimates know nothing of the number of facts
AS $$
#variable_conflict use_column
DECLARE
  fan_out CONSTANT integer := 50;
  least_fan_out CONSTANT integer := 10;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL;
  same record;
  asked record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN QUERY SELECT m.*, NULL::integer, NULL::uuid FROM memsvc.match_fact_words(
      p_user_id, p_query, p_language, '{}', p_limit, p_sources, p_not_sources, p_said_from, p_said_to, p_as_of,
      p_known_at
    ) AS m;
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_known_at);
  SELECT array_agg(b.start_id) AS starts, array_agg(b.node_id) AS nodes, array_agg(b.distance) AS distances,
    array_agg(
      CASE b.distance WHEN 0 THEN fan_out ELSE least(fan_out, greatest(least_fan_out, p_limit / b.others)) END
    ) AS fan_outs
  INTO asked
  FROM (
    SELECT m.*, greatest(1, count(*) FILTER (WHERE m.distance > 0) OVER ())::integer AS others
    FROM (
      SELECT DISTINCT s.start_id, s.node_id, min(n.distance) OVER (PARTITION BY s.start_id) AS distance
      FROM unnest(same.starts, same.nodes) AS s (start_id, node_id)
      LEFT JOIN unnest(p_nodes, p_distances) AS n (node_id, distance) ON n.node_id = s.node_id
    ) AS m
  ) AS b;
  RETURN QUERY
  WITH near AS MATERIALIZED (
    SELECT DISTINCT ON (f.version_id) f.version_id, f.from_node, f.to_node,
      memsvc.edge_type_weight(f.type) * f.weight AS strength, f.recorded_from
    FROM memsvc.facts_at(
      p_user_id, asked.starts, asked.nodes, asked.fan_outs, array_fill(moment, ARRAY[cardinality(asked.nodes)]),
      p_known_at
    ) AS f
    WHERE NOT filtered OR memsvc.fact_is_from(
      p_user_id, f.version_id, p_sources, p_not_sources, p_said_from, p_said_to, p_known_at
    )
    ORDER BY f.version_id
  ),
  told AS MATERIALIZED (
    SELECT m.* FROM memsvc.match_fact_words(
      p_user_id, p_query, p_language, ARRAY(SELECT n.version_id FROM near AS n), p_limit, p_sources, p_not_sources,
      p_said_from, p_said_to, p_as_of, p_known_at
    ) AS m
  ),
  about AS (
    SELECT f.version_id, f.strength, f.recorded_from, least(o.distance, i.distance) AS distance,
      CASE WHEN i.distance IS NULL OR o.distance <= i.distance THEN o.start_id ELSE i.start_id END AS node_id
    FROM (
      SELECT n.* FROM near AS n
      UNION ALL
      -- EXCEPT: under row security, an index is not used for an array with coalesce or CASE around it.
      (SELECT v.version_id, v.from_node, v.to_node, memsvc.edge_type_weight(v.type) * v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id = ANY (ARRAY(
        SELECT t.version_id FROM told AS t EXCEPT SELECT n.version_id FROM near AS n
      ))
      ORDER BY v.version_id OFFSET 0)
    ) AS f
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.distances) AS o (start_id, node_id, distance)
      ON o.node_id = f.from_node
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.distances) AS i (start_id, node_id, distance)
      ON i.node_id = f.to_node
  ),
  ranked AS (
    SELECT a.version_id, t.score, t.matched_terms, a.distance, a.node_id,
      CASE WHEN t.score IS NOT NULL
        THEN row_number() OVER (ORDER BY t.score DESC NULLS LAST, a.recorded_from DESC, a.version_id DESC)
      END AS by_words,
      CASE WHEN a.distance IS NOT NULL THEN row_number() OVER (
        ORDER BY a.distance NULLS LAST, t.score DESC NULLS LAST, a.strength DESC, a.recorded_from DESC,
          a.version_id DESC
      ) END AS by_node
    FROM about AS a LEFT JOIN told AS t ON t.version_id = a.version_id
  )
  SELECT r.version_id, r.score, coalesce(r.matched_terms, '{}'), r.distance, r.node_id
  FROM ranked AS r
  ORDER BY least(r.by_words, r.by_node), r.by_words, r.by_node
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_facts(
  uuid, text, text, uuid[], integer[], integer, uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz
) IS 'Facts that matter for a query, by their words and by what they are about; best first.';
