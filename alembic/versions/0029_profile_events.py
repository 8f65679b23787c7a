"""Events of the profile: live clients hear of a block that says something else.

Revision: 0029, after 0028.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

EVENTS = """
ALTER TABLE memsvc.outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (
    kind IN (
      'passages.added', 'source.completed', 'memory.erased', 'graph.changed', 'memory.recalled', 'profile.changed'
    )
  ) NOT VALID;
ALTER TABLE memsvc.outbox VALIDATE CONSTRAINT outbox_kind_check;
COMMENT ON COLUMN memsvc.outbox.kind IS
  'passages.added, source.completed, memory.erased, graph.changed, memory.recalled or profile.changed.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS
  'The source concerned, the erasure, the change, the recall or the block of the profile.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "outbox")
    op.execute(EVENTS)
