-- The documents that calls of tools touch: those of functions/documents, by their names alone.

-- The document of a name, made if it is new. By its local name first, so that it is found after its project was moved or
-- cloned; then by its identifier, unless that is a file of another project: then the local name is the identifier, too.
-- A document that was stored by its path gets the local name here. Null: it was erased, and does not come back.
CREATE OR REPLACE FUNCTION memsvc.document_named(
  p_user_id uuid, p_identifier text, p_local text, p_title text, p_sha256 text
) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  found_id uuid;
  found_local text;
  named text := p_identifier;
BEGIN
  FOR tries IN 1..3 LOOP -- another writer may make it in the meantime
    IF p_local IS NOT NULL THEN
      SELECT s.source_id INTO found_id FROM sources AS s WHERE s.user_id = p_user_id AND s.local = p_local;
      IF FOUND THEN
        RETURN found_id;
      END IF;
    END IF;
    SELECT s.source_id, s.local INTO found_id, found_local FROM sources AS s
    WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = named;
    IF FOUND AND (found_local IS NULL OR p_local IS NULL) THEN
      UPDATE sources AS s SET local = p_local
      WHERE s.user_id = p_user_id AND s.source_id = found_id AND s.local IS NULL AND p_local IS NOT NULL;
      RETURN found_id;
    ELSIF FOUND THEN
      named := p_local;
    END IF;
    IF EXISTS (
      SELECT FROM tombstones AS t
      WHERE t.user_id = p_user_id AND t.digest = ANY (memsvc.document_digests(named, p_sha256))
    ) THEN
      RETURN NULL;
    END IF;
    INSERT INTO sources AS s (user_id, kind, identifier, title, local, status)
    VALUES (p_user_id, 'document', named, p_title, p_local, 'completed')
    ON CONFLICT DO NOTHING
    RETURNING s.source_id INTO found_id;
    IF FOUND THEN
      RETURN found_id;
    END IF;
  END LOOP;
  RETURN found_id;
END
$$;
COMMENT ON FUNCTION memsvc.document_named(uuid, text, text, text, text) IS
  'The document of a name, made if it is new; null: it was erased.';

-- The document that a call touched, and its version after the call. A new version only if the digest is known and is not
-- that of the last one; null: no digest was ever known.
--
-- p_document: {"identifier": "…", "local": null|"…", "path": "…", "title": "…", "format": "py", "sha256": null|"…",
--   "bytes": n, "wrote": false}.
CREATE OR REPLACE FUNCTION memsvc.touch_document(p_user_id uuid, p_document jsonb)
RETURNS TABLE (document_id uuid, version integer, fresh boolean)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  sha CONSTANT text := p_document ->> 'sha256';
  mine CONSTANT uuid := memsvc.document_named(
    p_user_id, p_document ->> 'identifier', p_document ->> 'local', p_document ->> 'title', sha
  );
  last record;
  today timestamptz;
BEGIN
  FOR tries IN 1..2 LOOP -- the second time under the lock
    SELECT v.version, v.sha256, v.recorded_from, v.recorded_to INTO last FROM document_versions AS v
    WHERE v.user_id = p_user_id AND v.source_id = mine
    ORDER BY v.version DESC LIMIT 1;
    IF mine IS NULL OR sha IS NULL OR (last.sha256 = sha AND last.recorded_to = 'infinity') THEN
      RETURN QUERY SELECT mine, last.version, false;
      RETURN;
    END IF;
    PERFORM FROM sources AS s WHERE tries = 1 AND s.user_id = p_user_id AND s.source_id = mine FOR NO KEY UPDATE;
  END LOOP;
  today := greatest(clock_timestamp(), last.recorded_from + interval '1 microsecond');
  UPDATE document_versions AS v SET recorded_to = today
  WHERE v.user_id = p_user_id AND v.source_id = mine AND v.version = last.version AND v.recorded_to = 'infinity';
  INSERT INTO document_versions (
    user_id, source_id, version, sha256, bytes, format, title, path, characters, by_agent, chunked, recorded_from
  )
  VALUES (
    p_user_id, mine, coalesce(last.version, 0) + 1, sha, (p_document ->> 'bytes')::bigint, p_document ->> 'format',
    p_document ->> 'title', p_document ->> 'path', 0, (p_document ->> 'wrote')::boolean, false, today
  );
  RETURN QUERY SELECT mine, coalesce(last.version, 0) + 1, true;
END
$$;
COMMENT ON FUNCTION memsvc.touch_document(uuid, jsonb) IS
  'The document that a call touched, and its version after the call, made if its digest is new.';
