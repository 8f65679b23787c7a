-- People who were not mentioned for 90 days, those with most facts first.
SELECT name, facts, messages, last_seen::date AS last_seen, main_facts[1] AS strongest
FROM memsvc.people
WHERE last_seen < now() - interval '90 days'
ORDER BY facts DESC, last_seen, name
LIMIT 50
