"""Vacuum comes in time for tables whose rows change or go: by a twentieth of dead rows, not a fifth.

Revision: 0032, after 0031. At ten million rows PostgreSQL's default waits for two million dead ones: queues and
statistics that are read all the time slow down long before, and what was erased stays in the files as long. The
settings take a lock that stops nobody but other vacuums and changes of the table.
"""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

# Rows that are changed or deleted soon after they were written; their live rows are few, so a count decides.
WORK = ("jobs", "outbox", "term_deltas", "dramatiq_worker", "schedules", "corpora", "used_tickets", "answered_requests")
# Rows that stay, until versions of them are closed or they are erased.
KEPT = (
    "passages", "nodes", "node_versions", "aliases", "edges", "edge_versions", "source_links", "terms", "merges",
    "memory_signals", "recall_events", "locations", "token_vectors",
    *(f"embeddings_{number}" for number in range(8)),
)  # fmt: skip


def upgrade() -> None:
    for table in WORK:
        op.execute(
            f"ALTER TABLE memsvc.{table} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500)"
        )
    for table in KEPT:
        op.execute(f"ALTER TABLE memsvc.{table} SET (autovacuum_vacuum_scale_factor = 0.05)")
