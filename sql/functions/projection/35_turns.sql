-- Turns of agents and documents in the graph that Cypher sees: a vertex for each turn, document and version of a document;
-- TOOL_CALL from the turn to the document that the call touched (to the turn itself, if it touched none), and VERSION_OF
-- from the version to the document.
--
-- Their labels are also those of nodes that users have of these types. So that neither ids nor numbers of the two meet,
-- the vertices here have derived ids (shown_id) and numbers with their highest bit set (part_of).

-- The id of a part: of a document its vertex (0) and its versions, of a turn its calls.
CREATE OR REPLACE FUNCTION memsvc.shown_id(p_whole uuid, p_number integer) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN md5(p_whole::text || ' ' || p_number)::uuid;
COMMENT ON FUNCTION memsvc.shown_id(uuid, integer) IS 'The id of a version of a document, or of a call in a turn.';

-- The part of the projection to which a vertex belongs by its label and number, and an edge by that of its beginning.
CREATE OR REPLACE FUNCTION memsvc.part_of(p_label text, p_number bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, eraser
RETURN CASE
  WHEN p_number & 140737488355328 <> 0 THEN 'turns' -- 2^47; AGE's numbers have 48 bits
  WHEN p_label IN ('Passage', 'Conversation') THEN 'messages'
  ELSE 'graph'
END;
COMMENT ON FUNCTION memsvc.part_of(text, bigint) IS 'The part of the projection to which a vertex belongs.';

-- The wanted vertices of turns; properties: a JSON object.
CREATE OR REPLACE FUNCTION memsvc.turns_wanted(p_user_id uuid, p_turns uuid[])
RETURNS TABLE (node_id uuid, properties text)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT t.turn_id, jsonb_strip_nulls(jsonb_build_object(
    'id', t.turn_id, 'type', 'Turn', 'conversation', t.source_id, 'project', t.project, 'agent', nullif(t.agent, ''),
    'commit', t.commit_id, 'ok', t.ok, 'done', t.ended_at IS NOT NULL, 'at', memsvc.moment_shown(t.begun_at),
    'request', left(x.request, 4000), 'answer', left(x.answer, 4000)
  ))::text
  FROM unnest(p_turns) AS n (turn_id)
  INNER JOIN turns AS t ON t.user_id = p_user_id AND t.turn_id = n.turn_id
  CROSS JOIN LATERAL (
    SELECT string_agg(p.text, '' ORDER BY p.part) FILTER (WHERE p.ordinal = 0) AS request,
      string_agg(p.text, '' ORDER BY p.part) FILTER (WHERE p.ordinal = 2) AS answer
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = t.source_id AND p.session = t.session
  ) AS x;
END
$$;
COMMENT ON FUNCTION memsvc.turns_wanted(uuid, uuid[]) IS 'The wanted vertices of turns.';

-- The wanted edges TOOL_CALL of turns. end_id: the vertex to which it leads, null: its turn.
CREATE OR REPLACE FUNCTION memsvc.calls_wanted(p_user_id uuid, p_turns uuid[])
RETURNS TABLE (version_id uuid, turn_id uuid, end_id uuid, properties text)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT memsvc.shown_id(c.turn_id, c.number), c.turn_id,
    CASE WHEN c.document_id IS NOT NULL THEN memsvc.shown_id(c.document_id, 0) END,
    jsonb_strip_nulls(jsonb_build_object(
      'type', 'TOOL_CALL', 'tool', c.tool, 'number', c.number, 'told', c.told, 'ok', c.ok, 'wrote', c.wrote,
      'version', c.version, 'exit_code', c.exit_code, 'ms', c.ms, 'arguments', CASE
        WHEN length(c.arguments::text) > 4000 THEN to_jsonb(left(c.arguments::text, 4000))
        ELSE memsvc.data_shown(c.arguments)
      END
    ))::text
  FROM unnest(p_turns) AS n (turn_id)
  INNER JOIN tool_calls AS c ON c.user_id = p_user_id AND c.turn_id = n.turn_id;
END
$$;
COMMENT ON FUNCTION memsvc.calls_wanted(uuid, uuid[]) IS 'The wanted edges of calls of tools.';

-- The wanted vertices of documents and their versions. document_id: of a version the vertex of its document.
CREATE OR REPLACE FUNCTION memsvc.documents_wanted(p_user_id uuid, p_documents uuid[])
RETURNS TABLE (label text, node_id uuid, document_id uuid, properties text)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT 'Document', memsvc.shown_id(s.source_id, 0), NULL::uuid, jsonb_strip_nulls(jsonb_build_object(
    'id', s.source_id, 'type', 'Document', 'name', coalesce(s.local, s.identifier), 'title', nullif(s.title, '')
  ))::text
  FROM unnest(p_documents) AS n (source_id)
  INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = n.source_id
  WHERE s.kind = 'document'
  UNION ALL
  SELECT 'DocumentVersion', memsvc.shown_id(v.source_id, v.version), memsvc.shown_id(v.source_id, 0), jsonb_build_object(
    'type', 'DocumentVersion', 'document', v.source_id, 'version', v.version, 'sha256', v.sha256, 'by_agent',
    v.by_agent, 'recorded_from', memsvc.moment_shown(v.recorded_from)
  )::text
  FROM unnest(p_documents) AS n (source_id)
  INNER JOIN document_versions AS v ON v.user_id = p_user_id AND v.source_id = n.source_id;
END
$$;
COMMENT ON FUNCTION memsvc.documents_wanted(uuid, uuid[]) IS 'The wanted vertices of documents and their versions.';

-- Stores missing vertices of documents and of their versions, with VERSION_OF. p_versions: only these; null: all.
CREATE OR REPLACE FUNCTION memsvc.store_documents(p_user_id uuid, p_documents uuid[], p_versions uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  INSERT INTO memory."Document" (id, properties, user_id, node_id)
  SELECT ag_catalog._graphid(
      ag_catalog._label_id('memory', 'Document'), 140737488355328 + nextval('memory."Document_id_seq"')
    ), ag_catalog.agtype_in(textout(w.properties)), p_user_id, w.node_id
  FROM memsvc.documents_wanted(p_user_id, p_documents) AS w
  WHERE w.label = 'Document' AND NOT EXISTS (
    SELECT FROM memory."Document" AS d WHERE d.user_id = p_user_id AND d.node_id = w.node_id
  )
  ORDER BY w.node_id
  ON CONFLICT DO NOTHING;

  WITH stored AS (
    INSERT INTO memory."DocumentVersion" (id, properties, user_id, node_id)
    SELECT ag_catalog._graphid(
        ag_catalog._label_id('memory', 'DocumentVersion'),
        140737488355328 + nextval('memory."DocumentVersion_id_seq"')
      ), ag_catalog.agtype_in(textout(w.properties)), p_user_id, w.node_id
    FROM memsvc.documents_wanted(p_user_id, p_documents) AS w
    WHERE w.label = 'DocumentVersion' AND (p_versions IS NULL OR w.node_id = ANY (p_versions))
    ON CONFLICT DO NOTHING
    RETURNING node_id, id
  )
  INSERT INTO memory."VERSION_OF" (start_id, end_id, properties, user_id, version_id)
  SELECT s.id, d.id, ag_catalog.agtype_in('{}'), p_user_id, s.node_id
  FROM stored AS s
  INNER JOIN memsvc.documents_wanted(p_user_id, p_documents) AS w ON w.node_id = s.node_id
  CROSS JOIN LATERAL (
    SELECT o.id FROM memory."Document" AS o WHERE o.user_id = p_user_id AND o.node_id = w.document_id OFFSET 0
  ) AS d
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION memsvc.store_documents(uuid, uuid[], uuid[]) IS
  'Stores vertices of documents and of their versions, and their VERSION_OF edges.';

-- Stores turns with their calls, in place of what is stored of them; documents that they touched first.
CREATE OR REPLACE FUNCTION memsvc.store_turns(p_user_id uuid, p_turns uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  PERFORM memsvc.store_documents(p_user_id, ARRAY(
    SELECT DISTINCT c.document_id FROM unnest(p_turns) AS n (turn_id)
    INNER JOIN tool_calls AS c ON c.user_id = p_user_id AND c.turn_id = n.turn_id
    WHERE c.document_id IS NOT NULL
  ), '{}');
  DELETE FROM memory."TOOL_CALL" AS d
  USING memsvc.calls_wanted(p_user_id, p_turns) AS w
  WHERE d.user_id = p_user_id AND d.version_id = w.version_id;
  DELETE FROM memory."Turn" AS d WHERE d.user_id = p_user_id AND d.node_id = ANY (p_turns);
  WITH stored AS (
    INSERT INTO memory."Turn" (id, properties, user_id, node_id)
    SELECT ag_catalog._graphid(
        ag_catalog._label_id('memory', 'Turn'), 140737488355328 + nextval('memory."Turn_id_seq"')
      ), ag_catalog.agtype_in(textout(w.properties)), p_user_id, w.node_id
    FROM memsvc.turns_wanted(p_user_id, p_turns) AS w
    RETURNING node_id, id
  )
  INSERT INTO memory."TOOL_CALL" (start_id, end_id, properties, user_id, version_id)
  SELECT s.id, coalesce((
      SELECT o.id FROM memory."Document" AS o WHERE o.user_id = p_user_id AND o.node_id = w.end_id
    ), s.id), ag_catalog.agtype_in(textout(w.properties)), p_user_id, w.version_id
  FROM stored AS s
  INNER JOIN memsvc.calls_wanted(p_user_id, p_turns) AS w ON w.turn_id = s.node_id;
END
$$;
COMMENT ON FUNCTION memsvc.store_turns(uuid, uuid[]) IS 'Stores turns with their calls, in place of what is stored.';

-- Triggers. At the end of a transaction a turn is complete, with its texts and calls; of an import, all is projected in
-- one step.
CREATE OR REPLACE FUNCTION memsvc.project_turn() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  IF TG_OP = 'UPDATE' OR new.recorded_at >= now() - interval '1 minute' THEN
    PERFORM memsvc.lock_projection(new.user_id, 'turns', p_alone => false);
    PERFORM memsvc.store_turns(new.user_id, ARRAY[new.turn_id]);
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_turn() IS 'Trigger: projects a turn.';

CREATE OR REPLACE FUNCTION memsvc.project_versions() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine CONSTANT uuid := (SELECT a.user_id FROM added AS a LIMIT 1);
BEGIN
  IF mine IS NOT NULL THEN
    PERFORM memsvc.lock_projection(mine, 'turns', p_alone => false);
    PERFORM memsvc.store_documents(
      mine, ARRAY(SELECT DISTINCT a.source_id FROM added AS a),
      ARRAY(SELECT memsvc.shown_id(a.source_id, a.version) FROM added AS a)
    );
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_versions() IS 'Trigger: projects new versions of documents.';

-- A document got another name; its vertex keeps its number, by which edges find it.
CREATE OR REPLACE FUNCTION memsvc.project_document() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  PERFORM memsvc.lock_projection(new.user_id, 'turns', p_alone => false);
  WITH gone AS (
    DELETE FROM memory."Document" AS d
    WHERE d.user_id = new.user_id AND d.node_id = memsvc.shown_id(new.source_id, 0)
    RETURNING d.id, d.node_id
  )
  INSERT INTO memory."Document" (id, properties, user_id, node_id)
  SELECT g.id, ag_catalog.agtype_in(textout(w.properties)), new.user_id, w.node_id
  FROM gone AS g
  INNER JOIN memsvc.documents_wanted(new.user_id, ARRAY[new.source_id]) AS w ON w.node_id = g.node_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_document() IS 'Trigger: projects a document''s new name.';

-- Calls that lost their document lead to their turn.
CREATE OR REPLACE FUNCTION memsvc.project_calls() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  mine CONSTANT uuid := (SELECT a.user_id FROM changed AS a LIMIT 1);
BEGIN
  IF mine IS NOT NULL THEN
    PERFORM memsvc.lock_projection(mine, 'turns', p_alone => false);
    PERFORM memsvc.store_turns(mine, ARRAY(SELECT DISTINCT a.turn_id FROM changed AS a));
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_calls() IS 'Trigger: projects again what calls led to a document that was erased.';

CREATE OR REPLACE FUNCTION memsvc.forget_turn_parts() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
BEGIN
  IF TG_TABLE_NAME = 'turns' THEN
    DELETE FROM memory."Turn" AS d USING gone AS g WHERE d.user_id = g.user_id AND d.node_id = g.turn_id;
  ELSIF TG_TABLE_NAME = 'tool_calls' THEN
    DELETE FROM memory."TOOL_CALL" AS d
    USING gone AS g WHERE d.user_id = g.user_id AND d.version_id = memsvc.shown_id(g.turn_id, g.number);
  ELSIF TG_TABLE_NAME = 'document_versions' THEN
    DELETE FROM memory."VERSION_OF" AS d
    USING gone AS g WHERE d.user_id = g.user_id AND d.version_id = memsvc.shown_id(g.source_id, g.version);
    DELETE FROM memory."DocumentVersion" AS d
    USING gone AS g WHERE d.user_id = g.user_id AND d.node_id = memsvc.shown_id(g.source_id, g.version);
  ELSE
    DELETE FROM memory."Document" AS d
    USING gone AS g
    WHERE d.user_id = g.user_id AND d.node_id = memsvc.shown_id(g.source_id, 0) AND g.kind = 'document';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.forget_turn_parts() IS 'Trigger: deletes what shows deleted turns, calls and documents.';
