-- Archival blocks as passages, so that recall finds them by words and by vectors like everything else. A block is a
-- source of its own, under its own id; each archival version with text is a message of that source, with the version as
-- its ordinal and the block's name as its speaker. Passages of the current version have the kind 'block', those of
-- earlier ones 'former', which are found only by reads of the past (known_at).

-- Archival versions that have no passages yet, in no order: of one block, or of all (null). They are versions from
-- before this existed, of an import, or what an erasure left. The function has no search_path of its own, so that it is
-- inlined into the calling statement, whose order and limit bound the rows. The text, which may be long, is read only
-- for versions without passages.
CREATE OR REPLACE FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid)
RETURNS TABLE (block_id uuid, version integer, text text)
LANGUAGE sql STABLE
-- callers: app
BEGIN ATOMIC
  SELECT v.block_id, v.version, v.text
  FROM memsvc.profile_versions AS v
  WHERE v.user_id = p_user_id AND v.kind = 'archival' AND (p_block_id IS NULL OR v.block_id = p_block_id)
    AND CASE WHEN ( -- no EXISTS, which the planner might answer by reading all of the user's passages
      SELECT min(p.part) FROM memsvc.passages AS p
      WHERE p.user_id = p_user_id AND p.source_id = v.block_id AND p.session = '' AND p.ordinal = v.version
    ) IS NULL THEN btrim(v.text, E' \n\t') <> '' ELSE false END;
END;
COMMENT ON FUNCTION memsvc.unfiled_versions(uuid, uuid) IS
  'Archival versions of blocks that have no passages yet.';

-- Asks for the job that files versions without passages. It is not in the queue of models, because a worker without a
-- model takes many messages of that queue at a time, since it has nothing to do for them.
CREATE OR REPLACE FUNCTION memsvc.file_later(p_user_id uuid) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT memsvc.ask_job(p_user_id, 'tidy', p_user_id)
  WHERE EXISTS (SELECT FROM memsvc.unfiled_versions(p_user_id, NULL));
END;
COMMENT ON FUNCTION memsvc.file_later(uuid) IS 'Asks for the job that files archival blocks.';

-- Brings the passages of a block in line with its text, in the caller's transaction, which holds the profile's lock.
-- Passages of earlier text become 'former'; those of p_parts, {"version": ["part", …], …}, that are missing are stored,
-- if the parts are the version's text. Repeating it changes nothing. It reads only the newest filed version and the
-- given ones, because a block may have thousands.
CREATE OR REPLACE FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: kept
AS $$
DECLARE
  closed CONSTANT uuid[] := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = p_block_id AND p.session = '' AND p.kind = 'block'
      AND p.ordinal = ( -- earlier ones are 'former' since it was filed
        SELECT max(m.ordinal) FROM passages AS m
        WHERE m.user_id = p_user_id AND m.source_id = p_block_id AND m.session = ''
      )
      AND NOT EXISTS (
        SELECT FROM profile_versions AS v
        WHERE v.user_id = p_user_id AND v.block_id = p_block_id AND v.version = p.ordinal AND v.kind = 'archival'
          AND v.recorded_to = 'infinity'
      )
  );
  given CONSTANT integer[] := ARRAY(SELECT k.version::integer FROM jsonb_object_keys(p_parts) AS k (version));
  filed uuid[];
BEGIN
  IF closed <> '{}' THEN
    PERFORM memsvc.retire_passages(p_user_id, closed);
    PERFORM memsvc.count_words(p_user_id, closed);
  END IF;
  IF given = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO sources (user_id, source_id, kind, identifier, title)
  SELECT p_user_id, p_block_id, 'block', p_block_id::text, v.name
  FROM profile_versions AS v
  WHERE v.user_id = p_user_id AND v.block_id = p_block_id
  ORDER BY v.version DESC
  LIMIT 1
  ON CONFLICT DO NOTHING;
  WITH stored AS (
    INSERT INTO passages (
      user_id, source_id, kind, ordinal, part, speaker, role, text, said_at, said_offset, language, tsv, tsv_simple,
      length, length_simple, recorded_at
    )
    SELECT p_user_id, p_block_id, w.kind, w.version, w.part, w.name, 'other', w.text, w.recorded_from,
      w.said_offset, w.language, w.tsv, w.tsv_simple, memsvc.word_count(w.tsv), memsvc.word_count(w.tsv_simple),
      w.recorded_from
    FROM (
      SELECT CASE WHEN v.recorded_to = 'infinity' THEN 'block' ELSE 'former' END AS kind, v.version, v.name,
        v.recorded_from, u.language, p.text, (p.position - 1)::smallint AS part,
        (
          extract(epoch FROM v.recorded_from AT TIME ZONE u.time_zone - v.recorded_from AT TIME ZONE 'UTC') / 60
        )::smallint AS said_offset,
        memsvc.to_words('stemmed', u.language, memsvc.searched_text(v.name, p.text, NULL)) AS tsv,
        memsvc.to_words('simple', u.language, memsvc.searched_text(v.name, p.text, NULL)) AS tsv_simple
      FROM profile_versions AS v
      INNER JOIN users AS u ON u.user_id = p_user_id
      CROSS JOIN LATERAL jsonb_array_elements_text(p_parts -> v.version::text) WITH ORDINALITY AS p (text, position)
      WHERE v.user_id = p_user_id AND v.block_id = p_block_id AND v.version = ANY (given) AND v.kind = 'archival'
        AND v.text = (
          SELECT string_agg(j.text, '' ORDER BY j.position)
          FROM jsonb_array_elements_text(p_parts -> v.version::text) WITH ORDINALITY AS j (text, position)
        )
        AND ( -- no EXISTS, which the planner might answer by reading all of the block
          SELECT min(k.part) FROM passages AS k
          WHERE k.user_id = p_user_id AND k.source_id = p_block_id AND k.session = '' AND k.ordinal = v.version
        ) IS NULL
    ) AS w
    RETURNING passage_id
  )
  SELECT coalesce(array_agg(s.passage_id), '{}') INTO filed FROM stored AS s;
  PERFORM memsvc.count_words(p_user_id, filed);
  IF filed <> '{}' THEN
    PERFORM memsvc.ask_job(p_user_id, 'process', p_block_id);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.file_block(uuid, uuid, jsonb) IS
  'Brings the passages of an archival block in line with its text.';
