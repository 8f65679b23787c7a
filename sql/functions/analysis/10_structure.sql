-- The graph as analyses read it, and storing their results. Under row security, as the caller.

-- All facts that are known now, of any valid time, ends resolved, but for what concepts hold, which follows from the
-- others. relation: data.relation in lower case.
CREATE OR REPLACE FUNCTION memsvc.analysed_facts(p_user_id uuid) RETURNS TABLE (
  version_id uuid, type text, from_node uuid, to_node uuid, functional boolean, weight real, confidence real,
  relation text, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz
)
LANGUAGE plpgsql STABLE ROWS 10000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT v.version_id, v.type, e.from_node, e.to_node, v.functional, v.weight, v.confidence,
    lower(v.data ->> 'relation'), v.valid_from, v.valid_to, v.recorded_from
  FROM memsvc.all_edges(p_user_id, NULL, NULL) AS e
  INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = e.version_id
  WHERE v.asserted_by <> 'concepts';
END
$$;
COMMENT ON FUNCTION memsvc.analysed_facts(uuid) IS 'All facts of a user that are known now, ends resolved.';

-- The undirected graph: each pair of nodes that facts connect now, the smaller id first, in the order of ids; the
-- number of facts, and the sum of weight times confidence.
CREATE OR REPLACE FUNCTION memsvc.weighted_pairs(p_user_id uuid)
RETURNS TABLE (node_id uuid, other_id uuid, facts bigint, weight double precision)
LANGUAGE plpgsql STABLE ROWS 10000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT least(f.from_node, f.to_node), greatest(f.from_node, f.to_node), count(*),
    sum(f.weight::double precision * f.confidence)
  FROM memsvc.analysed_facts(p_user_id) AS f
  WHERE f.valid_from <= moment AND f.valid_to > moment AND f.from_node <> f.to_node
  GROUP BY least(f.from_node, f.to_node), greatest(f.from_node, f.to_node)
  ORDER BY 1, 2;
END
$$;
COMMENT ON FUNCTION memsvc.weighted_pairs(uuid) IS 'Pairs of nodes that facts connect now, and how strongly.';

-- Nodes by the strength of their facts (weight times confidence), the strongest first, with the number of all nodes.
CREATE OR REPLACE FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer)
RETURNS TABLE (node_id uuid, facts bigint, neighbours bigint, strength double precision, total bigint)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH pair AS MATERIALIZED (SELECT w.* FROM memsvc.weighted_pairs(p_user_id) AS w)
  SELECT s.node_id, sum(s.facts)::bigint, count(*), sum(s.weight), count(*) OVER ()
  FROM (
    SELECT p.node_id, p.facts, p.weight FROM pair AS p
    UNION ALL SELECT p.other_id, p.facts, p.weight FROM pair AS p
  ) AS s
  GROUP BY s.node_id
  ORDER BY sum(s.weight) DESC, s.node_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.hubs(uuid, integer) IS 'Nodes by the strength of their facts.';

-- Passages that mention nodes, resolved: they support the node, its properties, a name, its location, or one of its
-- facts. day: on the speaker's clock.
CREATE OR REPLACE FUNCTION memsvc.mentions(p_user_id uuid)
RETURNS TABLE (node_id uuid, passage_id uuid, day date)
LANGUAGE plpgsql STABLE ROWS 10000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH link AS MATERIALIZED (
    SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.recorded_to = 'infinity' AND l.stance = 'supports'
  ),
  spoken AS MATERIALIZED (
    SELECT l.passage_id, l.node_id FROM link AS l WHERE l.node_id IS NOT NULL
    UNION
    SELECT l.passage_id, v.node_id FROM link AS l
    INNER JOIN node_versions AS v ON v.user_id = p_user_id AND v.version_id = l.node_version_id
    UNION
    SELECT l.passage_id, a.node_id FROM link AS l
    INNER JOIN aliases AS a ON a.user_id = p_user_id AND a.alias_id = l.alias_id
    UNION
    SELECT l.passage_id, a.node_id FROM link AS l
    INNER JOIN locations AS a ON a.user_id = p_user_id AND a.location_id = l.location_id
    UNION
    SELECT l.passage_id, n.node_id FROM link AS l
    INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = l.edge_version_id
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id)
  ),
  resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r
  )
  SELECT DISTINCT coalesce(r.canonical_id, s.node_id), s.passage_id,
    (p.said_at AT TIME ZONE make_interval(mins => p.said_offset))::date
  FROM spoken AS s
  INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = s.passage_id
  LEFT JOIN resolved AS r ON r.node_id = s.node_id;
END
$$;
COMMENT ON FUNCTION memsvc.mentions(uuid) IS 'Passages that mention nodes, and on which day.';

-- Nodes without facts of any valid time; those mentioned most first. The user's own node is left out.
CREATE OR REPLACE FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer)
RETURNS TABLE (node_id uuid, passages bigint, total bigint)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH joined AS MATERIALIZED (
    SELECT n.node_id FROM memsvc.all_edges(p_user_id, NULL, NULL) AS e
    CROSS JOIN LATERAL (VALUES (e.from_node), (e.to_node)) AS n (node_id)
    WHERE e.from_node <> e.to_node
    UNION
    SELECT v.node_id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.data @> '{"self": true}'
  ),
  alone AS MATERIALIZED (
    SELECT a.node_id FROM memsvc.all_nodes(p_user_id, NULL) AS a (node_id)
    EXCEPT SELECT j.node_id FROM joined AS j
  ),
  spoken AS (
    SELECT m.node_id, count(*) AS passages FROM memsvc.mentions(p_user_id) AS m GROUP BY m.node_id
  )
  SELECT a.node_id, coalesce(s.passages, 0), count(*) OVER ()
  FROM alone AS a
  LEFT JOIN spoken AS s ON s.node_id = a.node_id
  ORDER BY coalesce(s.passages, 0) DESC, a.node_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.orphans(uuid, integer) IS 'Nodes without facts.';

-- Ends a run and stores its results, in the caller's transaction: p_results is [{"place", "what", "score", "nodes",
-- "facts", "passages", "figures"}], where place is the rank. Results with anything that was erased in the meantime are
-- left out. False: the run was not open any more, and nothing is stored.
CREATE OR REPLACE FUNCTION memsvc.end_analysis(
  p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb
) RETURNS boolean
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  gone uuid[];
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  UPDATE analysis_runs AS r
  SET state = 'done', found = p_found, figures = p_figures, seconds = p_seconds, finished_at = clock_timestamp()
  WHERE r.user_id = p_user_id AND r.run_id = p_run_id AND r.state = 'open';
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  WITH result AS MATERIALIZED (
    SELECT r.* FROM jsonb_to_recordset(p_results) AS r (nodes uuid[], facts uuid[], passages uuid[])
  ),
  lost AS (
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.nodes) AS i (id)
    WHERE NOT EXISTS (SELECT FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = i.id OFFSET 0)
    UNION ALL
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.facts) AS i (id)
    WHERE NOT EXISTS (SELECT FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = i.id OFFSET 0)
    UNION ALL
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.passages) AS i (id)
    WHERE NOT EXISTS (SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = i.id OFFSET 0)
  )
  SELECT coalesce(array_agg(l.id), '{}') INTO gone FROM lost AS l;
  INSERT INTO analysis_results (user_id, run_id, place, what, score, nodes, facts, passages, figures)
  SELECT p_user_id, p_run_id, r.place, r.what, r.score, r.nodes, r.facts, r.passages, r.figures
  FROM jsonb_to_recordset(p_results) AS r (
    place integer, what text, score double precision, nodes uuid[], facts uuid[], passages uuid[], figures jsonb
  )
  WHERE NOT (r.nodes && gone OR r.facts && gone OR r.passages && gone);
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.end_analysis(uuid, uuid, bigint, jsonb, real, jsonb) IS
  'Ends a run of an analysis and stores its results; false: it was not open.';
