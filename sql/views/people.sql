-- People with their names, messages and facts. A message belongs to a person if its speaker is one of the person's
-- names, in any spelling, or if the user wrote it without a name.
CREATE OR REPLACE VIEW memsvc.people WITH (security_invoker = TRUE) AS
WITH voice AS MATERIALIZED (
  SELECT
    p.user_id, p.speaker, p.speaker = '' AS nameless, memsvc.normal_form(p.speaker) AS normal_form,
    count(*) AS messages, min(p.said_at) AS first_at, max(p.said_at) AS last_at
  FROM memsvc.passages AS p
  WHERE p.kind = 'message' AND p.part = 0 AND (p.speaker <> '' OR p.role = 'user')
  GROUP BY p.user_id, p.speaker
)
SELECT
  n.user_id,
  n.node_id,
  n.label AS name,
  named.names,
  coalesce(n.data @> '{"self": true}', FALSE) AS self,
  spoken.messages,
  related.facts,
  least(spoken.first_at, shown.first_at) AS first_seen,
  greatest(spoken.last_at, shown.last_at) AS last_seen,
  related.main_facts,
  n.description,
  n.importance
FROM memsvc.nodes_current AS n
CROSS JOIN LATERAL (
  SELECT
    array_agg(DISTINCT a.alias) FILTER (WHERE a.valid_from <= now() AND a.valid_to > now()) AS names,
    array_agg(DISTINCT a.normal_form) AS normal_forms
  FROM memsvc.aliases AS a
  WHERE a.user_id = n.user_id AND a.node_id = any(n.nodes) AND a.recorded_to = 'infinity'
) AS named
CROSS JOIN LATERAL (
  SELECT coalesce(sum(v.messages), 0)::bigint AS messages, min(v.first_at) AS first_at, max(v.last_at) AS last_at
  FROM voice AS v
  WHERE v.user_id = n.user_id
    AND (v.normal_form = any(named.normal_forms) OR (v.nameless AND n.data @> '{"self": true}'))
) AS spoken
CROSS JOIN LATERAL (
  SELECT
    count(*) AS facts,
    (
      array_agg(f.fact ORDER BY f.weight DESC, f.recorded_from DESC, f.fact ASC, f.version_id ASC)
    )[1:5] AS main_facts,
    array_agg(f.version_id) AS versions
  FROM (
    SELECT e.version_id, e.fact, e.weight, e.recorded_from
    FROM memsvc.edge_versions AS e
    WHERE e.user_id = n.user_id AND e.from_node = any(n.nodes) AND e.recorded_to = 'infinity'
      AND e.valid_from <= now() AND e.valid_to > now()
    UNION
    SELECT e.version_id, e.fact, e.weight, e.recorded_from
    FROM memsvc.edge_versions AS e
    WHERE e.user_id = n.user_id AND e.to_node = any(n.nodes) AND e.recorded_to = 'infinity'
      AND e.valid_from <= now() AND e.valid_to > now()
  ) AS f
) AS related
CROSS JOIN LATERAL (
  SELECT min(p.said_at) AS first_at, max(p.said_at) AS last_at
  FROM memsvc.source_links AS k
  INNER JOIN memsvc.passages AS p ON k.user_id = p.user_id AND k.passage_id = p.passage_id
  WHERE k.user_id = n.user_id AND k.edge_version_id = any(related.versions) AND k.recorded_to = 'infinity'
) AS shown
WHERE n.type = 'Person';
COMMENT ON VIEW memsvc.people IS 'People with their names, facts and messages; merged ones are one.';
COMMENT ON COLUMN memsvc.people.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.people.node_id IS 'The person; for merged nodes the canonical one.';
COMMENT ON COLUMN memsvc.people.name IS 'The label.';
COMMENT ON COLUMN memsvc.people.names IS 'Current names of the person; null: no name is known.';
COMMENT ON COLUMN memsvc.people.self IS 'Whether this is the user.';
COMMENT ON COLUMN memsvc.people.messages IS 'Messages of the person, by the speaker''s name.';
COMMENT ON COLUMN memsvc.people.facts IS 'Facts about the person that are true now.';
COMMENT ON COLUMN memsvc.people.first_seen IS
  'The first message by the person, or that supports one of these facts.';
COMMENT ON COLUMN memsvc.people.last_seen IS 'The last one of these messages.';
COMMENT ON COLUMN memsvc.people.main_facts IS
  'The five strongest of these facts as sentences; among equals the latest first.';
COMMENT ON COLUMN memsvc.people.description IS 'Who the person is.';
COMMENT ON COLUMN memsvc.people.importance IS '1 to 10.';
