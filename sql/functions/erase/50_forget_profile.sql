-- owner: memsvc_eraser

-- Removes from the profile what an erasure deletes, as a part of it and under its locks: versions of blocks that
-- describe deleted nodes, were working memory of a deleted source, or belong to a deleted block; then lines of other
-- versions that only deleted passages support, and versions without lines left. If the current version of a block loses
-- a line, its version number rises: a writer that read the line must read again. Returns the number of deleted and
-- shortened versions. Null and '{}' mean nothing.
CREATE OR REPLACE FUNCTION memsvc.forget_profile(
  p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid, p_block_id uuid
) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  gone CONSTANT uuid[] := ARRAY(
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes)
    UNION
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.source_id = p_source_id
    UNION
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.block_id = p_block_id
  );
  touched uuid[];
BEGIN
  DELETE FROM profile_evidence AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (gone);
  DELETE FROM profile_versions AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (gone);
  touched := ARRAY(
    SELECT DISTINCT e.version_id FROM profile_evidence AS e
    WHERE e.user_id = p_user_id AND e.passage_id = ANY (p_passages)
  );
  IF touched = '{}' THEN
    RETURN cardinality(gone);
  END IF;
  WITH lost AS MATERIALIZED (
    SELECT l.version_id, l.place::bigint AS line_number FROM memsvc.lines_lost(p_user_id, p_passages) AS l
  ),
  kept AS MATERIALIZED (
    SELECT v.version_id, t.line, t.line_number,
      row_number() OVER (PARTITION BY v.version_id ORDER BY t.line_number) AS new_number
    FROM profile_versions AS v
    CROSS JOIN LATERAL string_to_table(v.text, E'\n') WITH ORDINALITY AS t (line, line_number)
    WHERE v.user_id = p_user_id AND v.version_id = ANY (touched)
      AND (v.version_id, t.line_number) NOT IN (SELECT l.version_id, l.line_number FROM lost AS l)
  ),
  renumbered AS (
    UPDATE profile_evidence AS e
    SET lines = coalesce(nullif(ARRAY( -- an import may have named lines that do not exist
      SELECT k.new_number::smallint FROM kept AS k
      WHERE k.version_id = e.version_id AND k.line_number = ANY (e.lines) ORDER BY k.line_number
    ), '{}'), e.lines)
    WHERE e.user_id = p_user_id AND e.version_id = ANY (touched) AND e.passage_id NOT IN (SELECT unnest(p_passages))
  ),
  dropped AS (
    DELETE FROM profile_evidence AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (p_passages)
  ),
  said AS (
    SELECT v.version_id, coalesce(string_agg(k.line, E'\n' ORDER BY k.line_number), '') AS text
    FROM profile_versions AS v LEFT JOIN kept AS k ON k.version_id = v.version_id
    WHERE v.user_id = p_user_id AND v.version_id = ANY (touched)
    GROUP BY v.version_id
  )
  UPDATE profile_versions AS v
  SET text = s.text, version = CASE WHEN v.recorded_to < 'infinity' THEN v.version ELSE (
    SELECT max(m.version) + 1 FROM profile_versions AS m WHERE m.user_id = p_user_id AND m.block_id = v.block_id
  ) END
  FROM said AS s
  WHERE v.user_id = p_user_id AND v.version_id = s.version_id AND v.text <> s.text;
  DELETE FROM profile_versions AS d
  WHERE d.user_id = p_user_id AND d.version_id = ANY (touched) AND btrim(d.text, E' \n') = '';
  RETURN cardinality(gone) + cardinality(touched);
END
$$;
COMMENT ON FUNCTION memsvc.forget_profile(uuid, uuid[], uuid[], uuid, uuid) IS
  'Removes from the profile what an erasure deletes; number of deleted and shortened versions.';
