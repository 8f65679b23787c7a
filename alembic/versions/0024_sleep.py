"""What ran in sleep mode; and that sleep recurs like tidying up.

Revision: 0024, after 0023.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

RUNS = """
CREATE TABLE memsvc.sleep_runs (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  run_id uuid NOT NULL DEFAULT uuidv7(),
  task text NOT NULL CHECK (task ~ '^[a-z][a-z0-9_-]{0,39}$'),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'failed')),
  from_node uuid,
  since timestamptz,
  budget_s real CHECK (budget_s > 0),
  place jsonb,
  examined bigint NOT NULL DEFAULT 0 CHECK (examined >= 0),
  applied bigint NOT NULL DEFAULT 0 CHECK (applied >= 0),
  proposed bigint NOT NULL DEFAULT 0 CHECK (proposed >= 0),
  seconds real NOT NULL DEFAULT 0 CHECK (seconds >= 0),
  within_budget boolean NOT NULL DEFAULT true,
  error_code text,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  PRIMARY KEY (user_id, run_id),
  CONSTRAINT sleep_runs_finished CHECK ((state = 'open') = (finished_at IS NULL))
);
CREATE UNIQUE INDEX sleep_runs_open ON memsvc.sleep_runs (user_id, task) WHERE state = 'open';
CREATE INDEX sleep_runs_of_task ON memsvc.sleep_runs (user_id, task, run_id);
COMMENT ON TABLE memsvc.sleep_runs IS
  'What ran in sleep mode, and what it did and cost; an open run goes on from its place. Holds no text.';
COMMENT ON COLUMN memsvc.sleep_runs.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.sleep_runs.run_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.sleep_runs.task IS 'Which task, for example duplicates.';
COMMENT ON COLUMN memsvc.sleep_runs.state IS 'open: it runs, or goes on later; done; failed: see error_code.';
COMMENT ON COLUMN memsvc.sleep_runs.from_node IS 'Only what concerns this node; null: all.';
COMMENT ON COLUMN memsvc.sleep_runs.since IS 'Only what was learnt since then; null: all.';
COMMENT ON COLUMN memsvc.sleep_runs.budget_s IS 'It ends after so many seconds of work; null: when its work is done.';
COMMENT ON COLUMN memsvc.sleep_runs.place IS 'How far it came, as the task writes it; null: it has not begun.';
COMMENT ON COLUMN memsvc.sleep_runs.examined IS 'What it looked at; of duplicates: pairs that were compared.';
COMMENT ON COLUMN memsvc.sleep_runs.applied IS 'What it did; of duplicates: merges.';
COMMENT ON COLUMN memsvc.sleep_runs.proposed IS 'What it left to a person; of duplicates: pairs to review.';
COMMENT ON COLUMN memsvc.sleep_runs.seconds IS 'How long it worked, without pauses.';
COMMENT ON COLUMN memsvc.sleep_runs.within_budget IS 'False: its budget was used up before its work was done.';
COMMENT ON COLUMN memsvc.sleep_runs.error_code IS 'Why it failed.';
COMMENT ON COLUMN memsvc.sleep_runs.started_at IS 'When it was asked for.';
COMMENT ON COLUMN memsvc.sleep_runs.finished_at IS 'When it ended; null: it has not.';
ALTER TABLE memsvc.sleep_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

RECURS = """
ALTER TABLE memsvc.schedules
  DROP CONSTRAINT schedules_kind_check,
  ADD CONSTRAINT schedules_kind_check CHECK (kind IN ('tidy', 'sleep')) NOT VALID;
ALTER TABLE memsvc.schedules VALIDATE CONSTRAINT schedules_kind_check;
ALTER TABLE memsvc.jobs
  DROP CONSTRAINT jobs_kind_check,
  ADD CONSTRAINT jobs_kind_check CHECK (kind IN ('process', 'embed', 'tidy', 'erase', 'extract', 'sleep')) NOT VALID;
ALTER TABLE memsvc.jobs VALIDATE CONSTRAINT jobs_kind_check;
COMMENT ON COLUMN memsvc.schedules.kind IS
  'The job that is asked for. tidy: upkeep of a user; sleep: the night''s work.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "schedules", "jobs", "users")
    op.execute(RUNS)
    op.execute(RECURS)
