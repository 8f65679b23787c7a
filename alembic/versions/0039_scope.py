"""What may be recalled and what is asked as types; passages that say what is known about nodes.

Revision: 0039, after 0038. The new columns of passages are nullable or have constant defaults, so no row is rewritten.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

TYPES = """
CREATE TYPE memsvc.scope AS (
  kinds text[], sources uuid[], not_sources uuid[], said_from timestamptz, said_to timestamptz, as_of timestamptz,
  known_at timestamptz, near uuid[], speakers text[], source_kinds text[], node_types text[], least_importance real,
  metadata jsonb
);
COMMENT ON TYPE memsvc.scope IS 'What may be recalled; the function of this name makes one, and says what it has.';
CREATE TYPE memsvc.question AS (
  form text, language text, model_id smallint, vector public.halfvec, tokens bit(128)[], other_model_id smallint,
  other_vector public.halfvec, nodes uuid[], hops integer, begins timestamptz[], ends timestamptz[], sequence text
);
COMMENT ON TYPE memsvc.question IS
  'What is asked, beside the query''s words; the function of this name makes one, and says what it has.';
"""

COLUMNS = """
ALTER TABLE memsvc.passages
ADD COLUMN node_id uuid,
ADD COLUMN node_type text,
ADD COLUMN version_id uuid,
ADD COLUMN valid_from timestamptz,
ADD COLUMN valid_to timestamptz,
ADD COLUMN recorded_to timestamptz NOT NULL DEFAULT 'infinity';
ALTER TABLE memsvc.passages DROP CONSTRAINT passages_kind_check;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_kind_check CHECK (
  kind IN (
    'message', 'trace', 'block', 'former', 'card', 'note', 'instruction', 'chunk', 'summary', 'reflection', 'turn'
  )
) NOT VALID;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_known CHECK (
  num_nulls(node_id, node_type, version_id, valid_from, valid_to) IN (0, 5)
) NOT VALID;
ALTER TABLE memsvc.sources DROP CONSTRAINT sources_kind_check;
ALTER TABLE memsvc.sources ADD CONSTRAINT sources_kind_check CHECK (kind IN ('conversation', 'block', 'graph')) NOT VALID;
COMMENT ON COLUMN memsvc.passages.node_id IS 'Of a card, a note or an instruction: the node that it is about.';
COMMENT ON COLUMN memsvc.passages.node_type IS 'The type of that node.';
COMMENT ON COLUMN memsvc.passages.version_id IS 'The version of the node that it repeats; part 0 has its id.';
COMMENT ON COLUMN memsvc.passages.valid_from IS 'Since when that version holds.';
COMMENT ON COLUMN memsvc.passages.valid_to IS 'Until when.';
COMMENT ON COLUMN memsvc.passages.recorded_to IS 'When that version was superseded or taken back; infinity: it stands.';
COMMENT ON TABLE memsvc.sources IS
  'Where passages come from: conversations, blocks of the profile in the archive, and what is known about nodes.';
COMMENT ON COLUMN memsvc.sources.kind IS
  'conversation, block (of the profile, in the archive), or graph (cards, notes and instructions; its id is the user''s).';
"""

CHECKED = (("passages", "passages_kind_check"), ("passages", "passages_known"), ("sources", "sources_kind_check"))
INDEXES = {
    "passages_known": "memsvc.passages (user_id, node_id, version_id) WHERE node_id IS NOT NULL",
    "passages_metadata": (
        "memsvc.passages USING gin (user_id, metadata jsonb_path_ops) WITH (fastupdate = off) WHERE metadata <> '{}'"
    ),
}


def upgrade() -> None:
    lock(op.get_bind(), "sources", "passages")
    for script in (TYPES, COLUMNS):
        op.execute(script)
    for table, constraint in CHECKED:
        op.execute(f"ALTER TABLE memsvc.{table} VALIDATE CONSTRAINT {constraint}")
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        for name, index in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {index}")
        op.execute("SET lock_timeout = '800ms'")
