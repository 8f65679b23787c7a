"""Ingests: files that clients sent, the job that stores them, and what became of each.

Revision: 0048, after 0047. The older version makes no such jobs and passes over their events.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

INGESTS = """
CREATE TABLE IF NOT EXISTS memsvc.ingests (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  ingest_id uuid NOT NULL DEFAULT uuidv7(),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
  dry_run boolean NOT NULL DEFAULT false,
  choices jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(choices) = 'object'),
  key_id text,
  job_id uuid,
  error_code text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  PRIMARY KEY (user_id, ingest_id),
  CONSTRAINT ingests_finished CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL))
);
ALTER TABLE memsvc.ingests ALTER COLUMN choices SET STATISTICS 0;
COMMENT ON TABLE memsvc.ingests IS 'Files, texts and addresses that clients sent together to be stored.';
COMMENT ON COLUMN memsvc.ingests.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.ingests.ingest_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.ingests.state IS
  'pending: it waits; running; completed: each file has an outcome; failed: see error_code; cancelled.';
COMMENT ON COLUMN memsvc.ingests.dry_run IS 'It looks at the files and stores nothing.';
COMMENT ON COLUMN memsvc.ingests.choices IS 'What the client chose: kind, me, not_me, since, title.';
COMMENT ON COLUMN memsvc.ingests.key_id IS 'The key whose limit of messages it counts against; null: of none.';
COMMENT ON COLUMN memsvc.ingests.job_id IS 'The job that works on it.';
COMMENT ON COLUMN memsvc.ingests.error_code IS 'Why it failed.';
COMMENT ON COLUMN memsvc.ingests.created_at IS 'When it was sent.';
COMMENT ON COLUMN memsvc.ingests.started_at IS 'When it was first begun.';
COMMENT ON COLUMN memsvc.ingests.finished_at IS 'When it ended; null: it has not.';
ALTER TABLE memsvc.ingests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

FILES = """
CREATE TABLE IF NOT EXISTS memsvc.ingest_files (
  user_id uuid NOT NULL,
  ingest_id uuid NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  part integer NOT NULL DEFAULT 0 CHECK (part >= 0),
  name text NOT NULL CHECK (name <> '' AND length(name) <= 500),
  source text CHECK (source <> ''),
  bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  sha256 bytea CHECK (length(sha256) = 32),
  content bytea,
  url text CHECK (length(url) <= 4000),
  outcome text CHECK (outcome IN ('stored', 'previewed', 'refused', 'passed_over', 'owner_required')),
  kind text,
  code text,
  message text,
  hint text,
  stored integer NOT NULL DEFAULT 0 CHECK (stored >= 0),
  counts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
  preview jsonb CHECK (jsonb_typeof(preview) = 'object'),
  PRIMARY KEY (user_id, ingest_id, number, part),
  FOREIGN KEY (user_id, ingest_id) REFERENCES memsvc.ingests (user_id, ingest_id)
);
ALTER TABLE memsvc.ingest_files ALTER COLUMN content SET STORAGE EXTERNAL;
COMMENT ON TABLE memsvc.ingest_files IS
  'The files of an ingest, and what became of each. A zip file has a row for each source in it.';
COMMENT ON COLUMN memsvc.ingest_files.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.ingest_files.ingest_id IS 'The ingest that it belongs to.';
COMMENT ON COLUMN memsvc.ingest_files.number IS 'Which of the files that were sent, from 0.';
COMMENT ON COLUMN memsvc.ingest_files.part IS 'Which of the sources in that file, from 0. The first has the content.';
COMMENT ON COLUMN memsvc.ingest_files.name IS 'What the client calls the file. Never used as a path.';
COMMENT ON COLUMN memsvc.ingest_files.source IS 'For people: the source in it; null: nobody has looked.';
COMMENT ON COLUMN memsvc.ingest_files.bytes IS 'Size of the file that was sent.';
COMMENT ON COLUMN memsvc.ingest_files.sha256 IS 'Of that file; null: it is still to be fetched.';
COMMENT ON COLUMN memsvc.ingest_files.content IS 'That file; null: it is no longer needed, or still to be fetched.';
COMMENT ON COLUMN memsvc.ingest_files.url IS 'Where to fetch it; null: it was sent.';
COMMENT ON COLUMN memsvc.ingest_files.outcome IS 'What became of it; null: it waits.';
COMMENT ON COLUMN memsvc.ingest_files.kind IS 'What it was recognised as, for example telegram.';
COMMENT ON COLUMN memsvc.ingest_files.code IS 'Why it was refused, as a stable code.';
COMMENT ON COLUMN memsvc.ingest_files.message IS 'Why it was refused, or what it was recognised by.';
COMMENT ON COLUMN memsvc.ingest_files.hint IS 'What to do about it.';
COMMENT ON COLUMN memsvc.ingest_files.stored IS 'How many of its messages were stored or looked up.';
COMMENT ON COLUMN memsvc.ingest_files.counts IS 'How many messages had each outcome.';
COMMENT ON COLUMN memsvc.ingest_files.preview IS 'What it has: messages, speakers, owner; null: nobody has looked.';
ALTER TABLE memsvc.ingest_files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

PRIVATE = ("name", "source", "content", "url", "message", "hint", "counts", "preview", "sha256", "kind", "code")

KINDS = """
ALTER TABLE memsvc.jobs
  DROP CONSTRAINT jobs_kind_check,
  ADD CONSTRAINT jobs_kind_check
  CHECK (kind IN ('process', 'embed', 'tidy', 'erase', 'extract', 'sleep', 'analyse', 'ingest')) NOT VALID;
ALTER TABLE memsvc.jobs VALIDATE CONSTRAINT jobs_kind_check;
COMMENT ON COLUMN memsvc.jobs.subject_id IS
  'The source, erasure or ingest that it is about; the user, where it is about all.';
ALTER TABLE memsvc.outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (
    kind IN (
      'passages.added', 'source.completed', 'memory.erased', 'graph.changed', 'memory.recalled', 'profile.changed',
      'ingest.changed'
    )
  ) NOT VALID;
ALTER TABLE memsvc.outbox VALIDATE CONSTRAINT outbox_kind_check;
COMMENT ON COLUMN memsvc.outbox.kind IS 'passages.added, source.completed, memory.erased, graph.changed, '
  'memory.recalled, profile.changed or ingest.changed.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS
  'The source concerned, the erasure, the change, the recall, the block of the profile or the ingest.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "jobs", "outbox")
    for script in (INGESTS, FILES, KINDS):
        op.execute(script)
    for column in PRIVATE:
        op.execute(f"ALTER TABLE memsvc.ingest_files ALTER COLUMN {column} SET STATISTICS 0")
