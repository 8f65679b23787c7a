"""Blocks in the archive are found by recall: sources and passages of their own kinds.

Revision: 0035, after 0034. Blocks that are there already are filed by a job of each user, for it takes a model and the
functions of this version. All of it can be run again.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

KINDS = """
ALTER TABLE memsvc.sources
  DROP CONSTRAINT sources_kind_check,
  ADD CONSTRAINT sources_kind_check CHECK (kind IN ('conversation', 'block')) NOT VALID;
ALTER TABLE memsvc.passages
  DROP CONSTRAINT passages_kind_check,
  ADD CONSTRAINT passages_kind_check CHECK (kind IN ('message', 'trace', 'block', 'former')) NOT VALID;
COMMENT ON TABLE memsvc.sources IS 'Where passages come from: conversations, and blocks of the profile in the archive.';
COMMENT ON COLUMN memsvc.sources.source_id IS 'Time-ordered id; of a block the block''s.';
COMMENT ON COLUMN memsvc.sources.kind IS 'conversation, or block (of the profile, in the archive).';
COMMENT ON COLUMN memsvc.passages.kind IS
  'message (recalled by default), trace (system, tool, thinking: kept, recalled when asked for), block (what a block '
  'of the profile says in the archive; recalled by default) or former (what it said there before; by known_at).';
COMMENT ON COLUMN memsvc.passages.ordinal IS 'Place of the message in its session, from 0; of a block its version.';
COMMENT ON COLUMN memsvc.passages.speaker IS 'Who said it, in the client''s words; of a block its name.';
"""
# A block is one user's. Unless the planner knows, it takes a block's versions for one row, and reads all of them by the
# index of their times where that of their numbers leads to the one that is wanted.
STATISTICS = """
CREATE STATISTICS IF NOT EXISTS memsvc.profile_versions_of_blocks (ndistinct, dependencies)
  ON user_id, block_id FROM memsvc.profile_versions;
COMMENT ON STATISTICS memsvc.profile_versions_of_blocks IS 'A block is one user''s.';
"""
# By themselves, for they read rows, however long that takes, and need no lock that stops anybody.
AFTERWARDS = (
    "ALTER TABLE memsvc.sources VALIDATE CONSTRAINT sources_kind_check",
    "ALTER TABLE memsvc.passages VALIDATE CONSTRAINT passages_kind_check",
    "ANALYZE memsvc.profile_versions",
)
# The owner of forced tables sees no rows without a policy, and a restored backup has none yet. Nobody else reads
# meanwhile, so only what blocks say now is looked at, which an index tells; whoever has nothing but past wordings in
# the archive gets them filed by the nightly tidy.
WORK = """
ALTER TABLE memsvc.profile_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id)
SELECT DISTINCT v.user_id, 'tidy', v.user_id
FROM memsvc.profile_versions AS v INNER JOIN memsvc.users AS u ON u.user_id = v.user_id
WHERE v.recorded_to = 'infinity' AND v.kind = 'archival' AND u.erasing_since IS NULL
ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1;
ALTER TABLE memsvc.profile_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "sources", "passages", "profile_versions", "users", "jobs")
    op.execute(KINDS)
    op.execute(WORK)
    op.execute(STATISTICS)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        for statement in AFTERWARDS:
            op.execute(statement)
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
