-- Passages next to others: of the messages up to p_reach places before and after each, in its session. An answer stands
-- behind its question, and often has no word of it. Chunks of a document
-- are 1,024 places apart. The filters are those of memsvc.match_words.
CREATE OR REPLACE FUNCTION memsvc.passages_beside(
  p_user_id uuid, p_passages uuid[], p_reach integer, p_scope memsvc.scope
) RETURNS TABLE (passage_id uuid)
LANGUAGE plpgsql STABLE
ROWS 60
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-hash, no-merge, no-bitmap
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT DISTINCT n.passage_id
  FROM (
    SELECT p.source_id, p.session, p.ordinal, p_reach * CASE p.kind WHEN 'chunk' THEN 1024 ELSE 1 END AS reach
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.version_id IS NULL
    ORDER BY p.passage_id OFFSET 0
  ) AS s
  CROSS JOIN LATERAL (
    SELECT b.passage_id, memsvc.in_scope(p_scope, b) AS fits FROM passages AS b
    WHERE b.user_id = p_user_id AND b.source_id = s.source_id AND b.session = s.session
      AND b.ordinal BETWEEN s.ordinal - s.reach AND s.ordinal + s.reach AND b.ordinal <> s.ordinal
    ORDER BY b.ordinal OFFSET 0
  ) AS n
  WHERE n.fits AND n.passage_id <> ALL (p_passages);
END
$$;
COMMENT ON FUNCTION memsvc.passages_beside(
  uuid, uuid[], integer, memsvc.scope
) IS 'Passages of the messages before and after others, in their sessions.';
