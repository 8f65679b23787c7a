-- Facts that somebody should check: those that contradict each other, then those of low confidence from one message.
SELECT
  CASE WHEN contested THEN 'contested' ELSE 'unsure' END AS why, fact, since::date AS since, confidence, messages,
  asserted_by
FROM memsvc.facts_current
WHERE contested OR (confidence < 0.7 AND messages <= 1)
ORDER BY contested DESC, confidence, fact
LIMIT 100
