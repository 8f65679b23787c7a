-- What live clients are told: events, each of them once, and what a change of the graph means.
--
-- A reader remembers which transactions had ended when it looked (a snapshot): those below an end, but for some that
-- were running. What it has not been told are the events of all others that are visible now. So it waits for nobody: a
-- transaction that commits late is in its list, and its events are read when they are there, whatever others have
-- committed since. A transaction that never writes an event, of whatever login or database, stays in the list until it
-- ends, and that is all it does. Writers do nothing for it: an event keeps the number of its transaction
-- (transaction_id), which it had anyway. A number from a sequence would not do instead, for it is drawn before the
-- commit: a reader would have to wait for whoever might still hold a smaller one, or writers for each other.
--
-- The order is that of (transaction, event), within what is read at once; of two transactions that ran at the same time,
-- two readers may be told in different order. Readers stop anywhere (p_limit), also within a transaction: p_transaction
-- was told of up to p_event. It is read to its end first, then what ended late, then what began later, so that a
-- reader's place can always be said in these terms (memsvc/graph/events.py).

-- Which of some users have events that were not told. One look serves a whole process, which then reads each user's
-- events under row security; it gives ids that the caller named. p_running: arrays of xid8, as text, since arrays of
-- arrays would have to be of one length.
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
  'Which of some users have events that were not told.';

-- A user's events that were not told: of transactions from p_end on, and of those of p_running that have ended.
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
  -- Rows that a backup brought may have larger numbers than this server has given out.
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
  'A user''s events that were not told, in their order.';

-- What a change of the graph means to somebody who draws it: nodes and facts that it touched as they are now, with the
-- nodes at their ends, and what is not there any more. Merges move the facts of a node, so all of these are told.
-- complete: false where that would be more than p_most versions; then the rest is empty. No row: no such change.
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
  shown := memsvc.standing_for(p_user_id, touched_nodes || ARRAY(
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
  'What a change of the graph means to somebody who draws it.';

-- The node that a recall is about: of its best memory that leads to one; that where a fact begins, or what a message
-- supports. The node that stands for it, as it is drawn; no row: none, or what led to it was erased.
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
    FROM memsvc.graph_shown(p_user_id, memsvc.standing_for(p_user_id, ARRAY[found]), '{0}', '{}') AS g;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.node_in_focus(uuid, uuid) IS 'The node that a recall is about, as it is drawn.';
