"""Feeds: what is read again by itself, and the ingests that are its runs.

Revision: 0050, after 0049. The older version sets no ingest's feed_id and runs no feeds.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

FEEDS = """
CREATE TABLE IF NOT EXISTS memsvc.feeds (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  feed_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('folder', 'url', 'ics', 'imap', 'push')),
  identifier text NOT NULL CHECK (identifier <> '' AND length(identifier) <= 4000),
  name text NOT NULL CHECK (name <> '' AND length(name) <= 200),
  settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
  secret text CHECK (length(secret) <= 4000),
  salt bytea CHECK (length(salt) = 16),
  by_operator boolean NOT NULL DEFAULT false,
  key_id text,
  rule text CHECK (rule <> '' AND length(rule) <= 200),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'failed')),
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  last_error text,
  last_run timestamptz,
  next_run timestamptz,
  run_id uuid,
  cursor jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(cursor) = 'object'),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, feed_id),
  CONSTRAINT feeds_rule CHECK ((kind = 'push') = (rule IS NULL)),
  CONSTRAINT feeds_salt CHECK ((kind = 'push') = (salt IS NOT NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS feeds_identifier ON memsvc.feeds (user_id, kind, md5(identifier));
CREATE INDEX IF NOT EXISTS feeds_pushed ON memsvc.feeds (feed_id) WHERE kind = 'push';
CREATE INDEX IF NOT EXISTS feeds_due ON memsvc.feeds (next_run NULLS FIRST)
WHERE state = 'active' AND rule IS NOT NULL;
COMMENT ON TABLE memsvc.feeds IS
  'What is read again by itself: folders, addresses, calendars and mailboxes, and what other programs push. One '
  'process claims a row when it is due, asks for the ingest that reads it, and says when it is due next, at once.';
COMMENT ON COLUMN memsvc.feeds.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.feeds.feed_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.feeds.kind IS 'folder, url, ics, imap or push.';
COMMENT ON COLUMN memsvc.feeds.identifier IS
  'What is read: a path, an address, user@host:port/mailbox; of a push, its name. Unique among a user''s of one kind.';
COMMENT ON COLUMN memsvc.feeds.name IS 'For people.';
COMMENT ON COLUMN memsvc.feeds.settings IS 'How it is read: as, me, not_me, since, title; of a mailbox, the server.';
COMMENT ON COLUMN memsvc.feeds.secret IS
  'Where the operator keeps the password: env:NAME or file:PATH. Never the password; null: it needs none.';
COMMENT ON COLUMN memsvc.feeds.salt IS
  'Of a push: with it, its secret is computed from the service''s own. The secret itself is stored nowhere.';
COMMENT ON COLUMN memsvc.feeds.by_operator IS 'Added on the command line, so it may read any path of the server.';
COMMENT ON COLUMN memsvc.feeds.key_id IS 'The key whose limit of messages it counts against; null: of none.';
COMMENT ON COLUMN memsvc.feeds.rule IS 'When it is read: RRULE, "every 2 hours" or cron. Null: it is pushed.';
COMMENT ON COLUMN memsvc.feeds.state IS 'active; paused by a person; failed: too often in a row, see last_error.';
COMMENT ON COLUMN memsvc.feeds.failures IS 'How many runs in a row have failed.';
COMMENT ON COLUMN memsvc.feeds.last_error IS 'The code of the last failure since a run succeeded.';
COMMENT ON COLUMN memsvc.feeds.last_run IS 'When the last run ended.';
COMMENT ON COLUMN memsvc.feeds.next_run IS 'When it is due; null: not computed yet, or it is not active.';
COMMENT ON COLUMN memsvc.feeds.run_id IS 'The ingest that reads it now; null: none.';
COMMENT ON COLUMN memsvc.feeds.cursor IS 'How far it was read: of a mailbox, the last UID; of a calendar, its events.';
COMMENT ON COLUMN memsvc.feeds.created_at IS 'When it was added; rules count from here.';
ALTER TABLE memsvc.feeds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

PRIVATE = ("identifier", "name", "settings", "secret", "salt", "cursor")

RUNS = """
ALTER TABLE memsvc.ingests ADD COLUMN IF NOT EXISTS feed_id uuid;
COMMENT ON COLUMN memsvc.ingests.feed_id IS 'The feed whose run it is; null: somebody sent it.';
CREATE INDEX IF NOT EXISTS ingests_of_feed ON memsvc.ingests (user_id, feed_id, ingest_id) WHERE feed_id IS NOT NULL;
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "ingests")
    op.execute(FEEDS)
    op.execute(RUNS)
    for column in PRIVATE:
        op.execute(f"ALTER TABLE memsvc.feeds ALTER COLUMN {column} SET STATISTICS 0")
