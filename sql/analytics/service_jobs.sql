-- For memsvc_analyst: the work of all users in the last 30 days, the kinds that take longest first.
SELECT
  kind, sum(jobs) AS jobs, sum(failed) AS failed, round(max(took_p95_s)::numeric, 1) AS slowest_p95_s,
  round(max(waited_p50_s)::numeric, 1) AS longest_wait_p50_s
FROM memsvc.all_users_jobs(30)
GROUP BY kind
ORDER BY slowest_p95_s DESC NULLS LAST, kind
