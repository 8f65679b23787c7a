"""Indexes for looking at work: what ended lately, what failed, dead letters.

Revision: 0010, after 0009. CONCURRENTLY runs outside a transaction; an index that a killed build left invalid is
dropped first, so the migration can simply be run again.
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INDEXES = {
    "jobs_ended": "memsvc.jobs (state, finished_at) WHERE state <> 'pending'",
    "dramatiq_queue_rejected": "memsvc.dramatiq_queue (mtime) WHERE state = 'rejected'",
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for running transactions is what CONCURRENTLY does; it blocks nobody meanwhile.
        op.execute("SET lock_timeout = '5min'")
        for name, what in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {what}")
        op.execute("SET lock_timeout = '800ms'")
