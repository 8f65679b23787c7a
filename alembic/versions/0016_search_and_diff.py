"""Finding nodes by label, and what changed between two moments: a normal form of labels, and indexes.

Revision: 0016, after 0015. Names are compared byte by byte (COLLATE "C"), so that a prefix is a range of the index
whatever the database's language. Only versions with a bound in valid time stand in the indexes of begins and ends:
they are few. CONCURRENTLY runs outside a transaction; all of it can be run again.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# As memsvc.normal_form has it, which a new database does not know yet. The owner has no policy, so force is lifted.
LABELS = r"""
ALTER TABLE memsvc.node_versions ADD COLUMN IF NOT EXISTS label_form text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE memsvc.node_versions ALTER COLUMN label_form SET STATISTICS 0;
COMMENT ON COLUMN memsvc.node_versions.label_form IS 'normal_form(label), kept by a trigger: what searches compare.';
ALTER TABLE memsvc.node_versions NO FORCE ROW LEVEL SECURITY;
UPDATE memsvc.node_versions
SET label_form = btrim(regexp_replace(lower(public.unaccent(normalize(label, NFKC))), '\s+', ' ', 'g'))
WHERE label_form = '';
ALTER TABLE memsvc.node_versions FORCE ROW LEVEL SECURITY;
"""
OPEN = "recorded_to = 'infinity'"
INDEXES = {
    "node_versions_labels": f"memsvc.node_versions (user_id, label_form, node_id) WHERE {OPEN}",
    "aliases_names": f'memsvc.aliases (user_id, normal_form COLLATE "C", node_id) WHERE {OPEN}',
} | {
    f"{table}_{name}": f"memsvc.{table} (user_id, {column}) WHERE {OPEN} AND {bounded}"
    for table in ("node_versions", "aliases", "edge_versions")
    for name, column, bounded in (
        ("began", "valid_from", "valid_from > '-infinity'"),
        ("ended", "valid_to", "valid_to < 'infinity'"),
    )
}


def upgrade() -> None:
    op.execute(LABELS)
    with op.get_context().autocommit_block():
        # Waiting for running transactions is what CONCURRENTLY does; it blocks nobody meanwhile.
        op.execute("SET lock_timeout = '5min'")
        for name, what in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {what}")
        op.execute("SET lock_timeout = '800ms'")
