-- The relay: takes messages out of the queue and passes them to one of Dramatiq's own brokers.

-- Takes due messages out of one queue, in the caller's transaction. The first message of each user comes before the
-- second of any user.
CREATE OR REPLACE FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer)
RETURNS TABLE (message_id uuid, user_id uuid, message text)
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  WITH taken AS (
    DELETE FROM memsvc.dramatiq_queue AS q
    WHERE q.message_id = ANY (ARRAY(SELECT d.message_id FROM memsvc.due_messages(p_queue, p_after, p_limit) AS d))
    RETURNING q.message_id, q.user_id, q.message, q.available_at, q.position
  )
  SELECT t.message_id, t.user_id, t.message::text FROM taken AS t
  ORDER BY row_number() OVER (PARTITION BY t.user_id ORDER BY t.available_at, t.position), t.user_id;
END;
COMMENT ON FUNCTION memsvc.relay_messages(text, uuid, integer) IS
  'Takes due messages out of a queue for another broker; users take turns.';
