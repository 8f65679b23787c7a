-- What agents did: the calls of their turns, as relations of the type TOOL_CALL from a turn to a document. staleness:
-- how many versions the document has had since.
CREATE OR REPLACE VIEW memsvc.procedures WITH (security_invoker = true) AS
SELECT
  c.user_id,
  c.turn_id,
  c.number,
  s.identifier AS conversation,
  t.source_id AS conversation_id,
  t.session,
  t.project,
  t.agent,
  t.begun_at,
  t.commit_id,
  c.tool,
  c.arguments,
  c.told,
  c.document_id,
  coalesce(d.local, d.identifier) AS document,
  c.version,
  n.version AS current_version,
  n.version - c.version AS staleness,
  c.wrote,
  c.ok,
  c.exit_code,
  c.ms,
  c.result_head
FROM memsvc.tool_calls AS c
INNER JOIN memsvc.turns AS t ON c.user_id = t.user_id AND c.turn_id = t.turn_id
INNER JOIN memsvc.sources AS s ON t.user_id = s.user_id AND t.source_id = s.source_id
LEFT JOIN memsvc.sources AS d ON c.user_id = d.user_id AND c.document_id = d.source_id
LEFT JOIN LATERAL (
  SELECT max(v.version) AS version
  FROM memsvc.document_versions AS v
  WHERE v.user_id = c.user_id AND v.source_id = c.document_id
) AS n ON true;
COMMENT ON VIEW memsvc.procedures IS 'What agents did: calls of tools, with their documents and how stale those are.';
COMMENT ON COLUMN memsvc.procedures.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.procedures.turn_id IS 'The turn.';
COMMENT ON COLUMN memsvc.procedures.number IS 'The call''s place in the turn, from 0.';
COMMENT ON COLUMN memsvc.procedures.conversation IS 'The client''s name of the conversation.';
COMMENT ON COLUMN memsvc.procedures.conversation_id IS 'The conversation.';
COMMENT ON COLUMN memsvc.procedures.session IS 'The client''s id of the turn, or its own.';
COMMENT ON COLUMN memsvc.procedures.project IS 'The project in which the agent worked.';
COMMENT ON COLUMN memsvc.procedures.agent IS 'Which agent.';
COMMENT ON COLUMN memsvc.procedures.begun_at IS 'When the user asked.';
COMMENT ON COLUMN memsvc.procedures.commit_id IS 'The commit of the project at the end of the turn.';
COMMENT ON COLUMN memsvc.procedures.tool IS 'READ, EDIT, BASH, WEB_SEARCH or another name.';
COMMENT ON COLUMN memsvc.procedures.arguments IS 'What it was given, masked.';
COMMENT ON COLUMN memsvc.procedures.told IS 'What it did, in a line.';
COMMENT ON COLUMN memsvc.procedures.document_id IS 'The document that it touched.';
COMMENT ON COLUMN memsvc.procedures.document IS 'That document''s name: project and path, else path or address.';
COMMENT ON COLUMN memsvc.procedures.version IS 'Its version after the call.';
COMMENT ON COLUMN memsvc.procedures.current_version IS 'Its last version.';
COMMENT ON COLUMN memsvc.procedures.staleness IS 'Versions since then; null: no digest was known.';
COMMENT ON COLUMN memsvc.procedures.wrote IS 'It changed the document.';
COMMENT ON COLUMN memsvc.procedures.ok IS 'It worked.';
COMMENT ON COLUMN memsvc.procedures.exit_code IS 'Of a command.';
COMMENT ON COLUMN memsvc.procedures.ms IS 'Milliseconds that it took.';
COMMENT ON COLUMN memsvc.procedures.result_head IS 'The beginning of its result, masked.';
