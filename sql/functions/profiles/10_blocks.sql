-- What stands behind a version of a block, as its readers show it: what the node is called that it describes (null: it
-- describes none, or nobody has named it), and which of its lines rest on which passages.
CREATE OR REPLACE FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid)
RETURNS TABLE (node text, evidence jsonb)
LANGUAGE sql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT
    (
      SELECT s.label FROM memsvc.node_states(p_user_id, ARRAY[p_node_id], clock_timestamp()) AS s
      WHERE p_node_id IS NOT NULL LIMIT 1
    ),
    coalesce((
      SELECT jsonb_agg(jsonb_build_object('passage_id', e.passage_id, 'lines', e.lines) ORDER BY e.passage_id)
      FROM memsvc.profile_evidence AS e
      WHERE e.user_id = p_user_id AND e.version_id = p_version_id
    ), '[]');
END;
COMMENT ON FUNCTION memsvc.behind_block(uuid, uuid, uuid) IS
  'What a version of a block is about, and what its lines rest on.';
