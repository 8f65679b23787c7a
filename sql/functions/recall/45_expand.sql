-- From what a query names into the graph: nodes nearby, messages that speak of them, and by what one tells them apart.

-- The nodes that stand for some nodes, and all nodes that are the same, as they are stored: nodes[i] is starts[i] or
-- merged with it. merged: whether any merge counts; where none does, nodes stand for themselves.
CREATE OR REPLACE FUNCTION memsvc.stored_nodes(
  p_user_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL, OUT starts uuid[], OUT nodes uuid[],
  OUT merged boolean
) RETURNS record
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept
AS $$
BEGIN
  merged := memsvc.any_merges(p_user_id, p_known_at);
  IF merged THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO starts, nodes
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  ELSIF cardinality(p_nodes) = 1 THEN
    starts := p_nodes;
    nodes := p_nodes;
  ELSE
    starts := ARRAY(SELECT DISTINCT n.node_id FROM unnest(p_nodes) AS n (node_id));
    nodes := starts;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.stored_nodes(uuid, uuid[], timestamptz) IS
  'The nodes that stand for some nodes, and all that are the same.';

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
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of facts
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  nodes uuid[];
  distances integer[];
  reaches double precision[];
  parents uuid[];
  types text[];
  frontier uuid[];
  frontier_reach double precision[];
  same record;
  step record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_known_at);
  nodes := same.starts;
  IF same.merged THEN
    nodes := ARRAY(SELECT DISTINCT u.* FROM unnest(same.starts) AS u);
  END IF;
  distances := array_fill(0, ARRAY[cardinality(nodes)]);
  reaches := array_fill(1::double precision, ARRAY[cardinality(nodes)]);
  parents := array_fill(NULL::uuid, ARRAY[cardinality(nodes)]);
  types := array_fill(NULL::text, ARRAY[cardinality(nodes)]);
  frontier := nodes;
  frontier_reach := reaches;
  FOR number IN 1 .. least(p_hops, 2) LOOP
    WITH met AS MATERIALIZED (
      SELECT f.* FROM memsvc.facts_at(
        p_user_id, same.starts, same.nodes,
        array_fill(CASE number WHEN 1 THEN 2 * p_fan_out ELSE p_fan_out END, ARRAY[cardinality(same.nodes)]),
        array_fill(moment, ARRAY[cardinality(same.nodes)]), p_known_at
      ) AS f
    ),
    edge AS (
      SELECT m.start_id, coalesce(r.canonical_id, m.other_id) AS reached_id, m.type,
        memsvc.edge_type_weight(m.type) * least(1, m.weight) AS strength,
        row_number() OVER (PARTITION BY m.start_id ORDER BY m.weight DESC, m.version_id DESC) AS nth,
        count(*) OVER (PARTITION BY m.start_id) AS degree
      FROM met AS m
      LEFT JOIN ( -- by itself: else the condition becomes the join's, and the function is called all the same
        SELECT n.* FROM memsvc.resolve_nodes(
          p_user_id, ARRAY(SELECT DISTINCT o.other_id FROM met AS o), p_known_at
        ) AS n WHERE same.merged OFFSET 0
      ) AS r ON r.node_id = m.other_id
    ),
    telling AS (
      SELECT e.start_id, e.reached_id, e.type, e.nth, e.strength / (1 + ln(e.degree)) AS share,
        row_number() OVER (PARTITION BY e.start_id ORDER BY e.strength DESC, e.nth) AS place
      FROM edge AS e
    ),
    fresh AS (
      SELECT DISTINCT ON (l.reached_id) l.reached_id, l.start_id, l.type, f.reach * l.share AS reach
      FROM telling AS l
      INNER JOIN unnest(frontier, frontier_reach) AS f (node_id, reach) ON f.node_id = l.start_id
      WHERE l.place <= p_fan_out AND l.reached_id <> ALL (nodes)
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
    CONTINUE WHEN number = least(p_hops, 2);
    same := memsvc.stored_nodes(p_user_id, frontier, p_known_at);
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

-- Passages that support what is known about some nodes: their facts (the strongest, 50 either way of nodes at distance
-- 0, 10 of others), places, properties and names, or the nodes themselves. p_reach and p_distances: of each node, as
-- expand_names gives them; each passage comes once, with its best node. At distance 0 a mention is one whether or not
-- the fact still holds; behind it facts count that hold at the scope's as_of (null: now), as along the way there.
-- Nothing counts that was said behind it. Best reach first, then the newest; at most p_limit.
CREATE OR REPLACE FUNCTION memsvc.match_mentions(
  p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer,
  p_scope memsvc.scope DEFAULT memsvc.scope('{message}')
) RETURNS TABLE (matched_id uuid, node_id uuid, reach double precision, distance integer)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT m.memory_id, m.node_id, m.reach, m.distance
  FROM memsvc.match_nodes(
    p_user_id, p_nodes, p_reach, p_distances, p_limit, p_scope
  ) AS m
  WHERE m.kind = 'passage';
END
$$;
COMMENT ON FUNCTION memsvc.match_mentions(
  uuid, uuid[], double precision[], integer[], integer, memsvc.scope
) IS 'Passages that support what is known about some nodes.';

-- Whether a passage supports something that is known about one of some nodes, as they are stored: a node itself, its
-- properties, a name, a place, or a fact at either end; or says itself what is known about one of them.
CREATE OR REPLACE FUNCTION memsvc.speaks_of(
  p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamptz DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
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
  ) OR EXISTS (
    SELECT FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = p_passage_id AND p.subject_id = ANY (p_nodes)
  ) OR EXISTS (
    SELECT FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.version_id = p_passage_id
      AND (v.from_node = ANY (p_nodes) OR v.to_node = ANY (p_nodes))
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
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of the number of facts
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
      p_user_id, memsvc.canonical_ids(p_user_id, p_nodes, p_known_at), NULL, 'both', fan_out, NULL, moment, p_known_at,
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
        p_user_id, ARRAY[n.node_id], '{1}', '{0}', most,
        memsvc.scope('{message}', p_as_of => p_as_of, p_known_at => p_known_at)
      ) WITH ORDINALITY AS g (matched_id, node_id, reach, distance, place)
      CROSS JOIN LATERAL (
        SELECT i.text FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[g.matched_id])
        ORDER BY i.passage_id OFFSET 0
      ) AS p
      ORDER BY g.place
    ) END
  FROM unnest(memsvc.canonical_ids(p_user_id, p_nodes, p_known_at)) WITH ORDINALITY AS n (node_id, place)
  ORDER BY n.place;
END
$$;
COMMENT ON FUNCTION memsvc.name_evidence(uuid, uuid[], timestamptz, timestamptz) IS
  'By what a person can tell nodes apart: a few sentences about each, newest first.';
