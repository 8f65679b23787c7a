"""Runs of sleep say why they were begun, what they cost and which changes they made; sleep may begin before its time.

Revision: 0051, after 0050. The older version begins runs without these columns and passes over the new events.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

RUNS = """
ALTER TABLE memsvc.sleep_runs
  ADD COLUMN IF NOT EXISTS cause text NOT NULL DEFAULT 'night'
  CONSTRAINT sleep_runs_cause CHECK (cause IN ('night', 'asked', 'messages', 'sitting', 'importance')),
  ADD COLUMN IF NOT EXISTS budget_tokens bigint CHECK (budget_tokens > 0),
  ADD COLUMN IF NOT EXISTS counts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
  ADD COLUMN IF NOT EXISTS model_calls integer NOT NULL DEFAULT 0 CHECK (model_calls >= 0),
  ADD COLUMN IF NOT EXISTS tokens_in bigint NOT NULL DEFAULT 0 CHECK (tokens_in >= 0),
  ADD COLUMN IF NOT EXISTS tokens_out bigint NOT NULL DEFAULT 0 CHECK (tokens_out >= 0),
  ADD COLUMN IF NOT EXISTS announced boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS undone_at timestamptz;
ALTER TABLE memsvc.sleep_runs ALTER COLUMN counts SET STATISTICS 0;
COMMENT ON COLUMN memsvc.sleep_runs.cause IS
  'night: its time had come; asked: somebody asked; messages, sitting, importance: what was new.';
COMMENT ON COLUMN memsvc.sleep_runs.budget_tokens IS
  'It ends after so many tokens of the language model; null: when its work is done.';
COMMENT ON COLUMN memsvc.sleep_runs.counts IS 'How many changes of each kind it made, by kind.';
COMMENT ON COLUMN memsvc.sleep_runs.model_calls IS 'Calls of the language model.';
COMMENT ON COLUMN memsvc.sleep_runs.tokens_in IS 'Tokens that the language model read.';
COMMENT ON COLUMN memsvc.sleep_runs.tokens_out IS 'Tokens that the language model wrote.';
COMMENT ON COLUMN memsvc.sleep_runs.announced IS 'Whether live clients were told that it ended.';
COMMENT ON COLUMN memsvc.sleep_runs.undone_at IS 'When its changes were last undone; null: never.';
"""

# The default is computed once for the rows that are there: the setting is empty now, so they get null.
CHANGES = """
ALTER TABLE memsvc.changes
  ADD COLUMN IF NOT EXISTS sleep_run_id uuid DEFAULT nullif(current_setting('memsvc.sleep_run', true), '')::uuid;
COMMENT ON COLUMN memsvc.changes.sleep_run_id IS
  'The run of sleep that made it, which may be deleted by now; null: none did.';
"""

SCHEDULES = """
ALTER TABLE memsvc.schedules
  ADD COLUMN IF NOT EXISTS look_at timestamptz,
  ADD COLUMN IF NOT EXISTS woken_at timestamptz,
  ADD COLUMN IF NOT EXISTS woken_for text
  CONSTRAINT schedules_woken_for CHECK (woken_for IN ('messages', 'sitting', 'importance')),
  ADD COLUMN IF NOT EXISTS tasks_off text[] NOT NULL DEFAULT '{}';
CREATE INDEX IF NOT EXISTS schedules_look ON memsvc.schedules (look_at) WHERE look_at IS NOT NULL;
COMMENT ON COLUMN memsvc.schedules.look_at IS
  'Of sleep: when to look whether enough is new to begin before its time; null: nothing is new.';
COMMENT ON COLUMN memsvc.schedules.woken_at IS 'When it was last begun before its time; null: never.';
COMMENT ON COLUMN memsvc.schedules.woken_for IS
  'Why it was begun before its time, until that is done: messages, sitting or importance; null: it was not.';
COMMENT ON COLUMN memsvc.schedules.tasks_off IS 'Of sleep: tasks that this user does not want.';
"""

EVENTS = """
ALTER TABLE memsvc.outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (
    kind IN (
      'passages.added', 'source.completed', 'memory.erased', 'graph.changed', 'memory.recalled', 'profile.changed',
      'ingest.changed', 'sleep.finished'
    )
  ) NOT VALID;
ALTER TABLE memsvc.outbox VALIDATE CONSTRAINT outbox_kind_check;
COMMENT ON COLUMN memsvc.outbox.kind IS 'passages.added, source.completed, memory.erased, graph.changed, '
  'memory.recalled, profile.changed, ingest.changed or sleep.finished.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS
  'The source, the erasure, the change, the recall, the block of the profile, the ingest or the run of sleep.';
"""

INDEX = "memsvc.changes (user_id, sleep_run_id, recorded_at) WHERE sleep_run_id IS NOT NULL"


def upgrade() -> None:
    lock(op.get_bind(), "sleep_runs", "changes", "schedules", "outbox")
    for script in (RUNS, CHANGES, SCHEDULES, EVENTS):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.changes_of_sleep")
        op.execute(f"CREATE INDEX CONCURRENTLY changes_of_sleep ON {INDEX}")
        op.execute("SET lock_timeout = '800ms'")
