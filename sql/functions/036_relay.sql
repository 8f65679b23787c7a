-- The relay: takes messages out of the queue, for a broker of Dramatiq's own that carries them on.

-- Takes due messages of one queue out of it, in the caller's transaction: users take turns as in claim_messages, from
-- the user behind p_after on, and one message of each comes before the second of any. Others' are stepped over.
CREATE OR REPLACE FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer)
RETURNS TABLE (message_id uuid, user_id uuid, message text)
LANGUAGE sql
SET search_path = memsvc, pg_temp
BEGIN ATOMIC
  WITH RECURSIVE turn AS (
    (
      SELECT q.user_id, 1 AS place FROM memsvc.dramatiq_queue AS q
      WHERE q.queue_name = p_queue AND q.state = 'queued' AND q.available_at <= now()
        AND q.user_id > p_after
      ORDER BY q.user_id
      LIMIT 1
    )
    UNION ALL
    SELECT n.user_id, t.place + 1
    FROM turn AS t
    CROSS JOIN LATERAL (
      SELECT q.user_id FROM memsvc.dramatiq_queue AS q
      WHERE q.queue_name = p_queue AND q.state = 'queued' AND q.available_at <= now()
        AND q.user_id > t.user_id
      ORDER BY q.user_id
      LIMIT 1
    ) AS n
    WHERE t.place < p_limit
  ),
  chosen AS MATERIALIZED (
    SELECT c.message_id
    FROM turn AS t
    CROSS JOIN LATERAL (
      SELECT q.message_id FROM memsvc.dramatiq_queue AS q
      WHERE q.queue_name = p_queue AND q.state = 'queued' AND q.available_at <= now()
        AND q.user_id = t.user_id
      ORDER BY q.available_at, q.position
      LIMIT ceil(p_limit::numeric / (SELECT count(*) FROM turn))::integer
      FOR UPDATE SKIP LOCKED
    ) AS c
    LIMIT p_limit
  ),
  taken AS (
    DELETE FROM memsvc.dramatiq_queue AS q USING chosen AS c WHERE q.message_id = c.message_id
    RETURNING q.message_id, q.user_id, q.message, q.available_at, q.position
  )
  SELECT t.message_id, t.user_id, t.message::text FROM taken AS t
  ORDER BY row_number() OVER (PARTITION BY t.user_id ORDER BY t.available_at, t.position), t.user_id;
END;
COMMENT ON FUNCTION memsvc.relay_messages(text, uuid, integer) IS
  'Takes due messages out of a queue, to be carried on by another broker; users take turns.';
