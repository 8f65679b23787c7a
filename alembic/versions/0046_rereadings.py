"""Re-reading: what an older version of an extractor has read is read again by the new one, as one undoable operation.

Revision: 0046, after 0045. The older version ignores the new columns; what it reads meanwhile it reads as before.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

REREADINGS = """
CREATE TABLE IF NOT EXISTS memsvc.rereadings (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  rereading_id uuid NOT NULL DEFAULT uuidv7(),
  extractor text NOT NULL CHECK (extractor <> '' AND length(extractor) <= 200),
  backend text NOT NULL CHECK (backend <> '' AND length(backend) <= 200),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'stopped', 'undoing', 'undone')),
  turns integer NOT NULL DEFAULT 0 CHECK (turns >= 0),
  counts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_at timestamptz,
  finished_at timestamptz,
  PRIMARY KEY (user_id, rereading_id)
);
CREATE UNIQUE INDEX IF NOT EXISTS rereadings_current ON memsvc.rereadings (user_id, extractor) WHERE state <> 'undone';
ALTER TABLE memsvc.rereadings ALTER COLUMN counts SET STATISTICS 0;
COMMENT ON TABLE memsvc.rereadings IS
  'Operations by which a version of an extractor reads again what older versions have read. Holds no text.';
COMMENT ON COLUMN memsvc.rereadings.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.rereadings.rereading_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.rereadings.extractor IS 'Who reads, with its version.';
COMMENT ON COLUMN memsvc.rereadings.backend IS 'Under which name workers load it; older versions have the same one.';
COMMENT ON COLUMN memsvc.rereadings.state IS
  'open: it goes on; done: all is read; stopped: a person stopped it; undoing, undone: a person takes it back.';
COMMENT ON COLUMN memsvc.rereadings.turns IS 'How many passages it has read.';
COMMENT ON COLUMN memsvc.rereadings.counts IS 'How many facts had each outcome, by outcome and type.';
COMMENT ON COLUMN memsvc.rereadings.started_at IS 'When it was begun.';
COMMENT ON COLUMN memsvc.rereadings.last_at IS 'When it last read or undid something; null: not yet.';
COMMENT ON COLUMN memsvc.rereadings.finished_at IS 'When it was done, stopped or undone; null: it goes on.';
ALTER TABLE memsvc.rereadings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

PLACES = """
ALTER TABLE memsvc.extractions ADD COLUMN IF NOT EXISTS begun_after uuid;
ALTER TABLE memsvc.extractions ADD COLUMN IF NOT EXISTS again_upto uuid;
COMMENT ON COLUMN memsvc.extractions.begun_after IS
  'It began to read after this passage, because older versions had read those up to it. Null: it began at the first.';
COMMENT ON COLUMN memsvc.extractions.again_upto IS
  'The last of the passages up to begun_after that it has read again. Null: none.';
"""

CHANGES = """
ALTER TABLE memsvc.changes ADD COLUMN IF NOT EXISTS rereading_id uuid;
COMMENT ON COLUMN memsvc.changes.rereading_id IS 'The re-reading that it is a part of; null: of none.';
ALTER TABLE memsvc.changes DROP CONSTRAINT IF EXISTS changes_rereading;
ALTER TABLE memsvc.changes ADD CONSTRAINT changes_rereading
  FOREIGN KEY (user_id, rereading_id) REFERENCES memsvc.rereadings (user_id, rereading_id) NOT VALID;
"""

INDEX = "memsvc.changes (user_id, rereading_id, recorded_at) WHERE rereading_id IS NOT NULL"


def upgrade() -> None:
    lock(op.get_bind(), "users", "extractions", "changes")
    for script in (REREADINGS, PLACES, CHANGES):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.changes_of_rereading")
        op.execute(f"CREATE INDEX CONCURRENTLY changes_of_rereading ON {INDEX}")
        op.execute("ALTER TABLE memsvc.changes VALIDATE CONSTRAINT changes_rereading")
        op.execute("SET lock_timeout = '800ms'")
