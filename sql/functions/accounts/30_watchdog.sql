-- owner: memsvc_watchdog

-- Ends sessions of people that exceed their time limits. The logins have time limits, but a session can turn such a
-- setting off (SET statement_timeout = 0), and an open transaction keeps dead rows from being vacuumed. Workers call
-- this every few seconds.
--
-- The limits of sql/prepare.sql are repeated here, because a login may change its own settings. p_late is added to
-- them, so that PostgreSQL's own error comes first. memsvc_watchdog is a member of these login roles, so it can end
-- their sessions, but not the service's or an administrator's. Other databases have their own workers.
CREATE OR REPLACE FUNCTION memsvc.end_long_sessions(p_late interval)
RETURNS TABLE (login text, reason text)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT o.login, o.reason
  FROM (
    SELECT l.login, a.pid,
      CASE
        WHEN clock_timestamp() - a.xact_start > interval '5min' + p_late THEN 'transaction'
        WHEN a.state = 'active' AND clock_timestamp() - a.query_start > l.statement + p_late THEN 'statement'
        WHEN a.state LIKE 'idle in transaction%' AND clock_timestamp() - a.state_change > interval '60s' + p_late
          THEN 'idle in transaction'
      END AS reason
    FROM (
      VALUES ('memsvc_reader', interval '30s'), ('memsvc_cypher', interval '10s'), ('memsvc_analyst', interval '60s')
    ) AS l (login, statement)
    INNER JOIN pg_stat_activity AS a ON a.usename = l.login
    WHERE a.backend_type = 'client backend' AND a.datname = current_database()
  ) AS o
  WHERE CASE WHEN o.reason IS NOT NULL THEN pg_terminate_backend(o.pid) END;
END;
COMMENT ON FUNCTION memsvc.end_long_sessions(interval) IS
  'Ends sessions of people that exceed their time limits; returns their logins and what was too long.';
