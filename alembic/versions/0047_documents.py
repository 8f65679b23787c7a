"""Documents: sources whose chunks are passages, with the versions of each.

Revision: 0047, after 0046. The older version recalls the kinds that it names, so it passes over chunks.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

VERSIONS = """
CREATE TABLE IF NOT EXISTS memsvc.document_versions (
  user_id uuid NOT NULL,
  source_id uuid NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes >= 0),
  format text NOT NULL CHECK (format <> '' AND length(format) <= 40),
  title text NOT NULL CHECK (length(title) <= 1000),
  path text NOT NULL CHECK (path <> '' AND length(path) <= 1000),
  pages integer CHECK (pages >= 0),
  characters bigint NOT NULL CHECK (characters >= 0),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  recorded_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_to timestamptz NOT NULL DEFAULT 'infinity',
  PRIMARY KEY (user_id, source_id, version),
  FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources (user_id, source_id),
  CHECK (recorded_from < recorded_to)
);
CREATE UNIQUE INDEX IF NOT EXISTS document_versions_current ON memsvc.document_versions (user_id, source_id)
WHERE recorded_to = 'infinity';
CREATE INDEX IF NOT EXISTS document_versions_same ON memsvc.document_versions (user_id, sha256);
ALTER TABLE memsvc.document_versions
  ALTER COLUMN title SET STATISTICS 0, ALTER COLUMN path SET STATISTICS 0, ALTER COLUMN sha256 SET STATISTICS 0,
  ALTER COLUMN metadata SET STATISTICS 0;
COMMENT ON TABLE memsvc.document_versions IS
  'What a document was: one row for each content of its file. No open row: its file is gone.';
COMMENT ON COLUMN memsvc.document_versions.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.document_versions.source_id IS 'The document.';
COMMENT ON COLUMN memsvc.document_versions.version IS 'From 1.';
COMMENT ON COLUMN memsvc.document_versions.sha256 IS 'Of the file, in hexadecimal digits.';
COMMENT ON COLUMN memsvc.document_versions.bytes IS 'Size of the file.';
COMMENT ON COLUMN memsvc.document_versions.format IS 'What it is: pdf, docx, md.';
COMMENT ON COLUMN memsvc.document_versions.title IS 'Its own title, or the name of its file.';
COMMENT ON COLUMN memsvc.document_versions.path IS 'Where its file was, for people.';
COMMENT ON COLUMN memsvc.document_versions.pages IS 'Pages, slides or sheets; null: it has none.';
COMMENT ON COLUMN memsvc.document_versions.characters IS 'Of its text.';
COMMENT ON COLUMN memsvc.document_versions.metadata IS 'What it says about itself, such as author and tags.';
COMMENT ON COLUMN memsvc.document_versions.recorded_from IS 'When it was stored.';
COMMENT ON COLUMN memsvc.document_versions.recorded_to IS
  'When a newer one was stored, or its file was found to be gone; infinity: it is current.';
ALTER TABLE memsvc.document_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

KIND = """
ALTER TABLE memsvc.sources DROP CONSTRAINT IF EXISTS sources_kind_check;
ALTER TABLE memsvc.sources ADD CONSTRAINT sources_kind_check
CHECK (kind IN ('conversation', 'block', 'graph', 'document')) NOT VALID;
COMMENT ON TABLE memsvc.sources IS
  'Where passages come from: conversations, documents, blocks of the profile in the archive, and what is known about '
  'nodes.';
COMMENT ON COLUMN memsvc.sources.kind IS
  'conversation, document, block (of the profile, in the archive), or graph (facts, cards, notes, instructions; the '
  'user''s id).';
COMMENT ON COLUMN memsvc.passages.speaker IS
  'Who said it, in the client''s words; of a block its name; of a chunk the document''s title; of a card, a note or an '
  'instruction the node''s label.';
COMMENT ON COLUMN memsvc.passages.caption IS
  'What a picture shows that came with it; of a chunk the headings above it.';
COMMENT ON COLUMN memsvc.passages.ordinal IS
  'Position in the session, from 0; chunks of a document have gaps, so that others can come between them.';
COMMENT ON COLUMN memsvc.passages.recorded_to IS
  'When what it repeats was superseded or taken back, or of a chunk when its document lost it; infinity: it stands.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "sources", "passages")
    for script in (VERSIONS, KIND):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.sources VALIDATE CONSTRAINT sources_kind_check")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
