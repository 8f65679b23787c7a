-- Statements of memsvc.transfer.load for turns of agents; see load.sql.

-- name: load_turns
INSERT INTO memsvc.turns (
  user_id, turn_id, source_id, session, project, agent, commit_id, ok, begun_at, ended_at, recorded_at, chat_id,
  chat_messages
)
SELECT
  :user_id, r.turn_id, r.source_id, r.session, r.project, r.agent, r.commit_id, r.ok, r.begun_at, r.ended_at,
  r.recorded_at, r.chat_id, r.chat_messages
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  turn_id uuid, source_id uuid, session text, project text, agent text, commit_id text, ok boolean,
  begun_at timestamptz, ended_at timestamptz, recorded_at timestamptz, chat_id uuid, chat_messages text []
);

-- name: load_tool_calls
INSERT INTO memsvc.tool_calls (
  user_id, turn_id, number, call_id, tool, arguments, told, document_id, version, wrote, ok, exit_code, ms,
  result_head, result_tail, result_bytes, result_sha256
)
SELECT
  :user_id, r.turn_id, r.number, r.call_id, r.tool, r.arguments, r.told, r.document_id, r.version, r.wrote, r.ok,
  r.exit_code, r.ms, r.result_head, r.result_tail, r.result_bytes, decode(r.result_sha256, 'hex')
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  turn_id uuid, number integer, call_id text, tool text, arguments jsonb, told text, document_id uuid,
  version integer, wrote boolean, ok boolean, exit_code integer, ms bigint, result_head text, result_tail text,
  result_bytes bigint, result_sha256 text
);
