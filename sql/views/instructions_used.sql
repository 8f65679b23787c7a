-- In which conversations instructions were used: those whose contexts carried them, as relations of the type USED_IN
-- from an instruction to a conversation. Recalls are noted for some time only (MEMSVC_KEEP_RECALLS_DAYS).
CREATE OR REPLACE VIEW memsvc.instructions_used WITH (security_invoker = true) AS
SELECT
  e.user_id,
  v.node_id AS instruction_id,
  e.conversation_id,
  s.identifier AS conversation,
  count(*) AS contexts,
  min(e.at) AS first_at,
  max(e.at) AS last_at
FROM memsvc.recall_events AS e
CROSS JOIN LATERAL unnest(e.instructions) AS i (version_id)
INNER JOIN memsvc.node_versions AS v ON e.user_id = v.user_id AND i.version_id = v.version_id
INNER JOIN memsvc.sources AS s ON e.user_id = s.user_id AND e.conversation_id = s.source_id
GROUP BY e.user_id, v.node_id, e.conversation_id, s.identifier;
COMMENT ON VIEW memsvc.instructions_used IS
  'In which conversations instructions were used: whose contexts carried them.';
COMMENT ON COLUMN memsvc.instructions_used.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.instructions_used.instruction_id IS 'The instruction.';
COMMENT ON COLUMN memsvc.instructions_used.conversation_id IS 'The conversation.';
COMMENT ON COLUMN memsvc.instructions_used.conversation IS 'The client''s name of the conversation.';
COMMENT ON COLUMN memsvc.instructions_used.contexts IS 'How many contexts carried it, as far as they are noted.';
COMMENT ON COLUMN memsvc.instructions_used.first_at IS 'When the first of them was built.';
COMMENT ON COLUMN memsvc.instructions_used.last_at IS 'When the last of them was built.';
