-- Feeds: which are due, and which one a program pushes to.

-- Ids of due feeds of all users, oldest first. now(), because a volatile function cannot use the index.
CREATE OR REPLACE FUNCTION memsvc.due_feeds(p_limit integer) RETURNS TABLE (user_id uuid, feed_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT f.user_id, f.feed_id FROM memsvc.feeds AS f
  WHERE f.state = 'active' AND f.rule IS NOT NULL AND (f.next_run IS NULL OR f.next_run <= now())
    AND NOT EXISTS (SELECT FROM memsvc.users AS u WHERE u.user_id = f.user_id AND u.erasing_since IS NOT NULL)
  ORDER BY f.next_run NULLS FIRST
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.due_feeds(integer) IS 'Ids of due feeds of all users, oldest first.';

-- Whose a pushed feed is. Its id came from outside and nothing is proved yet, so only what checks a signature is
-- returned. No row: there is no such feed, or its user is being erased.
CREATE OR REPLACE FUNCTION memsvc.pushed_feed(p_feed_id uuid) RETURNS TABLE (user_id uuid, salt bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT f.user_id, f.salt FROM memsvc.feeds AS f
  WHERE f.feed_id = p_feed_id AND f.kind = 'push'
    AND NOT EXISTS (SELECT FROM memsvc.users AS u WHERE u.user_id = f.user_id AND u.erasing_since IS NOT NULL)
  LIMIT 1;
END;
COMMENT ON FUNCTION memsvc.pushed_feed(uuid) IS 'Whose a pushed feed is, and the salt of its secret.';
