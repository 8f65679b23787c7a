"""How salient nodes are, and what sleep proposes to a person: links, names, splits, lines of core memory.

Revision: 0057, after 0056. Two new tables, which the older version neither reads nor writes.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

SALIENCE = """
CREATE TABLE IF NOT EXISTS memsvc.node_salience (
  user_id uuid NOT NULL,
  node_id uuid NOT NULL,
  salience real NOT NULL CHECK (salience BETWEEN 0 AND 1),
  before real NOT NULL DEFAULT 0 CHECK (before BETWEEN 0 AND 1),
  sleep_run_id uuid DEFAULT nullif(current_setting('memsvc.sleep_run', true), '')::uuid,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, node_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id)
);
CREATE INDEX IF NOT EXISTS node_salience_highest ON memsvc.node_salience (user_id, salience);
COMMENT ON TABLE memsvc.node_salience IS
  'How salient nodes are: near to the user and to what is recalled, spoken of lately, recalled. Others have no row.';
COMMENT ON COLUMN memsvc.node_salience.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.node_salience.node_id IS 'The node that stands for all that are merged with it.';
COMMENT ON COLUMN memsvc.node_salience.salience IS 'From 0 to 1.';
COMMENT ON COLUMN memsvc.node_salience.before IS 'What it was before it was written last; 0: there was no row.';
COMMENT ON COLUMN memsvc.node_salience.sleep_run_id IS 'The run of sleep that wrote it; null: it was undone.';
COMMENT ON COLUMN memsvc.node_salience.written_at IS 'When it was written.';
ALTER TABLE memsvc.node_salience ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

PROPOSALS = """
CREATE TABLE IF NOT EXISTS memsvc.proposals (
  user_id uuid NOT NULL,
  proposal_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('link', 'alias', 'split', 'core')),
  key uuid NOT NULL,
  node_id uuid,
  other_id uuid,
  passage_id uuid,
  version_id uuid,
  span_from integer CHECK (span_from >= 0),
  span_to integer,
  sources uuid[] NOT NULL DEFAULT '{}' CHECK (coalesce(array_ndims(sources), 1) = 1),
  score real NOT NULL CHECK (score BETWEEN 0 AND 1),
  evidence jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(evidence) = 'object'),
  sleep_run_id uuid DEFAULT nullif(current_setting('memsvc.sleep_run', true), '')::uuid,
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected', 'withdrawn')),
  decided_at timestamptz,
  decided_by text CHECK (decided_by <> '' AND length(decided_by) <= 200),
  PRIMARY KEY (user_id, proposal_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, other_id) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id),
  FOREIGN KEY (user_id, version_id) REFERENCES memsvc.edge_versions (user_id, version_id),
  CONSTRAINT proposals_once UNIQUE NULLS NOT DISTINCT (user_id, kind, node_id, key),
  CONSTRAINT proposals_span CHECK ((span_from IS NULL) = (span_to IS NULL) AND span_to > span_from),
  CONSTRAINT proposals_decided CHECK (
    (state = 'open') = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)
  ),
  CONSTRAINT proposals_about CHECK (CASE kind
    WHEN 'link' THEN node_id < other_id AND num_nonnulls(passage_id, version_id, span_from) = 0
    WHEN 'alias' THEN num_nonnulls(node_id, passage_id, span_from) = 3 AND num_nonnulls(other_id, version_id) = 0
    WHEN 'split' THEN node_id IS NOT NULL AND num_nonnulls(other_id, passage_id, version_id, span_from) = 0
    ELSE num_nonnulls(passage_id, version_id) = 1 AND num_nonnulls(node_id, other_id, span_from) = 0
  END)
);
CREATE INDEX IF NOT EXISTS proposals_state ON memsvc.proposals (user_id, state, score DESC, proposal_id);
CREATE INDEX IF NOT EXISTS proposals_of_other ON memsvc.proposals (user_id, other_id) WHERE other_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS proposals_of_passage ON memsvc.proposals (user_id, passage_id) WHERE passage_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS proposals_of_version ON memsvc.proposals (user_id, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS proposals_of_node ON memsvc.proposals (user_id, node_id) WHERE node_id IS NOT NULL;
COMMENT ON TABLE memsvc.proposals IS
  'What sleep proposes and a person decides. Ids and numbers; a name is a span of the passage that has it.';
COMMENT ON COLUMN memsvc.proposals.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.proposals.proposal_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.proposals.kind IS
  'link: two nodes belong together; alias: another name of a node; split: a node is two; core: a line of core memory.';
COMMENT ON COLUMN memsvc.proposals.key IS
  'With the kind and node_id it says what is proposed, so that nothing is proposed twice: the other node, a digest of '
  'the name, the node, or the memory.';
COMMENT ON COLUMN memsvc.proposals.node_id IS 'The node; of a link the one with the smaller id. Null: core.';
COMMENT ON COLUMN memsvc.proposals.other_id IS 'The other end of a link.';
COMMENT ON COLUMN memsvc.proposals.passage_id IS 'The message that has the name, or that is to be in core memory.';
COMMENT ON COLUMN memsvc.proposals.version_id IS 'The fact that is to be in core memory.';
COMMENT ON COLUMN memsvc.proposals.span_from IS 'Where the name begins in the passage, in characters from 0.';
COMMENT ON COLUMN memsvc.proposals.span_to IS 'Where it ends, without the end.';
COMMENT ON COLUMN memsvc.proposals.sources IS 'Of a split: the sources that speak of the other one.';
COMMENT ON COLUMN memsvc.proposals.score IS 'How likely it is right, 0 to 1, when it was found.';
COMMENT ON COLUMN memsvc.proposals.evidence IS 'Why, in numbers by comparison: {"neighbours": 1.2}.';
COMMENT ON COLUMN memsvc.proposals.sleep_run_id IS 'The run of sleep that found it.';
COMMENT ON COLUMN memsvc.proposals.found_at IS 'When it was found.';
COMMENT ON COLUMN memsvc.proposals.state IS
  'open; accepted; rejected: never proposed again; withdrawn: its run was undone, never proposed again.';
COMMENT ON COLUMN memsvc.proposals.decided_at IS 'When it was decided; null: it is open.';
COMMENT ON COLUMN memsvc.proposals.decided_by IS 'Who decided; null: it is open.';
ALTER TABLE memsvc.proposals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "nodes", "passages", "edge_versions")
    op.execute(SALIENCE)
    op.execute(PROPOSALS)
