"""What the language model was asked, and what that cost: no question and no answer.

Revision: 0022, after 0021.
"""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

CALLS = """
CREATE TABLE memsvc.model_calls (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  call_id uuid NOT NULL DEFAULT uuidv7(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  task text NOT NULL CHECK (task ~ '^[a-z][a-z0-9_-]{0,39}$'),
  model text NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
  prompt_version text NOT NULL CHECK (prompt_version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$'),
  outcome text NOT NULL CHECK (outcome IN ('answered', 'unusable', 'refused', 'failed')),
  tokens_in integer NOT NULL CHECK (tokens_in >= 0),
  tokens_out integer NOT NULL CHECK (tokens_out >= 0),
  ms integer NOT NULL CHECK (ms >= 0),
  cost numeric CHECK (cost >= 0 AND cost < 'infinity'),
  tries smallint NOT NULL CHECK (tries > 0),
  PRIMARY KEY (user_id, call_id)
);
CREATE INDEX model_calls_of_day ON memsvc.model_calls (user_id, at) INCLUDE (tokens_in, tokens_out);
CREATE INDEX model_calls_lately ON memsvc.model_calls (at) INCLUDE (tokens_in, tokens_out);
COMMENT ON TABLE memsvc.model_calls IS
  'A question to the language model: what it cost and how it ended. No text of either side.';
COMMENT ON COLUMN memsvc.model_calls.user_id IS 'Owner: for whom it was asked.';
COMMENT ON COLUMN memsvc.model_calls.call_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.model_calls.at IS 'When it ended.';
COMMENT ON COLUMN memsvc.model_calls.task IS 'What for: facts …';
COMMENT ON COLUMN memsvc.model_calls.model IS 'The model''s name, as it was asked for.';
COMMENT ON COLUMN memsvc.model_calls.prompt_version IS 'Version of the task''s prompt.';
COMMENT ON COLUMN memsvc.model_calls.outcome IS
  'answered; unusable: not in the form that was asked for; refused: by the server; failed: no answer came.';
COMMENT ON COLUMN memsvc.model_calls.tokens_in IS
  'Tokens of the question, as the server counts; estimated where it does not; 0 without an answer.';
COMMENT ON COLUMN memsvc.model_calls.tokens_out IS 'Tokens of the answer, likewise.';
COMMENT ON COLUMN memsvc.model_calls.ms IS 'Milliseconds from the first try to the end, pauses included.';
COMMENT ON COLUMN memsvc.model_calls.cost IS 'In the server''s currency, where it tells; null: it does not.';
COMMENT ON COLUMN memsvc.model_calls.tries IS 'Requests that it took: repeated ones, and those in unknown forms.';
ALTER TABLE memsvc.model_calls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(CALLS)
