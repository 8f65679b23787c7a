-- Details of a version of a block: the label of the node that it describes (null: no node, or no label), and the
-- passages that support its lines.
CREATE OR REPLACE FUNCTION memsvc.block_support(p_user_id uuid, p_version_id uuid, p_node_id uuid)
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
COMMENT ON FUNCTION memsvc.block_support(uuid, uuid, uuid) IS
  'The label of the node that a version of a block describes, and the evidence of its lines.';
