"""Embedding models that take over from one another: one is built, one is active, one is leaving.

Revision: 0008, after 0007.
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Before this revision any number of models could be building. The newest one goes on; vectors of the others are taken
# away by 'memsvc models retire'. Row security is not forced for that one statement: policies come after migrations.
ONE_BUILDING = """
ALTER TABLE memsvc.embedding_models NO FORCE ROW LEVEL SECURITY;
UPDATE memsvc.embedding_models AS m SET state = 'retired'
WHERE m.state = 'building' AND m.model_id < (
  SELECT max(n.model_id) FROM memsvc.embedding_models AS n WHERE n.state = 'building'
);
ALTER TABLE memsvc.embedding_models FORCE ROW LEVEL SECURITY;
"""

STATES = """
ALTER TABLE memsvc.embedding_models DROP CONSTRAINT embedding_models_state_check;
ALTER TABLE memsvc.embedding_models ADD CONSTRAINT embedding_models_state_check
  CHECK (state IN ('building', 'active', 'leaving', 'retired'));
ALTER TABLE memsvc.embedding_models ADD COLUMN paused boolean NOT NULL DEFAULT false;
ALTER TABLE memsvc.embedding_models ADD CONSTRAINT embedding_models_paused_check
  CHECK (NOT paused OR state = 'building');
DROP INDEX memsvc.embedding_models_one_active;
CREATE UNIQUE INDEX embedding_models_one_each ON memsvc.embedding_models (state) WHERE state <> 'retired';
COMMENT ON COLUMN memsvc.embedding_models.name IS
  'As MEMSVC_EMBEDDING_MODEL and ''memsvc models'' name it, backend first.';
COMMENT ON COLUMN memsvc.embedding_models.state IS
  'active: queries are compared by it; building: passages get its vectors beside the active one''s; leaving: was '
  'active before, still gets vectors and answers for passages that the active one lacks; retired: its vectors go.';
COMMENT ON COLUMN memsvc.embedding_models.paused IS 'building, and no passage gets its vector for now.';
"""


def upgrade() -> None:
    op.execute(ONE_BUILDING)
    op.execute(STATES)
