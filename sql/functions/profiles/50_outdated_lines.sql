-- Lines of core memory that a later fact ended or contradicts, for sleep.

-- Such lines, with what they could say instead. A line says a fact if it has its words, or if it rests on a passage that
-- supports the fact and names where the fact leads. It is outdated if the fact has ended, and that was written after the
-- line, or if the fact is contested. key: of the block, the line and the fact. instead: the fact of the same type that
-- holds now of the same thing, the latest one; null: there is none, or the line has it already; passages: those that
-- support it. expected: the block's version. p_node: only facts at this node; null: all. One fact for each line.
CREATE OR REPLACE FUNCTION memsvc.outdated_lines(p_user_id uuid, p_node uuid DEFAULT NULL)
RETURNS TABLE (
  key uuid, name text, node_id uuid, expected integer, nth integer, line text, version_id uuid, ended boolean,
  instead text, passages uuid[]
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
  ends CONSTANT uuid[] := ARRAY(SELECT s.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[p_node]) AS s);
BEGIN
  RETURN QUERY
  WITH block AS MATERIALIZED (
    SELECT v.* FROM profile_versions AS v
    WHERE v.user_id = p_user_id AND v.kind = 'core' AND v.recorded_to = 'infinity'
  ),
  spoken AS MATERIALIZED (
    SELECT b.block_id, b.version_id AS block_version, b.name, b.node_id, b.version, b.text, l.line, l.nth::integer AS nth,
      lower(btrim(l.line, E' \t.')) AS words, (
        SELECT min(h.recorded_from) FROM profile_versions AS h
        WHERE h.user_id = p_user_id AND h.block_id = b.block_id
          AND l.line = ANY (string_to_array(h.text, E'\n'))
      ) AS since
    FROM block AS b CROSS JOIN LATERAL string_to_table(b.text, E'\n') WITH ORDINALITY AS l (line, nth)
    WHERE btrim(l.line) <> ''
  ),
  fact AS MATERIALIZED (
    SELECT DISTINCT s.block_version, s.nth, v.version_id
    FROM spoken AS s
    INNER JOIN profile_evidence AS e
      ON e.user_id = p_user_id AND e.version_id = s.block_version AND s.nth = ANY (e.lines)
    INNER JOIN source_links AS l
      ON l.user_id = p_user_id AND l.passage_id = e.passage_id AND l.recorded_to = 'infinity'
        AND l.stance = 'supports' AND l.edge_version_id IS NOT NULL
    INNER JOIN edge_versions AS v
      ON v.user_id = p_user_id AND v.version_id = l.edge_version_id AND v.recorded_to = 'infinity'
    WHERE lower(btrim(v.fact, E' \t.')) = s.words OR EXISTS (
      SELECT FROM memsvc.node_states(p_user_id, ARRAY[v.to_node], today) AS c
      WHERE c.label <> '' AND strpos(s.words, lower(c.label)) > 0
    )
  ),
  judged AS (
    SELECT s.*, v.version_id AS fact_version, v.from_node, v.to_node, v.type, v.valid_to,
      v.valid_to <= today AS ended, lower(btrim(v.fact, E' \t.')) = s.words AS is_same
    FROM fact AS f
    INNER JOIN spoken AS s ON s.block_version = f.block_version AND s.nth = f.nth
    INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = f.version_id
    WHERE (p_node IS NULL OR v.from_node = ANY (ends) OR v.to_node = ANY (ends))
      AND (v.valid_to <= today AND v.recorded_from > s.since OR v.valid_to > today AND memsvc.is_contested(p_user_id, v))
  ),
  meant AS (
    SELECT DISTINCT ON (j.block_version, j.nth) j.*
    FROM judged AS j
    -- The same may be told again: then it holds, whatever ended before.
    WHERE NOT EXISTS (
      SELECT FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.from_node = j.from_node AND o.to_node = j.to_node AND o.type = j.type
        AND o.recorded_to = 'infinity' AND o.valid_from <= today AND o.valid_to > today AND j.ended
    )
    ORDER BY j.block_version, j.nth, j.is_same DESC, j.ended DESC, j.valid_to DESC, j.fact_version
  )
  SELECT
    md5(m.block_id || E'\n' || m.fact_version || E'\n' || m.line)::uuid, m.name, m.node_id, m.version, m.nth, m.line,
    m.fact_version, m.ended, n.fact, coalesce(n.passages, '{}')
  FROM meant AS m
  LEFT JOIN LATERAL (
    SELECT o.fact, ARRAY(
      SELECT DISTINCT l.passage_id FROM source_links AS l
      WHERE l.user_id = p_user_id AND l.edge_version_id = o.version_id AND l.recorded_to = 'infinity'
        AND l.stance = 'supports'
      ORDER BY l.passage_id
    ) AS passages
    FROM edge_versions AS o
    WHERE o.user_id = p_user_id AND o.type = m.type AND o.recorded_to = 'infinity' AND o.to_node <> m.to_node
      AND o.from_node = ANY (ARRAY(SELECT s.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[m.from_node]) AS s))
      AND o.valid_from <= today AND o.valid_to > today
      AND (m.ended AND o.valid_from >= m.valid_to OR NOT m.ended AND o.functional)
      AND o.fact <> ALL (string_to_array(m.text, E'\n'))
    ORDER BY o.valid_from DESC, o.version_id DESC LIMIT 1
  ) AS n ON true
  ORDER BY m.block_version, m.nth;
END
$$;
COMMENT ON FUNCTION memsvc.outdated_lines(uuid, uuid) IS
  'Lines of core memory that a later fact ended or contradicts, and what they could say instead.';
