"""Vectors of tokens, for late interaction, and the projection by which a model's are made small.

Revision: 0018, after 0017. A table of its own: as a column of embeddings, tokens would make its rows half as long
again, and the vectors of users with few passages are compared one by one.
"""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TABLES = """
ALTER TABLE memsvc.embedding_models ADD COLUMN projection bytea CHECK (octet_length(projection) % 256 = 0);
COMMENT ON COLUMN memsvc.embedding_models.projection IS
  'From its token vectors to 128 numbers, whose signs are kept: half precision, little-endian, row by row. NULL: none '
  'yet, or it gives no token vectors.';

CREATE TABLE memsvc.token_vectors (
  user_id uuid NOT NULL,
  model_id smallint NOT NULL REFERENCES memsvc.embedding_models (model_id),
  passage_id uuid NOT NULL,
  tokens bit(128)[] NOT NULL,
  PRIMARY KEY (user_id, model_id, passage_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id)
);
ALTER TABLE memsvc.token_vectors ALTER COLUMN tokens SET STORAGE EXTERNAL, ALTER COLUMN tokens SET STATISTICS 0;
COMMENT ON TABLE memsvc.token_vectors IS
  'The telling tokens of a passage as one model sees them, for late interaction.';
COMMENT ON COLUMN memsvc.token_vectors.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.token_vectors.model_id IS 'Which model gave them.';
COMMENT ON COLUMN memsvc.token_vectors.passage_id IS 'Whose tokens they are.';
COMMENT ON COLUMN memsvc.token_vectors.tokens IS
  'At most 32, in their order: the signs of each one''s projected vector. Empty: the passage has no token.';
ALTER TABLE memsvc.token_vectors ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
