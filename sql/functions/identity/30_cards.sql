-- The cards of nodes, for the judge of identity.

-- Cards of the canonical nodes of p_nodes: names of all nodes merged into them, current facts, properties with one
-- value, and the sources that mention them. names: labels and aliases of any valid time as they are known now, each
-- normal form once, the canonical node's label first; words by which people refer to themselves are left out. named:
-- whether the label is a proper name (data.named is not false); aliases always are. fact_types, fact_sides (out, in),
-- fact_nodes (the other end, resolved), relations (data.relation or empty): parallel arrays of current facts, at most
-- 200 for each stored node and side. ORDER BY selects indexes, as in history/90_read.sql. attributes: strings and
-- numbers in data, those of the canonical node first. sources: at most 50, the last first; last_at: the time of the
-- last mention.
CREATE OR REPLACE FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[])
RETURNS TABLE (
  node_id uuid, type text, names text[], named boolean, fact_types text[], fact_sides text[], fact_nodes uuid[],
  relations text[], attributes jsonb, sources uuid[], last_at timestamptz
)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-sort, no-incremental-sort
BEGIN ATOMIC
  WITH same AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id FROM memsvc.same_nodes(p_user_id, p_nodes) AS s
  ),
  state AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id, v.version_id, v.type, v.label, v.label_form, v.data,
      v.data -> 'named' IS DISTINCT FROM 'false'::jsonb AS named,
      row_number() OVER (
        PARTITION BY s.canonical_id ORDER BY (s.node_id = s.canonical_id) DESC, v.valid_from DESC, v.version_id
      ) AS nth
    FROM same AS s
    CROSS JOIN LATERAL (
      SELECT o.* FROM memsvc.node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = ANY (ARRAY[s.node_id]) AND o.recorded_to = 'infinity'
      ORDER BY o.node_id OFFSET 0
    ) AS v
  ),
  called AS MATERIALIZED (
    SELECT s.canonical_id, a.alias_id, a.alias, a.normal_form
    FROM same AS s
    CROSS JOIN LATERAL (
      SELECT o.* FROM memsvc.aliases AS o
      WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_to = 'infinity'
      ORDER BY o.normal_form OFFSET 0
    ) AS a
  ),
  naming AS (
    SELECT n.canonical_id, array_agg(n.name ORDER BY n.rank, n.name) AS names
    FROM (
      SELECT DISTINCT ON (b.canonical_id, b.form) b.canonical_id, b.name, b.rank
      FROM (
        SELECT t.canonical_id, t.label AS name, t.label_form AS form, t.nth AS rank FROM state AS t
        UNION ALL
        SELECT c.canonical_id, c.alias, c.normal_form, 1000 FROM called AS c
      ) AS b
      WHERE b.form <> ALL (memsvc.first_person_words())
      ORDER BY b.canonical_id, b.form, b.rank
    ) AS n
    GROUP BY n.canonical_id
  ),
  edge AS MATERIALIZED (
    SELECT s.canonical_id, e.version_id, e.type, e.side, e.other, e.relation
    FROM same AS s
    CROSS JOIN LATERAL (
      (SELECT v.version_id, v.type, 'out' AS side, v.to_node AS other, coalesce(v.data ->> 'relation', '') AS relation
      FROM memsvc.edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 200)
      UNION ALL
      (SELECT v.version_id, v.type, 'in', v.from_node, coalesce(v.data ->> 'relation', '')
      FROM memsvc.edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 200)
    ) AS e
  ),
  other AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT d.other FROM edge AS d)) AS r
  ),
  fact AS (
    SELECT e.canonical_id, array_agg(e.type ORDER BY e.version_id) AS types,
      array_agg(e.side ORDER BY e.version_id) AS sides, array_agg(o.canonical_id ORDER BY e.version_id) AS nodes,
      array_agg(e.relation ORDER BY e.version_id) AS relations
    FROM edge AS e INNER JOIN other AS o ON o.node_id = e.other
    WHERE o.canonical_id <> e.canonical_id
    GROUP BY e.canonical_id
  ),
  property AS (
    SELECT p.canonical_id, jsonb_object_agg(p.key, p.value) AS attributes
    FROM (
      SELECT DISTINCT ON (t.canonical_id, d.key) t.canonical_id, d.key, d.value #>> '{}' AS value
      FROM state AS t CROSS JOIN LATERAL jsonb_each(t.data) AS d
      WHERE jsonb_typeof(d.value) IN ('string', 'number') AND length(d.value #>> '{}') BETWEEN 1 AND 200
      ORDER BY t.canonical_id, d.key, t.nth
    ) AS p
    GROUP BY p.canonical_id
  ),
  speaks AS (
    SELECT s.canonical_id, l.passage_id FROM same AS s CROSS JOIN LATERAL (
      SELECT o.passage_id FROM memsvc.source_links AS o
      WHERE o.user_id = p_user_id AND o.node_id = s.node_id AND o.recorded_to = 'infinity'
      ORDER BY o.link_id DESC LIMIT 200
    ) AS l
    UNION
    SELECT t.canonical_id, l.passage_id FROM state AS t CROSS JOIN LATERAL (
      SELECT o.passage_id FROM memsvc.source_links AS o
      WHERE o.user_id = p_user_id AND o.node_version_id = t.version_id AND o.recorded_to = 'infinity' LIMIT 200
    ) AS l
    UNION
    SELECT c.canonical_id, l.passage_id FROM called AS c CROSS JOIN LATERAL (
      SELECT o.passage_id FROM memsvc.source_links AS o
      WHERE o.user_id = p_user_id AND o.alias_id = c.alias_id AND o.recorded_to = 'infinity' LIMIT 200
    ) AS l
    UNION
    SELECT e.canonical_id, l.passage_id FROM edge AS e CROSS JOIN LATERAL (
      SELECT o.passage_id FROM memsvc.source_links AS o
      WHERE o.user_id = p_user_id AND o.edge_version_id = e.version_id AND o.recorded_to = 'infinity' LIMIT 20
    ) AS l
  ),
  heard AS (
    SELECT h.canonical_id, (array_agg(h.source_id ORDER BY h.last_at DESC))[:50] AS sources, max(h.last_at) AS last_at
    FROM (
      SELECT k.canonical_id, p.source_id, max(p.said_at) AS last_at
      FROM speaks AS k
      CROSS JOIN LATERAL (
        SELECT o.source_id, o.said_at FROM memsvc.passages AS o
        WHERE o.user_id = p_user_id AND o.passage_id = k.passage_id OFFSET 0
      ) AS p
      GROUP BY k.canonical_id, p.source_id
    ) AS h
    GROUP BY h.canonical_id
  ),
  canonical AS (
    SELECT t.canonical_id, (array_agg(t.type ORDER BY t.nth))[1] AS type, bool_or(t.named) AS named
    FROM state AS t
    GROUP BY t.canonical_id
  )
  SELECT t.canonical_id, t.type, coalesce(n.names, '{}'), t.named, coalesce(f.types, '{}'), coalesce(f.sides, '{}'),
    coalesce(f.nodes, '{}'), coalesce(f.relations, '{}'), coalesce(p.attributes, '{}'), coalesce(h.sources, '{}'),
    h.last_at
  FROM canonical AS t
  LEFT JOIN naming AS n ON n.canonical_id = t.canonical_id
  LEFT JOIN fact AS f ON f.canonical_id = t.canonical_id
  LEFT JOIN property AS p ON p.canonical_id = t.canonical_id
  LEFT JOIN heard AS h ON h.canonical_id = t.canonical_id;
END;
COMMENT ON FUNCTION memsvc.identity_cards(uuid, uuid[]) IS 'Cards of nodes, for the judge of identity.';
