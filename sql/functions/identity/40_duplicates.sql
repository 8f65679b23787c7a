-- Pairs of nodes that may be the same: storing them, looking up decisions, deciding. Under row security, as the caller.

-- Those of some pairs (p_nodes and p_others are parallel arrays) that were rejected or split. A decision on any stored
-- node of one side and any of the other side counts, so that no merge brings a pair back.
CREATE OR REPLACE FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[])
RETURNS TABLE (node_id uuid, other_id uuid)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT DISTINCT a.node_id, a.other_id FROM unnest(p_nodes, p_others) AS a (node_id, other_id)
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id FROM memsvc.resolve_nodes(p_user_id, p_nodes || p_others) AS r
  ),
  same AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id FROM memsvc.same_nodes(p_user_id, p_nodes || p_others) AS s
  ),
  decided AS MATERIALIZED (
    SELECT sa.canonical_id AS one, sb.canonical_id AS two
    FROM same AS sa
    CROSS JOIN LATERAL (
      SELECT d.node_b FROM memsvc.duplicate_candidates AS d
      WHERE d.user_id = p_user_id AND d.node_a = sa.node_id AND d.state IN ('rejected', 'split')
      OFFSET 0
    ) AS d
    INNER JOIN same AS sb ON sb.node_id = d.node_b
  )
  SELECT a.node_id, a.other_id
  FROM asked AS a
  INNER JOIN resolved AS ra ON ra.node_id = a.node_id
  INNER JOIN resolved AS rb ON rb.node_id = a.other_id
  WHERE EXISTS (
    SELECT FROM decided AS d
    WHERE (d.one, d.two) IN ((ra.canonical_id, rb.canonical_id), (rb.canonical_id, ra.canonical_id))
  );
END;
COMMENT ON FUNCTION memsvc.refused_pairs(uuid, uuid[], uuid[]) IS 'Those of some pairs that were rejected or split.';

-- Stores pairs: [{"node", "other", "score", "evidence"}], by their canonical nodes. Pairs that are one node already,
-- that were rejected, or of which a node does not exist (it would only bring back what was erased) are left out. An
-- open pair gets the new score and evidence; one that was merged and is separate again becomes open again. Returns the
-- number of new pairs.
CREATE OR REPLACE FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) RETURNS bigint
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH found AS MATERIALIZED (
    SELECT f.node, f.other, f.score, f.evidence
    FROM jsonb_to_recordset(p_found) AS f (node uuid, other uuid, score real, evidence jsonb)
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT f.node FROM found AS f UNION SELECT f.other FROM found AS f)) AS r
  ),
  pair AS MATERIALIZED (
    SELECT DISTINCT ON (p.node_a, p.node_b) p.node_a, p.node_b, p.score, p.evidence
    FROM (
      SELECT least(n.canonical_id, o.canonical_id) AS node_a, greatest(n.canonical_id, o.canonical_id) AS node_b,
        f.score, coalesce(f.evidence, '{}') AS evidence
      FROM found AS f
      INNER JOIN resolved AS n ON n.node_id = f.node
      INNER JOIN resolved AS o ON o.node_id = f.other
      WHERE n.canonical_id <> o.canonical_id
    ) AS p
    ORDER BY p.node_a, p.node_b, p.score DESC
  ),
  refused AS MATERIALIZED (
    SELECT r.node_id, r.other_id
    FROM memsvc.refused_pairs(
      p_user_id, ARRAY(SELECT p.node_a FROM pair AS p ORDER BY p.node_a, p.node_b),
      ARRAY(SELECT p.node_b FROM pair AS p ORDER BY p.node_a, p.node_b)
    ) AS r
  ),
  noted AS (
    INSERT INTO memsvc.duplicate_candidates AS d (user_id, node_a, node_b, score, evidence, found_by)
    SELECT p_user_id, p.node_a, p.node_b, p.score, p.evidence, p_found_by
    FROM pair AS p
    WHERE NOT EXISTS (SELECT FROM refused AS r WHERE r.node_id = p.node_a AND r.other_id = p.node_b)
      AND EXISTS (SELECT FROM memsvc.nodes AS n WHERE n.user_id = p_user_id AND n.node_id = p.node_a)
      AND EXISTS (SELECT FROM memsvc.nodes AS n WHERE n.user_id = p_user_id AND n.node_id = p.node_b)
    ORDER BY p.node_a, p.node_b
    ON CONFLICT (user_id, node_a, node_b) DO UPDATE
    SET score = excluded.score, evidence = excluded.evidence, state = 'open', decided_at = NULL, decided_by = NULL
    WHERE d.state IN ('open', 'merged')
    RETURNING (old.user_id IS NULL) AS fresh
  )
  SELECT count(*) FILTER (WHERE n.fresh) FROM noted AS n;
END;
COMMENT ON FUNCTION memsvc.note_duplicates(uuid, jsonb, text) IS 'Stores pairs that may be the same; how many are new.';

-- Decides a pair: merged, rejected or split. A pair that was not stored is stored, so that it stays decided. Returns
-- the number of changed rows, which is one.
CREATE OR REPLACE FUNCTION memsvc.decide_duplicates(
  p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text
) RETURNS bigint
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH decided AS (
    INSERT INTO memsvc.duplicate_candidates AS d (
      user_id, node_a, node_b, score, found_by, state, decided_at, decided_by
    )
    SELECT p_user_id, least(p_node, p_other), greatest(p_node, p_other),
      CASE p_state WHEN 'merged' THEN 1 ELSE 0 END, p_decided_by, p_state, clock_timestamp(), p_decided_by
    ON CONFLICT (user_id, node_a, node_b) DO UPDATE
    SET state = excluded.state, decided_at = excluded.decided_at, decided_by = excluded.decided_by
    RETURNING 1
  )
  SELECT count(*) FROM decided AS d;
END;
COMMENT ON FUNCTION memsvc.decide_duplicates(uuid, uuid, uuid, text, text) IS 'Decides a pair, until it is undone.';
