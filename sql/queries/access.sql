-- Statements of memsvc.access.

-- name: seed_self
-- The user's own node with its names, in the transaction that makes the user.
WITH self AS (
  INSERT INTO memsvc.nodes (user_id) VALUES (:user_id) RETURNING node_id
),
version AS (
  INSERT INTO memsvc.node_versions (user_id, node_id, type, label, data, importance)
  SELECT :user_id, s.node_id, 'Person', :name, '{"self"\: true}', 10 FROM self AS s
)
INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by)
SELECT DISTINCT ON (memsvc.normal_form(a.alias)) :user_id, s.node_id, a.alias, memsvc.normal_form(a.alias), 'user'
FROM self AS s CROSS JOIN unnest(CAST(:aliases AS text [])) WITH ORDINALITY AS a (alias, nth)
WHERE memsvc.normal_form(a.alias) <> ''
ORDER BY memsvc.normal_form(a.alias), a.nth;

-- name: project_more
-- Stores nodes or edges that belong to no change in the projection for Cypher, if there is one; the last id, null at
-- the end.
SELECT memsvc.project_more(:user_id, :kind, CAST(:after AS uuid), :limit);

-- name: own_node
-- The user's own node and its current name.
SELECT n.node_id, v.label, array_agg(a.alias ORDER BY a.recorded_from, a.alias_id) AS aliases
FROM memsvc.nodes AS n
INNER JOIN memsvc.node_versions AS v
  ON n.user_id = v.user_id AND n.node_id = v.node_id AND v.recorded_to = 'infinity'
    AND v.valid_from <= now() AND v.valid_to > now()
INNER JOIN memsvc.aliases AS a
  ON n.user_id = a.user_id AND n.node_id = a.node_id AND a.recorded_to = 'infinity'
    AND a.valid_from <= now() AND a.valid_to > now()
WHERE n.user_id = :user_id AND v.data @> '{"self"\: true}'
GROUP BY n.node_id, v.label
LIMIT 1;

-- name: list_erasures
-- Receipts, newest first; erasure_id is time-ordered and serves as the cursor.
SELECT
  e.erasure_id, e.kind, e.subject_id, e.state, e.counts, e.requested_by, e.created_at, e.finished_at, e.verified_at,
  e.leftovers
FROM memsvc.erasures AS e
WHERE e.user_id = :user_id AND (CAST(:after AS uuid) IS NULL OR e.erasure_id < :after)
ORDER BY e.erasure_id DESC
LIMIT :limit;

-- name: owner_of
-- What background work needs to know about a user.
SELECT u.name, u.time_zone, u.language, u.policy AS own_policy, memsvc.app_policy(u.app_id) AS app_policy
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: find_policies
-- The policies on secrets of the user and the app.
SELECT u.app_id, u.policy AS own_policy, memsvc.app_policy(u.app_id) AS app_policy
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: app_of
-- The app that a user belongs to.
SELECT u.app_id
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: authenticate_key
-- The owner of a key and where the owner is, and how long to wait if the key's minute is used up. One statement, so
-- that a key without a limit costs no more than its look-up.
SELECT
  a.*, p.cell_id, p.epoch, p.moving,
  CASE WHEN a.requests_per_minute IS NOT NULL THEN memsvc.count_request(:key_id) END AS wait_s
FROM memsvc.authenticate_key(:key_id, :hash, :ref) AS a
LEFT JOIN LATERAL memsvc.place_of_user(a.user_id) AS p ON a.user_id IS NOT NULL;

-- name: settle_user
-- Adds a user to a cell; the directory gets the same id afterwards.
SELECT memsvc.settle_user(
  :app, :app_name, :user_id, :external, :name, :zone, :language, :epoch, CAST(:policy AS jsonb)
);

-- name: key_was_made
-- Whether this same key was made a short time ago: its answer was lost, and the request was repeated.
SELECT count(*) > 0
FROM memsvc.keys_of_app(:app, :key_id, NULL, NULL, 1) AS k
CROSS JOIN memsvc.authenticate_key(:key_id, :hash, NULL)
WHERE k.created_at > clock_timestamp() - CAST(:kept AS interval);

-- name: find_pause
-- The pause that is running; no row: messages are stored.
SELECT u.paused_at, u.paused_until
FROM memsvc.users AS u
WHERE u.user_id = :user_id AND memsvc.is_paused(u.paused_at, u.paused_until);

-- name: pause_memory
UPDATE memsvc.users AS u
SET
  paused_at = CASE WHEN memsvc.is_paused(u.paused_at, u.paused_until) THEN u.paused_at ELSE clock_timestamp() END,
  paused_until = CAST(:until AS timestamptz)
WHERE u.user_id = :user_id;

-- name: resume_memory
UPDATE memsvc.users AS u SET paused_at = NULL, paused_until = NULL
WHERE u.user_id = :user_id;

-- name: places_of_users
-- The cells of some users; without those who are being erased.
SELECT i.user_id, p.cell_id
FROM unnest(CAST(:users AS uuid[])) AS i (user_id)
CROSS JOIN LATERAL memsvc.place_of_user(i.user_id) AS p
