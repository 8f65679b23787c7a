"""What happens to secrets in text, chosen by app and user; and numbers that stay of users who were anonymised.

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

FIGURES = """
CREATE TABLE IF NOT EXISTS memsvc.anonymous_figures (
  app_id uuid NOT NULL REFERENCES memsvc.apps (app_id),
  month date NOT NULL CHECK (month = date_trunc('month', month)),
  what text NOT NULL CHECK (what ~ '^[a-z_]{1,40}$'),
  kind text NOT NULL CHECK (length(kind) <= 100),
  number bigint NOT NULL CHECK (number >= 0),
  PRIMARY KEY (app_id, month, what, kind)
);
COMMENT ON TABLE memsvc.anonymous_figures IS
  'Sums over users of an app who were anonymised: numbers by month and kind, without users, names, texts or days.';
COMMENT ON COLUMN memsvc.anonymous_figures.app_id IS 'The application.';
COMMENT ON COLUMN memsvc.anonymous_figures.month IS 'The first day of the month (UTC).';
COMMENT ON COLUMN memsvc.anonymous_figures.what IS
  'What is counted: users, messages, documents, turns, tool_calls, nodes, facts, recalls, tokens.';
COMMENT ON COLUMN memsvc.anonymous_figures.kind IS
  'Of which kind: role, type of the common ontology (own: any of the user''s), door, task; empty: all.';
COMMENT ON COLUMN memsvc.anonymous_figures.number IS 'The sum over all anonymised users.';
ALTER TABLE memsvc.anonymous_figures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Add the columns, in which nothing is chosen, then the table."""
    lock(op.get_bind(), "apps", "users")
    op.execute(COLUMNS)
    op.execute(FIGURES)
