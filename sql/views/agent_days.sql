-- Days on which agents worked, by agent and project, on the user's clock (UTC if the server lacks that zone).
CREATE OR REPLACE VIEW memsvc.agent_days WITH (security_invoker = TRUE) AS
SELECT
  t.user_id,
  (t.begun_at AT TIME ZONE z.zone)::date AS day,
  t.agent,
  t.project,
  count(DISTINCT t.source_id) AS conversations,
  count(*) AS turns,
  count(*) FILTER (WHERE t.ok) AS succeeded,
  count(*) FILTER (WHERE NOT t.ok) AS failed,
  count(*) FILTER (WHERE t.ended_at IS NULL) AS unfinished,
  sum(k.calls)::bigint AS calls,
  sum(k.failed)::bigint AS failed_calls,
  sum(k.written)::bigint AS writes,
  sum(k.ms)::bigint AS ms
FROM memsvc.turns AS t
INNER JOIN memsvc.users AS u ON t.user_id = u.user_id
CROSS JOIN LATERAL (SELECT memsvc.known_zone(u.time_zone) AS zone) AS z
CROSS JOIN LATERAL (
  SELECT
    count(*) AS calls, count(*) FILTER (WHERE NOT c.ok) AS failed, count(*) FILTER (WHERE c.wrote) AS written,
    sum(c.ms) AS ms
  FROM memsvc.tool_calls AS c
  WHERE c.user_id = t.user_id AND c.turn_id = t.turn_id
) AS k
GROUP BY t.user_id, (t.begun_at AT TIME ZONE z.zone)::date, t.agent, t.project;
COMMENT ON VIEW memsvc.agent_days IS 'Days on which agents worked, by agent and project.';
COMMENT ON COLUMN memsvc.agent_days.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.agent_days.day IS 'The day on which the user asked, on the user''s clock.';
COMMENT ON COLUMN memsvc.agent_days.agent IS 'Which agent; empty: not said.';
COMMENT ON COLUMN memsvc.agent_days.project IS 'The project; null: none.';
COMMENT ON COLUMN memsvc.agent_days.conversations IS 'Conversations with a turn on that day.';
COMMENT ON COLUMN memsvc.agent_days.turns IS 'Turns that began on that day.';
COMMENT ON COLUMN memsvc.agent_days.succeeded IS 'Of these, turns that did what was asked, as the client said.';
COMMENT ON COLUMN memsvc.agent_days.failed IS 'Of these, turns that did not.';
COMMENT ON COLUMN memsvc.agent_days.unfinished IS 'Of these, turns that have no end.';
COMMENT ON COLUMN memsvc.agent_days.calls IS 'Calls of tools in these turns.';
COMMENT ON COLUMN memsvc.agent_days.failed_calls IS 'Calls that failed.';
COMMENT ON COLUMN memsvc.agent_days.writes IS 'Calls that changed a document.';
COMMENT ON COLUMN memsvc.agent_days.ms IS 'Milliseconds that the calls took, as far as clients said.';
