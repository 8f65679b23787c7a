"""When recurring work of a user is due.

Revision: 0009, after 0008. Rows for users that are there already are made by memsvc.seed_schedules(), when a worker
starts: it knows the rule, and a migration sees no user before sql/policies/ were applied.
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.schedules (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  kind text NOT NULL CHECK (kind IN ('tidy')),
  at_local time(0) NOT NULL CHECK (at_local < '24:00'),
  weekdays smallint[] CHECK (cardinality(weekdays) BETWEEN 1 AND 7 AND weekdays <@ '{1,2,3,4,5,6,7}'),
  enabled boolean NOT NULL DEFAULT true,
  next_at timestamptz NOT NULL,
  last_at timestamptz,
  PRIMARY KEY (user_id, kind)
);
CREATE INDEX schedules_due ON memsvc.schedules (next_at) WHERE enabled;
COMMENT ON TABLE memsvc.schedules IS
  'Recurring work of a user, by the clock of the user''s zone. One process claims a row when it is due, asks for the '
  'job and says when it is due next, in one transaction.';
COMMENT ON COLUMN memsvc.schedules.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.schedules.kind IS 'The job that is asked for. tidy: upkeep of a user.';
COMMENT ON COLUMN memsvc.schedules.at_local IS 'Time of day on the clock of the user''s zone (users.time_zone).';
COMMENT ON COLUMN memsvc.schedules.weekdays IS 'Days on which it runs, 1 (Monday) to 7 (Sunday); null: every day.';
COMMENT ON COLUMN memsvc.schedules.enabled IS 'False: it does not run.';
COMMENT ON COLUMN memsvc.schedules.next_at IS 'When it is due next; kept in step with zone and rule by next_run().';
COMMENT ON COLUMN memsvc.schedules.last_at IS 'When it ran last; null: never.';
"""

ROW_SECURITY = "ALTER TABLE memsvc.schedules ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ROW_SECURITY)
