"""Pairs of nodes that may be the same, and what was decided of them.

Revision: 0023, after 0020.
"""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0020"
branch_labels = None
depends_on = None

CANDIDATES = """
CREATE TABLE memsvc.duplicate_candidates (
  user_id uuid NOT NULL,
  node_a uuid NOT NULL,
  node_b uuid NOT NULL,
  score real NOT NULL CHECK (score BETWEEN 0 AND 1),
  evidence jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(evidence) = 'object'),
  found_by text NOT NULL CHECK (found_by <> '' AND length(found_by) <= 200),
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'merged', 'rejected', 'split')),
  decided_at timestamptz,
  decided_by text CHECK (decided_by <> '' AND length(decided_by) <= 200),
  PRIMARY KEY (user_id, node_a, node_b),
  FOREIGN KEY (user_id, node_a) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, node_b) REFERENCES memsvc.nodes (user_id, node_id),
  CONSTRAINT duplicate_candidates_order CHECK (node_a < node_b),
  CONSTRAINT duplicate_candidates_decided CHECK (
    (state = 'open') = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)
  )
);
CREATE INDEX duplicate_candidates_of_b ON memsvc.duplicate_candidates (user_id, node_b);
CREATE INDEX duplicate_candidates_state ON memsvc.duplicate_candidates (user_id, state, score DESC, node_a, node_b);
COMMENT ON TABLE memsvc.duplicate_candidates IS
  'Pairs of nodes that may be the same, and what was decided of them. Holds ids and numbers, no text of memories.';
COMMENT ON COLUMN memsvc.duplicate_candidates.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.duplicate_candidates.node_a IS 'One of them, the smaller id.';
COMMENT ON COLUMN memsvc.duplicate_candidates.node_b IS 'The other.';
COMMENT ON COLUMN memsvc.duplicate_candidates.score IS 'How likely they are the same, 0 to 1, when it was last judged.';
COMMENT ON COLUMN memsvc.duplicate_candidates.evidence IS
  'What spoke for it (above 0) and against it (below), in bits by comparison: {"name": 9.1}.';
COMMENT ON COLUMN memsvc.duplicate_candidates.found_by IS 'Who found it first: an extractor or a task of sleep.';
COMMENT ON COLUMN memsvc.duplicate_candidates.found_at IS 'When it was found first.';
COMMENT ON COLUMN memsvc.duplicate_candidates.state IS
  'open; merged: they are the same; rejected: they are not, for ever; split: they had been one and were parted.';
COMMENT ON COLUMN memsvc.duplicate_candidates.decided_at IS 'When it was decided; null: it is open.';
COMMENT ON COLUMN memsvc.duplicate_candidates.decided_by IS 'Who decided; null: it is open.';
ALTER TABLE memsvc.duplicate_candidates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(CANDIDATES)
