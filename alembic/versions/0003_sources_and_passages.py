"""Sources and passages: the text itself.

Revision: 0003, after 0002.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.sources (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  source_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('conversation')),
  identifier text NOT NULL CHECK (identifier <> '' AND length(identifier) <= 500),
  title text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  last_ingested_at timestamptz,
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, source_id),
  UNIQUE (user_id, kind, identifier)
);
COMMENT ON TABLE memsvc.sources IS 'Where passages come from: today conversations; files, vaults and feeds later.';
COMMENT ON COLUMN memsvc.sources.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.sources.source_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.sources.kind IS 'conversation.';
COMMENT ON COLUMN memsvc.sources.identifier IS 'What the client calls it; unique for its kind.';
COMMENT ON COLUMN memsvc.sources.title IS 'For people.';
COMMENT ON COLUMN memsvc.sources.status IS
  'How far background work is: pending, processing, completed, failed. Recall never waits for it.';
COMMENT ON COLUMN memsvc.sources.last_ingested_at IS 'When background work last caught up with it.';
COMMENT ON COLUMN memsvc.sources.metadata IS 'What else the client said about it.';
COMMENT ON COLUMN memsvc.sources.created_at IS 'When it was first seen.';

CREATE TABLE memsvc.passages (
  user_id uuid NOT NULL,
  passage_id uuid NOT NULL DEFAULT uuidv7(),
  source_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('message', 'trace')),
  session text NOT NULL DEFAULT '' CHECK (length(session) <= 500),
  ordinal integer NOT NULL CHECK (ordinal >= 0),
  part smallint NOT NULL DEFAULT 0 CHECK (part >= 0),
  client_id text CHECK (client_id <> '' AND length(client_id) <= 500),
  speaker text NOT NULL DEFAULT '' CHECK (length(speaker) <= 200),
  role text NOT NULL CHECK (role IN ('user', 'assistant', 'other', 'system', 'tool', 'thinking')),
  text text NOT NULL,
  caption text,
  said_at timestamptz NOT NULL,
  said_offset smallint NOT NULL CHECK (said_offset BETWEEN -1440 AND 1440),
  language text NOT NULL,
  tsv tsvector NOT NULL,
  tsv_simple tsvector NOT NULL,
  length integer NOT NULL CHECK (length >= 0),
  length_simple integer NOT NULL CHECK (length_simple >= 0),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, passage_id),
  FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources (user_id, source_id),
  UNIQUE (user_id, source_id, session, ordinal, part)
);
-- Scoring reads tsv for thousands of candidates: keep it in the row, uncompressed, while the row fits a page.
ALTER TABLE memsvc.passages SET (toast_tuple_target = 8160);
ALTER TABLE memsvc.passages ALTER COLUMN tsv SET STORAGE EXTERNAL, ALTER COLUMN tsv_simple SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX passages_client_id ON memsvc.passages (user_id, source_id, client_id, part)
  WHERE client_id IS NOT NULL;
CREATE INDEX passages_said ON memsvc.passages (user_id, said_at);
COMMENT ON TABLE memsvc.passages IS
  'The one searchable table. A message, or a part of a long one: the parts'' texts, in order, are the message '
  'to the letter.';
COMMENT ON COLUMN memsvc.passages.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.passages.passage_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.passages.source_id IS 'Where it comes from.';
COMMENT ON COLUMN memsvc.passages.kind IS
  'message (recalled by default) or trace (system, tool, thinking: kept, recalled when asked for).';
COMMENT ON COLUMN memsvc.passages.session IS 'The sitting within the conversation; empty where the client knows none.';
COMMENT ON COLUMN memsvc.passages.ordinal IS 'Place of the message in its session, from 0.';
COMMENT ON COLUMN memsvc.passages.part IS 'Place of the part in a split message, from 0.';
COMMENT ON COLUMN memsvc.passages.client_id IS
  'The client''s own id of the message, unique in its source; null: (source, session, ordinal) is the identity.';
COMMENT ON COLUMN memsvc.passages.speaker IS 'Who said it, in the client''s words.';
COMMENT ON COLUMN memsvc.passages.role IS 'user, assistant, other, system, tool or thinking.';
COMMENT ON COLUMN memsvc.passages.text IS 'What was said, unchanged.';
COMMENT ON COLUMN memsvc.passages.caption IS 'What a shared picture shows.';
COMMENT ON COLUMN memsvc.passages.said_at IS 'When it was said.';
COMMENT ON COLUMN memsvc.passages.said_offset IS 'Minutes east of UTC on the speaker''s clock then.';
COMMENT ON COLUMN memsvc.passages.language IS
  'Text search configuration that made tsv; as text, for regconfig blocks pg_upgrade.';
COMMENT ON COLUMN memsvc.passages.tsv IS 'Stemmed lexemes of speaker, text and caption.';
COMMENT ON COLUMN memsvc.passages.tsv_simple IS 'The same words lower-cased only, stop words kept.';
COMMENT ON COLUMN memsvc.passages.length IS 'Words in tsv with repetitions: BM25''s document length.';
COMMENT ON COLUMN memsvc.passages.length_simple IS 'The same for tsv_simple.';
COMMENT ON COLUMN memsvc.passages.metadata IS 'What else the client said about the message.';
COMMENT ON COLUMN memsvc.passages.recorded_at IS 'When memsvc stored it.';

CREATE TABLE memsvc.tombstones (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, digest)
);
COMMENT ON TABLE memsvc.tombstones IS
  'What was erased and must not come back when a client sends it again. Holds no text.';
COMMENT ON COLUMN memsvc.tombstones.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.tombstones.digest IS 'message_digest() of the erased message''s identity.';
COMMENT ON COLUMN memsvc.tombstones.recorded_at IS 'When it was erased.';
"""

ROW_SECURITY = """
ALTER TABLE memsvc.sources ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.passages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.tombstones ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ROW_SECURITY)
