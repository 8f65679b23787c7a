"""Cells: where each user's memory is, and the moves between them.

Revision: 0060, after 0059. New columns with constant defaults, which the older version leaves as they are, and two
tables that it does not know. Until a cell is added, every user is here.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

PLACES = """
ALTER TABLE memsvc.users
  ADD COLUMN IF NOT EXISTS cell_id smallint NOT NULL DEFAULT 0 CHECK (cell_id >= 0),
  ADD COLUMN IF NOT EXISTS epoch integer NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  ADD COLUMN IF NOT EXISTS moving text CHECK (moving IN ('closing', 'frozen'));
COMMENT ON COLUMN memsvc.users.cell_id IS
  'The cell with the user''s memory. 0: this database; otherwise this is the directory, and the row says only where.';
COMMENT ON COLUMN memsvc.users.epoch IS
  'How often the user has moved. Identity tokens say it, so a database that a user has left refuses.';
COMMENT ON COLUMN memsvc.users.moving IS
  'closing: new requests wait; frozen: nobody may act for the user until the move is over; null: nothing of it.';
"""

CELLS = """
CREATE TABLE IF NOT EXISTS memsvc.cells (
  cell_id smallint PRIMARY KEY CHECK (cell_id >= 0),
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
  url text NOT NULL CHECK (
    url !~ '://[^/?]*@' AND url !~* '[?&](user|password|passfile|service)' AND (url = '') = (cell_id = 0)
    AND length(url) <= 2000
  ),
  weight integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0 AND 1000),
  added_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO memsvc.cells (cell_id, name, url) VALUES (0, 'home', '') ON CONFLICT DO NOTHING;
COMMENT ON TABLE memsvc.cells IS
  'The databases of this deployment, each a whole memsvc with some of the users. Only the directory has several rows.';
COMMENT ON COLUMN memsvc.cells.cell_id IS 'Number of the cell; 0: the directory''s own database.';
COMMENT ON COLUMN memsvc.cells.name IS 'What people call it.';
COMMENT ON COLUMN memsvc.cells.url IS 'postgresql:// URL of its database without a login; empty: the directory''s own.';
COMMENT ON COLUMN memsvc.cells.weight IS 'Its share of new users, relative to the other cells; 0: it gets none.';
COMMENT ON COLUMN memsvc.cells.added_at IS 'When it was added.';
ALTER TABLE memsvc.cells ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

MOVES = """
CREATE TABLE IF NOT EXISTS memsvc.moves (
  user_id uuid PRIMARY KEY REFERENCES memsvc.users (user_id),
  from_cell smallint NOT NULL REFERENCES memsvc.cells (cell_id),
  to_cell smallint NOT NULL REFERENCES memsvc.cells (cell_id) CHECK (to_cell <> from_cell),
  state text NOT NULL DEFAULT 'copying' CHECK (state IN ('copying', 'frozen', 'switched', 'aborting')),
  seen xid8,
  rows bigint NOT NULL DEFAULT 0 CHECK (rows >= 0),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  frozen_at timestamptz,
  switched_at timestamptz
);
COMMENT ON TABLE memsvc.moves IS
  'Moves of users to another cell that are under way, in the directory; the audit log has those that are over.';
COMMENT ON COLUMN memsvc.moves.user_id IS 'Who moves.';
COMMENT ON COLUMN memsvc.moves.from_cell IS 'From where.';
COMMENT ON COLUMN memsvc.moves.to_cell IS 'To where.';
COMMENT ON COLUMN memsvc.moves.state IS
  'copying: while the user goes on; frozen: the last changes are copied and checked; switched: the user is in the new '
  'cell, and what is left in the old one is erased; aborting: what was copied is erased, and the user stays.';
COMMENT ON COLUMN memsvc.moves.seen IS
  'Everything that older transactions of the source wrote is copied; null: nothing is.';
COMMENT ON COLUMN memsvc.moves.rows IS 'Rows copied so far, with those copied again.';
COMMENT ON COLUMN memsvc.moves.started_at IS 'When the move began.';
COMMENT ON COLUMN memsvc.moves.frozen_at IS 'When the user was last frozen.';
COMMENT ON COLUMN memsvc.moves.switched_at IS 'When the directory sent the user to the new cell.';
ALTER TABLE memsvc.moves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Add the columns, then the tables."""
    lock(op.get_bind(), "users")
    op.execute(PLACES)
    op.execute(CELLS)
    op.execute(MOVES)
