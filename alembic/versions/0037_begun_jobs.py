"""A worker's death counts for the jobs that it had begun, and a job that failed by deaths is begun anew by itself.

Revision: 0037, after 0036. Columns without rows to rewrite; an older process writes beside it.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

RESTARTS = """
ALTER TABLE memsvc.jobs ADD COLUMN restarts smallint NOT NULL DEFAULT 0 CHECK (restarts >= 0);
COMMENT ON COLUMN memsvc.jobs.restarts IS
  'How often it was begun anew by itself after it had failed as worker_died.';
COMMENT ON COLUMN memsvc.jobs.run_after IS
  'Not to be tried before; of a job that failed as worker_died: when it is begun anew.';
"""
DEATHS = """
COMMENT ON COLUMN memsvc.dramatiq_queue.consumed_at IS
  'Since when a worker is at its job; empty while it is only fetched.';
COMMENT ON COLUMN memsvc.dramatiq_queue.deliveries IS
  'How many workers died, or broke off, while they were at its job.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs")
    op.execute(RESTARTS)
    op.execute(DEATHS)
