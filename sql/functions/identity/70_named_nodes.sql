-- Sleep mode: what its tasks read.

-- Names of nodes, in normal form, and their properties: a page of the canonical nodes of people and things (no notes,
-- tasks or summaries) that have a proper name, in the order of their ids. touched: something about them was recorded
-- since p_since (null: yes), or another node was merged into them. Nodes without a proper name, or without known
-- properties, have null names; so only a page after the last node is empty.
CREATE OR REPLACE FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamptz, p_limit integer)
RETURNS TABLE (node_id uuid, label text, names text[], attributes jsonb, touched boolean)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
BEGIN ATOMIC
  WITH page AS MATERIALIZED (
    SELECT n.node_id FROM memsvc.nodes AS n
    WHERE n.user_id = p_user_id AND n.node_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      AND NOT EXISTS (
        SELECT FROM memsvc.merges AS m
        WHERE m.user_id = p_user_id AND m.node_id = n.node_id AND m.recorded_to = 'infinity'
      )
    ORDER BY n.node_id
    LIMIT p_limit
  ),
  same AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id
    FROM memsvc.same_nodes(p_user_id, ARRAY(SELECT p.node_id FROM page AS p)) AS s
  ),
  called AS (
    SELECT s.canonical_id, v.label, v.label_form AS form, v.data, v.recorded_from, (s.node_id = s.canonical_id) AS own,
      v.type IN (SELECT t.name FROM memsvc.node_types AS t WHERE t.category = 'entity')
        AND coalesce(v.data -> 'named' <> 'false'::jsonb, true) AS named
    FROM same AS s
    CROSS JOIN LATERAL (
      SELECT o.* FROM memsvc.node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS v
    UNION ALL
    SELECT s.canonical_id, NULL, a.normal_form, NULL, a.recorded_from, false, true
    FROM same AS s
    CROSS JOIN LATERAL (
      SELECT o.* FROM memsvc.aliases AS o
      WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS a
    UNION ALL
    SELECT s.canonical_id, NULL, NULL, NULL, m.recorded_from, false, false
    FROM same AS s
    CROSS JOIN LATERAL (
      SELECT o.recorded_from FROM memsvc.merges AS o
      WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS m
    UNION ALL
    SELECT p.node_id, NULL, NULL, NULL, '-infinity', false, false FROM page AS p
  )
  SELECT c.canonical_id,
    (array_agg(c.label ORDER BY c.own DESC, c.recorded_from) FILTER (WHERE c.label IS NOT NULL))[1],
    array_agg(DISTINCT c.form) FILTER (WHERE c.named),
    coalesce((array_agg(c.data ORDER BY c.own DESC, c.recorded_from) FILTER (WHERE c.data <> '{}'))[1], '{}'),
    p_since IS NULL OR max(c.recorded_from) >= p_since
  FROM called AS c
  GROUP BY c.canonical_id
  ORDER BY c.canonical_id;
END;
COMMENT ON FUNCTION memsvc.named_nodes(uuid, uuid, timestamptz, integer) IS
  'Names of nodes with a proper name, and their properties; a page.';
