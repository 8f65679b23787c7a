"""Annotations of facts: evidence may say that a fact was validated or is disputed.

Revision: 0041, after 0040. The older version writes none of the new stances, and reads evidence by the stance that it
means, so it passes over them.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

STANCES = """
ALTER TABLE memsvc.source_links DROP CONSTRAINT IF EXISTS source_links_stance_check;
ALTER TABLE memsvc.source_links ADD CONSTRAINT source_links_stance_check
CHECK (stance IN ('supports', 'ends', 'validated', 'disputed')) NOT VALID;
COMMENT ON COLUMN memsvc.source_links.stance IS
  'supports; ends: it says that this is not so, or not any more, and is the reason why the version was closed; '
  'validated, disputed: it gives the reason why somebody marked a fact so.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "source_links")
    op.execute(STANCES)
    with op.get_context().autocommit_block():  # writers go on: a validation keeps nobody off
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.source_links VALIDATE CONSTRAINT source_links_stance_check")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
