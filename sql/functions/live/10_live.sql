-- What live clients receive: each event once, and what a change of the graph means.
--
-- A reader remembers which transactions had ended when it last read (a snapshot): those below an end, except some that
-- were still running. Its unread events are the visible events of all other transactions. So a reader never waits: a
-- transaction that commits late is in its list of running ones, and its events are read once they are visible, whatever
-- others have committed since. A transaction that never writes an event, with any login and in any database, stays in
-- the list until it ends and has no other effect. Writers need no extra work: an event stores the number of its
-- transaction (transaction_id). A number from a sequence would not work, because it is drawn before the commit: readers
-- would have to wait for transactions that may hold a smaller number, or writers would have to wait for each other.
--
-- Events read together are ordered by (transaction, event). Two readers may see two concurrent transactions in a
-- different order. Readers may stop anywhere (p_limit), also within a transaction: of p_transaction, they have read the
-- events up to p_event. The rest of that transaction is read first, then transactions that ended late, then those that
-- began later. So these four values always describe a reader's position (memsvc/graph/events.py). A reader who is not
-- within a transaction gives 0 as p_transaction, so that the first later one is not read before those that ended late.

-- Which of some users have unread events. One call serves a whole process, which then reads each user's events under
-- row security; it returns only ids that the caller named. p_running: arrays of xid8 as text, because all arrays within
-- a PostgreSQL array must have one length.
CREATE OR REPLACE FUNCTION memsvc.users_with_news(
  p_users uuid[], p_ends xid8[], p_running text[], p_transactions xid8[], p_events uuid[]
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT p.user_id
  FROM unnest(p_users, p_ends, p_running, p_transactions, p_events)
    AS p (user_id, seen_end, running, transaction_id, event_id)
  WHERE EXISTS (
    SELECT FROM memsvc.outbox AS e
    WHERE e.user_id = p.user_id AND e.transaction_id >= p.seen_end
      AND (e.transaction_id <> p.transaction_id OR e.event_id > p.event_id)
      AND e.transaction_id < pg_snapshot_xmax(pg_current_snapshot())
    ORDER BY e.transaction_id, e.event_id OFFSET 0
  ) OR EXISTS (
    SELECT FROM memsvc.outbox AS e
    WHERE e.user_id = p.user_id AND e.transaction_id = ANY (p.running::xid8[])
      AND (e.transaction_id <> p.transaction_id OR e.event_id > p.event_id)
    OFFSET 0
  );
END
$$;
COMMENT ON FUNCTION memsvc.users_with_news(uuid[], xid8[], text[], xid8[], uuid[]) IS
  'Which of some users have unread events.';

-- A user's unread events: those of transactions from p_end on, and those of p_running's transactions that have ended.
CREATE OR REPLACE FUNCTION memsvc.live_events(
  p_user_id uuid, p_end xid8, p_running xid8[], p_transaction xid8, p_event uuid, p_limit integer
) RETURNS TABLE (event_id uuid, kind text, subject_id uuid, transaction_id xid8, recorded_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  -- Rows restored from a backup may have larger numbers than this server has given out.
  given CONSTANT xid8 := pg_snapshot_xmax(pg_current_snapshot());
  room integer := p_limit;
  found integer;
BEGIN
  RETURN QUERY
  SELECT e.event_id, e.kind, e.subject_id, e.transaction_id, e.recorded_at
  FROM outbox AS e
  WHERE e.user_id = p_user_id AND e.transaction_id = p_transaction AND e.event_id > p_event AND p_transaction < given
  ORDER BY e.transaction_id, e.event_id
  LIMIT room;
  GET DIAGNOSTICS found = ROW_COUNT;
  room := room - found;
  IF p_running <> '{}' THEN
    RETURN QUERY
    SELECT e.event_id, e.kind, e.subject_id, e.transaction_id, e.recorded_at
    FROM outbox AS e
    WHERE e.user_id = p_user_id AND e.transaction_id = ANY (p_running) AND e.transaction_id <> p_transaction
    ORDER BY e.transaction_id, e.event_id
    LIMIT room;
    GET DIAGNOSTICS found = ROW_COUNT;
    room := room - found;
  END IF;
  RETURN QUERY
  SELECT e.event_id, e.kind, e.subject_id, e.transaction_id, e.recorded_at
  FROM outbox AS e
  WHERE e.user_id = p_user_id AND e.transaction_id >= p_end AND e.transaction_id <> p_transaction
    AND e.transaction_id < given
  ORDER BY e.transaction_id, e.event_id
  LIMIT room;
END
$$;
COMMENT ON FUNCTION memsvc.live_events(uuid, xid8, xid8[], xid8, uuid, integer) IS
  'A user''s unread events, in their order.';

-- What a change of the graph means to a client that draws it: the nodes and facts that it touched as they are now, with
-- the nodes at the facts' ends, and the ids of nodes and facts that are gone. A merge moves the facts of a node, so all
-- of these are included. complete: false if there are more than p_most versions; the other columns are then empty. No
-- row: no such change.
CREATE OR REPLACE FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer)
RETURNS TABLE (nodes json, edges json, gone_nodes uuid[], gone_edges uuid[], complete boolean)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-sort
AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  at timestamptz;
  touched_nodes uuid[];
  touched_edges uuid[];
  moved uuid[];
  facts uuid[];
  shown uuid[];
BEGIN
  SELECT c.recorded_at INTO at FROM changes AS c WHERE c.user_id = p_user_id AND c.change_id = p_change_id;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind <> 'edge'), '{}'),
    coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind = 'edge'), '{}'),
    coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind = 'merge'), '{}'), count(*) <= p_most
  INTO touched_nodes, touched_edges, moved, complete
  FROM (
    SELECT v.kind, v.subject FROM memsvc.versions_touched(p_user_id, at - interval '1 microsecond', at) AS v
    LIMIT p_most + 1
  ) AS t;
  IF complete THEN
    SELECT coalesce(array_agg(v.version_id ORDER BY v.version_id), '{}'), count(*) <= p_most INTO facts, complete
    FROM (
      (SELECT o.version_id FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.edge_id = ANY (touched_edges) AND o.recorded_to = 'infinity'
        AND o.valid_from <= moment AND o.valid_to > moment
      ORDER BY o.edge_id)
      UNION
      SELECT o.version_id
      FROM memsvc.edges_known(p_user_id, ARRAY(
        SELECT s.node_id FROM memsvc.same_nodes(p_user_id, moved) AS s WHERE moved <> '{}'
      ), 'both', NULL) AS o
      WHERE moved <> '{}' AND o.valid_from <= moment AND o.valid_to > moment
      LIMIT p_most + 1
    ) AS v;
  END IF;
  IF NOT complete THEN
    RETURN QUERY SELECT '[]'::json, '[]'::json, '{}'::uuid[], '{}'::uuid[], false;
    RETURN;
  END IF;
  shown := memsvc.canonical_ids(p_user_id, touched_nodes || ARRAY(
    SELECT n.node_id
    FROM (
      SELECT o.from_node, o.to_node FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (facts) ORDER BY o.version_id OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id)
  ));
  RETURN QUERY
  SELECT g.nodes, g.edges, ARRAY(
    SELECT n.node_id FROM unnest(touched_nodes) AS n (node_id) WHERE n.node_id <> ALL (shown)
  ), ARRAY(
    SELECT n.edge_id FROM unnest(touched_edges) AS n (edge_id)
    WHERE NOT EXISTS (
      SELECT FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.edge_id = n.edge_id AND o.recorded_to = 'infinity'
        AND o.valid_from <= moment AND o.valid_to > moment
      ORDER BY o.edge_id OFFSET 0
    )
  ), true
  FROM memsvc.graph_shown(
    p_user_id, shown, array_fill(0, ARRAY[cardinality(shown)]), facts, moment, NULL
  ) AS g;
END
$$;
COMMENT ON FUNCTION memsvc.change_shown(uuid, uuid, integer) IS
  'What a change of the graph means to a client that draws it.';

-- The node that a recall is about, from the best of its first ten memories that leads to a node: the node at which a
-- fact begins, or the node that a message supports. Returns its canonical node as it is drawn. No row: there is none,
-- or the memory was erased.
CREATE OR REPLACE FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) RETURNS TABLE (node json)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  found uuid;
BEGIN
  SELECT coalesce(f.from_node, s.node_id) INTO found
  FROM recall_events AS r
  CROSS JOIN unnest(r.memories[:10]) WITH ORDINALITY AS m (memory_id, place)
  LEFT JOIN LATERAL (
    SELECT v.from_node FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = m.memory_id OFFSET 0
  ) AS f ON true
  LEFT JOIN LATERAL (
    SELECT coalesce(l.node_id, n.node_id, e.from_node) AS node_id
    FROM source_links AS l
    LEFT JOIN node_versions AS n ON n.user_id = p_user_id AND n.version_id = l.node_version_id
    LEFT JOIN edge_versions AS e ON e.user_id = p_user_id AND e.version_id = l.edge_version_id
    WHERE f.from_node IS NULL AND l.user_id = p_user_id AND l.passage_id = m.memory_id
      AND l.recorded_to = 'infinity' AND coalesce(l.node_id, n.node_id, e.from_node) IS NOT NULL
    ORDER BY l.recorded_from DESC LIMIT 1
  ) AS s ON true
  WHERE r.user_id = p_user_id AND r.recall_id = p_recall_id AND coalesce(f.from_node, s.node_id) IS NOT NULL
  ORDER BY m.place LIMIT 1;
  IF found IS NOT NULL THEN
    RETURN QUERY
    SELECT g.nodes -> 0
    FROM memsvc.graph_shown(p_user_id, memsvc.canonical_ids(p_user_id, ARRAY[found]), '{0}', '{}') AS g;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.node_in_focus(uuid, uuid) IS 'The node that a recall is about, as it is drawn.';
