"""Forgetting: what was erased, and no words of memories in the planner's statistics.

Revision: 0012, after 0011.
"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.erasures (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  erasure_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('message', 'passage', 'source', 'fact', 'node')),
  subject_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done')),
  requested_by text NOT NULL CHECK (requested_by <> '' AND length(requested_by) <= 200),
  counts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
  ids uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  verified_at timestamptz,
  leftovers jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(leftovers) = 'object'),
  PRIMARY KEY (user_id, erasure_id)
);
COMMENT ON TABLE memsvc.erasures IS 'Receipts: what was erased, by whom, when, and how much it was. Holds no text.';
COMMENT ON COLUMN memsvc.erasures.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.erasures.erasure_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.erasures.kind IS
  'message (all its parts), passage (one part), source, fact (an edge with all its versions) or node.';
COMMENT ON COLUMN memsvc.erasures.subject_id IS 'Id of what was erased: a passage, source, edge or node.';
COMMENT ON COLUMN memsvc.erasures.state IS 'pending: batches are left, which the job erase removes; done.';
COMMENT ON COLUMN memsvc.erasures.requested_by IS 'Who wanted it: user, app, or a name.';
COMMENT ON COLUMN memsvc.erasures.counts IS
  'Rows removed, by table; evidence_reduced: versions that stayed with less evidence.';
COMMENT ON COLUMN memsvc.erasures.ids IS 'Ids of the passages, sources, edges and nodes that went, for looking again.';
COMMENT ON COLUMN memsvc.erasures.created_at IS 'When the first batch was removed.';
COMMENT ON COLUMN memsvc.erasures.finished_at IS 'When the last batch was.';
COMMENT ON COLUMN memsvc.erasures.verified_at IS 'When somebody last looked for leftovers; null: nobody has.';
COMMENT ON COLUMN memsvc.erasures.leftovers IS 'What was found then: rows by table and column; empty: nothing.';
ALTER TABLE memsvc.erasures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
COMMENT ON TABLE memsvc.tombstones IS
  'What was erased and must not come back from texts that are older. Holds no text.';
COMMENT ON COLUMN memsvc.tombstones.digest IS
  'tombstone_digest() of what it was: a message''s identity, a fact''s ends, type and key, a name''s normal form.';
COMMENT ON COLUMN memsvc.tombstones.recorded_at IS 'When it was erased last.';

ALTER TABLE memsvc.jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE memsvc.jobs ADD CONSTRAINT jobs_kind_check CHECK (kind IN ('process', 'embed', 'tidy', 'erase')) NOT VALID;
ALTER TABLE memsvc.jobs VALIDATE CONSTRAINT jobs_kind_check;
COMMENT ON COLUMN memsvc.jobs.kind IS
  'process: bring a source up to now; embed: vectors for all that a user''s memories lack; tidy: upkeep of a user; '
  'erase: the rest of a large erasure.';
ALTER TABLE memsvc.outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE memsvc.outbox
  ADD CONSTRAINT outbox_kind_check CHECK (kind IN ('passages.added', 'source.completed', 'memory.erased')) NOT VALID;
ALTER TABLE memsvc.outbox VALIDATE CONSTRAINT outbox_kind_check;
COMMENT ON COLUMN memsvc.outbox.kind IS 'passages.added, source.completed or memory.erased.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS 'The source concerned, or the erasure.';
COMMENT ON COLUMN memsvc.jobs.subject_id IS
  'The source or erasure that it is about; the user, where it is about all.';
CREATE INDEX edges_to ON memsvc.edges (user_id, to_node);
CREATE INDEX edge_versions_of_edge ON memsvc.edge_versions (user_id, edge_id);
"""

# ANALYZE copies frequent values into pg_statistic, where they would outlive the row and reach dumps of the catalog. No
# plan needs them: these columns are never filtered by, or by whole keys only.
PRIVATE = {
    "passages": ("text", "caption", "speaker", "metadata", "session", "client_id", "tsv", "tsv_simple"),
    "sources": ("identifier", "title", "metadata"),
    "node_versions": ("label", "description", "data"),
    "edges": ("key",),
    "edge_versions": ("fact", "data"),
    "aliases": ("alias", "normal_form"),
    "merges": ("reason",),
    "terms": ("term",),
    "term_deltas": ("terms",),
}


def upgrade() -> None:
    op.execute(TABLES)
    for table, columns in PRIVATE.items():
        for column in columns:
            op.execute(f"ALTER TABLE memsvc.{table} ALTER COLUMN {column} SET STATISTICS 0")
            op.execute(f"SELECT pg_clear_attribute_stats('memsvc', '{table}', '{column}', false)")
