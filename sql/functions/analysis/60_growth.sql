-- What sleep mode reads and writes to let the graph grow: salience, likely links, names, nodes that are two. Under row
-- security, as the caller.

-- People and things, resolved: nodes of types of the category entity, without the user's own node.
CREATE OR REPLACE FUNCTION memsvc.entity_nodes(p_user_id uuid) RETURNS TABLE (node_id uuid)
LANGUAGE sql STABLE ROWS 10000
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
BEGIN ATOMIC
  SELECT n.node_id FROM memsvc.all_nodes(p_user_id, NULL) AS n (node_id)
  INTERSECT
  SELECT v.node_id FROM memsvc.node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.type IN (
      SELECT t.name FROM memsvc.node_types AS t
      WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.category = 'entity'
    )
  EXCEPT
  SELECT v.node_id FROM memsvc.node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.data @> '{"self": true}';
END;
COMMENT ON FUNCTION memsvc.entity_nodes(uuid) IS 'People and things of a user, without the user.';

-- Stores how salient nodes are (p_nodes and p_values are parallel arrays), in the caller's transaction, where that
-- differs by p_least or more from what is stored; nodes that are not among them are not salient any more. Nodes that
-- were erased meanwhile are left out. Returns the number of changed rows.
CREATE OR REPLACE FUNCTION memsvc.note_salience(p_user_id uuid, p_nodes uuid[], p_values real[], p_least real)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-nested-loop
AS $$
DECLARE
  changed bigint;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH given AS MATERIALIZED (SELECT g.* FROM unnest(p_nodes, p_values) AS g (node_id, salience)),
  stored AS MATERIALIZED (
    SELECT s.node_id, s.salience FROM node_salience AS s WHERE s.user_id = p_user_id
  ),
  fresh AS MATERIALIZED (
    SELECT coalesce(g.node_id, s.node_id) AS node_id, coalesce(g.salience, 0) AS salience,
      coalesce(s.salience, 0) AS before
    FROM given AS g FULL JOIN stored AS s ON s.node_id = g.node_id
    WHERE abs(coalesce(g.salience, 0) - coalesce(s.salience, 0)) >= p_least
  ),
  written AS (
    INSERT INTO node_salience AS n (user_id, node_id, salience, before)
    SELECT p_user_id, f.node_id, f.salience, f.before FROM fresh AS f
    INNER JOIN nodes AS e ON e.user_id = p_user_id AND e.node_id = f.node_id
    ORDER BY f.node_id
    ON CONFLICT (user_id, node_id) DO UPDATE SET salience = excluded.salience, before = excluded.before,
      sleep_run_id = excluded.sleep_run_id, written_at = excluded.written_at
    RETURNING 1
  )
  SELECT count(*) INTO changed FROM written AS w;
  RETURN changed;
END
$$;
COMMENT ON FUNCTION memsvc.note_salience(uuid, uuid[], real[], real) IS
  'Stores how salient nodes are where it changed noticeably; how many did.';

-- Pairs of people and things that are mentioned in the same messages on p_least_days different days or more, the smaller
-- id first: days: together; least_days: of the one that is mentioned on fewer days. Messages that mention more than 8
-- say nothing.
CREATE OR REPLACE FUNCTION memsvc.mentioned_together(p_user_id uuid, p_least_days integer)
RETURNS TABLE (node_id uuid, other_id uuid, days bigint, least_days bigint)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 8;
BEGIN
  RETURN QUERY
  WITH spoken AS MATERIALIZED (
    SELECT m.node_id, m.passage_id, m.day, count(*) OVER (PARTITION BY m.passage_id) AS others
    FROM memsvc.mentions(p_user_id) AS m
    INNER JOIN memsvc.entity_nodes(p_user_id) AS e ON e.node_id = m.node_id
  ),
  alone AS MATERIALIZED (
    SELECT s.node_id, count(DISTINCT s.day) AS days FROM spoken AS s
    GROUP BY s.node_id HAVING count(DISTINCT s.day) >= p_least_days
  ),
  often AS MATERIALIZED (
    SELECT s.* FROM spoken AS s INNER JOIN alone AS a ON a.node_id = s.node_id WHERE s.others <= most
  )
  SELECT a.node_id, b.node_id, count(DISTINCT a.day), least(any_value(x.days), any_value(y.days))
  FROM often AS a
  INNER JOIN often AS b ON b.passage_id = a.passage_id AND b.node_id > a.node_id
  INNER JOIN alone AS x ON x.node_id = a.node_id
  INNER JOIN alone AS y ON y.node_id = b.node_id
  GROUP BY a.node_id, b.node_id
  HAVING count(DISTINCT a.day) >= p_least_days;
END
$$;
COMMENT ON FUNCTION memsvc.mentioned_together(uuid, integer) IS
  'Pairs of people and things that are mentioned in the same messages on several days.';

-- How near the descriptions of pairs of nodes are, by the vectors of their cards: cosines, in the order of the pairs
-- (p_nodes and p_others are parallel arrays); null where one has no vector by this model.
CREATE OR REPLACE FUNCTION memsvc.card_cosines(p_user_id uuid, p_model_id smallint, p_nodes uuid[], p_others uuid[])
RETURNS TABLE (nth bigint, cosine double precision)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, public, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT u.nth, u.node_id, u.other_id FROM unnest(p_nodes, p_others) WITH ORDINALITY AS u (node_id, other_id, nth)
  ),
  card AS MATERIALIZED (
    SELECT n.node_id, e.vector
    FROM (SELECT a.node_id FROM asked AS a UNION SELECT a.other_id FROM asked AS a) AS n (node_id)
    CROSS JOIN LATERAL (
      SELECT o.version_id FROM memsvc.node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = n.node_id AND o.recorded_to = 'infinity'
      ORDER BY o.valid_from DESC LIMIT 1
    ) AS v
    CROSS JOIN LATERAL (
      SELECT d.vector FROM memsvc.embeddings AS d
      WHERE d.user_id = p_user_id AND d.model_id = p_model_id AND d.passage_id = v.version_id OFFSET 0
    ) AS e
  )
  SELECT a.nth, -(x.vector <#> y.vector)
  FROM asked AS a
  LEFT JOIN card AS x ON x.node_id = a.node_id
  LEFT JOIN card AS y ON y.node_id = a.other_id
  ORDER BY a.nth;
END;
COMMENT ON FUNCTION memsvc.card_cosines(uuid, smallint, uuid[], uuid[]) IS
  'How near the descriptions of pairs of nodes are.';

-- What sources say of nodes that may be two: for each node of which facts of a type with one value at a time have
-- several values, from several sources, every fact that is known of it now, of any valid time, with the sources that
-- support it. side: other end, resolved; single: of a type with one value at a time; first_at, last_at: when the source
-- said so first and last. p_node: only this node; null: all.
CREATE OR REPLACE FUNCTION memsvc.lives_of(p_user_id uuid, p_node uuid)
RETURNS TABLE (
  node_id uuid, source_id uuid, type text, single boolean, other_id uuid, first_at timestamptz, last_at timestamptz
)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-nested-loop
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (SELECT f.* FROM memsvc.analysed_facts(p_user_id) AS f WHERE f.from_node <> f.to_node),
  entity AS MATERIALIZED (SELECT e.node_id FROM memsvc.entity_nodes(p_user_id) AS e),
  several AS MATERIALIZED (
    SELECT DISTINCT s.from_node AS node_id
    FROM (
      SELECT f.from_node, f.type FROM fact AS f
      INNER JOIN entity AS e ON e.node_id = f.from_node
      WHERE f.functional AND (p_node IS NULL OR f.from_node = p_node)
      GROUP BY f.from_node, f.type HAVING count(DISTINCT f.to_node) > 1
    ) AS s
  ),
  about AS MATERIALIZED (
    SELECT s.node_id, f.version_id, f.type, f.functional AS single, f.to_node AS other_id
    FROM several AS s INNER JOIN fact AS f ON f.from_node = s.node_id
    UNION ALL
    SELECT s.node_id, f.version_id, f.type, false, f.from_node
    FROM several AS s INNER JOIN fact AS f ON f.to_node = s.node_id
  ),
  support AS MATERIALIZED (
    SELECT l.edge_version_id, l.passage_id FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.recorded_to = 'infinity' AND l.stance = 'supports'
      AND l.edge_version_id = ANY (ARRAY(SELECT a.version_id FROM about AS a))
  ),
  heard AS MATERIALIZED (
    SELECT p.passage_id, p.source_id, p.said_at FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT s.passage_id FROM support AS s))
  )
  SELECT a.node_id, h.source_id, a.type, a.single, a.other_id, min(h.said_at), max(h.said_at)
  FROM about AS a
  INNER JOIN support AS s ON s.edge_version_id = a.version_id
  INNER JOIN heard AS h ON h.passage_id = s.passage_id
  GROUP BY a.node_id, h.source_id, a.type, a.single, a.other_id
  ORDER BY a.node_id, h.source_id, a.type, a.other_id;
END
$$;
COMMENT ON FUNCTION memsvc.lives_of(uuid, uuid) IS 'What sources say of nodes that may be two.';

-- Stores proposals of a kind, in the caller's transaction: [{"key", "node_id", "other_id", "passage_id", "version_id",
-- "span_from", "span_to", "sources", "score", "evidence"}], whose nodes are canonical; at most so many of the kind are
-- open afterwards as p_most says. What was ever proposed is left out, of links also where a node of it has been merged
-- since; and so is what rests on something that was erased meanwhile. Returns the number of new ones.
CREATE OR REPLACE FUNCTION memsvc.note_proposals(p_user_id uuid, p_kind text, p_found jsonb, p_most integer)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  fresh bigint;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH known AS MATERIALIZED (
    SELECT p.* FROM proposals AS p WHERE p.user_id = p_user_id AND p.kind = p_kind
  ),
  canonical AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT k.node_id FROM known AS k WHERE p_kind = 'link' UNION SELECT k.other_id FROM known AS k WHERE p_kind = 'link'
    )) AS r
  ),
  joined AS MATERIALIZED (
    SELECT least(a.canonical_id, b.canonical_id) AS node_id, greatest(a.canonical_id, b.canonical_id) AS other_id
    FROM known AS k
    INNER JOIN canonical AS a ON a.node_id = k.node_id
    INNER JOIN canonical AS b ON b.node_id = k.other_id
  ),
  written AS (
    INSERT INTO proposals (
      user_id, kind, key, node_id, other_id, passage_id, version_id, span_from, span_to, sources, score, evidence
    )
    SELECT p_user_id, p_kind, f.key, f.node_id, f.other_id, f.passage_id, f.version_id, f.span_from, f.span_to,
      coalesce(f.sources, '{}'), f.score, coalesce(f.evidence, '{}')
    FROM jsonb_array_elements(p_found) WITH ORDINALITY AS e (value, nth)
    CROSS JOIN LATERAL jsonb_to_record(e.value) AS f (
      key uuid, node_id uuid, other_id uuid, passage_id uuid, version_id uuid, span_from integer, span_to integer,
      sources uuid[], score real, evidence jsonb
    )
    WHERE NOT EXISTS (SELECT FROM joined AS j WHERE j.node_id = f.node_id AND j.other_id = f.other_id)
      AND NOT EXISTS (SELECT FROM known AS k WHERE k.node_id IS NOT DISTINCT FROM f.node_id AND k.key = f.key)
      AND (f.node_id IS NULL OR EXISTS (
        SELECT FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = f.node_id
      ))
      AND (f.other_id IS NULL OR EXISTS (
        SELECT FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = f.other_id
      ))
      AND (f.passage_id IS NULL OR EXISTS (
        SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = f.passage_id
      ))
      AND (f.version_id IS NULL OR EXISTS (
        SELECT FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = f.version_id
      ))
    ORDER BY e.nth
    LIMIT greatest(p_most - (SELECT count(*) FROM known AS k WHERE k.state = 'open'), 0)
    ON CONFLICT DO NOTHING
    RETURNING 1
  )
  SELECT count(*) INTO fresh FROM written AS w;
  RETURN fresh;
END
$$;
COMMENT ON FUNCTION memsvc.note_proposals(uuid, text, jsonb, integer) IS
  'Stores what sleep proposes and was never proposed before; how many that is.';
