-- Passages of archival blocks (profiles/30_filed_blocks.sql) or of documents that match no version of these. An erasure in several
-- batches leaves some between the batches, because versions go with the first one. An export leaves them out, and an
-- import refuses them.
CREATE OR REPLACE FUNCTION memsvc.misfiled_passages(p_user_id uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT p.passage_id
  FROM memsvc.sources AS s
  INNER JOIN memsvc.passages AS p ON p.user_id = p_user_id AND p.source_id = s.source_id
  WHERE s.user_id = p_user_id AND s.kind = 'block' AND NOT EXISTS (
    SELECT FROM memsvc.profile_versions AS v
    WHERE v.user_id = p_user_id AND v.block_id = p.source_id AND v.version = p.ordinal AND v.kind = 'archival'
      AND p.kind = CASE WHEN v.recorded_to = 'infinity' THEN 'block' ELSE 'former' END AND strpos(v.text, p.text) > 0
  )
  UNION ALL
  SELECT p.passage_id
  FROM memsvc.sources AS s
  INNER JOIN memsvc.passages AS p ON p.user_id = p_user_id AND p.source_id = s.source_id
  WHERE s.user_id = p_user_id AND s.kind = 'document' AND NOT EXISTS (
    SELECT FROM memsvc.document_versions AS v WHERE v.user_id = p_user_id AND v.source_id = s.source_id
  );
END;
COMMENT ON FUNCTION memsvc.misfiled_passages(uuid) IS 'Passages of archival blocks and documents that match no version.';
