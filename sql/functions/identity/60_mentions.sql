-- Nodes that mentions of a text may mean, merges resolved: by equal names (kind exact: the mention's own name; variant:
-- a nickname, another order, a part of it), by names that are similar (similar) or contain its words (part), and by
-- facts of the node that a mention is described from (of: "my sister"). At most 40 for each mention, exact ones first,
-- then p_near, then the most similar. p_keys, p_kinds, p_names: parallel arrays of the mentions' names; those of kind
-- similar are compared by trigrams, those of kind word are searched inside other names. p_of_keys, p_of_nodes: the
-- nodes that mentions are described from. relation, fact_type, outgoing: for kind of, the fact, and whether it leads
-- from that node to the returned one.
CREATE OR REPLACE FUNCTION memsvc.mention_candidates(
  p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[],
  p_near uuid[]
) RETURNS TABLE (
  key integer, kind text, node_id uuid, similarity double precision, relation text, fact_type text, outgoing boolean
)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 40;
  most_words CONSTANT integer := 200;
  forms CONSTANT text[] := ARRAY(SELECT memsvc.normal_form(n.name) FROM unnest(p_names) AS n (name));
BEGIN
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT a.key, a.kind, a.form FROM unnest(p_keys, p_kinds, forms) AS a (key, kind, form) WHERE a.form <> ''
  ),
  called AS MATERIALIZED (
    SELECT c.form, c.node_id
    FROM memsvc.forms_called(p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a), NULL, NULL) AS c
  ),
  alike AS MATERIALIZED (
    SELECT 'similar' AS kind, s.form, s.node_id, s.similarity
    FROM memsvc.similar_names(
      p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a WHERE a.kind = 'similar'), NULL, NULL
    ) AS s
    UNION ALL
    SELECT 'part', s.form, s.node_id, s.similarity
    FROM memsvc.names_with_words(
      p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a WHERE a.kind IN ('similar', 'word')), most_words
    ) AS s
  ),
  around AS MATERIALIZED (
    SELECT o.key, e.other, e.relation, e.type, e.outgoing
    FROM unnest(p_of_keys, p_of_nodes) AS o (key, node_id)
    INNER JOIN memsvc.same_nodes(p_user_id, p_of_nodes) AS s
      ON s.canonical_id = (SELECT r.canonical_id FROM memsvc.resolve_nodes(p_user_id, ARRAY[o.node_id]) AS r)
    CROSS JOIN LATERAL (
      (SELECT v.to_node AS other, coalesce(v.data ->> 'relation', '') AS relation, v.type, true AS outgoing
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 500)
      UNION ALL
      (SELECT v.from_node, coalesce(v.data ->> 'relation', ''), v.type, false
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 500)
    ) AS e
  ),
  matched AS MATERIALIZED (
    SELECT a.key, a.kind, c.node_id, 1::double precision AS similarity, '' AS relation, '' AS fact_type,
      true AS outgoing
    FROM asked AS a INNER JOIN called AS c ON c.form = a.form
    WHERE a.kind NOT IN ('similar', 'word')
    UNION ALL
    SELECT a.key, l.kind, l.node_id, l.similarity, '', '', true
    FROM asked AS a INNER JOIN alike AS l ON l.form = a.form
    WHERE a.kind = 'similar' OR (a.kind = 'word' AND l.kind = 'part')
    UNION ALL
    SELECT r.key, 'of', r.other, 0, r.relation, r.type, r.outgoing FROM around AS r
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT m.node_id FROM matched AS m)) AS r
  ),
  ranked AS (
    SELECT m.key, m.kind, r.canonical_id, m.similarity, m.relation, m.fact_type, m.outgoing, row_number() OVER (
      PARTITION BY m.key, m.kind = 'of'
      ORDER BY m.kind = 'exact' DESC, r.canonical_id = ANY (p_near) DESC, m.similarity DESC, r.canonical_id
    ) AS nth
    FROM matched AS m INNER JOIN resolved AS r ON r.node_id = m.node_id
  )
  SELECT DISTINCT k.key, k.kind, k.canonical_id, k.similarity, k.relation, k.fact_type, k.outgoing
  FROM ranked AS k
  WHERE k.nth <= most OR k.kind = 'of';
END
$$;
COMMENT ON FUNCTION memsvc.mention_candidates(uuid, integer[], text[], text[], integer[], uuid[], uuid[]) IS
  'Nodes that mentions of a text may mean.';
