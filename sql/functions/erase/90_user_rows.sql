-- owner: memsvc_eraser

-- Counts and deletes the remaining rows of a user. memsvc_eraser cannot log in; its policies show it only the rows of
-- the user that the token proves.

-- Rows of a user by table; no row for an empty table.
CREATE OR REPLACE FUNCTION memsvc.rows_of_user(p_user_id uuid) RETURNS TABLE (name text, stored bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  FOR name IN SELECT t.name FROM memsvc.user_tables() AS t LOOP
    EXECUTE format('SELECT count(*) FROM memsvc.%I AS r WHERE r.user_id = $1', name) INTO stored USING proved;
    IF stored > 0 THEN
      RETURN NEXT;
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.rows_of_user(uuid) IS 'How many rows a user has in each table.';

-- Deletes at most p_limit rows, table by table; the user's own row only with p_last. Returns the number for each table.
-- Rows are found by index and deleted by ctid. Foreign keys keep the plans of their checks, because planning each check
-- would take longer than the rest. All of a user's rows of a partitioned table are in one partition, so a ctid is
-- unique.
CREATE OR REPLACE FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: owner
-- plans: by-key, no-bitmap
AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  target record;
  deleted bigint;
  room bigint := p_limit;
  gone jsonb := '{}';
BEGIN
  FOR target IN SELECT t.name, t.unreferred FROM memsvc.user_tables() AS t LOOP
    CONTINUE WHEN target.name = 'users' AND NOT p_last;
    EXIT WHEN room <= 0;
    EXECUTE format(
      'DELETE FROM memsvc.%1$I AS d WHERE d.user_id = $1 AND d.ctid = ANY (ARRAY('
      'SELECT r.ctid FROM memsvc.%1$I AS r WHERE r.user_id = $1%2$s LIMIT $2))', target.name, target.unreferred
    ) USING proved, room;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
      gone := gone || jsonb_build_object(target.name, deleted);
      room := room - deleted;
    END IF;
  END LOOP;
  RETURN gone;
END
$$;
COMMENT ON FUNCTION memsvc.erase_user_rows(uuid, integer, boolean) IS
  'Deletes some rows of a user, in the order of foreign keys; the number for each table.';

-- What anonymising keeps of a user: numbers by month (UTC) and kind, without a name, a text, an id or a day. Types that
-- the user added are all called 'own', because their names are the user's words.
CREATE OR REPLACE FUNCTION memsvc.figures_of_user(p_user_id uuid)
RETURNS TABLE (month date, what text, kind text, number bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app, owner
AS $$
#variable_conflict use_column
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  RETURN QUERY
  SELECT date_trunc('month', c.at AT TIME ZONE 'UTC')::date, c.what, c.kind, sum(c.number)::bigint
  FROM (
    SELECT min(n.created_at), 'users', '', 1 FROM nodes AS n WHERE n.user_id = proved HAVING count(*) > 0
    UNION ALL
    SELECT p.recorded_at, 'messages', p.role, 1 FROM passages AS p
    WHERE p.user_id = proved AND p.kind IN ('message', 'trace') AND p.part = 0
    UNION ALL
    SELECT s.created_at, 'documents', '', 1 FROM sources AS s WHERE s.user_id = proved AND s.kind = 'document'
    UNION ALL
    SELECT t.recorded_at, 'turns', '', 1 FROM turns AS t WHERE t.user_id = proved
    UNION ALL
    SELECT t.recorded_at, 'tool_calls', CASE WHEN l.ok THEN 'ok' ELSE 'failed' END, 1
    FROM turns AS t INNER JOIN tool_calls AS l ON l.user_id = t.user_id AND l.turn_id = t.turn_id
    WHERE t.user_id = proved
    UNION ALL
    SELECT n.created_at, 'nodes', CASE WHEN t.name IS NULL THEN v.type ELSE 'own' END, 1
    FROM nodes AS n
    INNER JOIN LATERAL (
      SELECT v.type FROM node_versions AS v
      WHERE v.user_id = n.user_id AND v.node_id = n.node_id ORDER BY v.recorded_from DESC, v.version_id DESC LIMIT 1
    ) AS v ON true
    LEFT JOIN node_types AS t ON t.user_id = proved AND t.name = v.type
    WHERE n.user_id = proved
    UNION ALL
    SELECT e.created_at, 'facts', CASE WHEN t.name IS NULL THEN e.type ELSE 'own' END, 1
    FROM edges AS e LEFT JOIN edge_types AS t ON t.user_id = proved AND t.name = e.type
    WHERE e.user_id = proved
    UNION ALL
    SELECT r.at, 'recalls', r.door, 1 FROM recall_events AS r WHERE r.user_id = proved
    UNION ALL
    SELECT m.at, 'tokens', m.task, m.tokens_in + m.tokens_out FROM model_calls AS m WHERE m.user_id = proved
  ) AS c (at, what, kind, number)
  GROUP BY 1, 2, 3
  ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION memsvc.figures_of_user(uuid) IS 'Numbers of a user by month and kind, which name nobody.';
