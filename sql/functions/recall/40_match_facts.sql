-- Facts (versions of edges) that matter for a query because of what they are about.

-- How much an edge of a type tells about its ends, 0 to 1. Who somebody is and lives with first; then what somebody
-- does and likes; then how things hang together; what was only mentioned, and where knowledge comes from, last. Types
-- that users add (none of these) stand with what people do, for somebody thought them worth a name.
CREATE OR REPLACE FUNCTION memsvc.edge_type_weight(p_type text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_type IN ('LIVES_IN', 'WORKS_AT', 'FAMILY_OF') THEN 1.0
  WHEN p_type IN ('KNOWS', 'LIKES', 'DISLIKES', 'WANTS', 'FEELS', 'OWNS', 'PARTICIPATED_IN', 'HAPPENED_ON') THEN 0.9
  WHEN p_type IN ('CREATED', 'USES', 'LOCATED_AT', 'PART_OF') THEN 0.7
  WHEN p_type IN ('DEPENDS_ON', 'CAUSED_BY', 'ANSWERS', 'SUPPORTS', 'CONTRADICTS', 'EXTENDS', 'EXAMPLE_OF', 'PRECEDES')
    THEN 0.5
  WHEN p_type IN ('RELATED_TO', 'ABOUT', 'MENTIONS', 'LINKS_TO') THEN 0.3
  WHEN p_type IN (
    'SUPERSEDES', 'DERIVED_FROM', 'SUMMARIZES', 'REFLECTS_ON', 'VERSION_OF', 'TOOL_CALL'
  ) THEN 0.2
  ELSE 0.7
END;
COMMENT ON FUNCTION memsvc.edge_type_weight(text) IS 'How much an edge of a type tells about its ends, 0 to 1.';

-- What is known about nodes that a query names or that lie behind these (p_nodes; p_reach and p_distances: of each, as
-- memsvc.expand_names gives them): facts about them, as passages, and other passages that support what is known about
-- them, as match_mentions tells; only kinds of the scope. In one go, for both read the same facts at these nodes.
--
-- Facts are those that hold and are known at the scope's times. Of a node the strongest ones are looked at: 50 either
-- way at distance 0; of the others about p_limit together, but 10 of each at least. Edges among nodes that are the same
-- are found by words and vectors alone, and links between notes lead to passages alone. At most p_limit, those at the nearest nodes and of telling types first, and as
-- many other passages.
--
-- Mentions count whether or not a fact of a named node still holds, facts do not. So of a named node the strongest
-- facts of any time are read; only where those that do not hold may have kept others out of their list, those that hold
-- are read once more.
CREATE OR REPLACE FUNCTION memsvc.match_nodes(
  p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer,
  p_scope memsvc.scope
) RETURNS TABLE (kind text, memory_id uuid, node_id uuid, reach double precision, distance integer)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of facts
AS $$
#variable_conflict use_column
DECLARE
  fan_out CONSTANT integer := 50; -- either way, of a named node
  least_fan_out CONSTANT integer := 10; -- of another
  moment CONSTANT timestamptz := coalesce(p_scope.as_of, clock_timestamp());
  facts CONSTANT boolean := 'fact' = ANY (p_scope.kinds);
  filtered CONSTANT boolean := memsvc.is_filtered(p_scope);
  same record;
  asked record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_scope.known_at);
  -- Of nodes that are one the best reach, with its distance; named where any of them is.
  SELECT array_agg(b.start_id) AS starts, array_agg(b.node_id) AS nodes, array_agg(b.reach) AS reach,
    array_agg(b.distance) AS distances, array_agg(b.steps) AS steps,
    array_agg(CASE b.steps WHEN 0 THEN fan_out ELSE least_fan_out END) AS fan_outs,
    array_agg(CASE b.steps WHEN 0 THEN fan_out ELSE least(fan_out, greatest(least_fan_out, p_limit / b.others)) END)
      AS read_outs,
    array_agg(CASE WHEN b.steps > 0 THEN moment END) AS moments,
    coalesce(array_agg(b.start_id) FILTER (WHERE b.steps = 0), '{}') AS named,
    p_limit / max(b.others) > least_fan_out AS wide -- more is read than mentions look at
  INTO asked
  FROM (
    SELECT s.start_id, s.node_id, n.reach, n.distance, n.steps,
      greatest(1, count(*) FILTER (WHERE n.steps > 0) OVER ())::integer AS others
    FROM unnest(same.starts, same.nodes) AS s (start_id, node_id)
    INNER JOIN (
      SELECT DISTINCT ON (i.start_id) i.start_id, g.reach, g.distance,
        min(g.distance) OVER (PARTITION BY i.start_id) AS steps
      FROM unnest(p_nodes, p_reach, p_distances) AS g (node_id, reach, distance)
      INNER JOIN unnest(same.starts, same.nodes) AS i (start_id, node_id) ON i.node_id = g.node_id
      ORDER BY i.start_id, g.reach DESC, g.distance
    ) AS n ON n.start_id = s.start_id
  ) AS b;
  RETURN QUERY
  WITH read AS MATERIALIZED (
    SELECT f.* FROM memsvc.facts_at(
      p_user_id, asked.starts, asked.nodes, asked.read_outs, asked.moments, p_scope.known_at
    ) AS f
  ),
  mention AS MATERIALIZED (
    SELECT r.start_id, r.version_id FROM read AS r WHERE NOT asked.wide OR r.start_id = ANY (asked.named)
    UNION ALL
    SELECT l.start_id, l.version_id
    FROM (
      SELECT r.start_id, r.version_id, row_number() OVER (
        PARTITION BY r.start_id, r.list, CASE r.other_id WHEN r.to_node THEN r.from_node ELSE r.to_node END
        ORDER BY r.weight DESC, r.version_id DESC
      ) AS nth
      FROM read AS r
      WHERE asked.wide AND r.start_id <> ALL (asked.named)
    ) AS l
    WHERE l.nth <= least_fan_out + 1
  ),
  part AS MATERIALIZED ( -- named nodes of which those that hold are read once more
    SELECT r.start_id FROM read AS r
    WHERE facts AND r.start_id = ANY (asked.named)
    GROUP BY r.start_id, r.list
    HAVING count(*) > fan_out AND NOT bool_and(r.valid_from <= moment AND r.valid_to > moment)
  ),
  near AS MATERIALIZED (
    SELECT DISTINCT ON (h.version_id) h.version_id, h.from_node, h.to_node,
      memsvc.edge_type_weight(h.type) * h.weight AS strength, h.recorded_from
    FROM (
      SELECT r.* FROM read AS r
      WHERE facts AND r.valid_from <= moment AND r.valid_to > moment
        AND r.start_id NOT IN (SELECT t.start_id FROM part AS t)
      UNION ALL
      SELECT f.*
      FROM (
        SELECT array_agg(a.start_id) AS starts, array_agg(a.node_id) AS nodes
        FROM unnest(asked.starts, asked.nodes) AS a (start_id, node_id)
        WHERE a.start_id IN (SELECT t.start_id FROM part AS t)
        HAVING count(*) > 0
      ) AS n
      CROSS JOIN LATERAL memsvc.facts_at(
        p_user_id, n.starts, n.nodes, array_fill(fan_out, ARRAY[cardinality(n.nodes)]),
        array_fill(moment, ARRAY[cardinality(n.nodes)]), p_scope.known_at
      ) AS f
    ) AS h
    WHERE h.type <> 'LINKS_TO' AND (NOT filtered OR EXISTS (
      SELECT FROM passages AS p
      WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY[h.version_id]) AND memsvc.in_scope(p_scope, p)
    ))
    ORDER BY h.version_id
  ),
  about AS (
    SELECT n.version_id, n.strength, n.recorded_from, least(o.steps, i.steps) AS distance,
      CASE WHEN i.steps IS NULL OR o.steps <= i.steps THEN o.start_id ELSE i.start_id END AS node_id
    FROM near AS n
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.steps) AS o (start_id, node_id, steps) ON o.node_id = n.from_node
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.steps) AS i (start_id, node_id, steps) ON i.node_id = n.to_node
  )
  SELECT 'passage', e.matched_id, e.node_id, e.reach, e.distance
  FROM memsvc.match_evidence(
    p_user_id, asked.starts, asked.nodes, asked.reach, asked.distances, asked.fan_outs, asked.moments,
    ARRAY(SELECT m.start_id FROM mention AS m), ARRAY(SELECT m.version_id FROM mention AS m), p_limit, p_scope
  ) AS e
  WHERE p_scope.kinds <> '{fact}'
  UNION ALL
  (SELECT 'fact', a.version_id, a.node_id, NULL, a.distance
  FROM about AS a
  ORDER BY a.distance NULLS LAST, a.strength DESC, a.recorded_from DESC, a.version_id DESC
  LIMIT p_limit);
END
$$;
COMMENT ON FUNCTION memsvc.match_nodes(
  uuid, uuid[], double precision[], integer[], integer, memsvc.scope
) IS 'Facts about some nodes, and passages that support what is known about them.';
