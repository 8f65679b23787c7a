-- Messages in: the write path.

-- What a tombstone remembers of an erased message: its identity, never its text.
CREATE OR REPLACE FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(jsonb_build_array(
  p_source, CASE WHEN p_client_id IS NULL THEN p_session END, CASE WHEN p_client_id IS NULL THEN p_ordinal END, p_client_id
)::text, 'UTF8'));
COMMENT ON FUNCTION memsvc.message_digest(text, text, integer, text) IS 'Digest of a message''s identity, for tombstones.';

-- Appends messages, given as one row per part, in one round trip: sources, passages, statistics, job and event in the
-- caller's transaction. Writers to one conversation queue up at its source row (in the order of ids: no deadlock), which
-- gives messages without an ordinal the next one.
--
-- p_rows: [{"message": 0, "part": 0, "conversation": "…", "session": "…", "ordinal": null|n, "client_id": null|"…",
--   "speaker": "…", "role": "user", "text": "…", "caption": null|"…", "said_at": "…", "said_offset": 60,
--   "language": "english", "metadata": {…}}, …]; the rows of one message differ in part, text and caption only.
-- Result, one row per message: created; existing (same identity, same words: nothing done); conflict (same identity,
-- other words: the caller must roll back); erased (forgotten before: not stored again).
CREATE OR REPLACE FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb)
RETURNS TABLE (message integer, outcome text, source_id uuid, passage_id uuid, session text, ordinal integer, job_id uuid)
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  today timestamptz := clock_timestamp();
BEGIN
  INSERT INTO sources AS s (user_id, kind, identifier)
  SELECT DISTINCT p_user_id, 'conversation', r.conversation
  FROM jsonb_to_recordset(p_rows) AS r (conversation text)
  ORDER BY r.conversation
  ON CONFLICT (user_id, kind, identifier) DO NOTHING;

  PERFORM FROM sources AS s
  WHERE s.user_id = p_user_id AND s.kind = 'conversation'
    AND s.identifier IN (SELECT r.conversation FROM jsonb_to_recordset(p_rows) AS r (conversation text))
  ORDER BY s.source_id
  FOR NO KEY UPDATE;

  RETURN QUERY
  WITH part AS MATERIALIZED (
    SELECT r.*, s.source_id
    FROM jsonb_to_recordset(p_rows) AS r (
      message integer, part smallint, conversation text, session text, ordinal integer, client_id text, speaker text,
      role text, text text, caption text, said_at timestamptz, said_offset smallint, language text, metadata jsonb
    )
    INNER JOIN sources AS s
      ON s.user_id = p_user_id AND s.kind = 'conversation' AND s.identifier = r.conversation
  ),
  incoming AS (
    SELECT
      p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role,
      string_agg(p.text, '' ORDER BY p.part) AS text, string_agg(p.caption, '' ORDER BY p.part) AS caption
    FROM part AS p
    GROUP BY p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role
  ),
  known AS (
    SELECT i.message, k.passage_id, k.session, k.ordinal, k.client_id
    FROM incoming AS i
    INNER JOIN passages AS k
      ON k.user_id = p_user_id AND k.source_id = i.source_id AND k.client_id = i.client_id AND k.part = 0
    UNION ALL
    SELECT i.message, k.passage_id, k.session, k.ordinal, k.client_id
    FROM incoming AS i
    INNER JOIN passages AS k
      ON k.user_id = p_user_id AND k.source_id = i.source_id AND k.session = i.session AND k.ordinal = i.ordinal
      AND k.part = 0
    WHERE i.client_id IS NULL
  ),
  judged AS (
    SELECT i.*, k.passage_id AS known_id, k.ordinal AS known_ordinal, k.session AS known_session,
      CASE
        WHEN k.passage_id IS NOT NULL THEN CASE
          WHEN (
            SELECT (string_agg(w.text, '' ORDER BY w.part), string_agg(w.caption, '' ORDER BY w.part), min(w.speaker), min(w.role))
            FROM passages AS w
            WHERE w.user_id = p_user_id AND w.source_id = i.source_id AND w.session = k.session AND w.ordinal = k.ordinal
          ) IS NOT DISTINCT FROM (i.text, i.caption, i.speaker, i.role) THEN 'existing'
          ELSE 'conflict'
        END
        WHEN t.digest IS NOT NULL THEN 'erased'
        ELSE 'created'
      END AS outcome
    FROM incoming AS i
    LEFT JOIN known AS k ON k.message = i.message
    LEFT JOIN tombstones AS t
      ON t.user_id = p_user_id AND t.digest = memsvc.message_digest(i.conversation, i.session, i.ordinal, i.client_id)
  ),
  -- Messages without an ordinal go behind everything that their session has, and behind what the batch places there.
  behind AS (
    SELECT j.source_id, j.session, greatest(
      max(j.ordinal),
      (SELECT max(w.ordinal) FROM passages AS w
        WHERE w.user_id = p_user_id AND w.source_id = j.source_id AND w.session = j.session)
    ) AS last_ordinal
    FROM judged AS j
    WHERE j.outcome = 'created'
    GROUP BY j.source_id, j.session
  ),
  placed AS (
    SELECT j.message, j.source_id, coalesce(
      j.ordinal,
      coalesce(b.last_ordinal, -1)
        + row_number() OVER (PARTITION BY j.source_id, j.session, j.ordinal IS NULL ORDER BY j.message)::integer
    ) AS ordinal
    FROM judged AS j
    INNER JOIN behind AS b ON b.source_id = j.source_id AND b.session = j.session
    WHERE j.outcome = 'created'
  ),
  worded AS MATERIALIZED (
    SELECT p.*, o.ordinal AS place,
      memsvc.to_words('stemmed', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv,
      memsvc.to_words('simple', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv_simple
    FROM part AS p
    INNER JOIN placed AS o ON o.message = p.message
  ),
  added AS (
    INSERT INTO passages AS a (
      user_id, source_id, kind, session, ordinal, part, client_id, speaker, role, text, caption, said_at, said_offset,
      language, tsv, tsv_simple, length, length_simple, metadata, recorded_at
    )
    SELECT
      p_user_id, w.source_id, CASE WHEN w.role IN ('system', 'tool', 'thinking') THEN 'trace' ELSE 'message' END,
      w.session, w.place, w.part, w.client_id, w.speaker, w.role, w.text, w.caption, w.said_at, w.said_offset, w.language,
      w.tsv, w.tsv_simple, memsvc.word_count(w.tsv), memsvc.word_count(w.tsv_simple), w.metadata, today
    FROM worded AS w
    ORDER BY w.message, w.part
    RETURNING a.source_id, a.passage_id, a.session, a.ordinal, a.part, a.kind, a.tsv, a.tsv_simple, a.length, a.length_simple
  ),
  counted AS (
    SELECT a.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM added AS a CROSS JOIN LATERAL (VALUES ('stemmed', a.length), ('simple', a.length_simple)) AS f (form, length)
    GROUP BY a.kind, f.form
  ),
  frequencies AS (
    SELECT t.kind, t.form, array_agg(t.term) AS terms, array_agg(t.passages) AS changes
    FROM (
      SELECT a.kind, f.form, f.term, count(*)::integer AS passages
      FROM added AS a CROSS JOIN LATERAL (
        SELECT 'stemmed' AS form, s.term FROM unnest(tsvector_to_array(a.tsv)) AS s (term)
        UNION ALL
        SELECT 'simple' AS form, s.term FROM unnest(tsvector_to_array(a.tsv_simple)) AS s (term)
      ) AS f
      GROUP BY a.kind, f.form, f.term
    ) AS t
    GROUP BY t.kind, t.form
  ),
  statistics AS (
    INSERT INTO term_deltas (user_id, kind, form, passages, length, terms, changes)
    SELECT p_user_id, c.kind, c.form, c.passages, c.length, coalesce(f.terms, '{}'), coalesce(f.changes, '{}')
    FROM counted AS c
    LEFT JOIN frequencies AS f ON f.kind = c.kind AND f.form = c.form
  ),
  -- One pending job a source: it brings the source up to the moment in which it runs.
  work AS (
    INSERT INTO jobs AS j (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'process', a.source_id FROM added AS a
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1
    RETURNING j.subject_id, j.job_id
  ),
  events AS (
    INSERT INTO outbox (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'passages.added', a.source_id FROM added AS a
  ),
  reopened AS (
    UPDATE sources AS s SET status = 'pending'
    FROM (SELECT DISTINCT a.source_id FROM added AS a) AS d
    WHERE s.user_id = p_user_id AND s.source_id = d.source_id AND s.status <> 'pending'
  )
  SELECT j.message, j.outcome, j.source_id, coalesce(j.known_id, a.passage_id), coalesce(j.known_session, j.session),
    coalesce(j.known_ordinal, o.ordinal), w.job_id
  FROM judged AS j
  LEFT JOIN placed AS o ON o.message = j.message
  LEFT JOIN added AS a
    ON j.outcome = 'created' AND a.source_id = j.source_id AND a.session = j.session AND a.ordinal = o.ordinal AND a.part = 0
  LEFT JOIN work AS w ON j.outcome = 'created' AND w.subject_id = j.source_id
  ORDER BY j.message;
END
$$;
COMMENT ON FUNCTION memsvc.append_messages(uuid, jsonb) IS
  'Appends messages with statistics, job and event in the caller''s transaction; one result row per message.';
