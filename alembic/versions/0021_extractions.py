"""How far extractors have read, and the facts about which a person decides.

Revision: 0021, after 0020. CONCURRENTLY runs outside a transaction; all of it can be run again.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

KINDS = """
ALTER TABLE memsvc.jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE memsvc.jobs ADD CONSTRAINT jobs_kind_check
  CHECK (kind IN ('process', 'embed', 'tidy', 'erase', 'extract')) NOT VALID;
ALTER TABLE memsvc.jobs VALIDATE CONSTRAINT jobs_kind_check;
COMMENT ON COLUMN memsvc.jobs.kind IS
  'process: bring a source up to now; extract: read facts out of it; embed: vectors for all that a user''s memories '
  'lack; tidy: upkeep of a user; erase: the rest of a large erasure.';
"""

EXTRACTIONS = """
CREATE TABLE IF NOT EXISTS memsvc.extractions (
  user_id uuid NOT NULL,
  source_id uuid NOT NULL,
  extractor text NOT NULL CHECK (extractor <> '' AND length(extractor) <= 200),
  backend text NOT NULL CHECK (backend <> '' AND length(backend) <= 200),
  upto uuid,
  turns integer NOT NULL DEFAULT 0 CHECK (turns >= 0),
  facts integer NOT NULL DEFAULT 0 CHECK (facts >= 0),
  refused integer NOT NULL DEFAULT 0 CHECK (refused >= 0),
  asked boolean NOT NULL DEFAULT false,
  last_at timestamptz,
  PRIMARY KEY (user_id, source_id, extractor),
  FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources (user_id, source_id)
);
COMMENT ON TABLE memsvc.extractions IS
  'How far each extractor has read each source. It moves in the transaction that writes what was read. Holds no text.';
COMMENT ON COLUMN memsvc.extractions.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.extractions.source_id IS 'What is read.';
COMMENT ON COLUMN memsvc.extractions.extractor IS 'Who reads, with a version; so what it found is signed.';
COMMENT ON COLUMN memsvc.extractions.backend IS 'Under which name workers load it.';
COMMENT ON COLUMN memsvc.extractions.upto IS
  'The last passage that it has read; those of one source have ids in the order of their arrival. Null: none.';
COMMENT ON COLUMN memsvc.extractions.turns IS 'How many passages it has read.';
COMMENT ON COLUMN memsvc.extractions.facts IS 'How many facts it found in them that were written.';
COMMENT ON COLUMN memsvc.extractions.refused IS 'How many it found that were not, or about which a person is asked.';
COMMENT ON COLUMN memsvc.extractions.asked IS
  'It is to read what it has not read, though it may not be the one that workers are configured with.';
COMMENT ON COLUMN memsvc.extractions.last_at IS 'When it read last; null: not yet.';
ALTER TABLE memsvc.extractions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

REVIEWS = """
CREATE TABLE IF NOT EXISTS memsvc.fact_reviews (
  user_id uuid NOT NULL,
  review_id uuid NOT NULL DEFAULT uuidv7(),
  passage_id uuid NOT NULL,
  extractor text NOT NULL CHECK (extractor <> '' AND length(extractor) <= 200),
  state text NOT NULL CHECK (state IN ('doubtful', 'refused', 'accepted', 'edited', 'rejected')),
  reason text NOT NULL CHECK (reason ~ '^[a-z][a-z_]{0,39}$'),
  proposal jsonb NOT NULL CHECK (jsonb_typeof(proposal) = 'object'),
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  span_from integer CHECK (span_from >= 0),
  span_to integer,
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz,
  decided_by text CHECK (decided_by <> ''),
  PRIMARY KEY (user_id, review_id),
  UNIQUE (user_id, passage_id, digest),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id),
  CONSTRAINT fact_reviews_span CHECK ((span_from IS NULL) = (span_to IS NULL) AND span_to > span_from),
  CONSTRAINT fact_reviews_decided CHECK ((state IN ('doubtful', 'refused')) = (decided_at IS NULL))
);
CREATE INDEX IF NOT EXISTS fact_reviews_by_state ON memsvc.fact_reviews (user_id, state, review_id);
ALTER TABLE memsvc.fact_reviews ALTER COLUMN proposal SET STATISTICS 0;
COMMENT ON TABLE memsvc.fact_reviews IS
  'Facts that were found and not written by themselves: a person decides about doubtful ones, refused ones failed '
  'validation. They go with their passage.';
COMMENT ON COLUMN memsvc.fact_reviews.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.fact_reviews.review_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.fact_reviews.passage_id IS 'Where it was found.';
COMMENT ON COLUMN memsvc.fact_reviews.extractor IS 'Who found it.';
COMMENT ON COLUMN memsvc.fact_reviews.state IS 'doubtful, refused, accepted, edited (and accepted) or rejected.';
COMMENT ON COLUMN memsvc.fact_reviews.reason IS 'Why it was not written, as a code.';
COMMENT ON COLUMN memsvc.fact_reviews.proposal IS 'The fact: its ends, type, sentence, quote, times.';
COMMENT ON COLUMN memsvc.fact_reviews.digest IS
  'Of ends and type: the same fact of the same passage is kept once, and not proposed again once it is rejected.';
COMMENT ON COLUMN memsvc.fact_reviews.span_from IS 'First character of the quote; null: it is not there.';
COMMENT ON COLUMN memsvc.fact_reviews.span_to IS 'The character behind it.';
COMMENT ON COLUMN memsvc.fact_reviews.found_at IS 'When it was found first.';
COMMENT ON COLUMN memsvc.fact_reviews.decided_at IS 'When somebody decided; null: nobody has.';
COMMENT ON COLUMN memsvc.fact_reviews.decided_by IS 'Who decided: user, app …';
ALTER TABLE memsvc.fact_reviews ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

# What stands behind a place in a source, and what stands before it.
INDEX = "memsvc.passages (user_id, source_id, passage_id) WHERE kind = 'message'"


def upgrade() -> None:
    lock(op.get_bind(), "jobs", "sources", "passages")  # whose constraint changes, and what foreign keys lead to
    for script in (KINDS, EXTRACTIONS, REVIEWS):
        op.execute(script)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5min'")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memsvc.passages_in_order")
        op.execute(f"CREATE INDEX CONCURRENTLY passages_in_order ON {INDEX}")
        op.execute("SET lock_timeout = '800ms'")
