-- Statements of live updates.

-- name: live_end
-- Which transactions have ended. A reader that wants only later events begins there.
SELECT CAST(pg_current_snapshot() AS text) AS seen;

-- name: arrival
-- When a user came to this cell: the event that tells clients to load everything again, the first one here. No row: the
-- user has been here from the beginning, or the event is older than events are kept.
SELECT e.recorded_at
FROM (
  SELECT o.kind, o.subject_id, o.recorded_at
  FROM memsvc.outbox AS o
  WHERE o.user_id = :user_id
  ORDER BY o.event_id
  LIMIT 1
) AS e
WHERE e.kind = 'memory.erased' AND e.subject_id = :user_id;

-- name: users_with_news
-- Which of some users have unread events, and which transactions have ended.
SELECT
  CAST(pg_current_snapshot() AS text) AS seen,
  array(
    SELECT n.user_id
    FROM memsvc.users_with_news(
      CAST(:users AS uuid []), CAST(CAST(:ends AS text []) AS xid8 []), CAST(:running AS text []),
      CAST(CAST(:transactions AS text []) AS xid8 []), CAST(:events AS uuid [])
    ) AS n (user_id)
  ) AS users;

-- name: users_gone
-- Which of some users are erased (or being erased), or have moved to another cell (or are moving).
SELECT u.user_id, p.place IS NOT NULL AS moved
FROM unnest(CAST(:users AS uuid [])) AS u (user_id)
CROSS JOIN LATERAL memsvc.whereabouts(u.user_id, NULL) AS p (place)
WHERE p.place IS DISTINCT FROM 'here';

-- name: live_events
-- A user's unread events, each row with the transactions that have ended. Without events: one row with nulls.
SELECT
  c.seen, e.event_id, e.kind, e.subject_id, CAST(CAST(e.transaction_id AS text) AS bigint) AS transaction_id,
  e.recorded_at
FROM (SELECT CAST(pg_current_snapshot() AS text) AS seen) AS c
LEFT JOIN memsvc.live_events(
  :user_id, CAST(CAST(:seen_end AS text) AS xid8), CAST(CAST(:running AS text) AS xid8 []),
  CAST(CAST(:transaction AS text) AS xid8), :event, :limit
) WITH ORDINALITY AS e (event_id, kind, subject_id, transaction_id, recorded_at, number)
  ON TRUE
ORDER BY e.number;

-- name: changes_shown
-- The current state of what changes touched, for clients that draw the graph.
SELECT
  c.change_id, CAST(s.nodes AS text) AS nodes, CAST(s.edges AS text) AS edges, s.gone_nodes, s.gone_edges, s.complete
FROM unnest(CAST(:changes AS uuid [])) AS c (change_id)
CROSS JOIN LATERAL memsvc.change_shown(:user_id, c.change_id, :most) AS s;

-- name: nodes_in_focus
-- The nodes that recalls are about.
SELECT r.recall_id, CAST(f.node AS text) AS node
FROM unnest(CAST(:recalls AS uuid [])) AS r (recall_id)
CROSS JOIN LATERAL memsvc.node_in_focus(:user_id, r.recall_id) AS f;

-- name: blocks_shown
-- The current or last version of blocks of the profile; no row: the block is erased. live: the version is current.
SELECT
  b.block_id, v.name, v.kind, v.version, v.text, v.node_id, v.source_id,
  v.recorded_to = 'infinity' AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp()) AS live
FROM unnest(CAST(:blocks AS uuid [])) AS b (block_id)
CROSS JOIN LATERAL (
  SELECT o.name, o.kind, o.version, o.text, o.node_id, o.source_id, o.recorded_to, o.expires_at
  FROM memsvc.profile_versions AS o
  WHERE o.user_id = :user_id AND o.block_id = b.block_id
  ORDER BY o.version DESC
  LIMIT 1
) AS v;

-- name: use_ticket
-- Records that a ticket was used; no row: it was used before. Deletes the records of expired tickets.
WITH old AS (
  DELETE FROM memsvc.used_tickets AS t
  WHERE t.user_id = :user_id AND t.expires_at < clock_timestamp()
)
INSERT INTO memsvc.used_tickets (user_id, ticket_id, expires_at)
VALUES (:user_id, :ticket_id, :expires_at)
ON CONFLICT (user_id, ticket_id) DO NOTHING
RETURNING ticket_id;
