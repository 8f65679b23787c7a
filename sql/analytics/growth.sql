-- How a user's knowledge grew, month by month: facts learnt, closed, and believed at the month's end.
WITH change AS (
  SELECT learnt_at AS at, 1 AS facts FROM memsvc.facts_history
  UNION ALL
  SELECT believed_until, -1 FROM memsvc.facts_history WHERE believed_until IS NOT NULL
)
SELECT
  date_trunc('month', at)::date AS month,
  coalesce(sum(facts) FILTER (WHERE facts > 0), 0) AS learnt,
  coalesce(-sum(facts) FILTER (WHERE facts < 0), 0) AS closed,
  sum(sum(facts)) OVER (ORDER BY date_trunc('month', at)) AS believed
FROM change
GROUP BY date_trunc('month', at)
ORDER BY month
