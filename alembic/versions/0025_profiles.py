"""The profile: blocks of text that an assistant edits, with all their versions and what each line rests on.

Revision: 0025, after 0024.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

VERSIONS = """
CREATE TABLE memsvc.profile_versions (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  version_id uuid NOT NULL DEFAULT uuidv7(),
  block_id uuid NOT NULL DEFAULT uuidv7(),
  version integer NOT NULL CHECK (version > 0),
  name text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,59}$'),
  kind text NOT NULL CHECK (kind IN ('core', 'working', 'archival')),
  text text NOT NULL CHECK (length(text) <= 8000),
  tokens integer NOT NULL CHECK (tokens >= 0),
  token_limit integer NOT NULL CHECK (token_limit BETWEEN 1 AND 2000),
  node_id uuid,
  source_id uuid,
  expires_at timestamptz,
  asserted_by text NOT NULL CHECK (asserted_by <> '' AND length(asserted_by) <= 200),
  recorded_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_to timestamptz NOT NULL DEFAULT 'infinity',
  PRIMARY KEY (user_id, version_id),
  UNIQUE (user_id, block_id, version),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources (user_id, source_id),
  CONSTRAINT profile_versions_recorded CHECK (recorded_from <= recorded_to),
  CONSTRAINT profile_versions_fit CHECK (tokens <= token_limit),
  CONSTRAINT profile_versions_working CHECK (
    (kind = 'working') = (source_id IS NOT NULL) AND (kind = 'working') = (expires_at IS NOT NULL)
    AND num_nonnulls(node_id, source_id) < 2
  ),
  CONSTRAINT profile_versions_one_at_a_time
    EXCLUDE USING gist (user_id WITH =, block_id WITH =, tstzrange(recorded_from, recorded_to) WITH &&)
);
CREATE UNIQUE INDEX profile_versions_open ON memsvc.profile_versions (user_id, name, node_id, source_id)
  NULLS NOT DISTINCT WHERE recorded_to = 'infinity';
CREATE INDEX profile_versions_called ON memsvc.profile_versions (user_id, name, recorded_to);
CREATE INDEX profile_versions_of_node ON memsvc.profile_versions (user_id, node_id) WHERE node_id IS NOT NULL;
CREATE INDEX profile_versions_of_source ON memsvc.profile_versions (user_id, source_id) WHERE source_id IS NOT NULL;
COMMENT ON TABLE memsvc.profile_versions IS
  'What a block of the profile said, version by version: the user''s, about a node, or of a conversation.';
COMMENT ON COLUMN memsvc.profile_versions.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.profile_versions.version_id IS 'Time-ordered id of this version.';
COMMENT ON COLUMN memsvc.profile_versions.block_id IS 'The block, whatever it says and wherever it stands.';
COMMENT ON COLUMN memsvc.profile_versions.version IS
  'Counts the versions of the block; who changes it can name the one that was read.';
COMMENT ON COLUMN memsvc.profile_versions.name IS
  'What it is called; fixed_traits, preferences and current_state are the sections of the profile.';
COMMENT ON COLUMN memsvc.profile_versions.kind IS
  'core: in every context; working: in those of one conversation, for a while; archival: in none, kept to be read.';
COMMENT ON COLUMN memsvc.profile_versions.text IS 'What it says, in lines.';
COMMENT ON COLUMN memsvc.profile_versions.tokens IS 'How long it was when it was written, as memsvc estimates.';
COMMENT ON COLUMN memsvc.profile_versions.token_limit IS 'How long it may be.';
COMMENT ON COLUMN memsvc.profile_versions.node_id IS 'The person, project or other node that it describes; null: none.';
COMMENT ON COLUMN memsvc.profile_versions.source_id IS 'Of working memory: the conversation.';
COMMENT ON COLUMN memsvc.profile_versions.expires_at IS 'Of working memory: from then on it is not read any more.';
COMMENT ON COLUMN memsvc.profile_versions.asserted_by IS 'Who wrote it: user, app, or the name of a program.';
COMMENT ON COLUMN memsvc.profile_versions.recorded_from IS 'Since when it says this.';
COMMENT ON COLUMN memsvc.profile_versions.recorded_to IS 'Until when it did; infinity: it does.';
ALTER TABLE memsvc.profile_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.profile_versions ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0;
"""

EVIDENCE = """
CREATE TABLE memsvc.profile_evidence (
  user_id uuid NOT NULL,
  version_id uuid NOT NULL,
  passage_id uuid NOT NULL,
  lines smallint[] NOT NULL CHECK (
    cardinality(lines) > 0 AND array_ndims(lines) = 1 AND array_position(lines, NULL) IS NULL AND 0 < ALL (lines)
  ),
  PRIMARY KEY (user_id, version_id, passage_id),
  FOREIGN KEY (user_id, version_id) REFERENCES memsvc.profile_versions (user_id, version_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id)
);
CREATE INDEX profile_evidence_of_passage ON memsvc.profile_evidence (user_id, passage_id);
COMMENT ON TABLE memsvc.profile_evidence IS
  'Which lines of a block rest on which passages: a line goes with the last of its passages that is erased.';
COMMENT ON COLUMN memsvc.profile_evidence.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.profile_evidence.version_id IS 'The version of the block.';
COMMENT ON COLUMN memsvc.profile_evidence.passage_id IS 'The passage that speaks for it.';
COMMENT ON COLUMN memsvc.profile_evidence.lines IS 'For which of its lines, from 1.';
ALTER TABLE memsvc.profile_evidence ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

ERASED = """
ALTER TABLE memsvc.erasures
  DROP CONSTRAINT erasures_kind_check,
  ADD CONSTRAINT erasures_kind_check
    CHECK (kind IN ('message', 'passage', 'source', 'fact', 'node', 'block')) NOT VALID;
ALTER TABLE memsvc.erasures VALIDATE CONSTRAINT erasures_kind_check;
COMMENT ON COLUMN memsvc.erasures.kind IS
  'message (all its parts), passage (one part), source, fact (an edge with all its versions), node, or block (of the '
  'profile, with all its versions).';
COMMENT ON COLUMN memsvc.erasures.subject_id IS 'Id of what was erased: a passage, source, edge, node or block.';
COMMENT ON COLUMN memsvc.erasures.ids IS
  'Ids of the passages, sources, edges, nodes and blocks that went, for looking again.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "nodes", "sources", "passages", "erasures")
    for script in (VERSIONS, EVIDENCE, ERASED):
        op.execute(script)
