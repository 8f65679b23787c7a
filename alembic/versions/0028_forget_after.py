"""Conversations that are to be forgotten when they have been silent for a while.

Revision: 0028, after 0025.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0028"
down_revision = "0025"
branch_labels = None
depends_on = None

COLUMN = """
ALTER TABLE memsvc.sources
  ADD COLUMN forget_after interval CHECK (forget_after BETWEEN interval '1 hour' AND interval '8760 hours');
CREATE INDEX sources_to_forget ON memsvc.sources (user_id, source_id) WHERE forget_after IS NOT NULL;
COMMENT ON COLUMN memsvc.sources.forget_after IS
  'It is erased when its session ends, or when nothing came for so long; null: it stays.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "sources")
    op.execute(COLUMN)
