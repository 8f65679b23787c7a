"""Embedding models and the vectors that they gave.

Revision: 0006, after 0005.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

PARTITIONS = 8

TABLES = """
CREATE TABLE memsvc.embedding_models (
  model_id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> '' AND length(name) <= 200),
  dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
  state text NOT NULL DEFAULT 'building' CHECK (state IN ('building', 'active', 'retired')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX embedding_models_one_active ON memsvc.embedding_models ((true)) WHERE state = 'active';
COMMENT ON TABLE memsvc.embedding_models IS 'Models that gave vectors. The same for everybody; not a memory.';
COMMENT ON COLUMN memsvc.embedding_models.model_id IS 'Small number that vectors carry.';
COMMENT ON COLUMN memsvc.embedding_models.name IS 'As MEMSVC_EMBEDDING_MODEL names it, backend first.';
COMMENT ON COLUMN memsvc.embedding_models.dimensions IS 'Length of its vectors.';
COMMENT ON COLUMN memsvc.embedding_models.state IS
  'active: queries are compared by it; building: passages get its vectors beside the active one''s; retired: neither.';
COMMENT ON COLUMN memsvc.embedding_models.created_at IS 'When it was first used.';

CREATE TABLE memsvc.embeddings (
  user_id uuid NOT NULL,
  model_id smallint NOT NULL REFERENCES memsvc.embedding_models (model_id),
  passage_id uuid NOT NULL,
  vector halfvec NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, model_id, passage_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id)
) PARTITION BY HASH (user_id);
COMMENT ON TABLE memsvc.embeddings IS
  'A passage''s vector by one model, of length 1; several models side by side. Partitioned for the vector indexes.';
COMMENT ON COLUMN memsvc.embeddings.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.embeddings.model_id IS 'Which model gave it.';
COMMENT ON COLUMN memsvc.embeddings.passage_id IS 'Whose vector it is.';
COMMENT ON COLUMN memsvc.embeddings.vector IS 'Half precision, length 1: the inner product is the cosine.';
COMMENT ON COLUMN memsvc.embeddings.created_at IS 'When it was stored.';
"""

ROW_SECURITY = """
ALTER TABLE memsvc.embedding_models ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.embeddings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
    for number in range(PARTITIONS):
        op.execute(
            f"CREATE TABLE memsvc.embeddings_{number} PARTITION OF memsvc.embeddings "
            f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        )
        op.execute(f"ALTER TABLE memsvc.embeddings_{number} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"COMMENT ON TABLE memsvc.embeddings_{number} IS 'Part of embeddings, by hash of user_id.'")
    op.execute(ROW_SECURITY)
