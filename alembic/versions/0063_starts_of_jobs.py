"""The job itself counts the workers that died at it, whichever server carries its messages.

Revision: 0063, after 0062. A column without rows to rewrite; an older process writes beside it.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

STARTS = """
ALTER TABLE memsvc.jobs ADD COLUMN IF NOT EXISTS starts smallint NOT NULL DEFAULT 0 CHECK (starts >= 0);
COMMENT ON COLUMN memsvc.jobs.starts IS
  'How many workers began it since it last ended or failed: the one at work, and those that died at it.';
COMMENT ON COLUMN memsvc.jobs.started_at IS 'When a worker last began it.';
COMMENT ON COLUMN memsvc.dramatiq_queue.consumed_at IS 'Unused since revision 0063; written by older workers.';
COMMENT ON COLUMN memsvc.dramatiq_queue.deliveries IS
  'Unused since revision 0063, where jobs.starts counts deaths; written by older workers.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "dramatiq_queue")
    op.execute(STARTS)
