-- Statements of memsvc.transfer.export: each row as one line of JSON, in the order of its key, so that an unchanged
-- user gives the same bytes again. Left out are user_id, values that are counted or computed from others, the state of
-- background work (memsvc.transfer.format gives the reasons), and passages that an erasure is about to delete
-- (profiles/40_misfiled_passages.sql), with what refers to them. "merges" is quoted because sqlfluff reads it as a
-- keyword.

-- name: export_settings
-- Times in UTC, in full; a page of rows may take any time. Plans as in load_settings.
SELECT
  set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
  set_config('extra_float_digits', '1', true), set_config('statement_timeout', '3600000', true),
  set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true);

-- name: export_user
SELECT u.name, u.time_zone, u.language, (SELECT v.version_num FROM memsvc.schema_version AS v) AS revision
FROM memsvc.users AS u
WHERE u.user_id = :user_id;

-- name: export_node_types
-- Types that the user added or proposed.
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    t.name, t.category, t.description, t.parent, t.status, t.reason, t.proposed_by, t.proposed_at, t.decided_by,
    t.decided_at
  FROM memsvc.node_types AS t
  WHERE t.user_id = :user_id
  ORDER BY t.name
) AS r;

-- name: export_edge_types
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    t.name, t.category, t.description, t.parent, t.status, t.reason, t.proposed_by, t.proposed_at, t.decided_by,
    t.decided_at, t.from_types, t.to_types, t.functional
  FROM memsvc.edge_types AS t
  WHERE t.user_id = :user_id
  ORDER BY t.name
) AS r;

-- name: export_vaults
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT v.vault_id, v.folder, v.flavours, v.write_back, v.created_at
  FROM memsvc.vaults AS v
  WHERE v.user_id = :user_id
  ORDER BY v.vault_id
) AS r;

-- name: export_sources
-- A block or a document that an erasure is deleting has no versions any more. What is known is filed by the import.
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT s.source_id, s.kind, s.identifier, s.title, s.metadata, s.created_at, s.forget_after, s.local
  FROM memsvc.sources AS s
  WHERE s.user_id = :user_id AND s.kind <> 'graph' AND (
    s.kind <> 'block' OR EXISTS (
      SELECT FROM memsvc.profile_versions AS v
      WHERE v.user_id = :user_id AND v.block_id = s.source_id
    )
  ) AND (
    s.kind <> 'document' OR EXISTS (
      SELECT FROM memsvc.document_versions AS v
      WHERE v.user_id = :user_id AND v.source_id = s.source_id
    ) OR EXISTS (
      SELECT FROM memsvc.tool_calls AS c
      WHERE c.user_id = :user_id AND c.document_id = s.source_id
    )
  )
  ORDER BY s.source_id
) AS r;

-- name: export_document_versions
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    v.source_id, v.version, v.sha256, v.bytes, v.format, v.title, v.path, v.pages, v.characters, v.metadata,
    v.recorded_from, v.recorded_to, v.by_agent, v.chunked
  FROM memsvc.document_versions AS v
  WHERE v.user_id = :user_id
  ORDER BY v.source_id, v.version
) AS r;

-- name: export_passages
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    p.passage_id, p.source_id, p.kind, p.session, p.ordinal, p.part, p.client_id, p.speaker, p.role, p.text, p.caption,
    p.said_at, p.said_offset, p.language, p.metadata, p.recorded_at, p.recorded_to, p.archived_at, p.restored_at
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.version_id IS null
    AND p.passage_id NOT IN (SELECT memsvc.misfiled_passages(:user_id))
  ORDER BY p.passage_id
) AS r;

-- name: export_turns
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    t.turn_id, t.source_id, t.session, t.project, t.agent, t.commit_id, t.ok, t.begun_at, t.ended_at, t.recorded_at,
    t.chat_id, t.chat_messages
  FROM memsvc.turns AS t
  WHERE t.user_id = :user_id
  ORDER BY t.turn_id
) AS r;

-- name: export_tool_calls
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    c.turn_id, c.number, c.call_id, c.tool, c.arguments, c.told, c.document_id, c.version, c.wrote, c.ok, c.exit_code,
    c.ms, c.result_head, c.result_tail, c.result_bytes, encode(c.result_sha256, 'hex') AS result_sha256
  FROM memsvc.tool_calls AS c
  WHERE c.user_id = :user_id
  ORDER BY c.turn_id, c.number
) AS r;

-- name: export_nodes
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT n.node_id, n.created_at FROM memsvc.nodes AS n
  WHERE n.user_id = :user_id
  ORDER BY n.node_id
) AS r;

-- name: export_node_versions
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    v.version_id, v.node_id, v.type, v.label, v.description, v.data, v.importance, v.asserted_by, v.derived_from,
    v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM memsvc.node_versions AS v
  WHERE v.user_id = :user_id
  ORDER BY v.version_id
) AS r;

-- name: export_aliases
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    a.alias_id, a.node_id, a.alias, a.confidence, a.asserted_by, a.derived_from, a.valid_from, a.valid_to,
    a.recorded_from, a.recorded_to
  FROM memsvc.aliases AS a
  WHERE a.user_id = :user_id
  ORDER BY a.alias_id
) AS r;

-- name: export_locations
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    a.location_id, a.node_id, a.latitude, a.longitude, a.radius_m, a.asserted_by, a.derived_from, a.valid_from,
    a.valid_to, a.recorded_from, a.recorded_to
  FROM memsvc.locations AS a
  WHERE a.user_id = :user_id
  ORDER BY a.location_id
) AS r;

-- name: export_edges
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT e.edge_id, e.from_node, e.type, e.to_node, e.key, e.created_at
  FROM memsvc.edges AS e
  WHERE e.user_id = :user_id
  ORDER BY e.edge_id
) AS r;

-- name: export_edge_versions
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    v.version_id, v.edge_id, v.from_node, v.type, v.to_node, v.functional, v.fact, v.data, v.weight, v.confidence,
    v.asserted_by, v.derived_from, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM memsvc.edge_versions AS v
  WHERE v.user_id = :user_id
  ORDER BY v.version_id
) AS r;

-- name: export_merges
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    m.merge_id, m.node_id, m.canonical_id, m.reason, m.confidence, m.asserted_by, m.recorded_from, m.recorded_to
  FROM memsvc."merges" AS m
  WHERE m.user_id = :user_id
  ORDER BY m.merge_id
) AS r;

-- name: export_source_links
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    l.link_id, l.passage_id, l.span_from, l.span_to, l.node_id, l.node_version_id, l.edge_version_id, l.alias_id,
    l.merge_id, l.location_id, l.stance, l.confidence, l.asserted_by, l.recorded_from, l.recorded_to
  FROM memsvc.source_links AS l
  WHERE l.user_id = :user_id AND l.passage_id NOT IN (SELECT memsvc.misfiled_passages(:user_id))
  ORDER BY l.link_id
) AS r;

-- name: export_profile_versions
-- By block and version, so that the versions of a block come in their order.
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    v.version_id, v.block_id, v.version, v.name, v.kind, v.text, v.tokens, v.token_limit, v.node_id, v.source_id,
    v.expires_at, v.asserted_by, v.recorded_from, v.recorded_to
  FROM memsvc.profile_versions AS v
  WHERE v.user_id = :user_id
  ORDER BY v.block_id, v.version
) AS r;

-- name: export_profile_evidence
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT e.version_id, e.passage_id, e.lines
  FROM memsvc.profile_evidence AS e
  WHERE e.user_id = :user_id AND e.passage_id NOT IN (SELECT memsvc.misfiled_passages(:user_id))
  ORDER BY e.version_id, e.passage_id
) AS r;

-- name: export_memory_signals
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    s.memory_id, s.kind, s.recalls, s.last_recalled_at, s.used, s.irrelevant, s.importance, s.sentiment, s.pinned
  FROM memsvc.memory_signals AS s
  WHERE s.user_id = :user_id AND s.memory_id NOT IN (SELECT memsvc.misfiled_passages(:user_id))
  ORDER BY s.memory_id
) AS r;

-- name: export_duplicate_candidates
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT
    d.node_a, d.node_b, d.score, d.evidence, d.found_by, d.found_at, d.state, d.decided_at, d.decided_by
  FROM memsvc.duplicate_candidates AS d
  WHERE d.user_id = :user_id
  ORDER BY d.node_a, d.node_b
) AS r;

-- name: export_changes
-- By their times, so that a change comes after those that it undoes.
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT c.change_id, c.recorded_at, c.asserted_by, c.operations, c.undoes
  FROM memsvc.changes AS c
  WHERE c.user_id = :user_id
  ORDER BY c.recorded_at
) AS r;

-- name: export_tombstones
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT encode(t.digest, 'hex') AS digest, t.recorded_at
  FROM memsvc.tombstones AS t
  WHERE t.user_id = :user_id
  ORDER BY t.digest
) AS r;

-- name: export_schedules
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT s.kind, s.at_local, s.weekdays, s.enabled, s.tasks_off
  FROM memsvc.schedules AS s
  WHERE s.user_id = :user_id
  ORDER BY s.kind COLLATE "C"
) AS r;

-- name: export_feeds
SELECT CAST(row_to_json(r) AS text) AS line
FROM (
  SELECT f.kind, f.identifier, f.name, f.settings, f.rule, f.created_at
  FROM memsvc.feeds AS f
  WHERE f.user_id = :user_id
  ORDER BY f.created_at, f.kind COLLATE "C", f.identifier COLLATE "C"
) AS r;

-- name: export_conversations
-- All messages, in the order in which people read them; archival blocks are not messages.
SELECT
  p.source_id, s.identifier, s.title, p.session, p.ordinal, p.part, p.speaker, p.role, p.text, p.caption, p.said_at
FROM memsvc.passages AS p
INNER JOIN memsvc.sources AS s ON p.user_id = s.user_id AND p.source_id = s.source_id
WHERE p.user_id = :user_id AND s.user_id = :user_id AND s.kind = 'conversation'
ORDER BY p.source_id, p.said_at, p.session COLLATE "C", p.ordinal, p.part;

-- name: export_own_nodes
-- A page of the nodes that are canonical now, after a node.
SELECT n.node_id
FROM memsvc.nodes AS n
WHERE n.user_id = :user_id AND (CAST(:after AS uuid) IS null OR n.node_id > :after)
  AND NOT EXISTS (
    SELECT FROM memsvc."merges" AS m
    WHERE m.user_id = :user_id AND m.node_id = n.node_id AND m.recorded_to = 'infinity'
  )
ORDER BY n.node_id
LIMIT :limit;

-- name: export_states
-- Versions of nodes and all nodes merged with them that are known now; the latest first.
SELECT
  s.canonical_id, s.type, s.label, s.description, CAST(s.data AS text) AS data, s.importance,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to
FROM memsvc.node_states(:user_id, CAST(:nodes AS uuid [])) AS s
ORDER BY s.canonical_id ASC, (s.node_id = s.canonical_id) DESC, s.valid_to DESC, s.valid_from DESC, s.version_id ASC;

-- name: export_names
SELECT
  a.canonical_id, a.alias, nullif(a.valid_from, '-infinity') AS valid_from, nullif(a.valid_to, 'infinity') AS valid_to
FROM memsvc.node_names(:user_id, CAST(:nodes AS uuid [])) AS a
ORDER BY a.canonical_id, a.recorded_from, a.alias_id;

-- name: export_facts
-- Facts that are known now, of any valid time, with both ends; the newest of each node, up to a number.
WITH found AS MATERIALIZED (
  SELECT f.* FROM memsvc.facts(:user_id, CAST(:nodes AS uuid [])) AS f
),
numbered AS (
  SELECT e.node_id, f.*, row_number() OVER (
    PARTITION BY e.node_id ORDER BY f.valid_from DESC, f.recorded_from DESC, f.version_id ASC
  ) AS nth
  FROM found AS f
  CROSS JOIN LATERAL (SELECT f.from_node AS node_id
    UNION
    SELECT f.to_node) AS e
  WHERE e.node_id = any(CAST(:nodes AS uuid []))
)
SELECT
  p.node_id, p.nth, p.version_id, p.from_node, p.type, p.to_node, p.fact, p.confidence, p.asserted_by, p.contested,
  nullif(p.valid_from, '-infinity') AS valid_from, nullif(p.valid_to, 'infinity') AS valid_to
FROM numbered AS p
WHERE p.nth <= :most
ORDER BY p.node_id, p.nth;

-- name: export_evidence
-- The messages and archival blocks that support facts.
SELECT
  v.version_id, p.source_id, s.kind, s.identifier, s.title, p.speaker, p.said_at, left(p.text, 200) AS text, l.stance
FROM unnest(CAST(:versions AS uuid [])) AS v (version_id)
CROSS JOIN LATERAL memsvc.links_of(:user_id, 'edge', v.version_id) AS l
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = l.passage_id
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = p.source_id
ORDER BY v.version_id, p.said_at, l.link_id;
