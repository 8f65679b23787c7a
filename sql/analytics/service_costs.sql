-- For memsvc_analyst: tokens and costs of language models in the last 30 days.
SELECT
  model, task, sum(calls) AS calls, sum(calls) - sum(answered) AS unanswered, sum(tokens_in) AS tokens_in,
  sum(tokens_out) AS tokens_out, sum(cost) AS cost
FROM memsvc.all_users_model_calls(30)
GROUP BY model, task
ORDER BY cost DESC NULLS LAST, model, task
