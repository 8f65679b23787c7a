-- Statements of memsvc.queue.dead: messages that no worker could read. They return ids, actor, queue and error, but no
-- other content of a message.

-- name: list_dead
-- The newest first.
SELECT
  q.message_id, q.queue_name AS queue, left(q.message ->> 'actor_name', 100) AS actor, q.mtime AS rejected_at,
  q.message ->> 'error' AS error
FROM memsvc.dramatiq_queue AS q
WHERE q.state = 'rejected'
ORDER BY q.mtime DESC
LIMIT :limit;

-- name: retry_dead
-- Returns one message, or all, to the queue as it was: without the error, and unwrapped if it was not an object.
UPDATE memsvc.dramatiq_queue AS q
SET state = 'queued', message = coalesce(q.message -> 'unread', q.message - 'error'), deliveries = 0,
  available_at = clock_timestamp(), mtime = clock_timestamp()
WHERE q.state = 'rejected' AND (CAST(:message_id AS uuid) IS NULL OR q.message_id = :message_id)
RETURNING q.message_id;

-- name: drop_dead
DELETE FROM memsvc.dramatiq_queue AS q
WHERE q.state = 'rejected' AND q.message_id = :message_id
RETURNING q.message_id;
