"""Memories that nobody recalls can be archived; recall may be asked for these too.

Revision: 0052, after 0051. The new columns are nullable, so no row is rewritten. The older version archives nothing,
and makes scopes without the new attribute; it finds what the newer one has archived, by its words.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.passages
  ADD COLUMN IF NOT EXISTS archived_at timestamptz,
  ADD COLUMN IF NOT EXISTS archived_by uuid,
  ADD COLUMN IF NOT EXISTS restored_at timestamptz;
COMMENT ON COLUMN memsvc.passages.archived_at IS
  'Since when recall leaves it out unless asked, because nobody had recalled it for long; null: it does not.';
COMMENT ON COLUMN memsvc.passages.archived_by IS 'The run of sleep mode that archived it last.';
COMMENT ON COLUMN memsvc.passages.restored_at IS 'When it was last taken out of there; null: never.';
ALTER TABLE memsvc.users ADD COLUMN IF NOT EXISTS forgetting boolean;
COMMENT ON COLUMN memsvc.users.forgetting IS
  'Whether sleep mode archives what nobody recalls; null: as the service is set.';
"""

SCOPE = """
DO $$ BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = 'memsvc.scope'::regclass AND attname = 'include_archived' AND NOT attisdropped
  ) THEN
    ALTER TYPE memsvc.scope ADD ATTRIBUTE include_archived boolean;
  END IF;
END $$
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "passages")
    op.execute(COLUMNS)
    op.execute(SCOPE)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.passages_archived")
        op.execute(
            "CREATE INDEX CONCURRENTLY passages_archived ON memsvc.passages (user_id, archived_by) "
            "WHERE archived_at IS NOT NULL"
        )
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
