-- Messages in the graph that Cypher sees: a vertex for each passage and each conversation with passages, PART_OF from
-- the passage to the conversation, and NEXT from each passage to the next one of its session. Traces are left out: NEXT
-- skips them. Both edges have the passage's id as their version; for NEXT it is the later passage.
--
-- Projected statement by statement, by triggers that exist only with AGE (sql/projection/030_passages.sql). Writers of
-- one conversation lock its source one after another (append_messages), so a writer that looks for the neighbours of a
-- new passage sees them. They share the part's lock (lock_projection); rebuilding takes it exclusively.

-- Properties of a passage's vertex, a JSON object. They never change; long texts are cut like long data.
CREATE OR REPLACE FUNCTION memsvc.passage_shown(
  p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamptz
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN jsonb_strip_nulls(jsonb_build_object(
  'id', p_passage_id, 'role', p_role, 'speaker', nullif(p_speaker, ''), 'text', left(p_text, 4000),
  'caption', left(p_caption, 4000), 'said_at', memsvc.moment_shown(p_said_at)
))::text;
COMMENT ON FUNCTION memsvc.passage_shown(uuid, text, text, text, text, timestamptz) IS
  'Properties of the vertex of a passage.';

-- Stores the missing vertices of these passages, with those of their conversations, and PART_OF.
CREATE OR REPLACE FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  INSERT INTO memory."Conversation" (properties, user_id, node_id)
  SELECT ag_catalog.agtype_in(textout(jsonb_build_object('id', s.source_id)::text)), p_user_id, s.source_id
  FROM (
    SELECT DISTINCT p.source_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ) AS s
  WHERE NOT EXISTS (SELECT FROM memory."Conversation" AS c WHERE c.user_id = p_user_id AND c.node_id = s.source_id)
  ON CONFLICT DO NOTHING;

  WITH wanted AS MATERIALIZED (
    SELECT p.* FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ),
  stored AS (
    INSERT INTO memory."Passage" (properties, user_id, node_id)
    SELECT ag_catalog.agtype_in(textout(
      memsvc.passage_shown(w.passage_id, w.role, w.speaker, w.text, w.caption, w.said_at)
    )), p_user_id, w.passage_id
    FROM wanted AS w
    ON CONFLICT DO NOTHING
    RETURNING node_id, id
  )
  INSERT INTO memory."PART_OF" (start_id, end_id, properties, user_id, version_id)
  SELECT s.id, c.id, ag_catalog.agtype_in('{}'), p_user_id, s.node_id
  FROM stored AS s
  INNER JOIN wanted AS w ON w.passage_id = s.node_id
  CROSS JOIN LATERAL (
    SELECT v.id FROM memory."Conversation" AS v WHERE v.user_id = p_user_id AND v.node_id = w.source_id OFFSET 0
  ) AS c;
END
$$;
COMMENT ON FUNCTION memsvc.store_passages(uuid, uuid[]) IS 'Stores vertices of passages, and their PART_OF edges.';

-- Makes NEXT lead to each of these passages from the previous one, and deletes the earlier NEXT edges to it.
CREATE OR REPLACE FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  DELETE FROM memory."NEXT" AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (p_passages);
  INSERT INTO memory."NEXT" (start_id, end_id, properties, user_id, version_id)
  SELECT b.id, v.id, ag_catalog.agtype_in('{}'), p_user_id, w.passage_id
  FROM (
    SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ) AS w
  CROSS JOIN LATERAL (
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = w.source_id AND p.session = w.session
      AND (p.ordinal, p.part) < (w.ordinal, w.part) AND p.kind = 'message'
    ORDER BY p.ordinal DESC, p.part DESC
    LIMIT 1
  ) AS before
  CROSS JOIN LATERAL (
    SELECT o.id FROM memory."Passage" AS o WHERE o.user_id = p_user_id AND o.node_id = before.passage_id OFFSET 0
  ) AS b
  CROSS JOIN LATERAL (
    SELECT o.id FROM memory."Passage" AS o WHERE o.user_id = p_user_id AND o.node_id = w.passage_id OFFSET 0
  ) AS v;
END
$$;
COMMENT ON FUNCTION memsvc.link_passages(uuid, uuid[]) IS 'Makes NEXT lead to passages from the previous ones.';

-- Triggers. A statement writes or deletes passages of one user.
CREATE OR REPLACE FUNCTION memsvc.project_passages() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine uuid;
  fresh uuid[];
  followers uuid[];
BEGIN
  SELECT min(a.user_id::text)::uuid, array_agg(a.passage_id) INTO mine, fresh FROM added AS a WHERE a.kind = 'message';
  IF fresh IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'messages', p_alone => false);
  PERFORM memsvc.store_passages(mine, fresh);
  -- Mostly there are none; a message that is inserted by its ordinal may come before existing ones.
  SELECT array_agg(DISTINCT f.passage_id) INTO followers
  FROM added AS a
  CROSS JOIN LATERAL (
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = mine AND p.source_id = a.source_id AND p.session = a.session
      AND (p.ordinal, p.part) > (a.ordinal, a.part) AND p.kind = 'message'
    ORDER BY p.ordinal, p.part
    LIMIT 1
  ) AS f
  WHERE a.kind = 'message' AND f.passage_id <> ALL (fresh);
  PERFORM memsvc.link_passages(mine, fresh || followers);
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_passages() IS 'Trigger: projects new passages.';

-- Links the passage after a deleted one to the passage before it; if the whole user is erased, nothing is linked again.
CREATE OR REPLACE FUNCTION memsvc.forget_passages() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine uuid;
  forgotten uuid[];
  conversations uuid[];
  followers uuid[];
BEGIN
  SELECT min(g.user_id::text)::uuid, array_agg(g.passage_id), array_agg(DISTINCT g.source_id)
    INTO mine, forgotten, conversations
  FROM gone AS g WHERE g.kind = 'message';
  IF forgotten IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'messages', p_alone => false);
  SELECT array_agg(n.version_id) INTO followers
  FROM memory."Passage" AS v
  CROSS JOIN LATERAL (
    SELECT o.version_id FROM memory."NEXT" AS o
    WHERE o.user_id = mine AND o.start_id OPERATOR(ag_catalog.=) v.id OFFSET 0
  ) AS n
  WHERE v.user_id = mine AND v.node_id = ANY (forgotten) AND n.version_id <> ALL (forgotten);
  DELETE FROM memory."NEXT" AS d WHERE d.user_id = mine AND d.version_id = ANY (forgotten || followers);
  DELETE FROM memory."PART_OF" AS d WHERE d.user_id = mine AND d.version_id = ANY (forgotten);
  DELETE FROM memory."Passage" AS d WHERE d.user_id = mine AND d.node_id = ANY (forgotten);
  DELETE FROM memory."Conversation" AS d
  WHERE d.user_id = mine AND d.node_id = ANY (conversations) AND NOT EXISTS (
    SELECT FROM passages AS p WHERE p.user_id = mine AND p.source_id = d.node_id AND p.kind = 'message'
  );
  IF EXISTS (SELECT FROM users AS u WHERE u.user_id = mine AND u.erasing_since IS NULL) THEN
    PERFORM memsvc.link_passages(mine, followers);
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.forget_passages() IS 'Trigger: deletes deleted passages, and links their neighbours.';
