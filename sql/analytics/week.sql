-- The last four weeks by weekday: when a user talks to assistants, and when things are learnt.
SELECT
  to_char(day, 'ID Dy') AS weekday, count(*) AS days, sum(messages) AS messages, sum(words) AS words,
  sum(facts_learnt) AS learnt
FROM memsvc.daily_activity
WHERE day > current_date - 28
GROUP BY 1
ORDER BY 1
