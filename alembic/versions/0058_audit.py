"""Who did what, by which key and through which door; and how often each key is used a day.

Revision: 0058, after 0057. New columns that the older version leaves empty, and a table that it does not know.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.audit_log
  ADD COLUMN IF NOT EXISTS door text CHECK (door <> '' AND length(door) <= 20),
  ADD COLUMN IF NOT EXISTS key_id text CHECK (key_id <> '' AND length(key_id) <= 100);
CREATE INDEX IF NOT EXISTS audit_log_of_app ON memsvc.audit_log (app_id, audit_id);
CREATE INDEX IF NOT EXISTS audit_log_old ON memsvc.audit_log (recorded_at);
COMMENT ON TABLE memsvc.audit_log IS
  'Who did what to accounts, keys, models and whole memories: ids and counts, no text; written by definer functions.';
COMMENT ON COLUMN memsvc.audit_log.app_id IS 'The application concerned; null: the whole service.';
COMMENT ON COLUMN memsvc.audit_log.door IS
  'Through which door: api, page, cli; null: a worker, or an operator with a login of the database.';
COMMENT ON COLUMN memsvc.audit_log.key_id IS 'The key that acted, without its secret; null: no key was needed.';
COMMENT ON COLUMN memsvc.audit_log.action IS
  'For example user.create, key.create, key.revoke, memory.erase, model.switch, identity_key.retire.';
COMMENT ON COLUMN memsvc.audit_log.details IS
  'What cannot be looked up later: counts by table, kinds, scopes, and the interface of a request.';
"""

USE = """
CREATE TABLE IF NOT EXISTS memsvc.key_days (
  key_id text NOT NULL REFERENCES memsvc.api_keys (key_id) ON DELETE CASCADE,
  day date NOT NULL,
  requests bigint NOT NULL CHECK (requests > 0),
  last_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, day)
);
CREATE INDEX IF NOT EXISTS key_days_old ON memsvc.key_days (day);
COMMENT ON TABLE memsvc.key_days IS 'How many requests each key made on a day, with its tokens; no text, no addresses.';
COMMENT ON COLUMN memsvc.key_days.key_id IS 'Public half of the key.';
COMMENT ON COLUMN memsvc.key_days.day IS 'The day (UTC).';
COMMENT ON COLUMN memsvc.key_days.requests IS 'How many requests it made. A process that dies loses the last minute.';
COMMENT ON COLUMN memsvc.key_days.last_at IS 'When it made the last one.';
ALTER TABLE memsvc.key_days ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Add the columns, then the table."""
    lock(op.get_bind(), "audit_log", "api_keys")
    op.execute(COLUMNS)
    op.execute(USE)
