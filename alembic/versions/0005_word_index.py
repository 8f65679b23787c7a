"""The inverted index over both forms of words, built without blocking writers.

Revision: 0005, after 0004. CONCURRENTLY runs outside a transaction; an index that a killed build left invalid is
dropped first, so the migration can simply be run again.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for running transactions is what CONCURRENTLY does; it blocks nobody meanwhile.
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.passages_words")
        op.execute(
            "CREATE INDEX CONCURRENTLY passages_words ON memsvc.passages USING gin (user_id, tsv, tsv_simple) "
            "WITH (fastupdate = off)"
        )
        op.execute("SET lock_timeout = '800ms'")
