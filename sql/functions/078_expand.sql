-- From what a query names into the graph: nodes nearby, messages that speak of them, and by what one tells them apart.

-- Nodes within p_hops (0 to 2) of some nodes along facts that hold at p_as_of (null: now), as known at p_known_at
-- (null: now); each once, by the way that reaches it best. Of each node at most p_fan_out edges are followed: of its
-- strongest and newest ones (twice as many are read, either way) those whose type tells most. reach: 1 for the given
-- nodes; each step multiplies it by the type's weight and the edge's (1 at most), and divides it by 1 + ln of the
-- edges that the node has, as far as read: what hangs on a node with many edges says little about it. distance: steps.
-- path: labels and edge types in turn, from a given node to this one. Second steps start at the 2 * p_fan_out nodes
-- with the best reach.
CREATE OR REPLACE FUNCTION memsvc.expand_names(
  p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (node_id uuid, distance integer, reach double precision, path text[])
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
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  merged boolean;
  nodes uuid[];
  distances integer[];
  reaches double precision[];
  parents uuid[];
  types text[];
  frontier uuid[];
  frontier_reach double precision[];
  step record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  merged := memsvc.any_merges(p_user_id, p_known_at);
  nodes := memsvc.standing_for(p_user_id, p_nodes, p_known_at);
  distances := array_fill(0, ARRAY[cardinality(nodes)]);
  reaches := array_fill(1::double precision, ARRAY[cardinality(nodes)]);
  parents := array_fill(NULL::uuid, ARRAY[cardinality(nodes)]);
  types := array_fill(NULL::text, ARRAY[cardinality(nodes)]);
  frontier := nodes;
  frontier_reach := reaches;
  FOR number IN 1 .. least(p_hops, 2) LOOP
    WITH edge AS MATERIALIZED (
      SELECT h.*, max(h.nth) OVER (PARTITION BY h.start_id) AS degree
      FROM memsvc.hop(
        p_user_id, frontier, NULL, 'both', CASE number WHEN 1 THEN 2 * p_fan_out ELSE p_fan_out END, NULL, moment,
        p_known_at, merged
      ) AS h
    ),
    typed AS MATERIALIZED (
      SELECT v.version_id, v.type FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id = ANY (ARRAY(SELECT DISTINCT e.version_id FROM edge AS e))
      ORDER BY v.version_id OFFSET 0
    ),
    telling AS (
      SELECT e.start_id, e.reached_id, t.type, e.nth,
        w.strength / (1 + ln(e.degree)) AS share,
        row_number() OVER (PARTITION BY e.start_id ORDER BY w.strength DESC, e.nth) AS place
      FROM edge AS e
      INNER JOIN typed AS t ON t.version_id = e.version_id
      CROSS JOIN LATERAL (SELECT memsvc.edge_type_weight(t.type) * least(1, e.weight) AS strength) AS w
    ),
    fresh AS (
      SELECT DISTINCT ON (l.reached_id) l.reached_id, l.start_id, l.type, f.reach * l.share AS reach
      FROM telling AS l
      INNER JOIN unnest(frontier, frontier_reach) AS f (node_id, reach) ON f.node_id = l.start_id
      WHERE l.place <= p_fan_out AND l.reached_id NOT IN (SELECT unnest(nodes))
      ORDER BY l.reached_id, f.reach * l.share DESC, l.nth, l.start_id
    )
    SELECT array_agg(f.reached_id ORDER BY f.reach DESC, f.reached_id) AS nodes,
      array_agg(f.start_id ORDER BY f.reach DESC, f.reached_id) AS parents,
      array_agg(f.type ORDER BY f.reach DESC, f.reached_id) AS types,
      array_agg(f.reach ORDER BY f.reach DESC, f.reached_id) AS reaches
    INTO step FROM fresh AS f;
    EXIT WHEN step.nodes IS NULL;
    nodes := nodes || step.nodes;
    distances := distances || array_fill(number, ARRAY[cardinality(step.nodes)]);
    reaches := reaches || step.reaches;
    parents := parents || step.parents;
    types := types || step.types;
    frontier := step.nodes[:2 * p_fan_out];
    frontier_reach := step.reaches[:2 * p_fan_out];
  END LOOP;

  RETURN QUERY
  WITH walked AS MATERIALIZED (
    SELECT w.*, coalesce(c.label, '') AS label
    FROM unnest(nodes, distances, reaches, parents, types) AS w (node_id, distance, reach, parent_id, type)
    LEFT JOIN memsvc.node_cards(p_user_id, nodes, p_as_of, p_known_at) AS c ON c.node_id = w.node_id
  )
  SELECT w.node_id, w.distance, w.reach, CASE w.distance
      WHEN 0 THEN ARRAY[w.label]
      WHEN 1 THEN ARRAY[p.label, w.type, w.label]
      ELSE ARRAY[g.label, p.type, p.label, w.type, w.label]
    END
  FROM walked AS w
  LEFT JOIN walked AS p ON p.node_id = w.parent_id
  LEFT JOIN walked AS g ON g.node_id = p.parent_id
  ORDER BY w.distance, w.reach DESC, w.node_id;
END
$$;
COMMENT ON FUNCTION memsvc.expand_names(uuid, uuid[], integer, integer, timestamptz, timestamptz) IS
  'Nodes within some steps of what a query names, with how well they are reached and by which way.';

-- What is known about nodes and can have evidence: versions of edges at them (the strongest of each, as they hold at
-- p_as_of; null: at any time), where they are (then, or the last p_fan_out places), their properties and names, and the
-- nodes themselves. start_id: the node that stands for it.
CREATE OR REPLACE FUNCTION memsvc.known_of(
  p_user_id uuid, p_nodes uuid[], p_fan_out integer, p_as_of timestamptz, p_known_at timestamptz
) RETURNS TABLE (start_id uuid, kind text, id uuid)
LANGUAGE plpgsql STABLE ROWS 200
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  starts uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF p_nodes = '{}' THEN
    RETURN;
  END IF;
  IF merged THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO starts, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  END IF;
  RETURN QUERY
  SELECT h.start_id, 'edge', h.version_id
  FROM memsvc.hop(
    p_user_id, ARRAY(SELECT DISTINCT u.* FROM unnest(starts) AS u), NULL, 'both', p_fan_out, NULL, p_as_of, p_known_at,
    merged
  ) AS h;
  RETURN QUERY SELECT u.start_id, 'node', u.node_id FROM unnest(starts, stored) AS u (start_id, node_id);
  RETURN QUERY
  SELECT u.start_id, x.kind, x.id
  FROM unnest(starts, stored) AS u (start_id, node_id)
  CROSS JOIN LATERAL (
    (SELECT 'version' AS kind, v.version_id AS id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (ARRAY[u.node_id]) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= known
    ORDER BY v.node_id OFFSET 0)
    UNION ALL
    (SELECT 'version', v.version_id FROM node_versions AS v
    WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.node_id = ANY (ARRAY[u.node_id])
      AND v.recorded_to < 'infinity' AND v.recorded_from <= known AND v.recorded_to > known
    ORDER BY v.node_id OFFSET 0)
    UNION ALL
    (SELECT 'alias', v.alias_id FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.node_id = u.node_id AND v.recorded_from <= known
      AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
    ORDER BY v.normal_form OFFSET 0)
    UNION ALL
    (SELECT 'place', v.location_id FROM locations AS v
    WHERE v.user_id = p_user_id AND v.node_id = u.node_id AND v.recorded_from <= known
      AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
    ORDER BY v.user_id DESC, v.node_id DESC, v.valid_from DESC LIMIT p_fan_out)
  ) AS x;
END
$$;
COMMENT ON FUNCTION memsvc.known_of(uuid, uuid[], integer, timestamptz, timestamptz) IS
  'What is known about nodes and can have evidence.';

-- Passages that support what is known about some nodes: their facts (the strongest, 50 either way of nodes at distance
-- 0, 10 of others), places, properties and names, or the nodes themselves. p_reach and p_distances: of each node, as
-- expand_names gives them; each passage comes once, with its best node. At distance 0 a mention is one whether or not
-- the fact still holds; behind it facts count that hold at p_as_of (null: now), as along the way there. Nothing counts
-- that was said behind p_as_of. Best reach first, then the newest; at most p_limit.
CREATE OR REPLACE FUNCTION memsvc.match_mentions(
  p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer,
  p_kinds text[] DEFAULT '{message}', p_sources uuid[] DEFAULT NULL, p_not_sources uuid[] DEFAULT NULL,
  p_said_from timestamptz DEFAULT NULL, p_said_to timestamptz DEFAULT NULL, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (matched_id uuid, node_id uuid, reach double precision, distance integer)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
DECLARE
  fan_out CONSTANT integer := 50;
  fan_out_behind CONSTANT integer := 10;
  most_links CONSTANT integer := 500; -- of one version, name or node; the last ones that were stored
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL OR p_as_of IS NOT NULL OR p_known_at IS NOT NULL;
  near uuid[];
  behind uuid[];
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  near := memsvc.standing_for(p_user_id, ARRAY(
    SELECT n.node_id FROM unnest(p_nodes, p_distances) AS n (node_id, distance) WHERE n.distance = 0
  ), p_known_at);
  behind := ARRAY(
    SELECT n.node_id FROM unnest(memsvc.standing_for(p_user_id, p_nodes, p_known_at)) AS n (node_id)
    WHERE n.node_id <> ALL (near)
  );
  RETURN QUERY
  WITH subject AS MATERIALIZED (
    SELECT k.* FROM memsvc.known_of(p_user_id, near, fan_out, NULL, p_known_at) AS k
    UNION ALL
    SELECT k.* FROM memsvc.known_of(
      p_user_id, behind, fan_out_behind, coalesce(p_as_of, clock_timestamp()), p_known_at
    ) AS k
  ),
  asked AS MATERIALIZED (
    SELECT DISTINCT ON (coalesce(r.canonical_id, n.node_id)) coalesce(r.canonical_id, n.node_id) AS node_id, n.reach,
      n.distance
    FROM unnest(p_nodes, p_reach, p_distances) AS n (node_id, reach, distance)
    LEFT JOIN memsvc.resolve_nodes(
      p_user_id, CASE WHEN memsvc.any_merges(p_user_id, p_known_at) THEN p_nodes END, p_known_at
    ) AS r ON r.node_id = n.node_id
    ORDER BY coalesce(r.canonical_id, n.node_id), n.reach DESC, n.distance
  ),
  linked AS MATERIALIZED (
    SELECT s.start_id, l.passage_id
    FROM (SELECT o.* FROM subject AS o WHERE o.kind = 'edge') AS s
    CROSS JOIN LATERAL (
      SELECT i.* FROM source_links AS i WHERE i.user_id = p_user_id AND i.edge_version_id = s.id
      ORDER BY i.user_id DESC, i.edge_version_id DESC LIMIT most_links
    ) AS l
    WHERE l.stance = 'supports' AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
    UNION
    SELECT s.start_id, l.passage_id
    FROM (SELECT o.* FROM subject AS o WHERE o.kind <> 'edge') AS s
    CROSS JOIN LATERAL (
      (SELECT i.* FROM source_links AS i
      WHERE s.kind = 'node' AND i.user_id = p_user_id AND i.node_id = s.id
      ORDER BY i.user_id DESC, i.node_id DESC LIMIT most_links)
      UNION ALL
      (SELECT i.* FROM source_links AS i
      WHERE s.kind = 'version' AND i.user_id = p_user_id AND i.node_version_id = s.id
      ORDER BY i.user_id DESC, i.node_version_id DESC LIMIT most_links)
      UNION ALL
      (SELECT i.* FROM source_links AS i
      WHERE s.kind = 'alias' AND i.user_id = p_user_id AND i.alias_id = s.id
      ORDER BY i.user_id DESC, i.alias_id DESC LIMIT most_links)
      UNION ALL
      (SELECT i.* FROM source_links AS i
      WHERE s.kind = 'place' AND i.user_id = p_user_id AND i.location_id = s.id
      ORDER BY i.user_id DESC, i.location_id DESC LIMIT most_links)
    ) AS l
    WHERE l.stance = 'supports' AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  ),
  best AS MATERIALIZED (
    SELECT DISTINCT ON (l.passage_id) l.passage_id, a.node_id, a.reach, a.distance
    FROM linked AS l INNER JOIN asked AS a ON a.node_id = l.start_id
    ORDER BY l.passage_id, a.reach DESC, a.distance, a.node_id
  ),
  first AS MATERIALIZED ( -- ids are in the order in which messages came: the newest of equal reach
    SELECT o.* FROM best AS o ORDER BY o.reach DESC, o.distance, o.passage_id DESC
    LIMIT CASE WHEN NOT filtered THEN 2 * p_limit END
  )
  SELECT b.passage_id, b.node_id, b.reach, b.distance
  FROM first AS b
  CROSS JOIN LATERAL (
    SELECT i.* FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[b.passage_id])
    ORDER BY i.passage_id OFFSET 0
  ) AS p
  WHERE p.kind = ANY (p_kinds) AND p.recorded_at <= known
    AND (p_as_of IS NULL OR p.said_at <= p_as_of)
    AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
    AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
    AND (p_said_from IS NULL OR p.said_at >= p_said_from)
    AND (p_said_to IS NULL OR p.said_at < p_said_to)
  ORDER BY b.reach DESC, b.distance, p.said_at DESC, b.passage_id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_mentions(
  uuid, uuid[], double precision[], integer[], integer, text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz,
  timestamptz
) IS 'Passages that support what is known about some nodes.';

-- Whether a passage supports something that is known about one of some nodes, as they are stored: a node itself, its
-- properties, a name, a place, or a fact at either end.
CREATE OR REPLACE FUNCTION memsvc.speaks_of(
  p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN EXISTS (
    SELECT FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.passage_id = p_passage_id AND l.stance = 'supports' AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known) AND (
        l.node_id = ANY (p_nodes)
        OR (l.node_version_id IS NOT NULL AND EXISTS (
          SELECT FROM node_versions AS v
          WHERE v.user_id = p_user_id AND v.version_id = l.node_version_id AND v.node_id = ANY (p_nodes)
        ))
        OR (l.edge_version_id IS NOT NULL AND EXISTS (
          SELECT FROM edge_versions AS v
          WHERE v.user_id = p_user_id AND v.version_id = l.edge_version_id
            AND (v.from_node = ANY (p_nodes) OR v.to_node = ANY (p_nodes))
        ))
        OR (l.alias_id IS NOT NULL AND EXISTS (
          SELECT FROM aliases AS v
          WHERE v.user_id = p_user_id AND v.alias_id = l.alias_id AND v.node_id = ANY (p_nodes)
        ))
        OR (l.location_id IS NOT NULL AND EXISTS (
          SELECT FROM locations AS v
          WHERE v.user_id = p_user_id AND v.location_id = l.location_id AND v.node_id = ANY (p_nodes)
        ))
      )
  );
END
$$;
COMMENT ON FUNCTION memsvc.speaks_of(uuid, uuid, uuid[], timestamptz) IS
  'Whether a passage supports something that is known about some nodes.';

-- By what a person can tell nodes apart: of each up to three sentences, the newest first. Facts that hold at p_as_of
-- (null: now) go first; where there are none, messages that speak of it. 200 signs of each.
CREATE OR REPLACE FUNCTION memsvc.name_evidence(
  p_user_id uuid, p_nodes uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (node_id uuid, evidence text[])
LANGUAGE plpgsql STABLE ROWS 5
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET enable_nestloop = off -- estimates know nothing of the number of facts
AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 3;
  fan_out CONSTANT integer := 25;
  signs CONSTANT integer := 200;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
BEGIN
  RETURN QUERY
  WITH met AS MATERIALIZED (
    SELECT h.start_id, h.version_id
    FROM memsvc.hop(
      p_user_id, memsvc.standing_for(p_user_id, p_nodes, p_known_at), NULL, 'both', fan_out, NULL, moment, p_known_at,
      memsvc.any_merges(p_user_id, p_known_at)
    ) AS h
  ),
  fact AS MATERIALIZED (
    SELECT v.version_id, v.fact, v.valid_from, v.recorded_from FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.version_id = ANY (ARRAY(SELECT m.version_id FROM met AS m))
    ORDER BY v.version_id OFFSET 0
  ),
  told AS MATERIALIZED (
    SELECT m.start_id, f.fact, row_number() OVER (
      PARTITION BY m.start_id ORDER BY nullif(f.valid_from, '-infinity') DESC NULLS LAST, f.recorded_from DESC,
        f.version_id DESC
    ) AS place
    FROM met AS m INNER JOIN fact AS f ON f.version_id = m.version_id
  )
  SELECT n.node_id, CASE WHEN EXISTS (SELECT FROM told AS t WHERE t.start_id = n.node_id) THEN ARRAY(
      SELECT left(t.fact, signs) FROM told AS t WHERE t.start_id = n.node_id AND t.place <= most ORDER BY t.place
    ) ELSE ARRAY(
      SELECT left(p.text, signs)
      FROM memsvc.match_mentions(
        p_user_id, ARRAY[n.node_id], '{1}', '{0}', most, p_as_of => p_as_of, p_known_at => p_known_at
      ) WITH ORDINALITY AS g (matched_id, node_id, reach, distance, place)
      CROSS JOIN LATERAL (
        SELECT i.text FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[g.matched_id])
        ORDER BY i.passage_id OFFSET 0
      ) AS p
      ORDER BY g.place
    ) END
  FROM unnest(memsvc.standing_for(p_user_id, p_nodes, p_known_at)) WITH ORDINALITY AS n (node_id, place)
  ORDER BY n.place;
END
$$;
COMMENT ON FUNCTION memsvc.name_evidence(uuid, uuid[], timestamptz, timestamptz) IS
  'By what a person can tell nodes apart: a few sentences about each, newest first.';
