"""Turns that come by a chat: ids of calls, so that a result may come later, and the messages that say the same.

Revision: 0056, after 0055. The older version stores calls and turns without the new columns, which have defaults.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.tool_calls ADD COLUMN IF NOT EXISTS call_id text
CHECK (call_id <> '' AND length(call_id) <= 400);
ALTER TABLE memsvc.tool_calls ALTER COLUMN call_id SET STATISTICS 0;
COMMENT ON COLUMN memsvc.tool_calls.call_id IS
  'The client''s id of the call, unique in the turn; null: it gave none.';
ALTER TABLE memsvc.turns
  ADD COLUMN IF NOT EXISTS chat_id uuid,
  ADD COLUMN IF NOT EXISTS chat_messages text [] NOT NULL DEFAULT '{}';
ALTER TABLE memsvc.turns ALTER COLUMN chat_messages SET STATISTICS 0;
COMMENT ON COLUMN memsvc.turns.chat_id IS 'The chat that it happened in, which is stored too; null: in none.';
COMMENT ON COLUMN memsvc.turns.chat_messages IS
  'Ids of the user''s messages in that chat that it is about: erasing one, or its answer, erases the turn.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "turns", "tool_calls")
    op.execute(COLUMNS)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.turns_chat")
        op.execute("CREATE INDEX CONCURRENTLY turns_chat ON memsvc.turns (user_id, chat_id) WHERE chat_id IS NOT NULL")
        op.execute("SET lock_timeout = '800ms'")
