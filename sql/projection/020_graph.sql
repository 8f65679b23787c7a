-- The graph that Cypher sees: its labels, the columns that row security needs, and the triggers that maintain it. Run
-- by 'memsvc db upgrade' as memsvc_owner, if the server has AGE; the rows are made afterwards, user by user.
--
-- Each row has its owner and the node or version that it shows. (AGE reads id and properties by name and ignores
-- further columns; functions that read a whole graph past row security count columns, and fail.)

-- Locked in the order in which writers lock them, so that no deadlock is possible.
LOCK TABLE memsvc.changes, memsvc.edge_versions, memsvc.node_versions, memsvc."merges", memsvc.nodes
IN SHARE ROW EXCLUSIVE MODE;
SET LOCAL search_path = pg_catalog, ag_catalog; -- AGE finds its own operator classes by search_path
DO $graph$
DECLARE
  one record;
BEGIN
  IF NOT memsvc.has_projection() THEN
    PERFORM ag_catalog.create_graph('memory');
    ALTER TABLE memory._ag_label_vertex ADD COLUMN user_id uuid NOT NULL, ADD COLUMN node_id uuid NOT NULL;
    ALTER TABLE memory._ag_label_edge ADD COLUMN user_id uuid NOT NULL, ADD COLUMN version_id uuid NOT NULL;
  END IF;
  FOR one IN
    SELECT l.kind, l.label FROM memsvc.graph_labels() AS l
    WHERE NOT EXISTS (
      SELECT FROM pg_class AS c WHERE c.relnamespace = 'memory'::regnamespace AND c.relname = l.label
    )
  LOOP
    IF one.kind = 'node' THEN
      PERFORM ag_catalog.create_vlabel('memory', textout(one.label));
      EXECUTE format('CREATE UNIQUE INDEX ON memory.%I (user_id, node_id)', one.label);
    ELSE
      PERFORM ag_catalog.create_elabel('memory', textout(one.label));
      EXECUTE format('CREATE UNIQUE INDEX ON memory.%I (user_id, version_id)', one.label);
    END IF;
  END LOOP;
  -- Every index has the owner: an index over rows of all users (AGE makes such) would count them before row security
  -- filters them, and EXPLAIN (ANALYZE) shows both numbers.
  FOR one IN
    SELECT i.indexrelid::regclass AS name, i.indrelid::regclass AS of, n.conname AS key
    FROM pg_index AS i
    INNER JOIN pg_class AS c ON c.oid = i.indrelid AND c.relnamespace = 'memory'::regnamespace
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
    LEFT JOIN pg_constraint AS n ON n.conindid = i.indexrelid
    WHERE NOT a.attnum = ANY (i.indkey)
  LOOP
    IF one.key IS NULL THEN
      EXECUTE format('DROP INDEX %s', one.name);
    ELSE
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.of, one.key);
    END IF;
  END LOOP;
  FOR one IN
    SELECT c.relname || k.suffix AS name, c.oid::regclass AS of, k.*
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid
    INNER JOIN (
      VALUES ('node_id', '_by_id', 'UNIQUE', 'btree', 'id'), ('node_id', '_by_properties', '', 'gin', 'properties'),
      ('version_id', '_by_id', 'UNIQUE', 'btree', 'id'), ('version_id', '_by_start', '', 'btree', 'start_id'),
      ('version_id', '_by_end', '', 'btree', 'end_id')
    ) AS k (shown_by, suffix, sort, method, led_to) ON k.shown_by = a.attname
    WHERE c.relnamespace = 'memory'::regnamespace AND c.relkind = 'r'
  LOOP
    EXECUTE format(
      'CREATE %s INDEX IF NOT EXISTS %I ON %s USING %s (user_id, %I)',
      one.sort, one.name, one.of, one.method, one.led_to
    );
  END LOOP;
  FOR one IN
    SELECT c.oid::regclass AS name, a.attname = 'node_id' AS vertices
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname IN ('node_id', 'version_id')
    WHERE c.relnamespace = 'memory'::regnamespace AND c.relkind = 'r'
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_eraser', one.name);
    EXECUTE format('GRANT SELECT ON %s TO memsvc_cypher', one.name);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON %s TO memsvc_app, memsvc_eraser', one.name);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one.name);
    EXECUTE format('DROP POLICY IF EXISTS own_rows ON %s', one.name);
    EXECUTE format(
      'CREATE POLICY own_rows ON %s TO memsvc_app, memsvc_eraser '
      'USING (user_id = (SELECT memsvc.current_user_id())) WITH CHECK (user_id = (SELECT memsvc.current_user_id()))',
      one.name
    );
    EXECUTE format('DROP POLICY IF EXISTS rows_asked_for ON %s', one.name);
    EXECUTE format(
      'CREATE POLICY rows_asked_for ON %s FOR SELECT TO memsvc_cypher '
      'USING (CASE WHEN user_id = ANY (ARRAY[(SELECT memsvc.current_user_id())]) THEN true ELSE false END '
      'AND user_id = (SELECT memsvc.current_user_id()))', -- twice: see sql/policies/rows.sql
      one.name
    );
    EXECUTE format('COMMENT ON COLUMN %s.user_id IS ''Owner.''', one.name);
    -- The planner's samples would outlive erased rows.
    EXECUTE format('ALTER TABLE %s ALTER COLUMN properties SET STATISTICS 0', one.name);
  END LOOP;
END
$graph$;
REVOKE ALL ON SCHEMA memory FROM PUBLIC, memsvc_reader;
GRANT USAGE ON SCHEMA memory TO memsvc_app, memsvc_cypher, memsvc_eraser;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA memory TO memsvc_app, memsvc_eraser; -- they number stored rows
REVOKE ALL ON SEQUENCE memory._label_id_seq FROM memsvc_app, memsvc_eraser; -- it numbers labels
COMMENT ON COLUMN memory._ag_label_vertex.node_id IS 'The node, passage or conversation that it shows.';
COMMENT ON COLUMN memory._ag_label_edge.version_id IS
  'The version of an edge that it shows; for NEXT and PART_OF between passages, the (later) passage.';

-- Deferred: at the end of a transaction every change in it is complete, and is projected once.
DROP TRIGGER IF EXISTS project ON memsvc.changes;
CREATE CONSTRAINT TRIGGER project AFTER INSERT ON memsvc.changes
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION memsvc.project_change();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.edge_versions
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_edges();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.node_versions
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_remains();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc."merges"
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_remains();
CREATE OR REPLACE TRIGGER forget_projected AFTER DELETE ON memsvc.nodes
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION memsvc.forget_vertices();
