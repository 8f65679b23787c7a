"""What may be recalled and what is asked as types; facts, notes and what is known about nodes as passages.

Words of facts stand with their passages now. Existing databases are filled by each user's job ``tidy``.

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
  known_at timestamptz, near uuid[], speakers text[], source_kinds text[], types text[], least_importance real,
  metadata jsonb, ended boolean
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
ADD COLUMN subject_id uuid,
ADD COLUMN subject_type text,
ADD COLUMN version_id uuid,
ADD COLUMN valid_from timestamptz,
ADD COLUMN valid_to timestamptz,
ADD COLUMN recorded_to timestamptz NOT NULL DEFAULT 'infinity',
ALTER COLUMN subject_type SET STATISTICS 0;
ALTER TABLE memsvc.passages DROP CONSTRAINT passages_kind_check;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_kind_check CHECK (
  kind IN (
    'message', 'trace', 'block', 'former', 'fact', 'card', 'note', 'instruction', 'chunk', 'summary', 'reflection',
    'turn'
  )
) NOT VALID;
ALTER TABLE memsvc.passages ADD CONSTRAINT passages_known CHECK (
  num_nulls(subject_id, subject_type, version_id, valid_from, valid_to) IN (0, 5)
) NOT VALID;
ALTER TABLE memsvc.sources DROP CONSTRAINT sources_kind_check;
ALTER TABLE memsvc.sources ADD CONSTRAINT sources_kind_check
CHECK (kind IN ('conversation', 'block', 'graph')) NOT VALID;
COMMENT ON COLUMN memsvc.passages.kind IS
  'One of memsvc.passage_kinds: message; trace (what system, tools and thinking said; recalled when asked for); block '
  '(what a block of the profile says in the archive) or former (what it said there before; by known_at); fact, card, '
  'note or instruction (what is known about edges and nodes).';
COMMENT ON COLUMN memsvc.passages.speaker IS
  'Who said it, in the client''s words; of a block its name; of a card, a note or an instruction the node''s label.';
COMMENT ON COLUMN memsvc.passages.subject_id IS 'Of a fact the edge; of a card, a note or an instruction the node.';
COMMENT ON COLUMN memsvc.passages.subject_type IS 'The type of that edge or node.';
COMMENT ON COLUMN memsvc.passages.version_id IS 'The version of it that the passage repeats; part 0 has its id.';
COMMENT ON COLUMN memsvc.passages.valid_from IS 'Since when that version holds.';
COMMENT ON COLUMN memsvc.passages.valid_to IS 'Until when.';
COMMENT ON COLUMN memsvc.passages.recorded_to IS 'When that version was superseded or taken back; infinity: it stands.';
COMMENT ON TABLE memsvc.sources IS
  'Where passages come from: conversations, blocks of the profile in the archive, and what is known about nodes.';
COMMENT ON COLUMN memsvc.sources.kind IS
  'conversation, block (of the profile, in the archive), or graph (facts, cards, notes, instructions; the user''s id).';
"""

WORDS = """
DROP TRIGGER IF EXISTS formed ON memsvc.edge_versions;
DROP FUNCTION IF EXISTS memsvc.form_fact();
ALTER TABLE memsvc.edge_versions DROP COLUMN tsv, DROP COLUMN length;
"""
# The owner of forced tables sees no rows without a policy. Whoever knows nothing but notes gets them filed by the
# nightly tidy.
WORK = """
ALTER TABLE memsvc.edge_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id)
SELECT u.user_id, 'tidy', u.user_id
FROM memsvc.users AS u
WHERE u.erasing_since IS NULL AND EXISTS (SELECT FROM memsvc.edge_versions AS v WHERE v.user_id = u.user_id)
ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1;
ALTER TABLE memsvc.edge_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.users FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs FORCE ROW LEVEL SECURITY;
"""

CHECKED = (("passages", "passages_kind_check"), ("passages", "passages_known"), ("sources", "sources_kind_check"))
INDEXES = {
    "passages_known": "memsvc.passages (user_id, version_id) WHERE version_id IS NOT NULL",
    "passages_said": "memsvc.passages (user_id, said_at) WHERE version_id IS NULL",
    "passages_metadata": (
        "memsvc.passages USING gin (user_id, metadata jsonb_path_ops) WITH (fastupdate = off) WHERE metadata <> '{}'"
    ),
}


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "users", "sources", "passages", "edge_versions")
    for script in (TYPES, COLUMNS, WORDS, WORK):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("SET statement_timeout = 0")
        for table, constraint in CHECKED:
            op.execute(f"ALTER TABLE memsvc.{table} VALIDATE CONSTRAINT {constraint}")
        for name, index in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS memsvc.{name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {index}")
        op.execute("SET statement_timeout = '10min'")
        op.execute("SET lock_timeout = '800ms'")
