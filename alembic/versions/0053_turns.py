"""Turns of agents: what was asked, what was done to which documents, what came out.

Revision: 0053, after 0052. The older version recalls the kinds that it names, so it passes over turns, and writes
versions of documents whose chunks it stores.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

TURNS = """
CREATE TABLE IF NOT EXISTS memsvc.turns (
  user_id uuid NOT NULL,
  turn_id uuid NOT NULL DEFAULT uuidv7(),
  source_id uuid NOT NULL,
  session text NOT NULL CHECK (session <> '' AND length(session) <= 500),
  project text CHECK (project <> '' AND length(project) <= 200),
  agent text NOT NULL DEFAULT '' CHECK (length(agent) <= 200),
  commit_id text CHECK (commit_id <> '' AND length(commit_id) <= 200),
  ok boolean,
  begun_at timestamptz NOT NULL,
  ended_at timestamptz,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, turn_id),
  UNIQUE (user_id, source_id, session),
  FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources (user_id, source_id)
);
ALTER TABLE memsvc.turns
  ALTER COLUMN session SET STATISTICS 0, ALTER COLUMN project SET STATISTICS 0, ALTER COLUMN agent SET STATISTICS 0,
  ALTER COLUMN commit_id SET STATISTICS 0;
COMMENT ON TABLE memsvc.turns IS 'Turns of agents: a request, what was done about it, and the answer.';
COMMENT ON COLUMN memsvc.turns.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.turns.turn_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.turns.source_id IS 'The conversation that it belongs to.';
COMMENT ON COLUMN memsvc.turns.session IS 'The client''s id, or the turn''s own: the session of its passages.';
COMMENT ON COLUMN memsvc.turns.project IS 'The project in which the agent worked; null: none.';
COMMENT ON COLUMN memsvc.turns.agent IS 'Which agent; empty: not said.';
COMMENT ON COLUMN memsvc.turns.commit_id IS 'The commit of the project at its end; null: not said.';
COMMENT ON COLUMN memsvc.turns.ok IS 'Whether it did what was asked, as the client says; null: not said.';
COMMENT ON COLUMN memsvc.turns.begun_at IS 'When the user asked.';
COMMENT ON COLUMN memsvc.turns.ended_at IS 'When it was committed; null: it is open.';
COMMENT ON COLUMN memsvc.turns.recorded_at IS 'When it was stored first.';
ALTER TABLE memsvc.turns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

CALLS = """
CREATE TABLE IF NOT EXISTS memsvc.tool_calls (
  user_id uuid NOT NULL,
  turn_id uuid NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  tool text NOT NULL CHECK (tool <> '' AND length(tool) <= 100),
  arguments jsonb NOT NULL,
  told text NOT NULL CHECK (length(told) <= 1000),
  document_id uuid,
  version integer CHECK (version >= 1),
  wrote boolean NOT NULL DEFAULT false,
  ok boolean NOT NULL DEFAULT true,
  exit_code integer,
  ms bigint CHECK (ms >= 0),
  result_head text NOT NULL DEFAULT '' CHECK (length(result_head) <= 4000),
  result_tail text NOT NULL DEFAULT '' CHECK (length(result_tail) <= 4000),
  result_bytes bigint CHECK (result_bytes >= 0),
  result_sha256 bytea CHECK (length(result_sha256) = 32),
  PRIMARY KEY (user_id, turn_id, number),
  FOREIGN KEY (user_id, turn_id) REFERENCES memsvc.turns (user_id, turn_id),
  FOREIGN KEY (user_id, document_id) REFERENCES memsvc.sources (user_id, source_id)
);
CREATE INDEX IF NOT EXISTS tool_calls_document ON memsvc.tool_calls (user_id, document_id, turn_id)
WHERE document_id IS NOT NULL;
ALTER TABLE memsvc.tool_calls
  ALTER COLUMN tool SET STATISTICS 0, ALTER COLUMN arguments SET STATISTICS 0,
  ALTER COLUMN told SET STATISTICS 0, ALTER COLUMN result_head SET STATISTICS 0,
  ALTER COLUMN result_tail SET STATISTICS 0;
COMMENT ON TABLE memsvc.tool_calls IS
  'Calls of tools in a turn: relations of the type TOOL_CALL from turns to documents.';
COMMENT ON COLUMN memsvc.tool_calls.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.tool_calls.turn_id IS 'The turn.';
COMMENT ON COLUMN memsvc.tool_calls.number IS 'Its place in the turn, from 0.';
COMMENT ON COLUMN memsvc.tool_calls.tool IS 'READ, EDIT, BASH, WEB_SEARCH or another name, in capitals.';
COMMENT ON COLUMN memsvc.tool_calls.arguments IS 'What it was given, with masks in place of secrets.';
COMMENT ON COLUMN memsvc.tool_calls.told IS
  'What it did, in a line: tool, document or command, and why it failed.';
COMMENT ON COLUMN memsvc.tool_calls.document_id IS 'The document that it touched; null: none, or it was erased.';
COMMENT ON COLUMN memsvc.tool_calls.version IS 'The version of it after the call; null: unknown.';
COMMENT ON COLUMN memsvc.tool_calls.wrote IS 'It changed the document, by its tool''s name.';
COMMENT ON COLUMN memsvc.tool_calls.ok IS 'False: it failed, or showed the failure that was looked for.';
COMMENT ON COLUMN memsvc.tool_calls.exit_code IS 'Of a command; null: not said.';
COMMENT ON COLUMN memsvc.tool_calls.ms IS 'Milliseconds that it took; null: not said.';
COMMENT ON COLUMN memsvc.tool_calls.result_head IS 'The beginning of its result, masked.';
COMMENT ON COLUMN memsvc.tool_calls.result_tail IS 'The end of its result, masked; empty: the head has all.';
COMMENT ON COLUMN memsvc.tool_calls.result_bytes IS 'Size of the whole result; null: there was none.';
COMMENT ON COLUMN memsvc.tool_calls.result_sha256 IS 'Of the whole result; null: there was none.';
ALTER TABLE memsvc.tool_calls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

DOCUMENTS = """
ALTER TABLE memsvc.document_versions
  ADD COLUMN IF NOT EXISTS by_agent boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS chunked boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN memsvc.document_versions.by_agent IS
  'An agent''s call wrote it; else it came from outside, and an ingest or a call that read it found it.';
COMMENT ON COLUMN memsvc.document_versions.chunked IS
  'Its text is stored; false: an agent touched it, and only its digest is known until the next ingest.';
ALTER TABLE memsvc.sources ADD COLUMN IF NOT EXISTS local text CHECK (local <> '' AND length(local) <= 500);
ALTER TABLE memsvc.sources ALTER COLUMN local SET STATISTICS 0;
COMMENT ON COLUMN memsvc.sources.local IS
  'Of a document in a project: the project, //, and the path below its root; null: in none that is known.';
ALTER TABLE memsvc.sources DROP CONSTRAINT IF EXISTS sources_kind_check;
ALTER TABLE memsvc.sources ADD CONSTRAINT sources_kind_check
CHECK (kind IN ('conversation', 'block', 'graph', 'document', 'turn')) NOT VALID;
COMMENT ON TABLE memsvc.sources IS
  'Where passages come from: conversations, documents, turns of agents, blocks of the profile in the archive, and what '
  'is known about nodes.';
COMMENT ON COLUMN memsvc.sources.kind IS
  'conversation, document, turn (a conversation with an agent), block (of the profile, in the archive), or graph '
  '(facts, cards, notes, instructions; the user''s id).';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "sources", "document_versions")
    for script in (TURNS, CALLS, DOCUMENTS):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.sources VALIDATE CONSTRAINT sources_kind_check")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.sources_local")
        op.execute(
            "CREATE UNIQUE INDEX CONCURRENTLY sources_local ON memsvc.sources (user_id, local) WHERE local IS NOT NULL"
        )
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
