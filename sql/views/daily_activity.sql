-- One row for each day on which anything happened, in the user's time zone, or in UTC if this server does not know the
-- zone (memsvc.known_zone). The recursion jumps from one such day to the next, so a message of the year 1000 costs
-- nothing; days are counted one by one, so a query for a week reads a week. An hour that occurs twice around midnight
-- belongs to the earlier day; no moment is left out or counted twice.
CREATE OR REPLACE VIEW memsvc.daily_activity WITH (security_invoker = TRUE) AS
WITH RECURSIVE active AS (
  SELECT
    u.user_id, memsvc.known_zone(u.time_zone) AS time_zone, NULL::date AS day, '-infinity'::timestamptz AS starts_at,
    '-infinity'::timestamptz AS ends_at
  FROM memsvc.users AS u
  UNION ALL
  SELECT
    a.user_id, a.time_zone, d.day,
    greatest(a.ends_at, least(f.at, d.day::timestamp AT TIME ZONE a.time_zone)),
    greatest(f.at + interval '1 microsecond', (d.day + 1)::timestamp AT TIME ZONE a.time_zone)
  FROM active AS a
  CROSS JOIN LATERAL (
    SELECT least(
      (
        SELECT min(p.said_at) FROM memsvc.passages AS p
        WHERE p.user_id = a.user_id AND p.version_id IS NULL AND p.said_at >= a.ends_at
      ),
      (
        SELECT min(v.recorded_from) FROM memsvc.edge_versions AS v
        WHERE v.user_id = a.user_id AND v.recorded_from >= a.ends_at
      ),
      (
        SELECT min(v.recorded_to) FROM memsvc.edge_versions AS v
        WHERE v.user_id = a.user_id AND v.recorded_to >= a.ends_at AND v.recorded_to < 'infinity'
      )
    ) AS at
  ) AS f
  CROSS JOIN LATERAL (SELECT (f.at AT TIME ZONE a.time_zone)::date AS day) AS d
  WHERE f.at IS NOT NULL
)
SELECT
  a.user_id,
  a.day,
  said.messages,
  said.words,
  said.speakers,
  said.conversations,
  learnt.facts AS facts_learnt,
  closed.facts AS facts_closed
FROM active AS a
CROSS JOIN LATERAL (
  SELECT
    count(*) FILTER (WHERE p.part = 0) AS messages,
    coalesce(sum(p.length_simple), 0) AS words,
    count(DISTINCT p.speaker) AS speakers,
    count(DISTINCT p.source_id) AS conversations
  FROM memsvc.passages AS p
  WHERE p.user_id = a.user_id AND p.version_id IS NULL AND p.said_at >= a.starts_at AND p.said_at < a.ends_at
    AND p.kind = 'message'
) AS said
CROSS JOIN LATERAL (
  SELECT count(DISTINCT v.edge_id) AS facts FROM memsvc.edge_versions AS v
  WHERE v.user_id = a.user_id AND v.recorded_from >= a.starts_at AND v.recorded_from < a.ends_at
    AND v.derived_from IS NULL AND v.recorded_to > v.recorded_from
) AS learnt
CROSS JOIN LATERAL (
  SELECT count(DISTINCT v.edge_id) AS facts FROM memsvc.edge_versions AS v
  WHERE v.user_id = a.user_id AND v.recorded_to >= a.starts_at AND v.recorded_to < a.ends_at
    AND v.recorded_to < 'infinity' AND v.recorded_to > v.recorded_from
) AS closed
WHERE a.day IS NOT NULL;
COMMENT ON VIEW memsvc.daily_activity IS 'Days on which anything happened, in the user''s time zone.';
COMMENT ON COLUMN memsvc.daily_activity.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.daily_activity.day IS 'The day in the user''s time zone.';
COMMENT ON COLUMN memsvc.daily_activity.messages IS 'Messages; system, tool and thinking texts do not count.';
COMMENT ON COLUMN memsvc.daily_activity.words IS 'Words of these messages, including captions and names of speakers.';
COMMENT ON COLUMN memsvc.daily_activity.speakers IS 'Names of speakers; messages without a name count as one.';
COMMENT ON COLUMN memsvc.daily_activity.conversations IS 'Conversations with messages on this day.';
COMMENT ON COLUMN memsvc.daily_activity.facts_learnt IS 'Facts about which something new was recorded.';
COMMENT ON COLUMN memsvc.daily_activity.facts_closed IS 'Facts of which a version was superseded or taken back.';
