-- Erasing as the application calls it: the deletion (erase/70_rows.sql), with jobs, events and verification.

-- Takes an erased card out of sleep's mark of compared cards, which goes back to the begin of that card's moment: at worst
-- the cards of that moment are compared again.
CREATE OR REPLACE FUNCTION memsvc.rewind_cards_compared(p_user_id uuid, p_ids uuid[]) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  UPDATE memsvc.cards_compared AS c SET passage_id = '00000000-0000-0000-0000-000000000000'
  WHERE c.user_id = p_user_id AND c.passage_id = ANY (p_ids);
END;
COMMENT ON FUNCTION memsvc.rewind_cards_compared(uuid, uuid[]) IS 'Takes an erased card out of the mark of compared cards.';

-- Begins an erasure, in the caller's transaction; the receipt, or no row if the subject does not exist. Jobs that wait
-- for erased subjects are cancelled; further batches are done by a job.
CREATE OR REPLACE FUNCTION memsvc.erase(
  p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer
) RETURNS SETOF memsvc.erasures
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  receipt erasures;
  built jsonb;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || p_user_id, 0));
  built := memsvc.versions_built(p_user_id, p_kind, p_subject_id, p_limit);
  SELECT b.* INTO receipt FROM memsvc.begin_erasure(p_user_id, p_kind, p_subject_id, p_requested_by, p_limit) AS b;
  IF receipt.erasure_id IS NULL THEN
    RETURN;
  END IF;
  PERFORM memsvc.restore_origins(p_user_id, p_requested_by, built);
  UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE j.user_id = p_user_id AND j.state = 'pending'
    AND ((p_kind IN ('source', 'block') AND j.subject_id = p_subject_id) OR j.subject_id = ANY (receipt.ids));
  PERFORM memsvc.rewind_cards_compared(p_user_id, receipt.ids);
  PERFORM memsvc.file_later(p_user_id); -- the rest of blocks that lost lines
  IF receipt.state = 'pending' THEN
    PERFORM memsvc.ask_job(p_user_id, 'erase', receipt.erasure_id);
  ELSE
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'memory.erased', receipt.erasure_id);
  END IF;
  RETURN NEXT receipt;
END
$$;
COMMENT ON FUNCTION memsvc.erase(uuid, text, uuid, text, integer) IS 'Begins an erasure; the receipt.';

-- Deletes the next batch of an erasure. A call outside the erasure's job cancels the job with the last batch.
CREATE OR REPLACE FUNCTION memsvc.continue_erasure(
  p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean
) RETURNS SETOF memsvc.erasures
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  before CONSTANT text := (
    SELECT e.state FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id
  );
  receipt erasures;
  built jsonb;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || p_user_id, 0));
  SELECT memsvc.versions_built(p_user_id, e.kind, e.subject_id, p_limit) INTO built
  FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id AND e.state = 'pending';
  SELECT b.* INTO receipt FROM memsvc.erase_batch(p_user_id, p_erasure_id, p_limit) AS b;
  IF receipt.erasure_id IS NULL THEN
    RETURN;
  END IF;
  PERFORM memsvc.restore_origins(p_user_id, receipt.requested_by, built);
  UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE j.user_id = p_user_id AND j.state = 'pending' AND j.subject_id = ANY (receipt.ids);
  PERFORM memsvc.rewind_cards_compared(p_user_id, receipt.ids);
  PERFORM memsvc.file_later(p_user_id);
  IF receipt.state = 'done' AND before = 'pending' THEN
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'memory.erased', p_erasure_id);
  END IF;
  IF receipt.state = 'done' AND NOT p_in_job THEN
    UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
    WHERE j.user_id = p_user_id AND j.kind = 'erase' AND j.subject_id = p_erasure_id AND j.state = 'pending';
  END IF;
  RETURN NEXT receipt;
END
$$;
COMMENT ON FUNCTION memsvc.continue_erasure(uuid, uuid, integer, boolean) IS
  'Deletes the next batch of an erasure; the receipt.';

-- Remaining references to what was erased: rows by table and column. It checks every column of ids in every table that
-- has owners and that the caller may read, so that future tables are checked too. Two kinds of ids stay on purpose,
-- because they hold no text and lead nowhere: the version that another one derives from, and the subjects of past jobs,
-- events and receipts. Terms that no passage has would be words that outlived their text.
CREATE OR REPLACE FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  gone CONSTANT uuid[] := (
    SELECT e.ids FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id
  );
  looked record;
  found_rows bigint;
  leftovers jsonb := '{}';
BEGIN
  FOR looked IN
    SELECT c.relname, a.attname, a.atttypid = 'uuid[]'::regtype AS several
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND a.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype)
      AND a.attname NOT IN ('user_id', 'derived_from', 'subject_id') AND c.relname <> 'erasures'
      AND EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = c.oid AND o.attname = 'user_id')
      AND has_column_privilege(c.oid, a.attnum, 'SELECT')
    ORDER BY c.relname, a.attnum
  LOOP
    EXECUTE format(
      'SELECT count(*) FROM memsvc.%I AS t WHERE t.user_id = $1 AND %s', looked.relname,
      -- && would compare all pairs; = ANY uses a hash.
      format(CASE WHEN looked.several THEN 'EXISTS (SELECT FROM unnest(t.%I) AS i (id) WHERE i.id = ANY ($2))'
        ELSE 't.%I = ANY ($2)' END, looked.attname)
    ) INTO found_rows USING p_user_id, gone;
    IF found_rows > 0 THEN
      leftovers := leftovers || jsonb_build_object(looked.relname || '.' || looked.attname, found_rows);
    END IF;
  END LOOP;
  SELECT count(*) INTO found_rows FROM jobs AS j
  WHERE j.user_id = p_user_id AND j.state = 'pending' AND j.subject_id = ANY (gone);
  IF found_rows > 0 THEN
    leftovers := leftovers || jsonb_build_object('jobs.subject_id', found_rows);
  END IF;
  SELECT count(*) INTO found_rows FROM terms AS t WHERE t.user_id = p_user_id AND t.passages <= 0;
  IF found_rows > 0 THEN
    leftovers := leftovers || jsonb_build_object('terms.passages', found_rows);
  END IF;
  RETURN leftovers;
END
$$;
COMMENT ON FUNCTION memsvc.erasure_leftovers(uuid, uuid) IS 'Remaining references to what was erased, by column.';

-- Searches leftovers of a finished erasure, in a later transaction, and records the result. Returns the receipt.
CREATE OR REPLACE FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) RETURNS SETOF memsvc.erasures
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  UPDATE erasures AS e
  SET verified_at = clock_timestamp(), leftovers = memsvc.erasure_leftovers(p_user_id, p_erasure_id)
  WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id AND e.state = 'done';
  RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id;
END
$$;
COMMENT ON FUNCTION memsvc.verify_erasure(uuid, uuid) IS 'Searches leftovers of an erasure; the receipt.';
