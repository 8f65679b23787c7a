-- Statements of memsvc.llm: calls of the language model, and their costs.

-- name: record_model_call
INSERT INTO memsvc.model_calls (
  user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, cost, tries
)
VALUES (
  :user_id, :task, :model, :prompt_version, :outcome, :tokens_in, :tokens_out, :ms, :cost, :tries
);

-- name: tokens_spent
-- Tokens since a moment: of this user, and of all users together if requested.
SELECT
  CASE WHEN CAST(:everybody AS boolean) THEN memsvc.tokens_spent(:since) ELSE 0 END AS everybody,
  coalesce(sum(CAST(c.tokens_in AS bigint) + c.tokens_out), 0) AS mine
FROM memsvc.model_calls AS c
WHERE c.user_id = :user_id AND c.at >= :since;

-- name: model_calls_of_user
-- Newest first; call_id is time-ordered and serves as the cursor.
SELECT
  c.call_id, c.at, c.task, c.model, c.prompt_version, c.outcome, c.tokens_in, c.tokens_out, c.ms, c.cost, c.tries
FROM memsvc.model_calls AS c
WHERE c.user_id = :user_id AND (CAST(:after AS uuid) IS NULL OR c.call_id < :after)
ORDER BY c.call_id DESC
LIMIT :limit;

-- name: model_spending_of_user
-- By day (UTC), task and model, newest day first; the same as memsvc.model_spending for one user.
SELECT
  CAST(c.at AT TIME ZONE 'UTC' AS date) AS day, c.task, c.model, count(*) AS calls,
  count(*) FILTER (WHERE c.outcome = 'answered') AS answered, sum(c.tokens_in) AS tokens_in,
  sum(c.tokens_out) AS tokens_out, CAST(sum(c.ms) AS bigint) AS ms, sum(c.cost) AS cost
FROM memsvc.model_calls AS c
WHERE c.user_id = :user_id AND c.at >= :since
GROUP BY day, c.task, c.model
ORDER BY day DESC, c.task ASC, c.model ASC;
