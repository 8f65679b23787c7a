"""Apps, users, keys, the keys of identity tokens, and the audit log.

Revision: 0001, the first.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.identity_keys (
  key_id text PRIMARY KEY,
  inner_pad bytea NOT NULL CHECK (octet_length(inner_pad) = 64),
  outer_pad bytea NOT NULL CHECK (octet_length(outer_pad) = 64),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  retired_at timestamptz
);
COMMENT ON TABLE memsvc.identity_keys IS
  'Keys that identity tokens are checked with (HMAC-SHA256); readable by memsvc_owner only, through current_user_id().';
COMMENT ON COLUMN memsvc.identity_keys.key_id IS 'Named in each token; the first half of the secret''s sha256.';
COMMENT ON COLUMN memsvc.identity_keys.inner_pad IS 'The secret, padded to 64 bytes, xor 0x36 (RFC 2104).';
COMMENT ON COLUMN memsvc.identity_keys.outer_pad IS 'The secret, padded to 64 bytes, xor 0x5c (RFC 2104).';
COMMENT ON COLUMN memsvc.identity_keys.created_at IS 'When tokens of this key began to count.';
COMMENT ON COLUMN memsvc.identity_keys.retired_at IS 'When they ceased to; null while they count.';

CREATE TABLE memsvc.apps (
  app_id uuid PRIMARY KEY DEFAULT uuidv7(),
  name text NOT NULL UNIQUE CHECK (name <> '' AND length(name) <= 200),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE memsvc.apps IS 'An application; its keys may act for its users and no others.';
COMMENT ON COLUMN memsvc.apps.app_id IS 'Stable id.';
COMMENT ON COLUMN memsvc.apps.name IS 'Unique name, for people and the command line.';
COMMENT ON COLUMN memsvc.apps.created_at IS 'When it was created.';

CREATE TABLE memsvc.users (
  user_id uuid PRIMARY KEY DEFAULT uuidv7(),
  app_id uuid NOT NULL REFERENCES memsvc.apps (app_id),
  external_id text NOT NULL CHECK (external_id <> '' AND length(external_id) <= 200),
  name text NOT NULL CHECK (name <> '' AND length(name) <= 200),
  time_zone text NOT NULL DEFAULT 'UTC',
  language text NOT NULL DEFAULT 'english',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (app_id, external_id),
  UNIQUE (app_id, user_id)
);
COMMENT ON TABLE memsvc.users IS 'An owner of memories. Everything that is remembered belongs to exactly one user.';
COMMENT ON COLUMN memsvc.users.user_id IS 'Leads every key of every table with memories.';
COMMENT ON COLUMN memsvc.users.app_id IS 'The application that this user belongs to.';
COMMENT ON COLUMN memsvc.users.external_id IS 'What the application calls the user; unique within it.';
COMMENT ON COLUMN memsvc.users.name IS 'What people call the user.';
COMMENT ON COLUMN memsvc.users.time_zone IS 'IANA zone that times without an offset are read in.';
COMMENT ON COLUMN memsvc.users.language IS 'Text search configuration that stems the user''s words.';
COMMENT ON COLUMN memsvc.users.created_at IS 'When the user was added.';

CREATE TABLE memsvc.api_keys (
  key_id text PRIMARY KEY CHECK (key_id <> ''),
  app_id uuid NOT NULL REFERENCES memsvc.apps (app_id),
  user_id uuid,
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'admin']),
  label text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  FOREIGN KEY (app_id, user_id) REFERENCES memsvc.users (app_id, user_id)
);
COMMENT ON TABLE memsvc.api_keys IS
  'Keys as id.secret. The secret has 128 random bits, so its sha256 is kept and looked up by id (argon2 would '
  'add 185 ms).';
COMMENT ON COLUMN memsvc.api_keys.key_id IS 'Public half of the key.';
COMMENT ON COLUMN memsvc.api_keys.app_id IS 'The application whose users it may act for.';
COMMENT ON COLUMN memsvc.api_keys.user_id IS 'The only user it may act for; null: any user of the app.';
COMMENT ON COLUMN memsvc.api_keys.secret_hash IS 'sha256 of the secret half.';
COMMENT ON COLUMN memsvc.api_keys.scopes IS 'read, write, admin.';
COMMENT ON COLUMN memsvc.api_keys.label IS 'What the key is for, in its maker''s words.';
COMMENT ON COLUMN memsvc.api_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN memsvc.api_keys.expires_at IS 'When it stops working by itself; null: never.';
COMMENT ON COLUMN memsvc.api_keys.revoked_at IS 'When it was revoked; null while it works.';

CREATE TABLE memsvc.audit_log (
  audit_id uuid PRIMARY KEY DEFAULT uuidv7(),
  app_id uuid,
  user_id uuid,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL DEFAULT '',
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE memsvc.audit_log IS
  'Who did what to accounts and keys. Holds no text of memories; written by definer functions only.';
COMMENT ON COLUMN memsvc.audit_log.audit_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.audit_log.app_id IS 'The application concerned.';
COMMENT ON COLUMN memsvc.audit_log.user_id IS 'The user concerned.';
COMMENT ON COLUMN memsvc.audit_log.actor IS 'The database login that acted.';
COMMENT ON COLUMN memsvc.audit_log.action IS 'For example user.create, key.create, key.revoke, identity_key.retire.';
COMMENT ON COLUMN memsvc.audit_log.subject IS 'Id of what was acted on.';
COMMENT ON COLUMN memsvc.audit_log.recorded_at IS 'When.';

CREATE TABLE memsvc.applied_sql (
  path text PRIMARY KEY,
  sha256 text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE memsvc.applied_sql IS 'Which text of sql/functions, sql/views and sql/policies this database has.';
COMMENT ON COLUMN memsvc.applied_sql.path IS 'Path below sql/.';
COMMENT ON COLUMN memsvc.applied_sql.sha256 IS 'Digest of the applied text; another digest means: apply again.';
COMMENT ON COLUMN memsvc.applied_sql.applied_at IS 'When it was applied last.';
"""

# No policy yet = no rows: sql/policies/ opens what each role may see, after the migrations.
ROW_SECURITY = """
ALTER TABLE memsvc.identity_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.apps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.api_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.audit_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ROW_SECURITY)
