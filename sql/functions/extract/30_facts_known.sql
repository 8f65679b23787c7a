-- What new facts are compared with before they are written, and what nobody finds any more.

-- Open versions that new facts meet: of the same start and type, and the same end where one is given (null: any; the
-- 200 learnt last). Ends are those nodes that stand for the stored ones. said: when passages said so, in order, without
-- what only other extractors read in those that are read again now (p_passages); without passages, when it was
-- recorded. supported: passages speak for it; here: the last one of this source that does. Unbounded times are null.
CREATE OR REPLACE FUNCTION memsvc.facts_to_compare(
  p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text
) RETURNS TABLE (
  version_id uuid, edge_id uuid, from_node uuid, type text, to_node uuid, stored_from uuid, stored_to uuid, key text,
  fact text, data jsonb, weight real, confidence real, asserted_by text, valid_from timestamptz, valid_to timestamptz,
  said timestamptz[], supported boolean, here uuid
)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT DISTINCT w.from_node, w.type, w.to_node FROM unnest(p_from, p_types, p_to) AS w (from_node, type, to_node)
  ),
  same AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id FROM memsvc.same_nodes(p_user_id, p_from) AS s
  ),
  found AS MATERIALIZED (
    SELECT DISTINCT ON (f.version_id) f.*, s.canonical_id AS start
    FROM wanted AS w
    INNER JOIN same AS s ON s.canonical_id = w.from_node
    CROSS JOIN LATERAL (
      SELECT v.* FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = w.type AND v.recorded_to = 'infinity'
        AND (w.to_node IS NULL OR v.to_node IN (
          SELECT o.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[w.to_node]) AS o
        ))
      ORDER BY v.recorded_from DESC LIMIT 200
    ) AS f
  ),
  ends AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT f.to_node FROM found AS f)) AS r
  )
  SELECT f.version_id, f.edge_id, f.start, f.type, e.canonical_id, f.from_node, f.to_node, g.key, f.fact, f.data,
    f.weight, f.confidence, f.asserted_by, nullif(f.valid_from, '-infinity'), nullif(f.valid_to, 'infinity'),
    coalesce(k.said, ARRAY[f.recorded_from]), coalesce(k.supported, false), k.here
  FROM found AS f
  INNER JOIN ends AS e ON e.node_id = f.to_node
  INNER JOIN edges AS g ON g.user_id = p_user_id AND g.edge_id = f.edge_id
  LEFT JOIN LATERAL (
    SELECT true AS supported,
      coalesce(array_agg(DISTINCT p.said_at) FILTER (WHERE NOT (l.passage_id = ANY (p_passages) AND l.asserted_by IN (
        SELECT x.extractor FROM extractions AS x
        WHERE x.user_id = p_user_id AND x.source_id = p_source_id AND x.extractor <> p_extractor
      ))), '{}') AS said,
      (array_agg(p.passage_id ORDER BY p.passage_id DESC) FILTER (WHERE p.source_id = p_source_id))[1] AS here
    FROM source_links AS l
    INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = l.passage_id
    WHERE l.user_id = p_user_id AND l.edge_version_id = f.version_id AND l.stance = 'supports'
      AND l.recorded_to = 'infinity'
    GROUP BY ()
    HAVING count(*) > 0
  ) AS k ON true;
END
$$;
COMMENT ON FUNCTION memsvc.facts_to_compare(uuid, uuid, uuid[], text[], uuid[], uuid[], text) IS
  'Open versions that new facts meet, with when each was said.';

-- What only other extractors found in what one has read again: open versions of facts, names and nodes that some of
-- p_passages speak for, all of whose evidence is theirs and lies in the part of the source up to p_upto. What somebody
-- else wrote, corrected, ended, validated or pinned stays. A node stays while facts hang on it that do not go too.
CREATE OR REPLACE FUNCTION memsvc.found_by_others_alone(
  p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]
) RETURNS TABLE (
  kind text, edge_id uuid, node_id uuid, alias text, valid_from timestamptz, valid_to timestamptz
)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (
    SELECT DISTINCT v.kind, v.id
    FROM source_links AS l
    CROSS JOIN LATERAL (
      VALUES ('node', l.node_version_id), ('edge', l.edge_version_id), ('alias', l.alias_id)
    ) AS v (kind, id)
    WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages) AND l.stance = 'supports'
      AND l.recorded_to = 'infinity' AND l.asserted_by = ANY (p_others) AND v.id IS NOT NULL
  ),
  stale AS MATERIALIZED (
    SELECT t.kind, t.id FROM touched AS t
    WHERE NOT EXISTS (
      SELECT FROM memsvc.links_of(p_user_id, t.kind, t.id) AS k
      WHERE k.stance = 'supports' AND NOT (
        k.asserted_by = ANY (p_others) AND k.passage_id <= p_upto AND p_source_id = (
          SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = k.passage_id
        )
      ) OR k.stance = 'validated'
    )
    AND NOT EXISTS (SELECT FROM memory_signals AS s WHERE s.user_id = p_user_id AND s.memory_id = t.id AND s.pinned)
    AND NOT EXISTS ( -- recorded by no extractor; undoing a re-reading brings back what extractors had recorded
      SELECT FROM (
        SELECT v.recorded_from FROM node_versions AS v
        WHERE t.kind = 'node' AND v.user_id = p_user_id AND v.version_id = t.id
        UNION ALL
        SELECT v.recorded_from FROM edge_versions AS v
        WHERE t.kind = 'edge' AND v.user_id = p_user_id AND v.version_id = t.id
        UNION ALL
        SELECT v.recorded_from FROM aliases AS v
        WHERE t.kind = 'alias' AND v.user_id = p_user_id AND v.alias_id = t.id
      ) AS w
      INNER JOIN changes AS c ON c.user_id = p_user_id AND c.recorded_at = w.recorded_from
      WHERE NOT EXISTS (
        SELECT FROM extractions AS e
        WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = c.asserted_by
      ) AND NOT EXISTS (
        SELECT FROM changes AS u
        WHERE u.user_id = p_user_id AND u.change_id = c.undoes AND u.rereading_id IS NOT NULL
      )
    )
  ),
  gone AS MATERIALIZED (
    SELECT v.version_id, v.edge_id, v.valid_from, v.valid_to
    FROM stale AS s INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = s.id
    WHERE s.kind = 'edge' AND v.recorded_to = 'infinity'
  )
  SELECT 'edge', g.edge_id, NULL::uuid, NULL::text, nullif(g.valid_from, '-infinity'), nullif(g.valid_to, 'infinity')
  FROM gone AS g
  UNION ALL
  SELECT 'alias', NULL, a.node_id, a.alias, nullif(a.valid_from, '-infinity'), nullif(a.valid_to, 'infinity')
  FROM stale AS s INNER JOIN aliases AS a ON a.user_id = p_user_id AND a.alias_id = s.id
  WHERE s.kind = 'alias' AND a.recorded_to = 'infinity'
  UNION ALL
  SELECT 'node', NULL, n.node_id, NULL, nullif(n.valid_from, '-infinity'), nullif(n.valid_to, 'infinity')
  FROM stale AS s INNER JOIN node_versions AS n ON n.user_id = p_user_id AND n.version_id = s.id
  WHERE s.kind = 'node' AND n.recorded_to = 'infinity'
    AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = n.node_id AND v.recorded_to = 'infinity'
        AND v.version_id NOT IN (SELECT g.version_id FROM gone AS g)
    )
    AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = n.node_id AND v.recorded_to = 'infinity'
        AND v.version_id NOT IN (SELECT g.version_id FROM gone AS g)
    );
END
$$;
COMMENT ON FUNCTION memsvc.found_by_others_alone(uuid, uuid, uuid, uuid[], text[]) IS
  'What only other extractors found in what one has read again.';
