"""Recall may be asked for what was said in some roles.

Revision: 0044, after 0043. The older version makes scopes without the new attribute, which is null in them and narrows
nothing.
"""

from __future__ import annotations

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TYPE memsvc.scope ADD ATTRIBUTE roles text[]")
