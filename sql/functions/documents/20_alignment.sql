-- Which chunks of the version before stay in the new one.

-- The longest run of numbers that grow, by their places from 1. Patience sorting, O(n log n): for each length the
-- smallest number that ends a run of it, found by halving, and before each number the one that its run goes on from.
CREATE OR REPLACE FUNCTION memsvc.growing_run(p_numbers integer[]) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
DECLARE
  ends integer[] := '{}'; -- places
  before integer[] := '{}';
  run integer[];
  longest integer := 0;
  low integer;
  high integer;
  half integer;
  place integer;
BEGIN
  FOR place IN 1 .. cardinality(p_numbers) LOOP
    low := 1;
    high := longest + 1;
    WHILE low < high LOOP
      half := (low + high) / 2;
      IF p_numbers[ends[half]] < p_numbers[place] THEN
        low := half + 1;
      ELSE
        high := half;
      END IF;
    END LOOP;
    before[place] := CASE WHEN low > 1 THEN ends[low - 1] ELSE 0 END;
    ends[low] := place;
    longest := greatest(longest, low);
  END LOOP;
  IF longest = 0 THEN
    RETURN '{}';
  END IF;
  run := array_fill(0, ARRAY[longest]);
  place := ends[longest];
  FOR half IN REVERSE longest .. 1 LOOP
    run[half] := place;
    place := before[place];
  END LOOP;
  RETURN run;
END
$$;
COMMENT ON FUNCTION memsvc.growing_run(integer[]) IS 'Places of the longest run of numbers that grow.';

-- The digest of a chunk's words, for tombstones: what was erased of a document does not come back with a newer version
-- of it.
CREATE OR REPLACE FUNCTION memsvc.chunk_digest(p_source_id uuid, p_caption text, p_text text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN memsvc.tombstone_digest(jsonb_build_array('chunk', p_source_id, p_caption, p_text));
COMMENT ON FUNCTION memsvc.chunk_digest(uuid, text, text) IS 'Digest of an erased chunk of a document, for tombstones.';

-- Digests of a document, for tombstones: by its identifier, and by the content of its file, under whatever name.
CREATE OR REPLACE FUNCTION memsvc.document_digests(p_identifier text, p_sha256 text) RETURNS bytea[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN ARRAY[
  memsvc.tombstone_digest(jsonb_build_array('document', p_identifier)),
  memsvc.tombstone_digest(jsonb_build_array('content', p_sha256))
];
COMMENT ON FUNCTION memsvc.document_digests(text, text) IS 'Digests of an erased document, for tombstones.';

-- Chunks of the new version (by their places) that the current one has in the same words (title, headings, text), in
-- the same order: of equal ones the first stands for the first.
CREATE OR REPLACE FUNCTION memsvc.kept_chunks(p_user_id uuid, p_source_id uuid, p_title text, p_chunks jsonb)
RETURNS TABLE (place integer, passage_id uuid, metadata jsonb)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  places integer[];
  ordinals integer[];
  passages_met uuid[];
  run integer[];
BEGIN
  WITH old AS MATERIALIZED (
    SELECT p.passage_id, p.ordinal, d.digest, row_number() OVER (PARTITION BY d.digest ORDER BY p.ordinal) AS nth
    FROM passages AS p
    CROSS JOIN LATERAL (
      SELECT sha256(convert_to(jsonb_build_array(p.speaker, p.caption, p.text)::text, 'UTF8')) AS digest
    ) AS d
    WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'chunk' AND p.recorded_to = 'infinity'
  ),
  new AS MATERIALIZED (
    SELECT c.place, d.digest, row_number() OVER (PARTITION BY d.digest ORDER BY c.place) AS nth
    FROM jsonb_to_recordset(p_chunks) AS c (place integer, text text, caption text)
    CROSS JOIN LATERAL (
      SELECT sha256(convert_to(jsonb_build_array(p_title, c.caption, c.text)::text, 'UTF8')) AS digest
    ) AS d
  )
  SELECT array_agg(n.place ORDER BY n.place), array_agg(o.ordinal ORDER BY n.place),
    array_agg(o.passage_id ORDER BY n.place)
  INTO places, ordinals, passages_met
  FROM new AS n INNER JOIN old AS o ON o.digest = n.digest AND o.nth = n.nth;
  run := memsvc.growing_run(coalesce(ordinals, '{}'));
  RETURN QUERY
  SELECT places[r.at], passages_met[r.at], c.metadata
  FROM unnest(run) AS r (at)
  INNER JOIN jsonb_to_recordset(p_chunks) AS c (place integer, metadata jsonb) ON c.place = places[r.at];
END
$$;
COMMENT ON FUNCTION memsvc.kept_chunks(uuid, uuid, text, jsonb) IS
  'Chunks of a new version that the current one has in the same words and order.';
