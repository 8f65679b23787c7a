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

-- The documents that calls of tools touched, and the version of each after its call. A new version only if the digest is
-- known and is not that of the version before; null: no digest was ever known. Documents are made and locked in the order
-- of their names, so that two agents never wait for each other.
--
-- p_calls: [{"number": 0, "document": null|{"identifier": "…", "local": null|"…", "path": "…", "title": "…", "format":
--   "py", "sha256": null|"…", "bytes": n, "wrote": false}}, …].
CREATE OR REPLACE FUNCTION memsvc.touch_documents(p_user_id uuid, p_calls jsonb)
RETURNS TABLE (number integer, document_id uuid, version integer, fresh boolean)
LANGUAGE plpgsql ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  touched jsonb; -- [{"number": 0, "id": "…", "sha256": null|"…"}, …]
  plan jsonb; -- the same with the version after the call, and whether the call made it
BEGIN
  WITH call AS MATERIALIZED (
    SELECT c.number, coalesce(d.local, d.identifier) AS name, d.*
    FROM jsonb_to_recordset(p_calls) AS c (number integer, document jsonb)
    CROSS JOIN LATERAL jsonb_to_record(c.document) AS d (identifier text, local text, title text, sha256 text)
    WHERE c.document IS NOT NULL
  ),
  named AS MATERIALIZED (
    SELECT n.name, coalesce(
      (SELECT s.source_id FROM sources AS s WHERE s.user_id = p_user_id AND s.local = n.local),
      CASE WHEN n.local IS NULL THEN (
        SELECT s.source_id FROM sources AS s
        WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = n.identifier
      ) END,
      memsvc.document_named(p_user_id, n.identifier, n.local, n.title, n.sha256)
    ) AS document_id
    FROM (SELECT DISTINCT ON (c.name) c.* FROM call AS c ORDER BY c.name, c.sha256 IS NULL, c.number) AS n
  )
  SELECT jsonb_agg(jsonb_build_object('number', c.number, 'id', n.document_id, 'sha256', c.sha256)) INTO touched
  FROM call AS c
  INNER JOIN named AS n ON n.name = c.name
  WHERE n.document_id IS NOT NULL;
  IF touched IS NULL THEN
    RETURN;
  END IF;
  PERFORM FROM sources AS s
  WHERE s.user_id = p_user_id AND s.source_id = ANY (ARRAY(
    SELECT t.id FROM jsonb_to_recordset(touched) AS t (id uuid, sha256 text)
    WHERE t.sha256 IS NOT NULL AND NOT EXISTS (
      SELECT FROM document_versions AS v
      WHERE v.user_id = p_user_id AND v.source_id = t.id AND v.recorded_to = 'infinity' AND v.sha256 = t.sha256
    )
  ))
  ORDER BY s.source_id
  FOR NO KEY UPDATE;

  WITH last AS MATERIALIZED ( -- under the lock
    SELECT d.id, v.version, v.recorded_from, CASE v.recorded_to WHEN 'infinity' THEN v.sha256 END AS sha256
    FROM (SELECT DISTINCT t.id FROM jsonb_to_recordset(touched) AS t (id uuid)) AS d
    CROSS JOIN LATERAL (
      SELECT o.* FROM document_versions AS o
      WHERE o.user_id = p_user_id AND o.source_id = d.id
      ORDER BY o.version DESC
      LIMIT 1
    ) AS v
  ),
  told AS (
    SELECT t.*, l.version, l.recorded_from, t.sha256 IS NOT NULL AND t.sha256 IS DISTINCT FROM lag(
        t.sha256, 1, l.sha256
      ) OVER (PARTITION BY t.id, t.sha256 IS NULL ORDER BY t.number) AS fresh
    FROM jsonb_to_recordset(touched) AS t (number integer, id uuid, sha256 text)
    LEFT JOIN last AS l ON l.id = t.id
  )
  SELECT jsonb_agg(jsonb_build_object(
    'number', s.number, 'source_id', s.id, 'version', nullif(coalesce(s.version, 0) + s.nth, 0), 'fresh', s.fresh,
    'recorded_from', greatest(clock_timestamp(), s.recorded_from + interval '1 microsecond')
      + s.nth * interval '1 microsecond'
  )) INTO plan
  FROM (
    SELECT t.*, count(*) FILTER (WHERE t.fresh) OVER (PARTITION BY t.id ORDER BY t.number) AS nth FROM told AS t
  ) AS s;
  IF plan @> '[{"fresh": true}]' THEN
    PERFORM memsvc.write_document_versions(p_user_id, jsonb_agg(c.document || f.value || jsonb_build_object(
      'by_agent', c.document -> 'wrote', 'chunked', false, 'characters', 0, 'metadata', jsonb_build_object()
    )))
    FROM jsonb_array_elements(plan) AS f (value)
    INNER JOIN jsonb_to_recordset(p_calls) AS c (number integer, document jsonb)
      ON c.number = (f.value ->> 'number')::integer
    WHERE (f.value ->> 'fresh')::boolean;
  END IF;
  RETURN QUERY
  SELECT p.number, p.source_id, p.version, p.fresh
  FROM jsonb_to_recordset(plan) AS p (number integer, source_id uuid, version integer, fresh boolean);
END
$$;
COMMENT ON FUNCTION memsvc.touch_documents(uuid, jsonb) IS
  'The documents that calls touched, and their versions after the calls, made if their digests are new.';
