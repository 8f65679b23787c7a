"""Limits of keys with what was used of them; and answers to requests that may be sent again.

Revision: 0027, after 0026.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

LIMITS = """
ALTER TABLE memsvc.api_keys
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
  ADD COLUMN messages_per_day integer CHECK (messages_per_day > 0),
  ADD COLUMN minute timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN requests integer NOT NULL DEFAULT 0 CHECK (requests >= 0),
  ADD COLUMN day date NOT NULL DEFAULT '-infinity',
  ADD COLUMN messages integer NOT NULL DEFAULT 0 CHECK (messages >= 0);
COMMENT ON COLUMN memsvc.api_keys.requests_per_minute IS 'Most requests in one minute of the clock; null: any number.';
COMMENT ON COLUMN memsvc.api_keys.messages_per_day IS 'Most messages in one day (UTC); null: any number.';
COMMENT ON COLUMN memsvc.api_keys.minute IS 'The minute that requests counts; only where there is a limit.';
COMMENT ON COLUMN memsvc.api_keys.requests IS 'Requests in that minute, refused ones too.';
COMMENT ON COLUMN memsvc.api_keys.day IS 'The day (UTC) that messages counts; only where there is a limit.';
COMMENT ON COLUMN memsvc.api_keys.messages IS 'Messages on that day.';
"""

ANSWERS = """
CREATE TABLE memsvc.answered_requests (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  request_key bytea NOT NULL CHECK (octet_length(request_key) = 32),
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  answer jsonb NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, request_key)
);
COMMENT ON TABLE memsvc.answered_requests IS
  'Changes that were asked for with an Idempotency-Key, so that sending them again does them once; for a day. No text.';
COMMENT ON COLUMN memsvc.answered_requests.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.answered_requests.request_key IS 'SHA-256 of the operation and the client''s key.';
COMMENT ON COLUMN memsvc.answered_requests.digest IS 'SHA-256 of what was asked for: the same key means the same.';
COMMENT ON COLUMN memsvc.answered_requests.answer IS 'The change: ids, outcomes and its time.';
COMMENT ON COLUMN memsvc.answered_requests.answered_at IS 'When.';
ALTER TABLE memsvc.answered_requests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "api_keys", "users")
    op.execute(LIMITS)
    op.execute(ANSWERS)
