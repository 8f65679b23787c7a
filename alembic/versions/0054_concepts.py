"""Concepts that sleep mode writes: a type of nodes for them, and passages of a kind of their own.

Revision: 0054, after 0053. The older version recalls the kinds that it names, so it passes over these.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

KIND = """
ALTER TABLE memsvc.passages DROP CONSTRAINT IF EXISTS passages_kind_check;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_kind_check CHECK (
  kind IN (
    'message', 'trace', 'block', 'former', 'fact', 'card', 'note', 'instruction', 'task', 'chunk', 'summary',
    'reflection', 'turn', 'concept'
  )
) NOT VALID;
"""

# The owner has no policy there, so force is lifted for the row.
TYPE = """
ALTER TABLE memsvc.node_types NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.node_types (name, category, description) VALUES (
  'ConceptGroup', 'derived', 'What several things are examples of, or people and things that hang together.'
)
ON CONFLICT DO NOTHING;
ALTER TABLE memsvc.node_types FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "node_types", "passages")
    for script in (KIND, TYPE):
        op.execute(script)
    with op.get_context().autocommit_block():  # writers go on: a validation keeps nobody off
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.passages VALIDATE CONSTRAINT passages_kind_check")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
