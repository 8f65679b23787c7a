"""Wishes of people: a user may not want to be remembered for a while, a key may add users, and what answers echo.

Revision: 0043, after 0042. The older version ignores the new columns: what it is sent during an upgrade it stores, also
for a user who has just paused memory.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

WISHES = """
ALTER TABLE memsvc.users ADD COLUMN IF NOT EXISTS paused_at timestamptz;
ALTER TABLE memsvc.users ADD COLUMN IF NOT EXISTS paused_until timestamptz;
COMMENT ON COLUMN memsvc.users.paused_at IS 'Since when no message is stored, on request; null: messages are stored.';
COMMENT ON COLUMN memsvc.users.paused_until IS 'Until when no new message is stored; null: until the user resumes.';
ALTER TABLE memsvc.recall_events ADD COLUMN IF NOT EXISTS echoed boolean[];
COMMENT ON COLUMN memsvc.recall_events.echoed IS
  'At the places of memories: whether words of it came back in the answer. Null: the answer was not seen.';
ALTER TABLE memsvc.api_keys DROP CONSTRAINT IF EXISTS api_keys_scopes_check;
ALTER TABLE memsvc.api_keys ADD CONSTRAINT api_keys_scopes_check
CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'forget', 'enroll', 'admin']) NOT VALID;
COMMENT ON COLUMN memsvc.api_keys.scopes IS
  'What it may do: read, write, forget (erase memories), enroll (add users on first use), admin.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "recall_events", "api_keys")
    op.execute(WISHES)
    op.execute("ALTER TABLE memsvc.api_keys VALIDATE CONSTRAINT api_keys_scopes_check")
