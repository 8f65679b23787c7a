"""Recall may be asked for what was said in some roles.

Revision: 0044, after 0043. The older version makes scopes without the new attribute, which is null in them and narrows
nothing.
"""

from __future__ import annotations

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


ROLES = """
DO $$ BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = 'memsvc.scope'::regclass AND attname = 'roles' AND NOT attisdropped
  ) THEN
    ALTER TYPE memsvc.scope ADD ATTRIBUTE roles text[];
  END IF;
END $$
"""


def upgrade() -> None:
    op.execute(ROLES)
