-- The write path of documents.

-- Where new chunks go: between the chunks that stay, evenly, so that the next version finds room, too. Each is 1,024
-- places after the one before where nothing follows.
CREATE OR REPLACE FUNCTION memsvc.chunk_places(p_user_id uuid, p_places integer[], p_kept jsonb)
RETURNS TABLE (place integer, ordinal bigint, low bigint, high bigint, places bigint)
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH kept AS MATERIALIZED (
    SELECT k.place, p.ordinal
    FROM jsonb_to_recordset(p_kept) AS k (place integer, passage_id uuid)
    INNER JOIN memsvc.passages AS p ON p.user_id = p_user_id AND p.passage_id = k.passage_id
  ),
  item AS (
    SELECT a.place, k.ordinal, count(k.place) OVER (ORDER BY a.place) AS run
    FROM unnest(p_places) AS a (place) LEFT JOIN kept AS k ON k.place = a.place
  ),
  bound AS (
    SELECT i.run, coalesce(max(i.ordinal), 0)::bigint AS low,
      (lead(max(i.ordinal)) OVER (ORDER BY i.run))::bigint AS high
    FROM item AS i
    GROUP BY i.run
  )
  SELECT n.place, CASE WHEN n.high IS NULL THEN n.low + 1024 * n.nth ELSE n.low + (n.high - n.low) * n.nth / (n.among + 1)
    END, n.low, n.high, n.among
  FROM (
    SELECT i.place, b.low, b.high, row_number() OVER (PARTITION BY i.run ORDER BY i.place) AS nth,
      count(*) OVER (PARTITION BY i.run) AS among
    FROM item AS i INNER JOIN bound AS b ON b.run = i.run
    WHERE i.ordinal IS NULL
  ) AS n;
END;
COMMENT ON FUNCTION memsvc.chunk_places(uuid, integer[], jsonb) IS
  'Where new chunks of a document go between those that stay.';

-- The document under an identifier, locked; else the one under the identifier that its file had before (moved_from), if
-- it has the same content, which gets the new identifier. No row: there is none.
CREATE OR REPLACE FUNCTION memsvc.lock_document(
  p_user_id uuid, p_identifier text, p_moved_from text, p_sha256 text
) RETURNS TABLE (source_id uuid, moved boolean)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  found_id uuid;
BEGIN
  SELECT s.source_id INTO found_id FROM sources AS s
  WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = p_identifier
  FOR NO KEY UPDATE;
  IF FOUND THEN
    RETURN QUERY SELECT found_id, false;
    RETURN;
  END IF;
  SELECT s.source_id INTO found_id FROM sources AS s
  WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = p_moved_from
  FOR NO KEY UPDATE;
  IF FOUND AND p_sha256 = (
    SELECT v.sha256 FROM document_versions AS v
    WHERE v.user_id = p_user_id AND v.source_id = found_id
    ORDER BY v.version DESC LIMIT 1
  ) THEN
    PERFORM memsvc.move_document(p_user_id, found_id, p_identifier);
    RETURN QUERY SELECT found_id, true;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.lock_document(uuid, text, text, text) IS
  'The document under an identifier, or moved to it, locked.';

-- Adds the chunks of a version that are not there yet, and counts their words. Returns how many.
CREATE OR REPLACE FUNCTION memsvc.add_chunks(
  p_user_id uuid, p_source_id uuid, p_document jsonb, p_chunks jsonb, p_kept jsonb, p_at timestamptz
) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  every CONSTANT integer[] := ARRAY(
    SELECT c.place FROM jsonb_to_recordset(p_chunks) AS c (place integer) ORDER BY c.place
  );
  speaker CONSTANT text := left(p_document ->> 'title', 200);
  narrow record;
  added uuid[];
BEGIN
  FOR narrow IN -- from the end, so that no place changes that is still to come
    SELECT DISTINCT n.high, n.places FROM memsvc.chunk_places(p_user_id, every, p_kept) AS n
    WHERE n.high - n.low <= n.places
    ORDER BY n.high DESC
  LOOP
    PERFORM memsvc.make_room(
      p_user_id, p_source_id, narrow.high::integer, (1024 * (narrow.places + 1))::integer
    );
  END LOOP;
  WITH stored AS (
    INSERT INTO passages (
      user_id, source_id, kind, session, ordinal, part, speaker, role, text, caption, said_at, said_offset, language,
      tsv, tsv_simple, length, length_simple, metadata, recorded_at
    )
    SELECT p_user_id, p_source_id, 'chunk', '', w.ordinal::integer, 0, speaker, 'other', w.text, w.caption, w.said_at,
      w.said_offset, w.language, w.tsv, w.tsv_simple, memsvc.word_count(w.tsv), memsvc.word_count(w.tsv_simple),
      w.metadata, p_at
    FROM (
      SELECT c.*, n.ordinal, d.said_at, d.said_offset, d.language,
        memsvc.to_words('stemmed', d.language, memsvc.searched_text(speaker, c.text, c.caption)) AS tsv,
        memsvc.to_words('simple', d.language, memsvc.searched_text(speaker, c.text, c.caption)) AS tsv_simple
      FROM jsonb_to_recordset(p_chunks) AS c (place integer, text text, caption text, metadata jsonb)
      INNER JOIN memsvc.chunk_places(p_user_id, every, p_kept) AS n ON n.place = c.place
      CROSS JOIN jsonb_to_record(p_document) AS d (said_at timestamptz, said_offset smallint, language text)
      ORDER BY c.place
    ) AS w
    RETURNING passage_id
  )
  SELECT coalesce(array_agg(s.passage_id), '{}') INTO added FROM stored AS s;
  IF added <> '{}' THEN
    PERFORM memsvc.count_words(p_user_id, added);
  END IF;
  RETURN cardinality(added);
END
$$;
COMMENT ON FUNCTION memsvc.add_chunks(uuid, uuid, jsonb, jsonb, jsonb, timestamptz) IS
  'Adds the chunks of a version that are not there yet; returns how many.';

-- Writes the next versions of documents, which the caller has locked, and closes those before them. A version that is
-- there is filled in: a call of an agent made it, by its digest alone.
--
-- p_versions: [{"source_id": "…", "version": n, "sha256": "…", "bytes": n, "format": "md", "title": "…", "path": "…",
--   "pages": null|n, "characters": n, "metadata": {…}, "by_agent": false, "chunked": true, "recorded_from": "…"}, …].
CREATE OR REPLACE FUNCTION memsvc.write_document_versions(p_user_id uuid, p_versions jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  UPDATE document_versions AS v SET recorded_to = n.recorded_from
  FROM (
    SELECT DISTINCT ON (d.source_id) d.source_id, d.version, d.recorded_from
    FROM jsonb_to_recordset(p_versions) AS d (source_id uuid, version integer, recorded_from timestamptz)
    ORDER BY d.source_id, d.version
  ) AS n
  WHERE v.user_id = p_user_id AND v.source_id = n.source_id AND v.recorded_to = 'infinity' AND v.version < n.version;
  INSERT INTO document_versions AS v (
    user_id, source_id, version, sha256, bytes, format, title, path, pages, characters, metadata, by_agent, chunked,
    recorded_from, recorded_to
  )
  SELECT p_user_id, d.source_id, d.version, d.sha256, d.bytes, d.format, d.title, d.path, d.pages, d.characters,
    d.metadata, d.by_agent, d.chunked, d.recorded_from,
    lead(d.recorded_from, 1, 'infinity') OVER (PARTITION BY d.source_id ORDER BY d.version)
  FROM jsonb_to_recordset(p_versions) AS d (
    source_id uuid, version integer, sha256 text, bytes bigint, format text, title text, path text, pages integer,
    characters bigint, metadata jsonb, by_agent boolean, chunked boolean, recorded_from timestamptz
  )
  ON CONFLICT (user_id, source_id, version) DO UPDATE
  SET chunked = true, bytes = excluded.bytes, format = excluded.format, title = excluded.title, path = excluded.path,
    pages = excluded.pages, characters = excluded.characters, metadata = excluded.metadata;
END
$$;
COMMENT ON FUNCTION memsvc.write_document_versions(uuid, jsonb) IS
  'Writes the next versions of documents, and closes those before them.';

-- Stores a document, in the caller's transaction: source, version, passages, statistics, job and event. Writers of one
-- document wait for the lock on its source row.
--
-- p_document: {"identifier": "…", "moved_from": null|"…", "path": "…", "title": "…", "format": "md", "sha256": "…",
--   "bytes": n, "pages": null|n, "metadata": {…}, "said_at": "…", "said_offset": 60, "language": "english"}.
-- p_chunks: [{"text": "…", "caption": null|"…", "metadata": {…}}, …] in reading order; null: only asks whether they are
--   needed, so that a file that is stored is not read again.
--
-- outcome: created; changed (a new version; what stays keeps its passages and vectors, what went is closed); existing
-- (the same content: nothing done); moved (the same content under another identifier); needed (p_chunks is null, and
-- the file is new or changed: nothing done); erased (erased earlier, by its identifier or its content); paused (the
-- user's memory is paused). version is the current one; added, kept, closed count chunks.
CREATE OR REPLACE FUNCTION memsvc.store_document(p_user_id uuid, p_document jsonb, p_chunks jsonb)
RETURNS TABLE (
  outcome text, source_id uuid, version integer, added integer, kept integer, closed integer, job_id uuid
)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  sha CONSTANT text := p_document ->> 'sha256';
  named CONSTANT text := p_document ->> 'identifier';
  mine uuid;
  was_moved boolean := false;
  last document_versions;
  filled boolean; -- an agent's call has made the version, by its digest alone
  today timestamptz;
  chunks jsonb; -- with their places, without those that were erased
  stays jsonb;
  went uuid[];
BEGIN
  IF (SELECT memsvc.is_paused(u.paused_at, u.paused_until) FROM users AS u WHERE u.user_id = p_user_id) THEN
    RETURN QUERY SELECT 'paused', NULL::uuid, NULL::integer, 0, 0, 0, NULL::uuid;
    RETURN;
  END IF;
  IF EXISTS (
    SELECT FROM tombstones AS t
    WHERE t.user_id = p_user_id AND t.digest = ANY (memsvc.document_digests(named, sha))
  ) AND NOT EXISTS ( -- another document may have the content of an erased one
    SELECT FROM sources AS s WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = named
  ) THEN
    RETURN QUERY SELECT 'erased', NULL::uuid, NULL::integer, 0, 0, 0, NULL::uuid;
    RETURN;
  END IF;
  LOOP
    SELECT l.source_id, l.moved OR was_moved INTO mine, was_moved
    FROM memsvc.lock_document(p_user_id, named, p_document ->> 'moved_from', sha) AS l;
    EXIT WHEN FOUND;
    was_moved := false;
    IF p_chunks IS NULL THEN
      RETURN QUERY SELECT 'needed', NULL::uuid, NULL::integer, 0, 0, 0, NULL::uuid;
      RETURN;
    END IF;
    INSERT INTO sources AS s (user_id, kind, identifier, title)
    VALUES (p_user_id, 'document', named, p_document ->> 'title')
    ON CONFLICT (user_id, kind, identifier) DO NOTHING;
  END LOOP;
  SELECT v.* INTO last FROM document_versions AS v
  WHERE v.user_id = p_user_id AND v.source_id = mine
  ORDER BY v.version DESC LIMIT 1;
  UPDATE document_versions AS v SET path = p_document ->> 'path'
  WHERE v.user_id = p_user_id AND v.source_id = mine AND v.version = last.version AND v.sha256 = sha
    AND v.path <> p_document ->> 'path';
  IF last.recorded_to = 'infinity' AND last.sha256 = sha AND last.chunked THEN
    RETURN QUERY SELECT CASE WHEN was_moved THEN 'moved' ELSE 'existing' END, mine, last.version, 0, 0, 0, NULL::uuid;
    RETURN;
  END IF;
  IF p_chunks IS NULL THEN
    RETURN QUERY SELECT 'needed', mine, last.version, 0, 0, 0, NULL::uuid;
    RETURN;
  END IF;

  IF memsvc.is_budgeted(p_user_id) THEN
    PERFORM memsvc.spend_budget(p_user_id, 0, coalesce((p_document ->> 'bytes')::bigint, 0));
  END IF;
  filled := coalesce(last.recorded_to = 'infinity' AND last.sha256 = sha, false);
  today := CASE
    WHEN filled THEN last.recorded_from -- so that its chunks stood when it was recorded
    ELSE greatest(clock_timestamp(), last.recorded_from + interval '1 microsecond')
  END;
  SELECT coalesce(jsonb_agg(c.value || jsonb_build_object('place', c.place)), '[]') INTO chunks
  FROM jsonb_array_elements(p_chunks) WITH ORDINALITY AS c (value, place)
  WHERE NOT EXISTS (
    SELECT FROM tombstones AS t
    WHERE t.user_id = p_user_id AND t.digest = memsvc.chunk_digest(mine, c.value ->> 'caption', c.value ->> 'text')
  );
  SELECT coalesce(jsonb_agg(jsonb_build_object(
    'place', k.place, 'passage_id', k.passage_id, 'metadata', k.metadata
  )), '[]') INTO stays
  FROM memsvc.kept_chunks(p_user_id, mine, left(p_document ->> 'title', 200), chunks) AS k;
  went := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = mine AND p.kind = 'chunk' AND p.recorded_to = 'infinity'
      AND p.passage_id NOT IN (SELECT k.passage_id FROM jsonb_to_recordset(stays) AS k (passage_id uuid))
  );
  IF went <> '{}' THEN
    PERFORM memsvc.close_chunks(p_user_id, mine, went, last.version - filled::integer, today);
  END IF;
  PERFORM memsvc.write_document_versions(p_user_id, jsonb_build_array(p_document || jsonb_build_object(
    'source_id', mine, 'version', coalesce(last.version, 0) + 1 - filled::integer, 'by_agent', false, 'chunked', true,
    'characters', (
      SELECT coalesce(sum(length(c.text)), 0) FROM jsonb_to_recordset(chunks) AS c (text text)
    ), 'recorded_from', today
  )));
  UPDATE sources AS s SET title = p_document ->> 'title', status = 'pending'
  WHERE s.user_id = p_user_id AND s.source_id = mine;
  PERFORM memsvc.place_chunks(p_user_id, mine, array_agg(k.passage_id), array_agg(k.metadata))
  FROM jsonb_to_recordset(stays) AS k (passage_id uuid, metadata jsonb);
  INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'passages.added', mine);
  RETURN QUERY SELECT
    CASE WHEN last.version IS NULL THEN 'created' ELSE 'changed' END, mine,
    coalesce(last.version, 0) + 1 - filled::integer,
    memsvc.add_chunks(p_user_id, mine, p_document, chunks, stays, today), jsonb_array_length(stays), cardinality(went),
    memsvc.ask_job(p_user_id, 'process', mine);
END
$$;
COMMENT ON FUNCTION memsvc.store_document(uuid, jsonb, jsonb) IS
  'Stores a version of a document with statistics, job and event in the caller''s transaction.';

-- Marks documents as gone, because their files are: their last version and its chunks are closed, and stay for reads of
-- the past. Nothing while the memory is paused. Returns how many.
CREATE OR REPLACE FUNCTION memsvc.documents_gone(p_user_id uuid, p_identifiers text[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  lost record;
  marked integer := 0;
BEGIN
  IF (SELECT memsvc.is_paused(u.paused_at, u.paused_until) FROM users AS u WHERE u.user_id = p_user_id) THEN
    RETURN 0;
  END IF;
  FOR lost IN
    SELECT s.source_id FROM sources AS s
    WHERE s.user_id = p_user_id AND s.kind = 'document' AND s.identifier = ANY (p_identifiers)
    ORDER BY s.source_id
    FOR NO KEY UPDATE
  LOOP
    PERFORM memsvc.close_chunks(
      p_user_id, lost.source_id, ARRAY(
        SELECT p.passage_id FROM passages AS p
        WHERE p.user_id = p_user_id AND p.source_id = lost.source_id AND p.kind = 'chunk'
          AND p.recorded_to = 'infinity'
      ), v.version, greatest(clock_timestamp(), v.recorded_from + interval '1 microsecond')
    )
    FROM document_versions AS v
    WHERE v.user_id = p_user_id AND v.source_id = lost.source_id AND v.recorded_to = 'infinity';
    IF FOUND THEN
      marked := marked + 1;
    END IF;
    UPDATE document_versions AS v
    SET recorded_to = greatest(clock_timestamp(), v.recorded_from + interval '1 microsecond')
    WHERE v.user_id = p_user_id AND v.source_id = lost.source_id AND v.recorded_to = 'infinity';
  END LOOP;
  RETURN marked;
END
$$;
COMMENT ON FUNCTION memsvc.documents_gone(uuid, text[]) IS 'Marks documents as gone; returns how many.';
