"""Types of the ontology that users add, beside the core; and an index of nodes by type.

Revision: 0015, after 0014. The foreign keys to the names of types go: a name is unique for each user only. Triggers of
sql/functions check it instead (095_ontology.sql); until those are there, nobody can have a type of their own, and
write_history checks each name as it did. CONCURRENTLY runs outside a transaction: the index comes first, one that a
killed build left invalid is built again, and the rest is one transaction that can simply be run again.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from memsvc.db.locks import lock

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

CORE = "00000000-0000-0000-0000-000000000000"
SHAPES = {"node_types": "^[A-Z][A-Za-z0-9]{0,59}$", "edge_types": "^[A-Z][A-Z0-9_]{0,59}$"}

FREED = """
ALTER TABLE memsvc.node_versions DROP CONSTRAINT node_versions_type_fkey;
ALTER TABLE memsvc.edges DROP CONSTRAINT edges_type_fkey;
"""

OWNED = """
ALTER TABLE memsvc.{table}
  ADD COLUMN user_id uuid NOT NULL DEFAULT '{core}',
  ADD COLUMN parent text,
  ADD COLUMN status text NOT NULL DEFAULT 'core'
    CONSTRAINT {table}_status CHECK (status IN ('core', 'proposed', 'approved', 'rejected', 'deprecated')),
  ADD COLUMN reason text NOT NULL DEFAULT '',
  ADD COLUMN proposed_by text,
  ADD COLUMN proposed_at timestamptz,
  ADD COLUMN decided_by text,
  ADD COLUMN decided_at timestamptz,
  ADD COLUMN own_user_id uuid GENERATED ALWAYS AS (nullif(user_id, '{core}')) STORED,
  DROP CONSTRAINT {table}_pkey,
  ADD PRIMARY KEY (user_id, name),
  ADD CONSTRAINT {table}_user_id_fkey FOREIGN KEY (own_user_id) REFERENCES memsvc.users (user_id),
  ADD CONSTRAINT {table}_shape CHECK (name ~ '{shape}'),
  ADD CONSTRAINT {table}_described CHECK (btrim(description) <> ''),
  ADD CONSTRAINT {table}_core CHECK ((user_id = '{core}') = (status = 'core')),
  ADD CONSTRAINT {table}_proposed CHECK (
    (status = 'core') = (proposed_by IS NULL) AND (proposed_by IS NULL) = (proposed_at IS NULL)
  );
CREATE UNIQUE INDEX {table}_of_one_spelling ON memsvc.{table} (user_id, lower(name));
CREATE INDEX {table}_owned ON memsvc.{table} (own_user_id) WHERE own_user_id IS NOT NULL;
ALTER TABLE memsvc.{table}
  ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN category SET STATISTICS 0,
  ALTER COLUMN description SET STATISTICS 0, ALTER COLUMN parent SET STATISTICS 0,
  ALTER COLUMN reason SET STATISTICS 0;
COMMENT ON COLUMN memsvc.{table}.user_id IS 'Owner; all zeros: the core, the same for everybody.';
COMMENT ON COLUMN memsvc.{table}.parent IS 'The core type that it refines; null: none.';
COMMENT ON COLUMN memsvc.{table}.status IS
  'core; proposed: it waits and cannot be used; approved; rejected; deprecated: what has it keeps it, nothing new gets '
  'it.';
COMMENT ON COLUMN memsvc.{table}.reason IS 'Why it was proposed, for people.';
COMMENT ON COLUMN memsvc.{table}.proposed_by IS 'Who proposed it: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.{table}.proposed_at IS 'When.';
COMMENT ON COLUMN memsvc.{table}.decided_by IS 'Who approved, rejected or deprecated it last.';
COMMENT ON COLUMN memsvc.{table}.decided_at IS 'When.';
COMMENT ON COLUMN memsvc.{table}.own_user_id IS
  'The owner again, null for the core: what refers to users, so that no type outlives its owner.';
"""

COMMENTS = """
ALTER TABLE memsvc.edge_types ALTER COLUMN from_types SET STATISTICS 0, ALTER COLUMN to_types SET STATISTICS 0;
COMMENT ON TABLE memsvc.node_types IS
  'Ontology: what a node can be. The core, the same for everybody, and what users added for themselves.';
COMMENT ON TABLE memsvc.edge_types IS
  'Ontology: how two nodes can be related. The core, the same for everybody, and what users added for themselves.';
"""

# Notes are listed and nodes counted by it. Counting facts by type would gain nothing from one like it.
INDEXES = {
    "node_versions_of_type": "memsvc.node_versions (user_id, type, node_id) INCLUDE (valid_from, valid_to) "
    "WHERE recorded_to = 'infinity'",
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for running transactions is what CONCURRENTLY does; it blocks nobody meanwhile.
        op.execute("SET lock_timeout = '5min'")
        for name, what in INDEXES.items():
            valid = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
            if not op.get_bind().execute(valid, {"name": f"memsvc.{name}"}).scalar():
                op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
                op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {what}")
        op.execute("SET lock_timeout = '800ms'")
    lock(op.get_bind(), "node_types", "edge_types", "node_versions", "edges", "users")
    op.execute(FREED)
    for table, shape in SHAPES.items():
        op.execute(OWNED.format(table=table, core=CORE, shape=shape))
    op.execute(COMMENTS)
