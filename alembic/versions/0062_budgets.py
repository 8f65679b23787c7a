"""What an app and its users may use in a day: messages, bytes, tokens and cost.

Revision: 0062, after 0061. A table that the older version does not know.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

BUDGETS = """
CREATE TABLE IF NOT EXISTS memsvc.budgets (
  budget_id uuid PRIMARY KEY DEFAULT uuidv7(),
  app_id uuid NOT NULL REFERENCES memsvc.apps (app_id) ON DELETE CASCADE,
  whose text NOT NULL CHECK (whose IN ('app', 'each', 'user')),
  of_user uuid REFERENCES memsvc.users (user_id) ON DELETE CASCADE,
  messages_per_day bigint CHECK (messages_per_day > 0),
  bytes_per_day bigint CHECK (bytes_per_day > 0),
  tokens_per_day bigint CHECK (tokens_per_day > 0),
  cost_per_day numeric CHECK (cost_per_day > 0),
  day date NOT NULL DEFAULT '-infinity',
  messages bigint NOT NULL DEFAULT 0 CHECK (messages >= 0),
  bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  CONSTRAINT budgets_of_user CHECK ((whose = 'user') = (of_user IS NOT NULL)),
  CONSTRAINT budgets_once UNIQUE NULLS NOT DISTINCT (app_id, whose, of_user)
);
CREATE INDEX IF NOT EXISTS budgets_user ON memsvc.budgets (of_user) WHERE of_user IS NOT NULL;
COMMENT ON TABLE memsvc.budgets IS
  'What may be used in a day (UTC), and what was counted today: by all users of an app together, or by one user.';
COMMENT ON COLUMN memsvc.budgets.budget_id IS 'Time-ordered.';
COMMENT ON COLUMN memsvc.budgets.app_id IS 'The app.';
COMMENT ON COLUMN memsvc.budgets.whose IS
  'app: all users of the app together; each: every user who has no limit of their own; user: one user.';
COMMENT ON COLUMN memsvc.budgets.of_user IS 'The user; null: app or each.';
COMMENT ON COLUMN memsvc.budgets.messages_per_day IS 'The most messages; null: no limit, or that of each.';
COMMENT ON COLUMN memsvc.budgets.bytes_per_day IS
  'The most bytes of messages'' texts and of documents; null: no limit, or that of each.';
COMMENT ON COLUMN memsvc.budgets.tokens_per_day IS 'The most tokens of the language model; null: as above.';
COMMENT ON COLUMN memsvc.budgets.cost_per_day IS
  'The highest cost of the language model, in its server''s currency; null: as above.';
COMMENT ON COLUMN memsvc.budgets.day IS 'The day (UTC) to which the counts belong.';
COMMENT ON COLUMN memsvc.budgets.messages IS 'Messages stored on that day.';
COMMENT ON COLUMN memsvc.budgets.bytes IS 'Bytes stored on that day.';
ALTER TABLE memsvc.budgets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Make the table."""
    lock(op.get_bind(), "apps", "users")
    op.execute(BUDGETS)
