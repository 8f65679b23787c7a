-- owner: memsvc_recall

-- The same for memories. These functions count rows that only memsvc_recall can read.

CREATE OR REPLACE FUNCTION memsvc.all_users_messages(p_days integer)
RETURNS TABLE (day date, users bigint, messages bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: analyst
BEGIN ATOMIC
  SELECT (p.recorded_at AT TIME ZONE 'UTC')::date, count(DISTINCT p.user_id), count(*)
  FROM memsvc.passages AS p
  WHERE p.kind = 'message' AND p.part = 0
    AND p.recorded_at >= memsvc.day_before(p_days) AND p.recorded_at < memsvc.day_before(0)
  GROUP BY 1
  HAVING count(DISTINCT p.user_id) >= memsvc.least_group();
END;
COMMENT ON FUNCTION memsvc.all_users_messages(integer) IS
  'Messages that were stored, by day, of groups of users.';

-- How large users are, by powers of ten. Passages that are not folded into corpora yet are not counted. These numbers
-- are current, so users are counted in whole groups, and nobody can watch a single one come.
CREATE OR REPLACE FUNCTION memsvc.all_users_sizes()
RETURNS TABLE (kind text, at_least bigint, users bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: analyst
BEGIN ATOMIC
  SELECT c.kind, (10 ^ floor(log(c.passages)))::bigint,
    count(*) / memsvc.least_group() * memsvc.least_group()
  FROM (
    SELECT k.user_id, k.kind, max(k.passages)::numeric AS passages FROM memsvc.corpora AS k GROUP BY k.user_id, k.kind
  ) AS c
  WHERE c.passages > 0
  GROUP BY 1, 2
  HAVING count(*) >= memsvc.least_group();
END;
COMMENT ON FUNCTION memsvc.all_users_sizes() IS
  'How many users have how many passages of a kind, by powers of ten, in groups of users.';
