"""What fails holds up less: outages use up no try of a job, and a turn that cannot be read stops no other.

Revision: 0033, after 0032.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

OUTAGES = """
ALTER TABLE memsvc.jobs ADD COLUMN outages smallint NOT NULL DEFAULT 0 CHECK (outages >= 0);
COMMENT ON COLUMN memsvc.jobs.outages IS
  'Of the attempts, those that met what passes by itself (a model that is down): they delay a job and never end it.';
"""

PASSED_OVER = """
ALTER TABLE memsvc.extractions ADD COLUMN passed_over uuid[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN memsvc.extractions.passed_over IS
  'Passages before upto that it could not read; each has a job of its own, in which it is tried again.';
COMMENT ON COLUMN memsvc.jobs.subject_id IS
  'What it is about: a source; of extract also a passage that was passed over; of erase the erasure; else the user.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "extractions")
    op.execute(OUTAGES)
    op.execute(PASSED_OVER)
