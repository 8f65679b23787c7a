"""Indexes for walking the graph: the strongest and newest edges of a node come first.

Revision: 0014, after 0013.
"""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# valid_to stands before weight: what has no end, nearly everything, is one run in the order of strength.
# edge_versions_from and _to are built anew with these columns; what asks for a node and a type uses them as before.
INDEXES = """
DROP INDEX memsvc.edge_versions_from, memsvc.edge_versions_to;
CREATE INDEX edge_versions_from
  ON memsvc.edge_versions (user_id, from_node, type, valid_to, weight DESC, version_id DESC)
  WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_to
  ON memsvc.edge_versions (user_id, to_node, type, valid_to, weight DESC, version_id DESC)
  WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_walk_from
  ON memsvc.edge_versions (user_id, from_node, valid_to, weight DESC, version_id DESC)
  WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_walk_to
  ON memsvc.edge_versions (user_id, to_node, valid_to, weight DESC, version_id DESC)
  WHERE recorded_to = 'infinity';
CREATE INDEX merges_current ON memsvc.merges (user_id, node_id) WHERE recorded_to = 'infinity';
"""


def upgrade() -> None:
    op.execute(INDEXES)
