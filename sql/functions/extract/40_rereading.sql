-- Reading again what older versions of an extractor have read: where it goes on, and what it changed.

-- Sources that an extractor is to read again, the most recalled ones first: by how strong the memory of their messages
-- is, and of facts that they support, added up at p_moment (memsvc.recalled_sources). At most p_limit, after the one
-- with p_strength and p_source_id (null: from the first).
CREATE OR REPLACE FUNCTION memsvc.sources_to_reread(
  p_user_id uuid, p_extractor text, p_moment timestamptz, p_strength double precision, p_source_id uuid,
  p_limit integer
) RETURNS TABLE (source_id uuid, strength double precision, again_upto uuid, begun_after uuid)
LANGUAGE sql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH ranked AS (
    SELECT e.source_id, coalesce(r.strength, 0) AS strength, e.again_upto, e.begun_after
    FROM memsvc.extractions AS e
    LEFT JOIN memsvc.recalled_sources(p_user_id, p_moment) AS r ON r.source_id = e.source_id
    WHERE e.user_id = p_user_id AND e.extractor = p_extractor
      AND (e.again_upto < e.begun_after OR (e.again_upto IS NULL AND e.begun_after IS NOT NULL))
  )
  SELECT k.source_id, k.strength, k.again_upto, k.begun_after
  FROM ranked AS k
  WHERE p_source_id IS NULL OR (-k.strength, k.source_id) > (-p_strength, p_source_id)
  ORDER BY k.strength DESC, k.source_id
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.sources_to_reread(uuid, text, timestamptz, double precision, uuid, integer) IS
  'Sources that an extractor is to read again, the most recalled ones first.';

-- What a change of an extractor made of facts: added; ended (it ends earlier than was known); changed (in its words,
-- data or times); retracted; unchanged (found again as it was known). passage_id: one that the change gives as evidence,
-- or else one that spoke for it.
CREATE OR REPLACE FUNCTION memsvc.facts_changed(p_user_id uuid, p_at timestamptz, p_extractor text)
RETURNS TABLE (
  outcome text, type text, version_id uuid, edge_id uuid, fact text, valid_from timestamptz, valid_to timestamptz,
  passage_id uuid
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH written AS MATERIALIZED (
    SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_from = p_at AND v.recorded_to > p_at
  ),
  closed AS MATERIALIZED (
    SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = p_at AND v.recorded_from < p_at
  ),
  found AS MATERIALIZED (
    SELECT DISTINCT v.* FROM source_links AS l
    INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = l.edge_version_id
    WHERE l.user_id = p_user_id AND l.recorded_from = p_at AND l.asserted_by = p_extractor AND l.stance = 'supports'
      AND v.recorded_from < p_at AND v.recorded_to > p_at
  ),
  told AS MATERIALIZED (
    SELECT CASE
        WHEN b.valid_to IS NULL THEN 'added' WHEN w.valid_to < b.valid_to THEN 'ended' ELSE 'changed'
      END AS outcome,
      w.version_id, w.edge_id, w.type, w.fact, w.valid_from, w.valid_to
    FROM written AS w
    LEFT JOIN LATERAL (
      SELECT max(c.valid_to) AS valid_to FROM closed AS c WHERE c.edge_id = w.edge_id
    ) AS b ON true
    UNION ALL
    SELECT 'retracted', c.version_id, c.edge_id, c.type, c.fact, c.valid_from, c.valid_to
    FROM closed AS c
    WHERE NOT EXISTS (SELECT FROM written AS w WHERE w.edge_id = c.edge_id)
    UNION ALL
    SELECT 'unchanged', f.version_id, f.edge_id, f.type, f.fact, f.valid_from, f.valid_to FROM found AS f
  )
  SELECT t.outcome, t.type, t.version_id, t.edge_id, t.fact, nullif(t.valid_from, '-infinity'),
    nullif(t.valid_to, 'infinity'), (
      SELECT l.passage_id FROM source_links AS l
      WHERE l.user_id = p_user_id AND l.edge_version_id = t.version_id AND l.stance = 'supports'
      ORDER BY (l.recorded_from = p_at) DESC, l.link_id
      LIMIT 1
    )
  FROM told AS t;
END
$$;
COMMENT ON FUNCTION memsvc.facts_changed(uuid, timestamptz, text) IS 'What a change of an extractor made of facts.';
