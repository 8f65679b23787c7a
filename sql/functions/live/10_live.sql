-- What live clients are told: events in an order that no late commit breaks, and what a change of the graph means.
--
-- Events are read in the order of (transaction, event), below the oldest transaction that still runs: whoever commits
-- later has a higher number, so a reader who remembers its place misses nothing and reads nothing twice.

-- Where a reader begins who wants what comes from now on.
CREATE OR REPLACE FUNCTION memsvc.live_end() RETURNS xid8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
-- callers: app
RETURN pg_snapshot_xmin(pg_current_snapshot());
COMMENT ON FUNCTION memsvc.live_end() IS 'The oldest transaction that still runs: events below it are all there.';

-- Which of some users have events behind a place of theirs. One look serves a whole process, which then reads each
-- user's events under row security; it gives ids that the caller named.
CREATE OR REPLACE FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT p.user_id
  FROM unnest(p_users, p_transactions, p_events) AS p (user_id, transaction_id, event_id)
  WHERE EXISTS (
    SELECT FROM memsvc.outbox AS e
    WHERE e.user_id = p.user_id AND (e.transaction_id, e.event_id) > (p.transaction_id, p.event_id)
      AND e.transaction_id < memsvc.live_end()
    ORDER BY e.transaction_id, e.event_id OFFSET 0
  );
END
$$;
COMMENT ON FUNCTION memsvc.users_with_news(uuid[], xid8[], uuid[]) IS 'Which of some users have events behind a place.';

-- A user's events behind a place, in their order.
CREATE OR REPLACE FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer)
RETURNS TABLE (event_id uuid, kind text, subject_id uuid, transaction_id xid8, recorded_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-sort
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT e.event_id, e.kind, e.subject_id, e.transaction_id, e.recorded_at
  FROM outbox AS e
  WHERE e.user_id = p_user_id AND (e.transaction_id, e.event_id) > (p_transaction, p_event)
    AND e.transaction_id < memsvc.live_end()
  ORDER BY e.transaction_id, e.event_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.live_events(uuid, xid8, uuid, integer) IS 'A user''s events behind a place, in their order.';

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
