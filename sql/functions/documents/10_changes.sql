-- owner: memsvc_eraser

-- What storing a document changes in rows that are there. The application may only add passages, so these functions
-- belong to a role that may more; their first line asks for the user that the token proves.

-- Closes chunks: they stay for reads of the past, by their words, and lose their vectors. The session of a closed chunk
-- is the last version that had it, so that a newer chunk may have its place.
CREATE OR REPLACE FUNCTION memsvc.close_chunks(
  p_user_id uuid, p_source_id uuid, p_passages uuid[], p_version integer, p_at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  UPDATE passages AS p SET recorded_to = p_at, session = p_version::text
  WHERE p.user_id = proved AND p.source_id = p_source_id AND p.passage_id = ANY (p_passages) AND p.kind = 'chunk'
    AND p.recorded_to = 'infinity';
  DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (p_passages);
  DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (p_passages);
END
$$;
COMMENT ON FUNCTION memsvc.close_chunks(uuid, uuid, uuid[], integer, timestamptz) IS
  'Closes chunks that a document has lost.';

-- Moves all chunks of a document from a place on, of every version, up by p_by places. In two steps, because a unique
-- key is checked row by row.
CREATE OR REPLACE FUNCTION memsvc.make_room(p_user_id uuid, p_source_id uuid, p_from integer, p_by integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  away CONSTANT integer := 1000000000;
BEGIN
  UPDATE passages AS p SET ordinal = p.ordinal + away
  WHERE p.user_id = proved AND p.source_id = p_source_id AND p.kind = 'chunk' AND p.ordinal >= p_from;
  UPDATE passages AS p SET ordinal = p.ordinal - away + p_by
  WHERE p.user_id = proved AND p.source_id = p_source_id AND p.kind = 'chunk' AND p.ordinal >= away;
END
$$;
COMMENT ON FUNCTION memsvc.make_room(uuid, uuid, integer, integer) IS 'Makes room between the chunks of a document.';

-- Says where chunks are that stay: a page before them may be new.
CREATE OR REPLACE FUNCTION memsvc.place_chunks(
  p_user_id uuid, p_source_id uuid, p_passages uuid[], p_metadata jsonb[]
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  UPDATE passages AS p SET metadata = n.metadata
  FROM unnest(p_passages, p_metadata) AS n (passage_id, metadata)
  WHERE p.user_id = proved AND p.source_id = p_source_id AND p.passage_id = n.passage_id AND p.kind = 'chunk'
    AND p.metadata <> n.metadata;
END
$$;
COMMENT ON FUNCTION memsvc.place_chunks(uuid, uuid, uuid[], jsonb[]) IS 'Says where chunks of a document are now.';

-- Gives a document the identifier of its new place.
CREATE OR REPLACE FUNCTION memsvc.move_document(p_user_id uuid, p_source_id uuid, p_identifier text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  UPDATE sources AS s SET identifier = p_identifier
  WHERE s.user_id = proved AND s.source_id = p_source_id AND s.kind = 'document';
END
$$;
COMMENT ON FUNCTION memsvc.move_document(uuid, uuid, text) IS 'Gives a moved document its new identifier.';
