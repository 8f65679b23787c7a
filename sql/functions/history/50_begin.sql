-- The only way to change the graph: batches of operations, each in the caller's transaction.

-- Locks nodes in the order of their ids, so that writers to one node wait for each other without deadlocks, and gives
-- the change its time. now() would be the begin of the transaction, before the changes that we waited for. The time is
-- later than each visible change of the user, so that closed and open versions never overlap, even if a clock goes
-- back. Live clients get an event when the transaction commits.
CREATE OR REPLACE FUNCTION memsvc.begin_change(
  p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid DEFAULT NULL
) RETURNS memsvc.changes
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  made changes;
  floor timestamptz;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  IF p_operations && '{merge,unmerge,undo}' THEN
    -- Two merges of distant nodes can together close a cycle, so merges of a user run one after another.
    PERFORM pg_advisory_xact_lock(hashtextextended('memsvc merges of ' || p_user_id, 0));
  END IF;
  PERFORM FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = ANY (p_nodes) ORDER BY n.node_id
  FOR NO KEY UPDATE;
  LOOP
    SELECT max(c.recorded_at) + interval '1 microsecond' INTO floor FROM changes AS c WHERE c.user_id = p_user_id;
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM locations AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    INSERT INTO changes (user_id, recorded_at, asserted_by, operations, undoes)
    VALUES (p_user_id, greatest(clock_timestamp(), floor), p_actor, p_operations, p_undoes)
    ON CONFLICT (user_id, recorded_at) DO NOTHING RETURNING * INTO made;
    EXIT WHEN FOUND;
  END LOOP;
  INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'graph.changed', made.change_id);
  RETURN made;
END
$$;
COMMENT ON FUNCTION memsvc.begin_change(uuid, text, text[], uuid[], uuid) IS
  'Locks nodes and records a change, with the recorded time of everything in it.';
