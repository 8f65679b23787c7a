"""How far the search for nodes that are described alike has come, and an index of vectors by when they were made.

Revision: 0042, after 0041. The mark begins empty, so that each night compares some of the cards that are there already,
the oldest first. The index is built for each partition without blocking writers; one that a killed build left is built
anew, so the migration can simply be run again.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

PARTITIONS = 8
COLUMNS = "(user_id, model_id, created_at, passage_id)"
MARKS = """
CREATE TABLE IF NOT EXISTS memsvc.cards_compared (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  model_id smallint NOT NULL,
  made_at timestamptz NOT NULL,
  passage_id uuid NOT NULL,
  PRIMARY KEY (user_id, model_id)
);
COMMENT ON TABLE memsvc.cards_compared IS
  'How far sleep has compared a user''s cards by one model: all whose vectors are older are done.';
COMMENT ON COLUMN memsvc.cards_compared.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.cards_compared.model_id IS 'By whose vectors; the model may be gone.';
COMMENT ON COLUMN memsvc.cards_compared.made_at IS 'embeddings.created_at up to which all are done.';
COMMENT ON COLUMN memsvc.cards_compared.passage_id IS 'Of those of that very time, up to this id.';
ALTER TABLE memsvc.cards_compared ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.sleep_runs ADD COLUMN IF NOT EXISTS nightly boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN memsvc.sleep_runs.nightly IS
  'Whether it is recurring work: it goes on from how far the runs before have come, and does a bounded part.';
COMMENT ON COLUMN memsvc.sleep_runs.examined IS 'What it looked at; of duplicates: pairs and cards that were compared.';
"""


INDEX = f"""
DROP INDEX IF EXISTS memsvc.embeddings_made;
CREATE INDEX embeddings_made ON ONLY memsvc.embeddings {COLUMNS};
"""


def upgrade() -> None:
    lock(op.get_bind(), "sleep_runs", "users", "embeddings")
    op.execute(MARKS)
    op.execute(INDEX)
    with op.get_context().autocommit_block():  # writers go on: a concurrent build keeps nobody off
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        for number in range(PARTITIONS):
            name = f"embeddings_{number}_made"
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON memsvc.embeddings_{number} {COLUMNS}")
            op.execute(f"ALTER INDEX memsvc.embeddings_made ATTACH PARTITION memsvc.{name}")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
