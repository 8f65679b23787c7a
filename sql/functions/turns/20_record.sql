-- The write path of turns.

-- The digest of a turn's identity, for tombstones. A chat of the same name has other digests.
CREATE OR REPLACE FUNCTION memsvc.turn_digest(p_conversation text, p_session text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN memsvc.tombstone_digest(jsonb_build_array('turn', p_conversation, p_session));
COMMENT ON FUNCTION memsvc.turn_digest(text, text) IS 'Digest of a turn''s identity, for tombstones.';

-- The conversation of an agent under a name, made if it is new, locked: its writers take turns.
CREATE OR REPLACE FUNCTION memsvc.lock_agent_conversation(p_user_id uuid, p_name text) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  mine uuid;
BEGIN
  LOOP -- it may be erased between finding and locking it
    SELECT s.source_id INTO mine FROM sources AS s
    WHERE s.user_id = p_user_id AND s.kind = 'turn' AND s.identifier = p_name
    FOR NO KEY UPDATE;
    IF FOUND THEN
      RETURN mine;
    END IF;
    INSERT INTO sources AS s (user_id, kind, identifier) VALUES (p_user_id, 'turn', p_name)
    ON CONFLICT (user_id, kind, identifier) DO NOTHING;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.lock_agent_conversation(uuid, text) IS 'The conversation of an agent under a name, locked.';

-- Calls with their numbers. One with the id of a stored call is that call; one without a number gets the next.
CREATE OR REPLACE FUNCTION memsvc.numbered_calls(p_user_id uuid, p_turn_id uuid, p_calls jsonb) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH given AS MATERIALIZED (
    SELECT c.value, c.nth, coalesce(k.number, (c.value ->> 'number')::integer) AS number
    FROM jsonb_array_elements(p_calls) WITH ORDINALITY AS c (value, nth)
    LEFT JOIN memsvc.tool_calls AS k
      ON k.user_id = p_user_id AND k.turn_id = p_turn_id AND k.call_id = c.value ->> 'id'
  ),
  most AS MATERIALIZED (
    SELECT greatest((
      SELECT max(k.number) FROM memsvc.tool_calls AS k WHERE k.user_id = p_user_id AND k.turn_id = p_turn_id
    ), (SELECT max(g.number) FROM given AS g), -1) AS number
  )
  SELECT coalesce(jsonb_agg(g.value || jsonb_build_object('number', coalesce(g.number, m.number + g.place))), '[]')
  FROM (SELECT g.*, row_number() OVER (PARTITION BY g.number IS NULL ORDER BY g.nth) AS place FROM given AS g) AS g
  CROSS JOIN most AS m;
END;
COMMENT ON FUNCTION memsvc.numbered_calls(uuid, uuid, jsonb) IS 'Calls with their numbers in a turn.';

-- Whether a turn that is stored says something else than what is sent now: other texts, or another call at a place. After
-- its commit, also a call or a text that it does not have.
CREATE OR REPLACE FUNCTION memsvc.turn_differs(
  p_user_id uuid, p_turn_id uuid, p_committed boolean, p_texts jsonb, p_calls jsonb
) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  SELECT EXISTS (
    SELECT FROM jsonb_to_recordset(p_calls) AS c (number integer, tool text, arguments jsonb)
    LEFT JOIN memsvc.tool_calls AS k
      ON k.user_id = p_user_id AND k.turn_id = p_turn_id AND k.number = c.number
    WHERE CASE WHEN k.number IS NULL THEN p_committed ELSE (k.tool, k.arguments) <> (c.tool, c.arguments) END
  ) OR EXISTS (
    SELECT FROM (
      SELECT x.ordinal, string_agg(x.text, '' ORDER BY x.part) AS text
      FROM jsonb_to_recordset(p_texts) AS x (ordinal integer, part integer, text text)
      GROUP BY x.ordinal
    ) AS x
    CROSS JOIN LATERAL (
      SELECT string_agg(p.text, '' ORDER BY p.part) AS text
      FROM memsvc.turns AS t
      INNER JOIN memsvc.passages AS p
        ON p.user_id = p_user_id AND p.source_id = t.source_id AND p.session = t.session AND p.ordinal = x.ordinal
      WHERE t.user_id = p_user_id AND t.turn_id = p_turn_id
    ) AS k
    WHERE CASE WHEN k.text IS NULL THEN p_committed ELSE k.text <> x.text END
  );
END;
COMMENT ON FUNCTION memsvc.turn_differs(uuid, uuid, boolean, jsonb, jsonb) IS
  'Whether a stored turn says something else than what is sent now.';

-- What was done in a turn, as passages of at most 600 characters and a line of 420 more: a line for each call, in their
-- order; of more than 1,800 characters the failures first, then the first ones.
CREATE OR REPLACE FUNCTION memsvc.work_texts(p_user_id uuid, p_turn_id uuid) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH line AS (
    SELECT k.number, k.told, sum(length(k.told)) OVER (ORDER BY k.ok, k.number) AS upto
    FROM memsvc.tool_calls AS k
    WHERE k.user_id = p_user_id AND k.turn_id = p_turn_id
  ),
  placed AS (
    SELECT l.number, l.told, (sum(length(l.told)) OVER (ORDER BY l.number) - length(l.told)) / 600 AS place
    FROM line AS l
    WHERE l.upto <= 1800
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object(
    'ordinal', 1, 'part', t.part, 'role', 'tool', 'text', t.text
  )), '[]')
  FROM (
    SELECT row_number() OVER (ORDER BY p.place) - 1 AS part, string_agg(p.told, E'\n' ORDER BY p.number) AS text
    FROM placed AS p
    GROUP BY p.place
  ) AS t;
END;
COMMENT ON FUNCTION memsvc.work_texts(uuid, uuid) IS 'What was done in a turn, as passages.';

-- Stores passages of a turn that it does not have yet, and counts their words. Returns how many.
CREATE OR REPLACE FUNCTION memsvc.add_turn_texts(
  p_user_id uuid, p_source_id uuid, p_turn jsonb, p_session text, p_texts jsonb
) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  added uuid[];
BEGIN
  WITH stored AS (
    INSERT INTO passages (
      user_id, source_id, kind, session, ordinal, part, role, text, said_at, said_offset, language, tsv, tsv_simple,
      length, length_simple, metadata
    )
    SELECT p_user_id, p_source_id, CASE WHEN w.injected THEN 'trace' ELSE 'turn' END, p_session, w.ordinal, w.part,
      w.role, w.text, w.said_at, w.said_offset, w.language, w.tsv, w.tsv_simple, memsvc.word_count(w.tsv),
      memsvc.word_count(w.tsv_simple), w.metadata
    FROM (
      SELECT x.*, t.*, memsvc.to_words('stemmed', t.language, x.text) AS tsv,
        memsvc.to_words('simple', t.language, x.text) AS tsv_simple,
        jsonb_strip_nulls(jsonb_build_object('project', t.project, 'agent', nullif(t.agent, ''))) AS metadata
      FROM jsonb_to_recordset(p_texts) AS x (ordinal integer, part smallint, role text, text text, injected boolean)
      CROSS JOIN jsonb_to_record(p_turn) AS t (
        said_at timestamptz, said_offset smallint, language text, project text, agent text
      )
      ORDER BY x.ordinal, x.part
    ) AS w
    ON CONFLICT (user_id, source_id, session, ordinal, part) DO NOTHING
    RETURNING passage_id
  )
  SELECT coalesce(array_agg(s.passage_id), '{}') INTO added FROM stored AS s;
  IF added <> '{}' THEN
    PERFORM memsvc.count_words(p_user_id, added);
  END IF;
  RETURN cardinality(added);
END
$$;
COMMENT ON FUNCTION memsvc.add_turn_texts(uuid, uuid, jsonb, text, jsonb) IS
  'Stores passages of a turn that it does not have yet; returns how many.';

-- Stores calls that a turn does not have yet, with the documents that they touched, and results that stored calls do not
-- have yet. Returns the numbers of calls and of new versions, and what was touched (record_turn).
CREATE OR REPLACE FUNCTION memsvc.add_calls(p_user_id uuid, p_turn_id uuid, p_calls jsonb)
RETURNS TABLE (calls integer, versions integer, documents jsonb)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  lacking CONSTANT jsonb := (
    SELECT coalesce(jsonb_agg(c.value), '[]') FROM jsonb_array_elements(p_calls) AS c (value)
    WHERE NOT EXISTS (
      SELECT FROM tool_calls AS k
      WHERE k.user_id = p_user_id AND k.turn_id = p_turn_id AND k.number = (c.value ->> 'number')::integer
        AND (k.result_bytes IS NOT NULL OR c.value ->> 'result_bytes' IS NULL)
    )
  );
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (SELECT t.* FROM memsvc.touch_documents(p_user_id, lacking) AS t),
  stored AS (
    INSERT INTO tool_calls (
      user_id, turn_id, number, call_id, tool, arguments, told, document_id, version, wrote, ok, exit_code, ms,
      result_head, result_tail, result_bytes, result_sha256
    )
    SELECT p_user_id, p_turn_id, c.number, c.id, c.tool, c.arguments, c.told, t.document_id, t.version,
      coalesce((c.document ->> 'wrote')::boolean, false), c.ok, c.exit_code, c.ms, c.result_head, c.result_tail,
      c.result_bytes, decode(c.result_sha256, 'hex')
    FROM jsonb_to_recordset(lacking) AS c (
      id text, number integer, tool text, arguments jsonb, told text, document jsonb, ok boolean, exit_code integer,
      ms bigint, result_head text, result_tail text, result_bytes bigint, result_sha256 text
    )
    LEFT JOIN touched AS t ON t.number = c.number
    ON CONFLICT (user_id, turn_id, number) DO UPDATE SET
      told = excluded.told, document_id = excluded.document_id, version = excluded.version, wrote = excluded.wrote,
      ok = excluded.ok, exit_code = excluded.exit_code, ms = excluded.ms, result_head = excluded.result_head,
      result_tail = excluded.result_tail, result_bytes = excluded.result_bytes,
      result_sha256 = excluded.result_sha256
  )
  SELECT jsonb_array_length(lacking), count(*) FILTER (WHERE t.fresh)::integer, coalesce(jsonb_agg(jsonb_build_object(
    'number', t.number, 'document_id', t.document_id, 'version', t.version, 'fresh', t.fresh
  ) ORDER BY t.number) FILTER (WHERE t.document_id IS NOT NULL), '[]')
  FROM touched AS t;
END
$$;
COMMENT ON FUNCTION memsvc.add_calls(uuid, uuid, jsonb) IS
  'Stores calls of a turn, and results that come later; the numbers of calls and versions, and what was touched.';

-- Whether a turn was erased.
CREATE OR REPLACE FUNCTION memsvc.is_buried_turn(p_user_id uuid, p_conversation text, p_session text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN p_session IS NOT NULL AND EXISTS (
    SELECT FROM tombstones AS t
    WHERE t.user_id = p_user_id AND t.digest = memsvc.turn_digest(p_conversation, p_session)
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_buried_turn(uuid, text, text) IS 'Whether a turn was erased.';

-- Notes which messages of the user in the chat of the same name a turn is about; they, their traces and their answer say
-- what it says, so that it is erased with one of them (asked_by).
CREATE OR REPLACE FUNCTION memsvc.link_chat(
  p_user_id uuid, p_turn_id uuid, p_conversation text, p_messages jsonb
) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  UPDATE turns AS t SET
    chat_id = coalesce(t.chat_id, (
      SELECT s.source_id FROM sources AS s
      WHERE s.user_id = p_user_id AND s.kind = 'conversation' AND s.identifier = p_conversation
    )),
    chat_messages = ARRAY(
      SELECT unnest(t.chat_messages) UNION SELECT m.value FROM jsonb_array_elements_text(p_messages) AS m
    )
  WHERE t.user_id = p_user_id AND t.turn_id = p_turn_id;
END
$$;
COMMENT ON FUNCTION memsvc.link_chat(uuid, uuid, text, jsonb) IS 'Notes which messages of a chat say what a turn says.';

-- Stores a turn, or what is new of it, in the caller's transaction.
--
-- p_turn: {"conversation": "…", "id": null|"…", "project": null|"…", "agent": "", "commit_id": null|"…", "ok":
--   null|true, "done": true, "said_at": "…", "said_offset": 60, "ended_at": null|"…", "language": "english",
--   "chat": ["…", …]}; chat: the ids of the user's messages in the chat of the same name that it is about.
-- p_texts: [{"ordinal": 0, "part": 0, "role": "user", "text": "…", "injected": false}, …]; ordinal 0: the request, 2: the
--   answer; 1, what was done, is made of the calls at the commit. injected: a context block of ours that came back.
-- p_calls: [{"id": null|"…", "number": null|0 (numbered_calls), "tool": "READ", "arguments": {…}, "told": "…",
--   "document": null|{…} (touch_documents), "ok": true,
--   "exit_code": null|0, "ms": null|12, "result_head": "", "result_tail": "", "result_bytes": null|0, "result_sha256":
--   null|"…"}, …].
--
-- outcome: created; changed (something was added, or it was committed); existing (nothing is new); conflict (something
-- else is stored under its id: the caller must roll back); erased (it was erased earlier); paused.
-- documents: [{"number": 0, "document_id": "…", "version": null|1, "fresh": true}, …], of the calls that were added.
CREATE OR REPLACE FUNCTION memsvc.record_turn(p_user_id uuid, p_turn jsonb, p_texts jsonb, p_calls jsonb)
RETURNS TABLE (
  outcome text, turn_id uuid, source_id uuid, done boolean, calls integer, versions integer, job_id uuid,
  documents jsonb
)
LANGUAGE plpgsql ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  conversation CONSTANT text := p_turn ->> 'conversation';
  given CONSTANT text := p_turn ->> 'id';
  done CONSTANT boolean := (p_turn ->> 'done')::boolean;
  ended CONSTANT timestamptz := CASE
    WHEN (p_turn ->> 'done')::boolean THEN coalesce((p_turn ->> 'ended_at')::timestamptz, clock_timestamp())
  END;
  mine uuid;
  known record;
  numbered jsonb := p_calls;
  fresh boolean := false;
  told record;
  said integer;
BEGIN
  IF (SELECT memsvc.is_paused(u.paused_at, u.paused_until) FROM users AS u WHERE u.user_id = p_user_id) THEN
    RETURN QUERY SELECT 'paused', NULL::uuid, NULL::uuid, done, 0, 0, NULL::uuid, '[]'::jsonb;
    RETURN;
  END IF;
  IF memsvc.is_buried_turn(p_user_id, conversation, given) THEN
    RETURN QUERY SELECT 'erased', NULL::uuid, NULL::uuid, done, 0, 0, NULL::uuid, '[]'::jsonb;
    RETURN;
  END IF;
  mine := memsvc.lock_agent_conversation(p_user_id, conversation);
  SELECT t.turn_id, t.session, t.ended_at, t.project, t.agent INTO known FROM turns AS t
  WHERE t.user_id = p_user_id AND t.source_id = mine AND t.session = given;
  IF known.turn_id IS NULL AND memsvc.is_buried_turn(p_user_id, conversation, given) THEN -- while we waited
    RETURN QUERY SELECT 'erased', NULL::uuid, NULL::uuid, done, 0, 0, NULL::uuid, '[]'::jsonb;
    RETURN;
  END IF;
  IF p_calls @? '$[*].id' THEN
    numbered := memsvc.numbered_calls(p_user_id, known.turn_id, p_calls);
  END IF;
  IF known.turn_id IS NOT NULL THEN
    IF memsvc.turn_differs(p_user_id, known.turn_id, known.ended_at IS NOT NULL, p_texts, numbered) THEN
      RETURN QUERY SELECT 'conflict', known.turn_id, mine, done, 0, 0, NULL::uuid, '[]'::jsonb;
      RETURN;
    END IF;
    IF known.ended_at IS NOT NULL THEN
      RETURN QUERY SELECT 'existing', known.turn_id, mine, true, 0, 0, NULL::uuid, '[]'::jsonb;
      RETURN;
    END IF;
    UPDATE turns AS t SET
      project = coalesce(t.project, p_turn ->> 'project'), commit_id = coalesce(p_turn ->> 'commit_id', t.commit_id),
      ok = coalesce((p_turn ->> 'ok')::boolean, t.ok), ended_at = ended
    WHERE t.user_id = p_user_id AND t.turn_id = known.turn_id
    RETURNING t.turn_id, t.session, t.ended_at, t.project, t.agent INTO known;
  ELSE
    INSERT INTO turns AS t (
      user_id, turn_id, source_id, session, project, agent, commit_id, ok, begun_at, ended_at
    )
    SELECT p_user_id, n.turn_id, mine, coalesce(given, n.turn_id::text), p_turn ->> 'project', p_turn ->> 'agent',
      p_turn ->> 'commit_id', (p_turn ->> 'ok')::boolean, (p_turn ->> 'said_at')::timestamptz, ended
    FROM (SELECT uuidv7() AS turn_id) AS n
    RETURNING t.turn_id, t.session, t.ended_at, t.project, t.agent INTO known;
    fresh := true;
  END IF;
  IF p_turn ? 'chat' THEN
    PERFORM memsvc.link_chat(p_user_id, known.turn_id, conversation, p_turn -> 'chat');
  END IF;
  IF memsvc.is_budgeted(p_user_id) THEN
    PERFORM memsvc.spend_budget(p_user_id, fresh::integer, coalesce(sum(octet_length(t.text)), 0)::bigint)
    FROM jsonb_to_recordset(p_texts) AS t (text text);
  END IF;
  SELECT a.calls, a.versions, a.documents INTO told FROM memsvc.add_calls(p_user_id, known.turn_id, numbered) AS a;
  said := memsvc.add_turn_texts(
    p_user_id, mine, p_turn || jsonb_build_object('project', known.project, 'agent', known.agent), known.session,
    p_texts || CASE WHEN done THEN memsvc.work_texts(p_user_id, known.turn_id) ELSE '[]' END
  );
  IF said > 0 THEN
    UPDATE sources AS s SET status = 'pending'
    WHERE s.user_id = p_user_id AND s.source_id = mine AND s.status <> 'pending';
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'passages.added', mine);
    PERFORM memsvc.fold_when_many(p_user_id);
  END IF;
  RETURN QUERY SELECT
    CASE
      WHEN fresh THEN 'created'
      WHEN said + told.calls > 0 OR done THEN 'changed'
      ELSE 'existing'
    END, known.turn_id, mine, done, told.calls, told.versions,
    CASE WHEN said > 0 THEN memsvc.ask_job(p_user_id, 'process', mine) END, told.documents;
END
$$;
COMMENT ON FUNCTION memsvc.record_turn(uuid, jsonb, jsonb, jsonb) IS
  'Stores a turn, or what is new of it, with passages, calls, versions, statistics, job and event.';
