"""Lessons, plans and reflections as passages; contexts note which instructions they carried, and in which conversation.

Revision: 0055, after 0054. The older version recalls the kinds that it names, so it passes over the new ones, and notes
recalls without the new columns.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

KINDS = """
ALTER TABLE memsvc.passages DROP CONSTRAINT passages_kind_check;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_kind_check CHECK (
  kind IN (
    'message', 'trace', 'block', 'former', 'fact', 'card', 'note', 'instruction', 'task', 'chunk', 'summary',
    'reflection', 'critique', 'plan', 'turn', 'concept'
  )
) NOT VALID;
"""

# The owner of forced tables may not write rows of the core otherwise. A trigger replaces a user's type of this name.
TYPE = """
ALTER TABLE memsvc.node_types NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.node_types (name, category, description) VALUES
  ('Plan', 'procedure', 'Steps towards something to be done, with what came of each.')
ON CONFLICT (user_id, name) DO NOTHING;
ALTER TABLE memsvc.node_types FORCE ROW LEVEL SECURITY;
"""

CARRIED = """
ALTER TABLE memsvc.recall_events
  ADD COLUMN IF NOT EXISTS conversation_id uuid,
  ADD COLUMN IF NOT EXISTS instructions uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE memsvc.recall_events DROP CONSTRAINT IF EXISTS recall_events_conversation;
ALTER TABLE memsvc.recall_events ADD CONSTRAINT recall_events_conversation
  FOREIGN KEY (user_id, conversation_id) REFERENCES memsvc.sources (user_id, source_id)
  ON DELETE SET NULL (conversation_id) NOT VALID;
COMMENT ON COLUMN memsvc.recall_events.conversation_id IS
  'The conversation that the context was for; null: none that is known, or it is erased.';
COMMENT ON COLUMN memsvc.recall_events.instructions IS
  'Versions of instructions that the context carried whatever was recalled.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "sources", "passages", "recall_events", "node_types")
    for script in (KINDS, TYPE, CARRIED):
        op.execute(script)
    with op.get_context().autocommit_block():  # writers go on: a validation keeps nobody off
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.passages VALIDATE CONSTRAINT passages_kind_check")
        op.execute("ALTER TABLE memsvc.recall_events VALIDATE CONSTRAINT recall_events_conversation")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.recall_events_of_conversation")
        op.execute(
            "CREATE INDEX CONCURRENTLY recall_events_of_conversation ON memsvc.recall_events "
            "(user_id, conversation_id) WHERE conversation_id IS NOT NULL"
        )
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
