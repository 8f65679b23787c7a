-- What was recalled and what became of it: events, feedback, and their sum in memory_signals. Ids only. All of it keeps
-- others from erasing meanwhile (keep_memories), so that no id is written behind the back of an erasure.

-- What ids are ids of: a passage or a version of an edge (fact); no row for those of nothing.
CREATE OR REPLACE FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) RETURNS TABLE (memory_id uuid, kind text)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT i.id, CASE WHEN p.found THEN 'passage' ELSE 'fact' END
  FROM (SELECT DISTINCT u.id FROM unnest(p_ids) AS u (id) WHERE u.id IS NOT NULL) AS i
  LEFT JOIN LATERAL (
    SELECT true AS found FROM passages AS r
    WHERE r.user_id = p_user_id AND r.passage_id = i.id AND r.kind <> 'fact' OFFSET 0
  ) AS p ON true
  LEFT JOIN LATERAL (
    SELECT true AS found FROM edge_versions AS r
    WHERE p.found IS NULL AND r.user_id = p_user_id AND r.version_id = i.id OFFSET 0
  ) AS v ON true
  WHERE p.found OR v.found;
END
$$;
COMMENT ON FUNCTION memsvc.kinds_of(uuid, uuid[]) IS 'What ids are ids of: a passage or a fact.';

-- Notes a recall: the memories in the order in which they were given. What was erased
-- meanwhile leaves its place empty. Said again, it changes nothing. Live clients are told that there was one. What was
-- archived, and recalled all the same, is restored. p_instructions: nodes of instructions that a context carried, noted by
-- their versions; p_conversation_id: what it was for.
CREATE OR REPLACE FUNCTION memsvc.append_recall(
  p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[],
  p_conversation_id uuid DEFAULT NULL, p_instructions uuid[] DEFAULT '{}'
) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH noted AS (
    INSERT INTO recall_events (user_id, recall_id, door, mode, memories, conversation_id, instructions)
    SELECT p_user_id, p_recall_id, p_door, p_mode, coalesce(array_agg(k.memory_id ORDER BY m.place), '{}'), (
        SELECT s.source_id FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = p_conversation_id
      ), ARRAY(
        SELECT v.version_id FROM node_versions AS v
        WHERE v.user_id = p_user_id AND v.node_id = ANY (p_instructions) AND v.recorded_to = 'infinity'
          AND v.valid_to = 'infinity'
        ORDER BY v.version_id
      )
    FROM unnest(p_memories) WITH ORDINALITY AS m (id, place)
    LEFT JOIN memsvc.kinds_of(p_user_id, p_memories) AS k ON k.memory_id = m.id
    ON CONFLICT (user_id, recall_id) DO NOTHING
    RETURNING recall_id
  )
  INSERT INTO outbox (user_id, kind, subject_id)
  SELECT p_user_id, 'memory.recalled', n.recall_id FROM noted AS n WHERE p_memories <> '{}';
  IF EXISTS (
    SELECT FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_memories) AND p.archived_at IS NOT NULL
  ) THEN
    PERFORM memsvc.restore_memories(p_user_id, p_memories);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.append_recall(uuid, uuid, text, text, uuid[], uuid, uuid[]) IS 'Notes what was recalled.';

-- The same for who holds locks or has no time: where somebody erases, or is about to, nothing is noted. Whether it was.
CREATE OR REPLACE FUNCTION memsvc.try_append_recall(
  p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[],
  p_conversation_id uuid DEFAULT NULL, p_instructions uuid[] DEFAULT '{}'
) RETURNS boolean
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('memsvc memories of ' || p_user_id, 0)) THEN
    RETURN false;
  END IF;
  PERFORM memsvc.append_recall(
    p_user_id, p_recall_id, p_door, p_mode, p_memories, p_conversation_id, p_instructions
  );
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.try_append_recall(uuid, uuid, text, text, uuid[], uuid, uuid[]) IS
  'Notes what was recalled, unless somebody erases; whether it did.';

-- Adds events to memory_signals, the oldest p_limit; how many there were. Events and counts change in one transaction,
-- so each counts once, whoever is killed; folders of one user pass by what another has, and upsert in one order.
CREATE OR REPLACE FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  folded integer;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH taken AS MATERIALIZED (
    SELECT e.recall_id, e.at, e.memories FROM recall_events AS e
    WHERE e.user_id = p_user_id AND e.folded_at IS NULL
    ORDER BY e.recall_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ),
  marked AS (
    UPDATE recall_events AS e SET folded_at = clock_timestamp()
    FROM taken AS t WHERE e.user_id = p_user_id AND e.recall_id = t.recall_id
  ),
  counted AS MATERIALIZED (
    SELECT m.id, count(*)::integer AS recalls, max(t.at) AS last_at
    FROM taken AS t CROSS JOIN LATERAL unnest(t.memories) AS m (id)
    WHERE m.id IS NOT NULL
    GROUP BY m.id
  ),
  added AS (
    INSERT INTO memory_signals AS s (user_id, memory_id, kind, recalls, last_recalled_at)
    SELECT p_user_id, c.id, k.kind, c.recalls, c.last_at
    FROM counted AS c
    INNER JOIN memsvc.kinds_of(p_user_id, ARRAY(SELECT d.id FROM counted AS d)) AS k ON k.memory_id = c.id
    ORDER BY c.id
    ON CONFLICT (user_id, memory_id) DO UPDATE
    SET recalls = s.recalls + excluded.recalls,
      last_recalled_at = greatest(s.last_recalled_at, excluded.last_recalled_at)
  )
  SELECT count(*) INTO folded FROM taken;
  RETURN folded;
END
$$;
COMMENT ON FUNCTION memsvc.fold_recalls(uuid, integer) IS
  'Adds a user''s recalls to memory_signals, so many events at most; how many.';

-- Deletes events that are folded and older than p_kept (a day at least), the oldest p_limit; how many. What they added
-- to memory_signals stays; feedback on them comes too late.
CREATE OR REPLACE FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  kept CONSTANT interval := greatest(p_kept, interval '1 day');
  first_kept CONSTANT uuid := uuidv7(-kept);
  deleted integer;
BEGIN
  WITH old AS MATERIALIZED (
    SELECT e.recall_id FROM recall_events AS e
    WHERE e.user_id = p_user_id AND e.recall_id < first_kept AND e.at < clock_timestamp() - kept
      AND e.folded_at IS NOT NULL
    ORDER BY e.recall_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM recall_events AS e USING old AS o WHERE e.user_id = p_user_id AND e.recall_id = o.recall_id;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;
COMMENT ON FUNCTION memsvc.delete_recalls(uuid, interval, integer) IS
  'Deletes a user''s old events that are folded, so many at most; how many.';

-- Feedback on a recall: which of its memories were used, which were irrelevant. One row for each id: outcome used or
-- irrelevant (changed: it was not known yet, or was the other), erased (it is gone since), or not_recalled. Where one
-- is not_recalled nothing is counted, nor where the recall is not known: one row with the outcome unknown_recall. The
-- event keeps the verdict, so that it counts once however often it is said.
CREATE OR REPLACE FUNCTION memsvc.give_feedback(
  p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]
) RETURNS TABLE (memory_id uuid, outcome text, changed boolean)
LANGUAGE plpgsql ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  recalled uuid[];
  before smallint[];
  places integer[];
  ids uuid[];
  judged smallint[];
  outcomes text[];
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  SELECT e.memories, coalesce(e.verdicts, array_fill(0::smallint, ARRAY[cardinality(e.memories)]))
  INTO recalled, before
  FROM recall_events AS e WHERE e.user_id = p_user_id AND e.recall_id = p_recall_id
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT NULL::uuid, 'unknown_recall', false;
    RETURN;
  END IF;

  SELECT array_agg(s.id), array_agg(s.verdict), array_agg(array_position(recalled, s.id)) INTO ids, judged, places
  FROM (
    SELECT DISTINCT u.id, 1::smallint AS verdict FROM unnest(p_used) AS u (id)
    UNION ALL
    SELECT DISTINCT u.id, (-1)::smallint FROM unnest(p_irrelevant) AS u (id)
  ) AS s;
  SELECT array_agg(CASE
      WHEN s.place IS NOT NULL THEN CASE s.verdict WHEN 1 THEN 'used' ELSE 'irrelevant' END
      -- Erasing leaves an empty place, and no id to compare with.
      WHEN array_position(recalled, NULL) IS NOT NULL AND k.memory_id IS NULL THEN 'erased'
      ELSE 'not_recalled'
    END ORDER BY s.nth) INTO outcomes
  FROM unnest(ids, judged, places) WITH ORDINALITY AS s (id, verdict, place, nth)
  LEFT JOIN memsvc.kinds_of(p_user_id, ids) AS k ON k.memory_id = s.id;
  RETURN QUERY
  SELECT s.id, s.outcome, s.place IS NOT NULL AND before[s.place] <> s.verdict
  FROM unnest(ids, outcomes, judged, places) AS s (id, outcome, verdict, place);
  IF ids IS NULL OR 'not_recalled' = ANY (outcomes) THEN
    RETURN;
  END IF;

  UPDATE recall_events AS e
  SET verdicts = ARRAY(
    SELECT coalesce(s.verdict, b.verdict)
    FROM unnest(before) WITH ORDINALITY AS b (verdict, place)
    LEFT JOIN unnest(judged, places) AS s (verdict, place) ON s.place = b.place
    ORDER BY b.place
  )
  WHERE e.user_id = p_user_id AND e.recall_id = p_recall_id;
  INSERT INTO memory_signals (user_id, memory_id, kind)
  SELECT p_user_id, k.memory_id, k.kind FROM memsvc.kinds_of(p_user_id, ids) AS k ORDER BY k.memory_id
  ON CONFLICT (user_id, memory_id) DO NOTHING;
  -- In one order, so that two who judge the same memories never wait for each other in a circle.
  PERFORM FROM memory_signals AS s WHERE s.user_id = p_user_id AND s.memory_id = ANY (ids)
  ORDER BY s.memory_id FOR NO KEY UPDATE;
  UPDATE memory_signals AS s
  SET used = greatest(s.used + c.used, 0), irrelevant = greatest(s.irrelevant + c.irrelevant, 0)
  FROM (
    SELECT u.id, (u.verdict = 1)::integer - (before[u.place] = 1)::integer AS used,
      (u.verdict = -1)::integer - (before[u.place] = -1)::integer AS irrelevant
    FROM unnest(ids, judged, places) AS u (id, verdict, place)
    WHERE before[u.place] <> u.verdict
  ) AS c
  WHERE s.user_id = p_user_id AND s.memory_id = c.id;
END
$$;
COMMENT ON FUNCTION memsvc.give_feedback(uuid, uuid, uuid[], uuid[]) IS
  'Feedback on a recall: what was used, what was irrelevant; what became of each verdict.';
