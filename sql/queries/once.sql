-- Statements of memsvc.db.once: requests that may be repeated.

-- name: answered_request
-- The answer to an earlier request with this key, and the request itself.
SELECT
  r.digest,
  CAST(r.answer AS text) AS answer
FROM memsvc.answered_requests AS r
WHERE r.user_id = :user_id AND r.request_key = :request_key
  AND r.answered_at > clock_timestamp() - interval '24 hours';

-- name: note_answer
-- Stores the answer to a request for a day, and deletes this user's expired ones. Counting the deleted rows makes
-- PostgreSQL delete them before it stores the new one, which may have the same key.
WITH old AS (
  DELETE FROM memsvc.answered_requests AS r
  WHERE r.user_id = :user_id AND r.answered_at <= clock_timestamp() - interval '24 hours'
  RETURNING 1
)
INSERT INTO memsvc.answered_requests (user_id, request_key, digest, answer)
SELECT
  :user_id,
  :request_key,
  :digest,
  CAST(:answer AS jsonb)
FROM (SELECT count(*) FROM old) AS forgotten;
