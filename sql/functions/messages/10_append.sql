-- The write path of messages.

-- The digest that a tombstone stores: of the identity of what was erased, never of its text. Exports contain
-- tombstones, so a digest must not depend on anything that is specific to one service.
CREATE OR REPLACE FUNCTION memsvc.tombstone_digest(p_what jsonb) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN sha256(convert_to(p_what::text, 'UTF8'));
COMMENT ON FUNCTION memsvc.tombstone_digest(jsonb) IS 'Digest of the identity of something erased, for tombstones.';

CREATE OR REPLACE FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN memsvc.tombstone_digest(jsonb_build_array(
  p_source, CASE WHEN p_client_id IS NULL THEN p_session END,
  CASE WHEN p_client_id IS NULL THEN p_ordinal END, p_client_id
));
COMMENT ON FUNCTION memsvc.message_digest(text, text, integer, text) IS
  'Digest of a message''s identity, for tombstones.';

-- Whether a pause is running.
CREATE OR REPLACE FUNCTION memsvc.is_paused(p_paused_at timestamptz, p_paused_until timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app
RETURN p_paused_at IS NOT NULL AND coalesce(p_paused_until > now(), true);
COMMENT ON FUNCTION memsvc.is_paused(timestamptz, timestamptz) IS 'Whether a user''s memory is paused.';

-- Appends messages, given as one row per part, in one round trip: sources, passages, statistics, job and event in the
-- caller's transaction. Writers to one conversation wait for the lock on its source row (in the order of ids, so that
-- there is no deadlock). Under that lock, messages without an ordinal get the next one.
--
-- p_rows: [{"message": 0, "part": 0, "conversation": "…", "session": "…", "ordinal": null|n, "client_id": null|"…",
--   "speaker": "…", "role": "user", "text": "…", "caption": null|"…", "said_at": "…", "said_offset": 60,
--   "language": "english", "metadata": {…}, "injected": false}, …]; the rows of one message differ only in part, text,
--   caption, metadata and injected. An injected part is a context block of memsvc that a client sent back: a trace.
-- The plan must not depend on estimates, which are wrong for a new user and for a batch of any size (a batch of 500
-- took up to 17 s, and plans flipped with each ANALYZE). So a key is searched as "the first row at or after the key, in
-- this order", which only the index with that order can answer. Filters on CTEs are booleans, which the planner
-- estimates as true half of the time, so that rows of a batch are joined by hash joins. A generic plan is then as good
-- as any other, and planning was half of the time of a single message.
--
-- While the user's memory is paused nothing is written.
--
-- Result, one row per message: created; existing (same identity and words: nothing done); conflict (same identity and
-- other words, or an ordinal that another message has: the caller must roll back); erased (erased earlier: not stored
-- again); paused (the user's memory is paused: not stored, without ids). known_said_at and known_said_offset are the
-- stored time of an existing message.
CREATE OR REPLACE FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb)
RETURNS TABLE (
  message integer, outcome text, source_id uuid, passage_id uuid, session text, ordinal integer, job_id uuid,
  known_said_at timestamptz, known_said_offset smallint
)
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: kept
AS $$
#variable_conflict use_column
DECLARE
  today timestamptz;
  conversations uuid[];
  names CONSTANT text[] := ARRAY(
    SELECT DISTINCT r.conversation FROM jsonb_to_recordset(p_rows) AS r (conversation text) ORDER BY r.conversation
  );
  held bigint := -1;
BEGIN
  IF (SELECT memsvc.is_paused(u.paused_at, u.paused_until) FROM users AS u WHERE u.user_id = p_user_id) THEN
    RETURN QUERY
    SELECT DISTINCT r.message, 'paused', NULL::uuid, NULL::uuid, r.session, r.ordinal, NULL::uuid, NULL::timestamptz,
      NULL::smallint
    FROM jsonb_to_recordset(p_rows) AS r (message integer, session text, ordinal integer)
    ORDER BY r.message;
    RETURN;
  END IF;
  -- Repeats if a conversation did not exist yet, or its source was erased between finding and locking it. All sources
  -- exist before any is locked: otherwise two writers could each hold a lock and wait for the source that the other one
  -- inserts.
  WHILE held < cardinality(names) LOOP
    SELECT array_agg((
      SELECT CASE WHEN s.kind = 'conversation' AND s.identifier = n.name THEN s.source_id END FROM sources AS s
      WHERE s.user_id = p_user_id AND (s.kind, s.identifier) >= ('conversation', n.name)
      ORDER BY s.kind, s.identifier
      LIMIT 1
    )) INTO conversations
    FROM unnest(names) AS n (name);

    IF array_position(conversations, NULL) IS NOT NULL THEN
      INSERT INTO sources AS s (user_id, kind, identifier)
      SELECT p_user_id, 'conversation', n.name FROM unnest(names) AS n (name)
      ORDER BY n.name
      ON CONFLICT (user_id, kind, identifier) DO NOTHING;
      CONTINUE;
    END IF;

    SELECT count(*) INTO held
    FROM (
      SELECT s.identifier FROM sources AS s
      WHERE s.user_id = p_user_id AND s.source_id = ANY (conversations)
      ORDER BY s.source_id
      FOR NO KEY UPDATE
    ) AS l
    WHERE l.identifier = ANY (names);
  END LOOP;
  today := clock_timestamp();
  IF memsvc.is_budgeted(p_user_id) THEN
    PERFORM memsvc.spend_budget(p_user_id, count(DISTINCT r.message), coalesce(sum(octet_length(r.text)), 0)::bigint)
    FROM jsonb_to_recordset(p_rows) AS r (message integer, text text);
  END IF;

  RETURN QUERY
  WITH part AS MATERIALIZED (
    SELECT r.*, c.source_id
    FROM jsonb_to_recordset(p_rows) AS r (
      message integer, part smallint, conversation text, session text, ordinal integer, client_id text, speaker text,
      role text, text text, caption text, said_at timestamptz, said_offset smallint, language text, metadata jsonb,
      injected boolean
    )
    INNER JOIN unnest(names, conversations) AS c (name, source_id) ON c.name = r.conversation
  ),
  incoming AS (
    SELECT
      p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role,
      string_agg(p.text, '' ORDER BY p.part) AS text, string_agg(p.caption, '' ORDER BY p.part) AS caption
    FROM part AS p
    GROUP BY p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role
  ),
  matched AS (
    SELECT i.*, coalesce(k.passage_id, o.passage_id) AS known_id, k.ordinal AS known_ordinal,
      k.session AS known_session,
      k.said_at AS known_said_at, k.said_offset AS known_said_offset,
      coalesce(t.outcome, k.outcome, o.outcome) AS outcome
    FROM incoming AS i
    LEFT JOIN LATERAL (
      SELECT f.passage_id, f.session, f.ordinal, f.said_at, f.said_offset, CASE
        WHEN (
          SELECT (
            string_agg(w.text, '' ORDER BY w.part), string_agg(w.caption, '' ORDER BY w.part),
            min(w.speaker), min(w.role)
          )
          FROM (
            SELECT v.* FROM passages AS v
            WHERE v.user_id = p_user_id
              AND (v.source_id, v.session, v.ordinal) >= (i.source_id, f.session, f.ordinal)
              AND (v.source_id, v.session, v.ordinal) <= (i.source_id, f.session, f.ordinal)
            ORDER BY v.source_id, v.session, v.ordinal, v.part
          ) AS w
        ) IS NOT DISTINCT FROM (i.text, i.caption, i.speaker, i.role) THEN 'existing'
        ELSE 'conflict'
      END AS outcome
      FROM (
        (
          SELECT m.passage_id, m.source_id, m.session, m.ordinal, m.client_id, m.part, m.said_at, m.said_offset
          FROM passages AS m
          WHERE m.user_id = p_user_id AND m.client_id IS NOT NULL AND i.client_id IS NOT NULL
            AND (m.source_id, m.client_id) >= (i.source_id, i.client_id)
          ORDER BY m.source_id, m.client_id, m.part
          LIMIT 1
        )
        UNION ALL
        (
          SELECT m.passage_id, m.source_id, m.session, m.ordinal, i.client_id, m.part, m.said_at, m.said_offset
          FROM passages AS m
          WHERE m.user_id = p_user_id AND i.client_id IS NULL AND i.ordinal IS NOT NULL
            AND (m.source_id, m.session, m.ordinal) >= (i.source_id, i.session, i.ordinal)
          ORDER BY m.source_id, m.session, m.ordinal, m.part
          LIMIT 1
        )
      ) AS f
      WHERE f.source_id = i.source_id AND f.part = 0
        AND CASE
          WHEN i.client_id IS NULL THEN f.session = i.session AND f.ordinal = i.ordinal
          ELSE f.client_id = i.client_id
        END
      LIMIT 1
    ) AS k ON true
    LEFT JOIN LATERAL (
      SELECT 'erased' AS outcome FROM tombstones AS e
      WHERE e.user_id = p_user_id AND coalesce(i.client_id, i.ordinal::text) IS NOT NULL
        AND e.digest = memsvc.message_digest(i.conversation, i.session, i.ordinal, i.client_id)
      LIMIT 1
    ) AS t ON true
    LEFT JOIN LATERAL (
      SELECT 'conflict' AS outcome, n.passage_id
      FROM (
        SELECT m.passage_id, m.source_id, m.session, m.ordinal FROM passages AS m
        WHERE m.user_id = p_user_id AND i.client_id IS NOT NULL AND i.ordinal IS NOT NULL
          AND (m.source_id, m.session, m.ordinal) >= (i.source_id, i.session, i.ordinal)
        ORDER BY m.source_id, m.session, m.ordinal, m.part
        LIMIT 1
      ) AS n
      WHERE n.source_id = i.source_id AND n.session = i.session AND n.ordinal = i.ordinal
    ) AS o ON true
  ),
  -- An ordinal that another message has, stored or earlier in the batch, is a conflict too.
  judged AS MATERIALIZED (
    SELECT j.message, j.source_id, j.session, j.ordinal, j.known_id, j.known_ordinal, j.known_session,
      j.known_said_at, j.known_said_offset,
      coalesce(j.outcome, j.taken, 'created') AS outcome, coalesce(j.outcome, j.taken) IS NULL AS fresh
    FROM (
      SELECT m.*, CASE
        WHEN m.ordinal IS NOT NULL
          AND row_number() OVER (PARTITION BY m.outcome, m.source_id, m.session, m.ordinal ORDER BY m.message) > 1
          THEN 'conflict'
      END AS taken
      FROM matched AS m
    ) AS j
  ),
  -- Messages without an ordinal come after all messages of their session, stored or with an ordinal in this batch.
  session_ends AS (
    SELECT j.source_id, j.session, greatest(max(j.ordinal), (
      SELECT CASE WHEN w.source_id = j.source_id AND w.session = j.session THEN w.ordinal END
      FROM passages AS w
      WHERE w.user_id = p_user_id AND (w.source_id, w.session) <= (j.source_id, j.session)
      ORDER BY w.source_id DESC, w.session DESC, w.ordinal DESC
      LIMIT 1
    )) AS last_ordinal
    FROM judged AS j
    WHERE j.fresh
    GROUP BY j.source_id, j.session
  ),
  numbered AS (
    SELECT j.message, coalesce(
      j.ordinal,
      coalesce(b.last_ordinal, -1)
        + row_number() OVER (PARTITION BY j.source_id, j.session, j.ordinal IS NULL ORDER BY j.message)::integer
    ) AS ordinal
    FROM judged AS j
    INNER JOIN session_ends AS b ON b.source_id = j.source_id AND b.session = j.session
    WHERE j.fresh
  ),
  -- Ids are assigned here, in order, because RETURNING could not show which message a new row belongs to.
  worded AS MATERIALIZED (
    SELECT o.*, uuidv7() AS passage_id,
      CASE WHEN o.role IN ('system', 'tool', 'thinking') OR o.injected THEN 'trace' ELSE 'message' END AS kind,
      memsvc.word_count(o.tsv) AS length, memsvc.word_count(o.tsv_simple) AS length_simple
    FROM (
      SELECT p.*, o.ordinal AS new_ordinal,
        memsvc.to_words('stemmed', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv,
        memsvc.to_words('simple', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv_simple
      FROM part AS p
      INNER JOIN numbered AS o ON o.message = p.message
      ORDER BY p.message, p.part
    ) AS o
  ),
  added AS (
    INSERT INTO passages (
      user_id, passage_id, source_id, kind, session, ordinal, part, client_id, speaker, role, text, caption, said_at,
      said_offset, language, tsv, tsv_simple, length, length_simple, metadata, recorded_at
    )
    SELECT
      p_user_id, w.passage_id, w.source_id, w.kind, w.session, w.new_ordinal, w.part, w.client_id, w.speaker, w.role,
      w.text, w.caption, w.said_at, w.said_offset, w.language, w.tsv, w.tsv_simple, w.length, w.length_simple,
      w.metadata, today
    FROM worded AS w
  ),
  counted AS (
    SELECT a.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM worded AS a CROSS JOIN LATERAL (VALUES ('stemmed', a.length), ('simple', a.length_simple)) AS f (form, length)
    GROUP BY a.kind, f.form
  ),
  frequencies AS (
    SELECT t.kind, t.form, array_agg(t.term) AS terms, array_agg(t.passages) AS changes
    FROM (
      SELECT a.kind, f.form, f.term, count(*)::integer AS passages
      FROM worded AS a CROSS JOIN LATERAL (
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
  -- One pending job per source, which processes all messages stored when it runs. A job that waits for a retry is moved
  -- forward; queue/10_queue.sql sends its message.
  work AS (
    INSERT INTO jobs AS j (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'process', a.source_id FROM worded AS a
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
    DO UPDATE SET requests = j.requests + 1, run_after = least(j.run_after, clock_timestamp())
    RETURNING j.subject_id, j.job_id
  ),
  events AS (
    INSERT INTO outbox (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'passages.added', a.source_id FROM worded AS a
  ),
  reopened AS (
    UPDATE sources AS s SET status = 'pending'
    FROM (SELECT DISTINCT a.source_id FROM worded AS a) AS d
    WHERE s.user_id = p_user_id AND s.source_id = d.source_id AND s.status <> 'pending'
  )
  SELECT j.message, j.outcome, j.source_id, coalesce(j.known_id, a.passage_id), coalesce(j.known_session, j.session),
    coalesce(j.known_ordinal, a.new_ordinal), w.job_id, j.known_said_at, j.known_said_offset
  FROM judged AS j
  LEFT JOIN (SELECT d.message, d.passage_id, d.new_ordinal, d.source_id FROM worded AS d WHERE d.part < 1) AS a
    ON a.message = j.message
  LEFT JOIN work AS w ON w.subject_id = a.source_id
  ORDER BY j.message;

  PERFORM memsvc.fold_when_many(p_user_id);
END
$$;
COMMENT ON FUNCTION memsvc.append_messages(uuid, jsonb) IS
  'Appends messages with statistics, job and event in the caller''s transaction; one result row per message.';
