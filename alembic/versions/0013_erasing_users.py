"""Erasing whole users: which of them are being erased, what has gone so far, and what the audit log tells of it.

Revision: 0013, after 0012. The index keeps foreign keys from reading all of a user's changes for each one that is
deleted. CONCURRENTLY runs outside a transaction; an index that a killed build left invalid is dropped first, so the
migration can simply be run again.
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.users
  ADD COLUMN IF NOT EXISTS erasing_since timestamptz,
  ADD COLUMN IF NOT EXISTS erased_rows jsonb NOT NULL DEFAULT '{}'
    CONSTRAINT users_erased_rows_object CHECK (jsonb_typeof(erased_rows) = 'object');
COMMENT ON COLUMN memsvc.users.erasing_since IS
  'Since when the user is being erased: nobody acts for the user any more. Null: as usual.';
COMMENT ON COLUMN memsvc.users.erased_rows IS 'How many rows of each table are erased so far.';
ALTER TABLE memsvc.audit_log
  ADD COLUMN IF NOT EXISTS details jsonb NOT NULL DEFAULT '{}'
    CONSTRAINT audit_log_details_object CHECK (jsonb_typeof(details) = 'object');
COMMENT ON COLUMN memsvc.audit_log.details IS
  'Of a user''s erasure: by which door it was asked for, and how many rows of each table went. No names, no text.';
CREATE INDEX IF NOT EXISTS users_erasing ON memsvc.users (erasing_since) WHERE erasing_since IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_log_erasures ON memsvc.audit_log (user_id)
  WHERE action IN ('user.erase', 'user.erased');
"""
SCOPE = """
ALTER TABLE memsvc.api_keys DROP CONSTRAINT IF EXISTS api_keys_scopes_check;
ALTER TABLE memsvc.api_keys ADD CONSTRAINT api_keys_scopes_check
  CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'forget', 'admin']);
COMMENT ON COLUMN memsvc.api_keys.scopes IS 'What it may do: read, write, forget (erase memories), admin.';
"""
# As in 0012: ANALYZE copies values into pg_statistic, where names would outlive their rows.
PRIVATE = {
    "users": ("external_id", "name"),
    "api_keys": ("label",),
    "dramatiq_queue": ("message",),
    **dict.fromkeys(
        ("changes", "node_versions", "edge_versions", "aliases", "merges", "source_links"), ("asserted_by",)
    ),
}


def upgrade() -> None:
    op.execute(COLUMNS)
    op.execute(SCOPE)
    for table, columns in PRIVATE.items():
        for column in columns:
            op.execute(f"ALTER TABLE memsvc.{table} ALTER COLUMN {column} SET STATISTICS 0")
            op.execute(f"SELECT pg_clear_attribute_stats('memsvc', '{table}', '{column}', false)")
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.changes_undone")
        op.execute(
            "CREATE INDEX CONCURRENTLY changes_undone ON memsvc.changes (user_id, undoes) WHERE undoes IS NOT NULL"
        )
        op.execute("SET lock_timeout = '800ms'")
