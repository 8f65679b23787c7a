"""A kind of proposal: a line of core memory that is outdated.

Revision: 0059, after 0058. The older version lists such proposals; accepting one there changes only its state.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

WIDER = """
ALTER TABLE memsvc.proposals DROP CONSTRAINT IF EXISTS proposals_kind_check, DROP CONSTRAINT IF EXISTS proposals_about;
ALTER TABLE memsvc.proposals
  ADD CONSTRAINT proposals_kind_check CHECK (kind IN ('link', 'alias', 'split', 'core', 'outdated')),
  ADD CONSTRAINT proposals_about CHECK (CASE kind
    WHEN 'link' THEN node_id < other_id AND num_nonnulls(passage_id, version_id, span_from) = 0
    WHEN 'alias' THEN num_nonnulls(node_id, passage_id, span_from) = 3 AND num_nonnulls(other_id, version_id) = 0
    WHEN 'split' THEN node_id IS NOT NULL AND num_nonnulls(other_id, passage_id, version_id, span_from) = 0
    WHEN 'outdated' THEN version_id IS NOT NULL AND num_nonnulls(node_id, other_id, passage_id, span_from) = 0
    ELSE num_nonnulls(passage_id, version_id) = 1 AND num_nonnulls(node_id, other_id, span_from) = 0
  END);
COMMENT ON COLUMN memsvc.proposals.kind IS
  'link: two nodes belong together; alias: another name of a node; split: a node is two; core: a line of core memory; '
  'outdated: such a line that a later fact ended or contradicts.';
COMMENT ON COLUMN memsvc.proposals.key IS
  'With the kind and node_id it says what is proposed, so that nothing is proposed twice: the other node, a digest of '
  'the name, the node, the memory, or a digest of block, line and fact.';
COMMENT ON COLUMN memsvc.proposals.node_id IS 'The node; of a link the one with the smaller id. Null: core, outdated.';
COMMENT ON COLUMN memsvc.proposals.version_id IS
  'The fact that is to be in core memory, or that ended or is contested.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "proposals")
    op.execute(WIDER)
