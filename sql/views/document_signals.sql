-- How documents that agents touched fare: how many versions, how often they change, in how many conversations.
CREATE OR REPLACE VIEW memsvc.document_signals WITH (security_invoker = true) AS
SELECT
  s.user_id,
  s.source_id AS document_id,
  coalesce(s.local, s.identifier) AS document,
  v.version,
  v.versions,
  memsvc.volatility(v.versions, v.first_at, v.last_at) AS volatility,
  k.familiarity,
  k.calls,
  v.first_at,
  v.last_at
FROM memsvc.sources AS s
CROSS JOIN LATERAL (
  SELECT
    max(o.version) AS version, count(*) AS versions, min(o.recorded_from) AS first_at,
    max(o.recorded_from) AS last_at
  FROM memsvc.document_versions AS o
  WHERE o.user_id = s.user_id AND o.source_id = s.source_id
) AS v
CROSS JOIN LATERAL (
  SELECT count(DISTINCT t.source_id) AS familiarity, count(*) AS calls
  FROM memsvc.tool_calls AS c
  INNER JOIN memsvc.turns AS t ON c.user_id = t.user_id AND c.turn_id = t.turn_id
  WHERE c.user_id = s.user_id AND c.document_id = s.source_id
) AS k
WHERE s.kind = 'document';
COMMENT ON VIEW memsvc.document_signals IS 'Documents with their versions, and how often they change.';
COMMENT ON COLUMN memsvc.document_signals.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.document_signals.document_id IS 'The document.';
COMMENT ON COLUMN memsvc.document_signals.document IS 'Its name: project and path, else path or address.';
COMMENT ON COLUMN memsvc.document_signals.version IS 'Its last version; null: no digest is known.';
COMMENT ON COLUMN memsvc.document_signals.versions IS 'How many versions are stored.';
COMMENT ON COLUMN memsvc.document_signals.volatility IS
  'Versions a day between the first and the last, over a day at least; 0 with one version.';
COMMENT ON COLUMN memsvc.document_signals.familiarity IS 'Conversations of agents that touched it.';
COMMENT ON COLUMN memsvc.document_signals.calls IS 'Calls of tools that touched it.';
COMMENT ON COLUMN memsvc.document_signals.first_at IS 'When its first version was recorded.';
COMMENT ON COLUMN memsvc.document_signals.last_at IS 'When its last version was recorded.';
