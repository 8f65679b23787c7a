-- owner: memsvc_recall

-- What recall reads of the graph: facts at nodes, and the passages that support what is known about them. Merges are
-- the caller's: nodes are given as they are stored, each with the one that stands for it.
--
-- SECURITY DEFINER, owned by memsvc_recall: row security asks for the token once for each table that a statement names,
-- a dozen here; a function that binds the user asks once.
--
-- ORDER BY with enable_sort off names the index, as in graph/10_traverse.sql.

-- Edges at stored nodes as memsvc.open_edges and memsvc.past_edges give them, with what tells how much they matter.
-- p_nodes[i] is p_starts[i] or merged with it, and has a bound of its own and a moment at which its facts hold (null:
-- at any). The strongest of each list, of equally strong ones the newest, one more than p_fan_outs[i]; list: 1 and 2
-- for open and ended ones from the node, 3 and 4 for those to it, 5 for what was known at p_known_at alone.
CREATE OR REPLACE FUNCTION memsvc.facts_at(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamptz[],
  p_known_at timestamptz
) RETURNS TABLE (
  start_id uuid, list integer, other_id uuid, version_id uuid, from_node uuid, to_node uuid, type text,
  weight real, recorded_from timestamptz, valid_from timestamptz, valid_to timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 300
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY
  SELECT s.start_id, x.*
  FROM (
    SELECT u.start_id, u.node_id, u.fan_out + 1 AS most, coalesce(u.moment, 'infinity') AS moment,
      coalesce(u.moment, '-infinity') AS ended, array_agg(u.node_id) OVER (PARTITION BY u.start_id) AS same
    FROM unnest(p_starts, p_nodes, p_fan_outs, p_moments) AS u (start_id, node_id, fan_out, moment)
  ) AS s
  CROSS JOIN LATERAL (
    SELECT 1, e.* FROM (
      SELECT v.to_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from, v.valid_from,
        v.valid_to
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
        AND v.valid_from <= s.moment AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT s.most
    ) AS e
    UNION ALL
    SELECT 2, b.* FROM (
      SELECT e.* FROM (
        SELECT v.to_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from, v.valid_from,
          v.valid_to
        FROM edge_versions AS v
        WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
          AND v.valid_to > s.ended AND v.valid_from <= s.moment AND v.recorded_from <= known
          AND v.to_node <> ALL (s.same)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS e ORDER BY e.weight DESC, e.version_id DESC LIMIT s.most
    ) AS b
    UNION ALL
    SELECT 3, e.* FROM (
      SELECT v.from_node AS other_id, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from,
        v.valid_from, v.valid_to
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
        AND v.valid_from <= s.moment AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT s.most
    ) AS e
    UNION ALL
    SELECT 4, b.* FROM (
      SELECT e.* FROM (
        SELECT v.from_node AS other_id, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from,
          v.valid_from, v.valid_to
        FROM edge_versions AS v
        WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
          AND v.valid_to > s.ended AND v.valid_from <= s.moment AND v.recorded_from <= known
          AND v.from_node <> ALL (s.same)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS e ORDER BY e.weight DESC, e.version_id DESC LIMIT s.most
    ) AS b
  ) AS x;
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT s.start_id, 5, x.*
  FROM (
    SELECT u.*, array_agg(u.node_id) OVER (PARTITION BY u.start_id) AS same
    FROM unnest(p_starts, p_nodes, p_fan_outs, p_moments) AS u (start_id, node_id, fan_out, moment)
  ) AS s
  CROSS JOIN LATERAL (
    SELECT b.* FROM (
      (SELECT v.to_node AS other_id, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from,
        v.valid_from, v.valid_to
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
        AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment)) AND v.to_node <> ALL (s.same)
      ORDER BY v.type OFFSET 0)
      UNION ALL
      (SELECT v.from_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from, v.valid_from,
        v.valid_to
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
        AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment)) AND v.from_node <> ALL (s.same)
      ORDER BY v.type OFFSET 0)
    ) AS b
    ORDER BY b.weight DESC, b.version_id DESC LIMIT s.fan_out + 1
  ) AS x;
END
$$;
COMMENT ON FUNCTION memsvc.facts_at(uuid, uuid[], uuid[], integer[], timestamptz[], timestamptz) IS
  'Facts at stored nodes, the strongest of each.';

-- Which passages support facts, as known at a moment: p_facts are versions of edges. All links come in one scan; only
-- where these are so many that one fact may have more than count, each fact is looked up by itself. The caller has bound
-- the user.
CREATE OR REPLACE FUNCTION memsvc.fact_evidence(
  p_user_id uuid, p_facts uuid[], p_known timestamptz, OUT versions uuid[], OUT passages uuid[]
)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: recall
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of how many there are
AS $$
DECLARE
  most_links CONSTANT integer := 500; -- of one version; the last ones that were stored
  links bigint;
BEGIN
  SELECT count(*), array_agg(l.edge_version_id) FILTER (WHERE l.counts), array_agg(l.passage_id) FILTER (WHERE l.counts)
  INTO links, versions, passages
  FROM (
    SELECT i.edge_version_id, i.passage_id, i.stance = 'supports' AND i.recorded_from <= p_known
        AND (i.recorded_to = 'infinity' OR i.recorded_to > p_known) AS counts
    FROM source_links AS i WHERE i.user_id = p_user_id AND i.edge_version_id = ANY (p_facts)
    ORDER BY i.edge_version_id DESC LIMIT most_links
  ) AS l;
  IF links = most_links THEN
    SELECT array_agg(f.version_id), array_agg(l.passage_id) INTO versions, passages
    FROM (SELECT DISTINCT u.version_id FROM unnest(p_facts) AS u (version_id)) AS f
    CROSS JOIN LATERAL (
      SELECT i.* FROM source_links AS i WHERE i.user_id = p_user_id AND i.edge_version_id = ANY (ARRAY[f.version_id])
      ORDER BY i.edge_version_id DESC LIMIT most_links
    ) AS l
    WHERE l.stance = 'supports' AND l.recorded_from <= p_known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > p_known);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.fact_evidence(uuid, uuid[], timestamptz) IS 'Which passages support facts.';

-- Passages that support what is known about stored nodes: facts (p_facts[i] is one at a node for which p_fact_starts[i]
-- stands), where they are (at p_moments; null: the last places, p_fan_outs at most), their properties and names, and
-- the nodes themselves; and what is said of a node in its card, note or instruction. Each passage comes once, with the
-- best of the nodes that stand for these: p_reach and p_distances have the same for all that are one. Order and
-- p_limit: as in memsvc.match_mentions. An array of one, and the order, leave the planner one index for each link,
-- whatever it believes about the table.
CREATE OR REPLACE FUNCTION memsvc.match_evidence(
  p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[],
  p_fan_outs integer[], p_moments timestamptz[], p_fact_starts uuid[], p_facts uuid[], p_limit integer,
  p_scope memsvc.scope
) RETURNS TABLE (matched_id uuid, node_id uuid, reach double precision, distance integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort, no-nested-loop; estimates know nothing of how many there are
AS $$
#variable_conflict use_column
DECLARE
  most_links CONSTANT integer := 500; -- of one version, name, place or node; the last ones that were stored
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_scope.known_at, 'infinity');
  filtered CONSTANT boolean := memsvc.is_filtered(p_scope);
  told record; -- which passages support which facts
BEGIN
  told := memsvc.fact_evidence(asker, p_facts, known);
  RETURN QUERY
  WITH subject AS MATERIALIZED (
    SELECT u.* FROM unnest(p_starts, p_nodes, p_reach, p_distances, p_fan_outs, p_moments)
      AS u (start_id, node_id, reach, distance, fan_out, moment)
  ),
  linked AS (
    SELECT f.start_id, l.passage_id
    FROM unnest(p_fact_starts, p_facts) AS f (start_id, version_id)
    INNER JOIN unnest(told.versions, told.passages) AS l (version_id, passage_id) ON l.version_id = f.version_id
    UNION ALL
    SELECT s.start_id, k.passage_id -- its card
    FROM subject AS s
    CROSS JOIN LATERAL (
      SELECT p.passage_id FROM passages AS p
      WHERE p.user_id = asker AND p.source_id = asker AND p.session = s.node_id::text
      ORDER BY p.session DESC, p.ordinal DESC LIMIT 3
    ) AS k
    UNION ALL
    SELECT s.start_id, l.passage_id
    FROM subject AS s
    CROSS JOIN LATERAL (
      (SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.node_id = ANY (ARRAY[s.node_id])
      ORDER BY i.node_id DESC LIMIT most_links)
      UNION ALL
      SELECT m.* FROM (
        (SELECT v.version_id FROM node_versions AS v
        WHERE v.user_id = asker AND v.node_id = ANY (ARRAY[s.node_id]) AND v.recorded_to = 'infinity'
          AND v.recorded_from <= known
        ORDER BY v.node_id OFFSET 0)
        UNION ALL
        (SELECT v.version_id FROM node_versions AS v
        WHERE p_scope.known_at IS NOT NULL AND v.user_id = asker AND v.node_id = ANY (ARRAY[s.node_id])
          AND v.recorded_to < 'infinity' AND v.recorded_from <= known AND v.recorded_to > known
        ORDER BY v.node_id OFFSET 0)
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.node_version_id = ANY (ARRAY[k.version_id])
        ORDER BY i.node_version_id DESC LIMIT most_links
      ) AS m
      UNION ALL
      SELECT m.* FROM (
        SELECT v.alias_id FROM aliases AS v
        WHERE v.user_id = asker AND v.node_id = s.node_id AND v.recorded_from <= known
          AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
        ORDER BY v.normal_form OFFSET 0
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.alias_id = ANY (ARRAY[k.alias_id])
        ORDER BY i.alias_id DESC LIMIT most_links
      ) AS m
      UNION ALL
      SELECT m.* FROM (
        SELECT v.location_id FROM locations AS v
        WHERE v.user_id = asker AND v.node_id = s.node_id AND v.recorded_from <= known
          AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
          AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment))
        ORDER BY v.user_id DESC, v.node_id DESC, v.valid_from DESC LIMIT s.fan_out
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.location_id = ANY (ARRAY[k.location_id])
        ORDER BY i.location_id DESC LIMIT most_links
      ) AS m
    ) AS l
    WHERE l.stance = 'supports' AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  ),
  first AS MATERIALIZED ( -- ids are in the order in which messages came: the newest of equal reach
    SELECT b.* FROM (
      SELECT DISTINCT ON (l.passage_id) l.passage_id, s.start_id, s.reach, s.distance
      FROM linked AS l
      INNER JOIN (SELECT DISTINCT o.start_id, o.reach, o.distance FROM subject AS o) AS s ON s.start_id = l.start_id
      ORDER BY l.passage_id, s.reach DESC, s.distance, s.start_id
    ) AS b
    ORDER BY b.reach DESC, b.distance, b.passage_id DESC
    LIMIT CASE WHEN NOT filtered THEN 2 * p_limit END
  )
  SELECT b.passage_id, b.start_id, b.reach, b.distance
  FROM first AS b
  INNER JOIN (
    SELECT i.passage_id, i.said_at, memsvc.in_scope(p_scope, i) AS fits FROM passages AS i
    WHERE i.user_id = asker AND i.passage_id = ANY (ARRAY(SELECT o.passage_id FROM first AS o))
    ORDER BY i.passage_id OFFSET 0
  ) AS p ON p.passage_id = b.passage_id
  WHERE p.fits
  ORDER BY b.reach DESC, b.distance, p.said_at DESC, b.passage_id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.match_evidence(
  uuid, uuid[], uuid[], double precision[], integer[], integer[], timestamptz[], uuid[], uuid[], integer, memsvc.scope
) IS 'Passages that support what is known about stored nodes.';
