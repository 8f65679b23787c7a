-- Rebuilds a user's whole projection: deletes it and makes it again, part by part, some thousand rows at a time. Rows
-- have six kinds: nodes (node) and versions of edges (edge), in the part graph; in the part messages, passages with
-- their conversations (passage), and the edges from passages to passages or conversations (order); in the part turns,
-- documents with their versions (document), and turns with their calls (turn).

-- Stores missing rows of a kind, for ids after p_after (null: from the first) in the order of ids. Returns the last id;
-- null: there are no more, or AGE is not installed. Edges need the rows at their ends, so those kinds come first.
CREATE OR REPLACE FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) RETURNS uuid
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  after CONSTANT uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
  batch uuid[];
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN NULL;
  END IF;
  IF p_kind = 'node' THEN
    batch := ARRAY(
      SELECT n.node_id FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id > after
      ORDER BY n.node_id LIMIT p_limit
    );
    PERFORM memsvc.store_vertices(p_user_id, batch);
  ELSIF p_kind = 'edge' THEN
    batch := ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id > after AND v.recorded_to = 'infinity'
      ORDER BY v.version_id LIMIT p_limit
    );
    PERFORM memsvc.store_edges(p_user_id, batch);
  ELSIF p_kind = 'document' THEN
    batch := ARRAY(
      SELECT s.source_id FROM sources AS s
      WHERE s.user_id = p_user_id AND s.source_id > after AND s.kind = 'document'
      ORDER BY s.source_id LIMIT p_limit
    );
    PERFORM memsvc.store_documents(p_user_id, batch, NULL);
  ELSIF p_kind = 'turn' THEN
    batch := ARRAY(
      SELECT t.turn_id FROM turns AS t WHERE t.user_id = p_user_id AND t.turn_id > after
      ORDER BY t.turn_id LIMIT p_limit
    );
    PERFORM memsvc.store_turns(p_user_id, batch);
  ELSE
    batch := ARRAY(
      SELECT p.passage_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id > after
      ORDER BY p.passage_id LIMIT p_limit
    );
    IF p_kind = 'passage' THEN
      PERFORM memsvc.store_passages(p_user_id, batch); -- with their PART_OF edges
    ELSE
      PERFORM memsvc.link_passages(p_user_id, batch);
    END IF;
  END IF;
  RETURN batch[cardinality(batch)];
END
$$;
COMMENT ON FUNCTION memsvc.project_more(uuid, text, uuid, integer) IS 'Stores some rows of a projection; the last id.';

-- Deletes a part of a user's projection. Edges belong to the part of the vertex at which they start: PART_OF is in
-- graph and messages, TOOL_CALL and VERSION_OF in graph and turns.
CREATE OR REPLACE FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  passage CONSTANT integer := ag_catalog._label_id('memory', 'Passage');
BEGIN
  DELETE FROM memory._ag_label_edge AS d
  WHERE d.user_id = p_user_id AND p_part = memsvc.part_of(
    CASE ag_catalog._extract_label_id(d.start_id) WHEN passage THEN 'Passage' END, d.start_id::text::bigint
  );
  DELETE FROM memory._ag_label_vertex AS d
  USING pg_catalog.pg_class AS c
  WHERE d.user_id = p_user_id AND c.oid = d.tableoid AND p_part = memsvc.part_of(c.relname::text, d.id::text::bigint);
END
$$;
COMMENT ON FUNCTION memsvc.empty_projection(uuid, text) IS 'Deletes a part of the projection of a user.';

-- Rebuilds a part of a user's projection. If the identity token expired in the meantime, row security would hide the
-- rest.
CREATE OR REPLACE FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer DEFAULT 5000)
RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  one text;
  last uuid;
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN;
  END IF;
  PERFORM memsvc.lock_projection(p_user_id, p_part, p_alone => true);
  PERFORM memsvc.empty_projection(p_user_id, p_part);
  FOREACH one IN ARRAY CASE p_part
    WHEN 'graph' THEN ARRAY['node', 'edge']
    WHEN 'messages' THEN ARRAY['passage', 'order']
    ELSE ARRAY['document', 'turn']
  END LOOP
    last := NULL;
    LOOP
      last := memsvc.project_more(p_user_id, one, last, p_batch);
      EXIT WHEN last IS NULL;
    END LOOP;
  END LOOP;
  PERFORM memsvc.require_identity(p_user_id);
END
$$;
COMMENT ON FUNCTION memsvc.rebuild_projection(uuid, text, integer) IS 'Rebuilds a part of the projection of a user.';
