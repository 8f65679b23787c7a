"""``edges.gid`` goes: nobody reads it, and each edge paid for its index and its sequence.

Revision: 0034, after 0033. It numbered edges for Cypher until AGE came to number them itself (ADR 0030); vertices still
go by ``nodes.gid``. Exports never held it; a backup of an older revision is restored with it, and loses it here.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    lock(op.get_bind(), "edges")
    op.execute("ALTER TABLE memsvc.edges DROP COLUMN gid")  # a mark in the catalog: no row is written
