"""What recall of names and facts compares: words of facts, and the trigrams of labels and names.

Revision: 0020, after 0019. Sentences of facts get the form that words of passages have, in the user's language; a
trigger keeps it. CONCURRENTLY runs outside a transaction; all of it can be run again.
"""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE memsvc.edge_versions ADD COLUMN IF NOT EXISTS tsv tsvector NOT NULL DEFAULT '';
ALTER TABLE memsvc.edge_versions ADD COLUMN IF NOT EXISTS length integer NOT NULL DEFAULT 0 CHECK (length >= 0);
ALTER TABLE memsvc.edge_versions ALTER COLUMN tsv SET STATISTICS 0;
COMMENT ON COLUMN memsvc.edge_versions.tsv IS
  'Stemmed lexemes of the fact, by the user''s language; kept by a trigger. What recall searches.';
COMMENT ON COLUMN memsvc.edge_versions.length IS 'Words of the fact with repetitions: document length of BM25.';
"""
# memsvc.to_words is there, and new: 0019 made it. The owner has no policy, so force is lifted.
WORDS = """
ALTER TABLE memsvc.edge_versions NO FORCE ROW LEVEL SECURITY;
UPDATE memsvc.edge_versions AS v
SET tsv = w.tsv, length = memsvc.word_count(w.tsv)
FROM (
  SELECT e.user_id, e.version_id, memsvc.to_words('stemmed', u.language, e.fact) AS tsv
  FROM memsvc.edge_versions AS e INNER JOIN memsvc.users AS u ON u.user_id = e.user_id
  WHERE e.length = 0
) AS w
WHERE w.user_id = v.user_id AND w.version_id = v.version_id;
ALTER TABLE memsvc.edge_versions FORCE ROW LEVEL SECURITY;
"""
# Without a pending list: reading one takes longer than the writes save. ARRAY[user_id], for no other index has that:
# where the planner takes a user for a small one, it would read all the user's rows by an index that begins with
# user_id.
INDEXES = {
    "edge_versions_words": "memsvc.edge_versions USING gin ((ARRAY[user_id]), tsv) WITH (fastupdate = off)",
    "node_versions_trigrams": (
        "memsvc.node_versions USING gin ((ARRAY[user_id]), label_form public.gin_trgm_ops) WITH (fastupdate = off)"
    ),
    "aliases_trigrams": (
        "memsvc.aliases USING gin ((ARRAY[user_id]), normal_form public.gin_trgm_ops) WITH (fastupdate = off)"
    ),
    "node_versions_past_labels": ("memsvc.node_versions (user_id, label_form, node_id) WHERE recorded_to < 'infinity'"),
}


def upgrade() -> None:
    op.execute(COLUMNS)
    op.execute(WORDS)
    with op.get_context().autocommit_block():
        # Waiting for running transactions is what CONCURRENTLY does; it blocks nobody meanwhile.
        op.execute("SET lock_timeout = '5min'")
        for name, what in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {what}")
        op.execute("SET lock_timeout = '800ms'")
