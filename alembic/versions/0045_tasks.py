"""Tasks without a description as passages. Each user's job ``tidy`` files those that are there.

Revision: 0045, after 0044. The older version recalls the kinds that it names, so it passes over these.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

KIND = """
ALTER TABLE memsvc.passages DROP CONSTRAINT passages_kind_check;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_kind_check CHECK (
  kind IN (
    'message', 'trace', 'block', 'former', 'fact', 'card', 'note', 'instruction', 'task', 'chunk', 'summary',
    'reflection', 'turn'
  )
) NOT VALID;
COMMENT ON COLUMN memsvc.passages.kind IS
  'One of memsvc.passage_kinds, such as message, trace, fact or task; docs/recall.md says what they are.';
"""
# The owner of forced tables sees no rows without a policy. Tasks of types below Task are filed by the nightly tidy.
WORK = """
ALTER TABLE memsvc.node_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id)
SELECT u.user_id, 'tidy', u.user_id
FROM memsvc.users AS u
WHERE u.erasing_since IS NULL AND EXISTS (
  SELECT FROM memsvc.node_versions AS v
  WHERE v.user_id = u.user_id AND v.type = 'Task' AND v.recorded_to = 'infinity'
)
ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1;
ALTER TABLE memsvc.node_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "users", "passages", "node_versions")
    for script in (KIND, WORK):
        op.execute(script)
    with op.get_context().autocommit_block():  # writers go on: a validation keeps nobody off
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        op.execute("ALTER TABLE memsvc.passages VALIDATE CONSTRAINT passages_kind_check")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
