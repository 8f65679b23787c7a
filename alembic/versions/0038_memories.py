"""The type of the candidates that recall puts in order.

Revision: 0038, after 0037. A type without rows; an older process does not know it.
"""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

MEMORY = """
CREATE TYPE memsvc.memory AS (
  memory_id uuid, kind text, source_id uuid, session text, ordinal integer, role text, speaker text,
  since timestamptz, until timestamptz, recorded timestamptz, length integer, asks boolean, answers boolean,
  words double precision, words_rank bigint, matched_terms text[], matched_form text, similarity double precision,
  vector_rank bigint, other_similarity double precision, other_rank bigint, late double precision, late_rank bigint,
  node_id uuid, reach double precision, distance integer, metres double precision, path text[], recalls integer,
  last_recalled_at timestamptz, used integer, irrelevant integer, importance double precision,
  sentiment double precision
);
COMMENT ON TYPE memsvc.memory IS
  'A candidate of recall, a passage or a fact: what it is, what each arm knows of it, and what became of it before.';
"""


def upgrade() -> None:
    op.execute(MEMORY)
