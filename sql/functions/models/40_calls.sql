-- Calls of the language model, summed over all users, without any user's id.

-- Tokens of all users since a moment, for the check of the daily budget. One range of an index that holds them.
CREATE OR REPLACE FUNCTION memsvc.tokens_spent(p_since timestamptz) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
RETURN (
  SELECT coalesce(sum(c.tokens_in::bigint + c.tokens_out), 0)::bigint FROM memsvc.model_calls AS c WHERE c.at >= p_since
);
COMMENT ON FUNCTION memsvc.tokens_spent(timestamptz) IS
  'Tokens that the language model read and wrote since a moment, over all users.';

-- The costs of each day (UTC), by task and model, for operators; newest day first.
CREATE OR REPLACE FUNCTION memsvc.model_spending(p_since timestamptz)
RETURNS TABLE (
  day date, task text, model text, calls bigint, answered bigint, tokens_in bigint, tokens_out bigint,
  ms bigint, cost numeric
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT (c.at AT TIME ZONE 'UTC')::date, c.task, c.model, count(*), count(*) FILTER (WHERE c.outcome = 'answered'),
    sum(c.tokens_in), sum(c.tokens_out), sum(c.ms)::bigint, sum(c.cost)
  FROM memsvc.model_calls AS c
  WHERE c.at >= p_since
  GROUP BY 1, 2, 3
  ORDER BY 1 DESC, 2, 3;
END;
COMMENT ON FUNCTION memsvc.model_spending(timestamptz) IS
  'Calls of the language model since a moment by day, task and model, over all users: counts, tokens, time, cost.';
