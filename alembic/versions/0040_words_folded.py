"""Words of folded letters and of numbers: passages that hold any get the words of this version.

Revision: 0040, after 0039. As 0019: the functions that make words come first, in one transaction behind all writers, so
that whatever is written from then on has the new words; then passages are gone through by user, in batches, each a
transaction. Killed, it can be run again: what has its new words is left alone. Whoever asks meanwhile finds what
is not done yet by the words that have not changed. It reads all passages, and writes those whose words change.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Connection, text

from memsvc.db.files import folder
from memsvc.db.locks import lock
from memsvc.server.objects import run_script

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

BATCH = 500
FIRST = "00000000-0000-0000-0000-000000000000"
# The owner of forced tables sees no rows without a policy. sql/policies drops these when it has its locks anyway.
FOR_NOW = """
DROP POLICY IF EXISTS words_again ON memsvc.passages;
DROP POLICY IF EXISTS words_again ON memsvc.term_deltas;
CREATE POLICY words_again ON memsvc.passages TO memsvc_owner USING (true) WITH CHECK (true);
CREATE POLICY words_again ON memsvc.term_deltas FOR INSERT TO memsvc_owner WITH CHECK (true);
"""
# Erasing and filing take this lock of the user: they count a passage's words out as they stand.
HOLD = text("SELECT pg_advisory_lock(hashtextextended('memsvc memories of ' || CAST(:user_id AS uuid), 0))")
RELEASE = text("SELECT pg_advisory_unlock(hashtextextended('memsvc memories of ' || CAST(:user_id AS uuid), 0))")
NEXT = text("SELECT user_id FROM memsvc.users WHERE user_id > :after ORDER BY user_id LIMIT 1")
PASSAGES = text("""
WITH walked AS MATERIALIZED (
  SELECT p.passage_id, p.kind, p.language, p.tsv, p.tsv_simple, p.length, p.length_simple,
    memsvc.searched_text(p.speaker, p.text, p.caption) AS said
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.passage_id > :after
  ORDER BY p.passage_id
  LIMIT :batch
),
worded AS MATERIALIZED (
  SELECT w.passage_id, w.kind, f.form, f.tsv AS old, f.length AS old_length,
    memsvc.to_words(f.form, w.language, w.said) AS new
  FROM walked AS w
  CROSS JOIN LATERAL (
    VALUES ('stemmed', w.tsv, w.length), ('simple', w.tsv_simple, w.length_simple)
  ) AS f (form, tsv, length)
  WHERE memsvc.has_letters_to_fold(w.language, w.said) OR memsvc.has_more_words(w.said)
),
changed AS MATERIALIZED (
  SELECT w.*, memsvc.word_count(w.new) AS new_length FROM worded AS w WHERE w.new <> w.old
),
put AS (
  UPDATE memsvc.passages AS p SET
    tsv = coalesce(c.tsv, p.tsv), length = coalesce(c.length, p.length),
    tsv_simple = coalesce(c.tsv_simple, p.tsv_simple), length_simple = coalesce(c.length_simple, p.length_simple)
  FROM (
    SELECT passage_id,
      (array_agg(new) FILTER (WHERE form = 'stemmed'))[1] AS tsv,
      max(new_length) FILTER (WHERE form = 'stemmed') AS length,
      (array_agg(new) FILTER (WHERE form = 'simple'))[1] AS tsv_simple,
      max(new_length) FILTER (WHERE form = 'simple') AS length_simple
    FROM changed GROUP BY passage_id
  ) AS c
  WHERE p.user_id = :user_id AND p.passage_id = c.passage_id
),
counted AS (
  SELECT t.kind, t.form, array_agg(t.term) AS terms, array_agg(t.change) AS changes
  FROM (
    SELECT c.kind, c.form, u.term, sum(u.change)::integer AS change
    FROM changed AS c
    CROSS JOIN LATERAL (
      SELECT term, 1 AS change FROM unnest(tsvector_to_array(c.new)) AS a (term)
      UNION ALL SELECT term, -1 FROM unnest(tsvector_to_array(c.old)) AS b (term)
    ) AS u
    GROUP BY c.kind, c.form, u.term
    HAVING sum(u.change) <> 0
  ) AS t
  GROUP BY t.kind, t.form
),
told AS (
  INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes)
  SELECT :user_id, s.kind, s.form, 0, s.length, coalesce(c.terms, '{}'), coalesce(c.changes, '{}')
  FROM (SELECT kind, form, sum(new_length - old_length) AS length FROM changed GROUP BY kind, form) AS s
  LEFT JOIN counted AS c ON c.kind = s.kind AND c.form = s.form
)
SELECT passage_id FROM walked ORDER BY passage_id DESC LIMIT 1
""")


def upgrade() -> None:
    lock(op.get_bind(), "passages", "term_deltas")
    op.execute(FOR_NOW)
    run_script(op.get_bind(), (folder("sql") / "functions" / "base" / "20_words.sql").read_text(encoding="utf-8"))
    with op.get_context().autocommit_block():
        # For the lock of a user, which a writer may hold for longer than the locks of tables may take.
        op.execute("SET lock_timeout = '5min'")
        connection, user_id = op.get_bind(), FIRST
        while user_id := connection.execute(NEXT, {"after": user_id}).scalar():
            after: str | None = FIRST
            while after:
                after = _reword(connection, user_id, after)
        op.execute("SET lock_timeout = '800ms'")


def _reword(connection: Connection, user_id: str, after: str) -> str | None:
    """Do one batch of a user's passages: the last one; None where there are no more."""
    connection.execute(HOLD, {"user_id": user_id})
    try:
        last: str | None = connection.execute(PASSAGES, {"user_id": user_id, "after": after, "batch": BATCH}).scalar()
        return last
    finally:
        connection.execute(RELEASE, {"user_id": user_id})
