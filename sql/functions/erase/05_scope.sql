-- The scope of an erasure: what goes because it is asked for, and not because it rests on that.

-- The id of the user's message that a message of a chat belongs to, by its own: traces and answers have it in theirs
-- (memsvc/chat/keeping.py).
CREATE OR REPLACE FUNCTION memsvc.asked_by(p_client_id text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN regexp_replace(
  regexp_replace(p_client_id, '^trace:(.*):[^:]*:[^:]*$', '\1'), '^answer:(.*):[^:]*$', '\1'
);
COMMENT ON FUNCTION memsvc.asked_by(text) IS 'The id of the user''s message that a message of a chat belongs to.';

-- Passages of turns of agents that happened in a chat and say what these passages of it say; with p_chat_id, what any of
-- it says, at most p_limit (null: all). A turn goes as a whole.
CREATE OR REPLACE FUNCTION memsvc.turns_of_chat(
  p_user_id uuid, p_passages uuid[], p_chat_id uuid, p_limit integer
) RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN ARRAY(
    SELECT k.passage_id
    FROM (
      SELECT t.source_id, t.session FROM turns AS t WHERE t.user_id = p_user_id AND t.chat_id = p_chat_id
      UNION
      SELECT t.source_id, t.session
      FROM passages AS p
      INNER JOIN turns AS t
        ON t.user_id = p_user_id AND t.chat_id = p.source_id AND memsvc.asked_by(p.client_id) = ANY (t.chat_messages)
      WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    ) AS t
    INNER JOIN passages AS k ON k.user_id = p_user_id AND k.source_id = t.source_id AND k.session = t.session
    LIMIT p_limit
  );
END
$$;
COMMENT ON FUNCTION memsvc.turns_of_chat(uuid, uuid[], uuid, integer) IS
  'Passages of turns that say what passages of a chat say.';

-- The scope of an erasure, at most p_limit passages or edges of it (null: all): passages to delete; the source, if all
-- of it goes; edges to delete; the node to delete. No row if the subject does not exist.
CREATE OR REPLACE FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer)
RETURNS TABLE (passages uuid[], source_id uuid, edges uuid[], node_id uuid)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  CASE p_kind
  WHEN 'message' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k
      WHERE k.user_id = p_user_id AND (k.source_id, k.session) = (p.source_id, p.session)
        AND (k.ordinal = p.ordinal OR p.kind = 'turn') -- a turn goes as a whole
    ) || memsvc.turns_of_chat(p_user_id, ARRAY[p.passage_id], NULL, NULL), NULL::uuid, '{}'::uuid[], NULL::uuid
    FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id AND p.version_id IS NULL;
  WHEN 'passage' THEN
    RETURN QUERY SELECT CASE WHEN p.kind <> 'turn' THEN ARRAY[p.passage_id] ELSE ARRAY(
      SELECT k.passage_id FROM passages AS k
      WHERE k.user_id = p_user_id AND (k.source_id, k.session) = (p.source_id, p.session)
    ) END || memsvc.turns_of_chat(p_user_id, ARRAY[p.passage_id], NULL, NULL), NULL::uuid, '{}'::uuid[], NULL::uuid
    FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id AND p.version_id IS NULL;
  WHEN 'source' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k WHERE k.user_id = p_user_id AND k.source_id = p_subject_id
      ORDER BY k.session, k.ordinal, k.part LIMIT p_limit
    ) || memsvc.turns_of_chat(p_user_id, '{}', p_subject_id, p_limit), s.source_id, '{}'::uuid[], NULL::uuid
    FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = p_subject_id AND s.kind <> 'graph';
  WHEN 'fact' THEN
    RETURN QUERY SELECT '{}'::uuid[], NULL::uuid, ARRAY[e.edge_id], NULL::uuid
    FROM edges AS e WHERE e.user_id = p_user_id AND e.edge_id = p_subject_id;
  WHEN 'node' THEN
    RETURN QUERY SELECT '{}'::uuid[], NULL::uuid, ARRAY(
      SELECT e.edge_id FROM edges AS e WHERE e.user_id = p_user_id AND e.from_node = p_subject_id
      UNION
      SELECT e.edge_id FROM edges AS e WHERE e.user_id = p_user_id AND e.to_node = p_subject_id
      LIMIT p_limit
    ), n.node_id
    FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = p_subject_id;
  WHEN 'block' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k
      WHERE k.user_id = p_user_id AND k.source_id = p_subject_id AND k.kind IN ('block', 'former')
      ORDER BY k.session, k.ordinal, k.part LIMIT p_limit
    ), (
      SELECT s.source_id FROM sources AS s
      WHERE s.user_id = p_user_id AND s.source_id = p_subject_id AND s.kind = 'block'
    ), '{}'::uuid[], NULL::uuid
    WHERE EXISTS (SELECT FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.block_id = p_subject_id)
      OR EXISTS (
        SELECT FROM sources AS s
        WHERE s.user_id = p_user_id AND s.source_id = p_subject_id AND s.kind = 'block'
      );
  END CASE;
END
$$;
COMMENT ON FUNCTION memsvc.erasure_scope(uuid, text, uuid, integer) IS 'The scope of an erasure, or a part of it.';
