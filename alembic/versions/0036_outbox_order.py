"""What the transaction of an event is for now: readers remember which of them had ended, and wait for none.

Revision: 0036, after 0035. The comment of one column; the functions are in ``sql/functions/live/10_live.sql``.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

COMMENT = """
COMMENT ON COLUMN memsvc.outbox.transaction_id IS
  'Writing transaction: readers remember which had ended when they looked, so that a late commit is not passed by.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "outbox")
    op.execute(COMMENT)
