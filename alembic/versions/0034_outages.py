"""Outages: failures that pass by themselves are counted apart, so that they use up no try of a job.

Revision: 0034, after 0031.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0034"
down_revision = "0031"
branch_labels = None
depends_on = None

OUTAGES = """
ALTER TABLE memsvc.jobs ADD COLUMN outages smallint NOT NULL DEFAULT 0 CHECK (outages >= 0);
COMMENT ON COLUMN memsvc.jobs.outages IS
  'Of the attempts, those that met what passes by itself (a model that is down): they delay a job and never end it.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs")
    op.execute(OUTAGES)
