"""What is known about a memory besides its text: recalls and feedback, and what they add up to.

Revision: 0017, after 0016.
"""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

EVENTS = """
CREATE TABLE memsvc.recall_events (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  recall_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  door text NOT NULL CHECK (door ~ '^[a-z][a-z0-9_-]{0,39}$'),
  mode text NOT NULL CHECK (mode ~ '^[a-z][a-z0-9_-]{0,39}$'),
  memories uuid[] NOT NULL CHECK (coalesce(array_ndims(memories), 1) = 1),
  verdicts smallint[] CHECK (verdicts <@ ARRAY[-1, 0, 1]::smallint[]),
  folded_at timestamptz,
  PRIMARY KEY (user_id, recall_id),
  CONSTRAINT recall_events_verdicts CHECK (cardinality(verdicts) = cardinality(memories))
);
CREATE INDEX recall_events_unfolded ON memsvc.recall_events (user_id, recall_id) WHERE folded_at IS NULL;
COMMENT ON TABLE memsvc.recall_events IS
  'What was recalled, appended after the answer went out. Ids only: no query and no text.';
COMMENT ON COLUMN memsvc.recall_events.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.recall_events.recall_id IS 'Time-ordered id, which the answer had.';
COMMENT ON COLUMN memsvc.recall_events.at IS 'When it was noted.';
COMMENT ON COLUMN memsvc.recall_events.door IS 'Through which door: recall, context, cli …';
COMMENT ON COLUMN memsvc.recall_events.mode IS 'eager, balanced or deliberate.';
COMMENT ON COLUMN memsvc.recall_events.memories IS
  'Ids of passages and of versions of edges, the place is the rank; null: erased since.';
COMMENT ON COLUMN memsvc.recall_events.verdicts IS
  'Feedback, at the same places: 1 used, -1 irrelevant, 0 none. Null: nobody said anything.';
COMMENT ON COLUMN memsvc.recall_events.folded_at IS 'When memory_signals took it in; null: not yet.';
ALTER TABLE memsvc.recall_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

SIGNALS = """
CREATE TABLE memsvc.memory_signals (
  user_id uuid NOT NULL,
  memory_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('passage', 'fact')),
  passage_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'passage' THEN memory_id END) STORED,
  version_id uuid GENERATED ALWAYS AS (CASE WHEN kind = 'fact' THEN memory_id END) STORED,
  recalls integer NOT NULL DEFAULT 0 CHECK (recalls >= 0),
  last_recalled_at timestamptz,
  used integer NOT NULL DEFAULT 0 CHECK (used >= 0),
  irrelevant integer NOT NULL DEFAULT 0 CHECK (irrelevant >= 0),
  importance smallint CHECK (importance BETWEEN 1 AND 10),
  sentiment real CHECK (sentiment BETWEEN -1 AND 1),
  pinned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (user_id, memory_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id),
  FOREIGN KEY (user_id, version_id) REFERENCES memsvc.edge_versions (user_id, version_id),
  CONSTRAINT memory_signals_recalled CHECK ((recalls = 0) = (last_recalled_at IS NULL))
);
CREATE INDEX memory_signals_of_passage ON memsvc.memory_signals (user_id, passage_id) WHERE passage_id IS NOT NULL;
CREATE INDEX memory_signals_of_version ON memsvc.memory_signals (user_id, version_id) WHERE version_id IS NOT NULL;
CREATE INDEX memory_signals_lately ON memsvc.memory_signals (user_id, last_recalled_at)
  WHERE last_recalled_at IS NOT NULL;
CREATE INDEX memory_signals_important ON memsvc.memory_signals (user_id, importance) WHERE importance IS NOT NULL;
CREATE INDEX memory_signals_pinned ON memsvc.memory_signals (user_id, memory_id) WHERE pinned;
COMMENT ON TABLE memsvc.memory_signals IS
  'What is known about a memory besides its text. Only memories that were ever recalled, rated or judged have a row.';
COMMENT ON COLUMN memsvc.memory_signals.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.memory_signals.memory_id IS 'A passage, or a version of an edge.';
COMMENT ON COLUMN memsvc.memory_signals.kind IS 'passage (a message, a trace) or fact.';
COMMENT ON COLUMN memsvc.memory_signals.passage_id IS 'memory_id, where it is a passage.';
COMMENT ON COLUMN memsvc.memory_signals.version_id IS 'memory_id, where it is a version of an edge.';
COMMENT ON COLUMN memsvc.memory_signals.recalls IS 'In how many answers it was, as far as they are folded.';
COMMENT ON COLUMN memsvc.memory_signals.last_recalled_at IS 'In the last of them; null: in none.';
COMMENT ON COLUMN memsvc.memory_signals.used IS 'Of how many answers it was said to have been used.';
COMMENT ON COLUMN memsvc.memory_signals.irrelevant IS 'Of how many it was said to have been irrelevant.';
COMMENT ON COLUMN memsvc.memory_signals.importance IS 'How much it matters, 1 to 10; null: nobody has judged.';
COMMENT ON COLUMN memsvc.memory_signals.sentiment IS 'From -1 (bad) to 1 (good); null: nobody has judged.';
COMMENT ON COLUMN memsvc.memory_signals.pinned IS 'Always salient, because somebody wants it so.';
ALTER TABLE memsvc.memory_signals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(EVENTS)
    op.execute(SIGNALS)
