"""Events of the graph and of recalls, in an order that no late commit breaks; tickets for sockets that were used.

Revision: 0026, after 0025.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

EVENTS = """
ALTER TABLE memsvc.outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (
    kind IN ('passages.added', 'source.completed', 'memory.erased', 'graph.changed', 'memory.recalled')
  ) NOT VALID;
ALTER TABLE memsvc.outbox VALIDATE CONSTRAINT outbox_kind_check;
CREATE INDEX outbox_in_order ON memsvc.outbox (user_id, transaction_id, event_id);
COMMENT ON COLUMN memsvc.outbox.kind IS
  'passages.added, source.completed, memory.erased, graph.changed or memory.recalled.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS 'The source concerned, the erasure, the change or the recall.';
"""

TICKETS = """
CREATE TABLE memsvc.used_tickets (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  ticket_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, ticket_id)
);
COMMENT ON TABLE memsvc.used_tickets IS
  'Tickets that opened a live connection, so that none opens two; they go when they would not work any more.';
COMMENT ON COLUMN memsvc.used_tickets.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.used_tickets.ticket_id IS 'The id that the signed ticket holds.';
COMMENT ON COLUMN memsvc.used_tickets.expires_at IS 'When the ticket ended by itself.';
ALTER TABLE memsvc.used_tickets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "outbox", "users")
    op.execute(EVENTS)
    op.execute(TICKETS)
