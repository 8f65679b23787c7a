"""BM25 statistics, jobs and the outbox.

Revision: 0004, after 0003.
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.corpora (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  kind text NOT NULL,
  form text NOT NULL CHECK (form IN ('stemmed', 'simple')),
  passages bigint NOT NULL CHECK (passages >= 0),
  length bigint NOT NULL CHECK (length >= 0),
  PRIMARY KEY (user_id, kind, form)
);
COMMENT ON TABLE memsvc.corpora IS
  'Size of a user''s passages of one kind, in one form of words; folded from term_deltas.';
COMMENT ON COLUMN memsvc.corpora.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.corpora.kind IS 'As passages.kind.';
COMMENT ON COLUMN memsvc.corpora.form IS 'stemmed (passages.tsv) or simple (passages.tsv_simple).';
COMMENT ON COLUMN memsvc.corpora.passages IS 'N of BM25.';
COMMENT ON COLUMN memsvc.corpora.length IS 'Sum of document lengths; divided by passages it is avgdl of BM25.';

CREATE TABLE memsvc.terms (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  kind text NOT NULL,
  form text NOT NULL CHECK (form IN ('stemmed', 'simple')),
  term text NOT NULL,
  passages bigint NOT NULL CHECK (passages >= 0),
  PRIMARY KEY (user_id, kind, form, term)
) WITH (fillfactor = 80);
COMMENT ON TABLE memsvc.terms IS 'Document frequencies of one user; folded from term_deltas.';
COMMENT ON COLUMN memsvc.terms.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.terms.kind IS 'As passages.kind.';
COMMENT ON COLUMN memsvc.terms.form IS 'stemmed or simple.';
COMMENT ON COLUMN memsvc.terms.term IS 'The lexeme.';
COMMENT ON COLUMN memsvc.terms.passages IS 'df of BM25: passages that hold the term.';

CREATE TABLE memsvc.term_deltas (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  delta_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL,
  form text NOT NULL CHECK (form IN ('stemmed', 'simple')),
  passages bigint NOT NULL,
  length bigint NOT NULL,
  terms text[] NOT NULL,
  changes integer[] NOT NULL CHECK (cardinality(changes) = cardinality(terms)),
  PRIMARY KEY (user_id, delta_id)
);
COMMENT ON TABLE memsvc.term_deltas IS
  'What one write changed in the statistics. Writers only insert here (counters in the write path deadlock and block); '
  'fold_statistics() moves the rows into corpora and terms; recall sums all three.';
COMMENT ON COLUMN memsvc.term_deltas.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.term_deltas.delta_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.term_deltas.kind IS 'As passages.kind.';
COMMENT ON COLUMN memsvc.term_deltas.form IS 'stemmed or simple.';
COMMENT ON COLUMN memsvc.term_deltas.passages IS 'Passages more (or, negative, fewer).';
COMMENT ON COLUMN memsvc.term_deltas.length IS 'Words more or fewer.';
COMMENT ON COLUMN memsvc.term_deltas.terms IS 'Terms whose document frequency changed.';
COMMENT ON COLUMN memsvc.term_deltas.changes IS 'By how much each did.';

CREATE TABLE memsvc.jobs (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  job_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('process')),
  subject_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed', 'cancelled')),
  requests integer NOT NULL DEFAULT 1,
  attempts smallint NOT NULL DEFAULT 0,
  error_code text,
  error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  run_after timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  PRIMARY KEY (user_id, job_id)
);
CREATE UNIQUE INDEX jobs_one_pending ON memsvc.jobs (user_id, kind, subject_id) WHERE state = 'pending';
CREATE INDEX jobs_due ON memsvc.jobs (run_after) WHERE state = 'pending';
COMMENT ON TABLE memsvc.jobs IS
  'The truth about background work. A job commits together with the text that it will process.';
COMMENT ON COLUMN memsvc.jobs.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.jobs.job_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.jobs.kind IS 'process: bring a source up to now.';
COMMENT ON COLUMN memsvc.jobs.subject_id IS 'The source that it is about.';
COMMENT ON COLUMN memsvc.jobs.state IS
  'pending, done, failed or cancelled. A running job is pending under an advisory lock, so a killed worker '
  'leaves it pending.';
COMMENT ON COLUMN memsvc.jobs.requests IS
  'Counts up when more work joins a pending job; a worker that sees it change leaves the job pending.';
COMMENT ON COLUMN memsvc.jobs.attempts IS 'How often it was tried.';
COMMENT ON COLUMN memsvc.jobs.error_code IS 'Stable code of the last failure.';
COMMENT ON COLUMN memsvc.jobs.error IS 'What went wrong last, without text of memories.';
COMMENT ON COLUMN memsvc.jobs.created_at IS 'When it was asked for.';
COMMENT ON COLUMN memsvc.jobs.run_after IS 'Not to be tried before.';
COMMENT ON COLUMN memsvc.jobs.finished_at IS 'When it was done, failed for good or was cancelled.';

CREATE TABLE memsvc.outbox (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  event_id uuid NOT NULL DEFAULT uuidv7(),
  kind text NOT NULL CHECK (kind IN ('passages.added', 'source.completed')),
  subject_id uuid NOT NULL,
  transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, event_id)
);
COMMENT ON TABLE memsvc.outbox IS 'Events for live clients: ids only, committed with what they tell of.';
COMMENT ON COLUMN memsvc.outbox.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.outbox.event_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.outbox.kind IS 'passages.added or source.completed.';
COMMENT ON COLUMN memsvc.outbox.subject_id IS 'The source concerned.';
COMMENT ON COLUMN memsvc.outbox.transaction_id IS
  'Writing transaction: readers stop below pg_snapshot_xmin, so a cursor never jumps over a late commit.';
COMMENT ON COLUMN memsvc.outbox.recorded_at IS 'When.';
"""

ROW_SECURITY = """
ALTER TABLE memsvc.corpora ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.terms ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.term_deltas ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.jobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.outbox ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ROW_SECURITY)
