"""Analyses of the graph: their runs, and what they found.

Revision: 0030, after 0029.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

RUNS = """
CREATE TABLE memsvc.analysis_runs (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  run_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('hubs', 'communities', 'orphans', 'anomalies', 'habits', 'pagerank')),
  seeds uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(seeds) <= 20),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'failed')),
  found bigint NOT NULL DEFAULT 0 CHECK (found >= 0),
  figures jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(figures) = 'object'),
  seconds real NOT NULL DEFAULT 0 CHECK (seconds >= 0),
  error_code text,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  PRIMARY KEY (user_id, run_id),
  CONSTRAINT analysis_runs_finished CHECK ((state = 'open') = (finished_at IS NULL))
);
CREATE UNIQUE INDEX analysis_runs_open ON memsvc.analysis_runs (user_id, kind, seeds) WHERE state = 'open';
CREATE INDEX analysis_runs_of_kind ON memsvc.analysis_runs (user_id, kind, run_id);
COMMENT ON TABLE memsvc.analysis_runs IS 'Analyses that were asked for, and what they cost. Holds no text.';
COMMENT ON COLUMN memsvc.analysis_runs.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.analysis_runs.run_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.analysis_runs.kind IS 'Which analysis.';
COMMENT ON COLUMN memsvc.analysis_runs.seeds IS 'Of pagerank: the nodes from which it walks; empty: the user''s own.';
COMMENT ON COLUMN memsvc.analysis_runs.state IS 'open: it waits or works; done; failed: see error_code.';
COMMENT ON COLUMN memsvc.analysis_runs.found IS 'How many things it found; at most the best 1,000 are kept.';
COMMENT ON COLUMN memsvc.analysis_runs.figures IS 'Numbers of the whole, such as nodes, facts and modularity.';
COMMENT ON COLUMN memsvc.analysis_runs.seconds IS 'How long it worked.';
COMMENT ON COLUMN memsvc.analysis_runs.error_code IS 'Why it failed.';
COMMENT ON COLUMN memsvc.analysis_runs.started_at IS 'When it was asked for.';
COMMENT ON COLUMN memsvc.analysis_runs.finished_at IS 'When it ended; null: it has not.';
ALTER TABLE memsvc.analysis_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

RESULTS = """
CREATE TABLE memsvc.analysis_results (
  user_id uuid NOT NULL,
  run_id uuid NOT NULL,
  place integer NOT NULL CHECK (place >= 0),
  what text NOT NULL CHECK (what ~ '^[a-z][a-z_]{0,39}$'),
  score double precision NOT NULL CHECK (score >= 0 AND score < 'infinity'),
  nodes uuid[] NOT NULL DEFAULT '{}',
  facts uuid[] NOT NULL DEFAULT '{}',
  passages uuid[] NOT NULL DEFAULT '{}',
  figures jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(figures) = 'object'),
  PRIMARY KEY (user_id, run_id, place),
  FOREIGN KEY (user_id, run_id) REFERENCES memsvc.analysis_runs (user_id, run_id)
);
COMMENT ON TABLE memsvc.analysis_results IS
  'What analyses found: ids and numbers, no text. A result that names something goes with it when it is erased.';
COMMENT ON COLUMN memsvc.analysis_results.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.analysis_results.run_id IS 'The run that found it.';
COMMENT ON COLUMN memsvc.analysis_results.place IS 'Its place in that run, from 0: the best first.';
COMMENT ON COLUMN memsvc.analysis_results.what IS 'What it is, for example community or busy_day.';
COMMENT ON COLUMN memsvc.analysis_results.score IS 'How strong it is; comparable within what it is.';
COMMENT ON COLUMN memsvc.analysis_results.nodes IS 'Nodes that it is about; of a community the strongest 200.';
COMMENT ON COLUMN memsvc.analysis_results.facts IS 'Versions of edges that it is about.';
COMMENT ON COLUMN memsvc.analysis_results.passages IS 'Passages that it is about.';
COMMENT ON COLUMN memsvc.analysis_results.figures IS 'Its numbers and days.';
ALTER TABLE memsvc.analysis_results ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

KIND = """
ALTER TABLE memsvc.jobs
  DROP CONSTRAINT jobs_kind_check,
  ADD CONSTRAINT jobs_kind_check
  CHECK (kind IN ('process', 'embed', 'tidy', 'erase', 'extract', 'sleep', 'analyse')) NOT VALID;
ALTER TABLE memsvc.jobs VALIDATE CONSTRAINT jobs_kind_check;
"""


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "users")
    op.execute(RUNS)
    op.execute(RESULTS)
    op.execute(KIND)
