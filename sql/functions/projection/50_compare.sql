-- Finds errors in a user's projection: the wanted rows of each kind and the stored ones are brought into one form and
-- compared.
--   subject: what a row shows; with the label in front if rows of several labels show one thing.
--   place: its label, and the ids by which AGE finds it or its ends.

-- The wanted rows of nodes, edges, passages and their order. properties: a JSON object.
CREATE OR REPLACE FUNCTION memsvc.projection_wanted(p_user_id uuid)
RETURNS TABLE (kind text, subject text, place text, properties text)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', w.node_id::text,
    concat_ws(' ', w.label, ag_catalog._graphid(ag_catalog._label_id('memory', w.label::name), w.gid)), w.properties
  FROM memsvc.vertices_wanted(p_user_id, ARRAY(SELECT n.node_id FROM nodes AS n WHERE n.user_id = p_user_id)) AS w
  UNION ALL
  SELECT 'edge', w.version_id::text, concat_ws(
      ' ', w.label, ag_catalog._label_id('memory', w.label::name),
      ag_catalog._graphid(ag_catalog._label_id('memory', w.start_label::name), w.start_gid),
      ag_catalog._graphid(ag_catalog._label_id('memory', w.end_label::name), w.end_gid)
    ), w.properties
  FROM memsvc.edges_wanted(p_user_id, ARRAY(
    SELECT v.version_id FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity'
  )) AS w;

  -- AGE numbers vertices of messages itself, so their edges must use the numbers of the stored vertices.
  RETURN QUERY
  WITH said AS MATERIALIZED (
    SELECT p.*, lag(p.passage_id) OVER (PARTITION BY p.source_id, p.session ORDER BY p.ordinal, p.part) AS before
    FROM passages AS p WHERE p.user_id = p_user_id AND p.kind = 'message'
  ),
  vertex AS MATERIALIZED (
    SELECT v.node_id, v.id::text AS number FROM memory."Passage" AS v WHERE v.user_id = p_user_id
    UNION ALL
    SELECT v.node_id, v.id::text FROM memory."Conversation" AS v WHERE v.user_id = p_user_id
  )
  SELECT 'passage', s.passage_id::text, 'Passage',
    memsvc.passage_shown(s.passage_id, s.role, s.speaker, s.text, s.caption, s.said_at)
  FROM said AS s
  UNION ALL
  SELECT DISTINCT 'passage', s.source_id::text, 'Conversation', jsonb_build_object('id', s.source_id)::text
  FROM said AS s
  UNION ALL
  SELECT 'order', concat_ws(' ', e.label, s.passage_id), concat_ws(
      ' ', e.label, ag_catalog._label_id('memory', e.label::name), a.number, b.number
    ), '{}'
  FROM said AS s
  CROSS JOIN LATERAL (
    VALUES ('PART_OF', s.passage_id, s.source_id), ('NEXT', s.before, s.passage_id)
  ) AS e (label, from_id, to_id)
  LEFT JOIN vertex AS a ON a.node_id = e.from_id
  LEFT JOIN vertex AS b ON b.node_id = e.to_id
  WHERE e.from_id IS NOT NULL;
END
$$;
COMMENT ON FUNCTION memsvc.projection_wanted(uuid) IS 'The wanted rows of the projection of a user.';

-- The wanted rows of documents, turns and calls. A call's kind is turn, that of VERSION_OF is document.
CREATE OR REPLACE FUNCTION memsvc.turn_parts_wanted(p_user_id uuid)
RETURNS TABLE (kind text, subject text, place text, properties text)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  documents CONSTANT uuid[] := ARRAY(
    SELECT s.source_id FROM sources AS s WHERE s.user_id = p_user_id AND s.kind = 'document'
  );
  turns CONSTANT uuid[] := ARRAY(SELECT t.turn_id FROM turns AS t WHERE t.user_id = p_user_id);
BEGIN
  RETURN QUERY
  WITH vertex AS MATERIALIZED (
    SELECT v.node_id, v.id::text AS number FROM memory."Document" AS v WHERE v.user_id = p_user_id
    UNION ALL
    SELECT v.node_id, v.id::text FROM memory."DocumentVersion" AS v WHERE v.user_id = p_user_id
    UNION ALL
    SELECT v.node_id, v.id::text FROM memory."Turn" AS v WHERE v.user_id = p_user_id
  ),
  document AS MATERIALIZED (
    SELECT w.* FROM memsvc.documents_wanted(p_user_id, documents) AS w
    -- A document that no call has touched and that has no version has no vertex yet.
    WHERE w.label = 'DocumentVersion' OR EXISTS (SELECT FROM vertex AS v WHERE v.node_id = w.node_id) OR EXISTS (
      SELECT FROM sources AS s
      WHERE s.user_id = p_user_id AND w.node_id = memsvc.shown_id(s.source_id, 0) AND (
        EXISTS (SELECT FROM document_versions AS o WHERE o.user_id = p_user_id AND o.source_id = s.source_id)
        OR EXISTS (SELECT FROM tool_calls AS c WHERE c.user_id = p_user_id AND c.document_id = s.source_id)
      )
    )
  )
  SELECT 'document', concat_ws(' ', w.label, w.node_id), w.label, w.properties FROM document AS w
  UNION ALL
  SELECT 'document', concat_ws(' ', 'VERSION_OF', w.node_id), concat_ws(' ', 'VERSION_OF', a.number, b.number), '{}'
  FROM document AS w
  LEFT JOIN vertex AS a ON a.node_id = w.node_id
  LEFT JOIN vertex AS b ON b.node_id = w.document_id
  WHERE w.label = 'DocumentVersion'
  UNION ALL
  SELECT 'turn', concat_ws(' ', 'Turn', w.node_id), 'Turn', w.properties
  FROM memsvc.turns_wanted(p_user_id, turns) AS w
  UNION ALL
  SELECT 'turn', concat_ws(' ', 'TOOL_CALL', w.version_id), concat_ws(' ', 'TOOL_CALL', a.number, b.number),
    w.properties
  FROM memsvc.calls_wanted(p_user_id, turns) AS w
  LEFT JOIN vertex AS a ON a.node_id = w.turn_id
  LEFT JOIN vertex AS b ON b.node_id = coalesce(w.end_id, w.turn_id);
END
$$;
COMMENT ON FUNCTION memsvc.turn_parts_wanted(uuid) IS 'The wanted rows of documents, turns and calls.';

-- In one snapshot: missing rows, extra rows, and rows with other content. All zero: the projection is right.
CREATE OR REPLACE FUNCTION memsvc.compare_projection(p_user_id uuid)
RETURNS TABLE (kind text, stored bigint, missing bigint, surplus bigint, different bigint)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  RETURN QUERY
  WITH wanted AS (
    SELECT w.kind, w.subject, w.place, ag_catalog.agtype_in(textout(w.properties)) AS properties
    FROM (
      SELECT p.* FROM memsvc.projection_wanted(p_user_id) AS p
      UNION ALL
      SELECT t.* FROM memsvc.turn_parts_wanted(p_user_id) AS t
    ) AS w
  ),
  vertex AS (
    SELECT v.*, c.relname AS label, memsvc.part_of(c.relname::text, v.id::text::bigint) AS part
    FROM memory._ag_label_vertex AS v INNER JOIN pg_class AS c ON c.oid = v.tableoid
    WHERE v.user_id = p_user_id
  ),
  edge AS (
    SELECT e.*, c.relname AS label, memsvc.part_of(
        CASE ag_catalog._extract_label_id(e.start_id)
          WHEN ag_catalog._label_id('memory', 'Passage') THEN 'Passage'
        END, e.start_id::text::bigint
      ) AS part
    FROM memory._ag_label_edge AS e INNER JOIN pg_class AS c ON c.oid = e.tableoid
    WHERE e.user_id = p_user_id
  ),
  found AS (
    SELECT CASE v.part
        WHEN 'messages' THEN 'passage'
        WHEN 'graph' THEN 'node'
        ELSE CASE v.label WHEN 'Turn' THEN 'turn' ELSE 'document' END
      END AS kind, concat_ws(' ', CASE v.part WHEN 'turns' THEN v.label END, v.node_id) AS subject,
      concat_ws(' ', v.label, CASE v.part WHEN 'graph' THEN v.id END) AS place, v.properties
    FROM vertex AS v
    UNION ALL
    SELECT CASE e.part
        WHEN 'messages' THEN 'order'
        WHEN 'graph' THEN 'edge'
        ELSE CASE e.label WHEN 'TOOL_CALL' THEN 'turn' ELSE 'document' END
      END, concat_ws(' ', CASE WHEN e.part <> 'graph' THEN e.label END, e.version_id), concat_ws(
        ' ', e.label, CASE WHEN e.part <> 'turns' THEN ag_catalog._extract_label_id(e.id) END, e.start_id, e.end_id
      ), e.properties
    FROM edge AS e
  )
  SELECT k.kind, count(f.subject), count(*) FILTER (WHERE f.subject IS NULL AND w.subject IS NOT NULL),
    count(*) FILTER (WHERE w.subject IS NULL AND f.subject IS NOT NULL),
    count(*) FILTER (
      WHERE w.place <> f.place OR w.properties OPERATOR(ag_catalog.<>) f.properties
    )
  FROM (
    VALUES (1, 'node'), (2, 'edge'), (3, 'passage'), (4, 'order'), (5, 'document'), (6, 'turn')
  ) AS k (place, kind)
  LEFT JOIN (wanted AS w FULL JOIN found AS f ON f.kind = w.kind AND f.subject = w.subject)
    ON coalesce(w.kind, f.kind) = k.kind
  GROUP BY k.place, k.kind
  ORDER BY k.place;
END
$$;
COMMENT ON FUNCTION memsvc.compare_projection(uuid) IS 'Errors in the projection of a user.';
