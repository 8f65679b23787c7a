"""Many passages at once, by the administrator and without the write path; statistics counted afterwards."""

from __future__ import annotations

from uuid import UUID

import psycopg

# Words of everyday length; which ones stand in passage n follows from n alone.
FILL = """
WITH made AS (
  INSERT INTO memsvc.sources (user_id, kind, identifier)
  SELECT %(user)s, 'conversation', 'bulk ' || c FROM generate_series(1, %(conversations)s) AS c
  RETURNING source_id
),
source AS (SELECT source_id, row_number() OVER (ORDER BY source_id) - 1 AS nth FROM made),
said AS (
  SELECT n, %(lead)s || ' ' || (
    SELECT string_agg('w' || (hashint8(n * 31 + k) & 2047), ' ') FROM generate_series(1, 12) AS k
  ) || ' n' || n AS text
  FROM generate_series(0, %(passages)s - 1) AS n
),
-- Both forms are the same: no word of these has another stem.
read AS MATERIALIZED (SELECT n, text, memsvc.to_words('simple', 'english', text) AS words FROM said)
INSERT INTO memsvc.passages (
  user_id, source_id, kind, session, ordinal, role, text, said_at, said_offset, language, tsv, tsv_simple, length,
  length_simple
)
SELECT
  %(user)s, s.source_id, 'message', '', d.n, 'user', d.text, timestamptz '2026-01-01Z' + d.n * interval '1 minute', 0,
  'english', d.words, d.words, 14, 14
FROM read AS d INNER JOIN source AS s ON s.nth = d.n %% %(conversations)s
ORDER BY d.n
"""
SAME_STEMS = "SELECT memsvc.to_words('stemmed', 'english', %s) = memsvc.to_words('simple', 'english', %s)"
# What the statistics must be, counted from the passages themselves.
SIZES = """
SELECT p.kind, f.form, count(*) AS passages, sum(f.length) AS length
FROM memsvc.passages AS p
CROSS JOIN LATERAL (VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
WHERE p.user_id = %(user)s GROUP BY 1, 2
"""
FREQUENCIES = """
SELECT p.kind, f.form, w.term, count(*) AS passages
FROM memsvc.passages AS p
CROSS JOIN LATERAL (VALUES ('stemmed', p.tsv), ('simple', p.tsv_simple)) AS f (form, words)
CROSS JOIN LATERAL unnest(tsvector_to_array(f.words)) AS w (term)
WHERE p.user_id = %(user)s GROUP BY 1, 2, 3
"""


def fill(
    admin: psycopg.Connection, user_id: UUID, passages: int, *, conversations: int = 1, lead: str = "common"
) -> None:
    """Give a user passages that all hold the word ``lead``, 12 words of 2,048 and ``n0``, ``n1``, … of their own."""
    values: dict[str, object] = {"user": user_id, "passages": passages, "conversations": conversations, "lead": lead}
    with admin.transaction():
        same = admin.execute(SAME_STEMS, [f"{lead} w17 n1234"] * 2).fetchone()
        assert same == (True,), "the words of one form are written for both"
        admin.execute(FILL.encode(), values)
        for table, counted in (("corpora", SIZES), ("terms", FREQUENCIES)):
            admin.execute(f"INSERT INTO memsvc.{table} SELECT %(user)s, c.* FROM ({counted}) AS c".encode(), values)
