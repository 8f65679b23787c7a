"""What happens to secrets in text: a choice of the app, and a stricter one of the user.

Revision: 0061, after 0060. The older version stores text as it comes, as if nobody had chosen anything.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.apps
  ADD COLUMN IF NOT EXISTS policy jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(policy) = 'object');
ALTER TABLE memsvc.users
  ADD COLUMN IF NOT EXISTS policy jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(policy) = 'object');
COMMENT ON COLUMN memsvc.apps.policy IS
  'What happens to secrets in text of the app''s users: mask or refuse, by kind; other kinds are kept.';
COMMENT ON COLUMN memsvc.users.policy IS
  'The same as the user wants it: of each kind, the stricter of both counts.';
"""


def upgrade() -> None:
    """Add the columns; nothing is chosen in them."""
    lock(op.get_bind(), "apps", "users")
    op.execute(COLUMNS)
