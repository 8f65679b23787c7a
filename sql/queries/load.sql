-- Statements of memsvc.transfer.load: store lines of an export as rows of one user, under row security, and what is
-- computed from them. Constraints refuse contradictions; the checks at the end find what constraints cannot.

-- name: load_settings
-- Times are in UTC; a check of a million rows may take any time. Statistics do not know a new user yet: a plan for this
-- user would take any index that begins with user_id and read all of the user's rows for each row.
SELECT
  set_config('timezone', 'UTC', true), set_config('statement_timeout', '3600000', true),
  set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
  clock_timestamp() AS today;

-- name: load_lock
-- Imports into one user run one after another.
SELECT pg_advisory_xact_lock(hashtextextended('memsvc import of ' || CAST(:user_id AS text), 0));

-- name: load_occupied
-- Whether the user has any data; rows of other tables belong to one of these.
SELECT
  EXISTS (SELECT FROM memsvc.nodes AS n
  WHERE n.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.node_types AS n
  WHERE n.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.edge_types AS e
  WHERE e.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.sources AS s
  WHERE s.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.profile_versions AS v
  WHERE v.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.changes AS c
  WHERE c.user_id = :user_id)
  OR EXISTS (SELECT FROM memsvc.tombstones AS t
  WHERE t.user_id = :user_id);

-- name: load_node_types
INSERT INTO memsvc.node_types (
  user_id, name, category, description, parent, status, reason, proposed_by, proposed_at, decided_by, decided_at
)
SELECT
  :user_id, r.name, r.category, r.description, r.parent, r.status, r.reason, r.proposed_by, r.proposed_at,
  r.decided_by, r.decided_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  name text, category text, description text, parent text, status text, reason text, proposed_by text,
  proposed_at timestamptz, decided_by text, decided_at timestamptz
);

-- name: load_edge_types
INSERT INTO memsvc.edge_types (
  user_id, name, category, description, parent, status, reason, proposed_by, proposed_at, decided_by, decided_at,
  from_types, to_types, functional
)
SELECT
  :user_id, r.name, r.category, r.description, r.parent, r.status, r.reason, r.proposed_by, r.proposed_at,
  r.decided_by, r.decided_at, r.from_types, r.to_types, r.functional
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  name text, category text, description text, parent text, status text, reason text, proposed_by text,
  proposed_at timestamptz, decided_by text, decided_at timestamptz, from_types text [], to_types text [],
  functional boolean
);

-- name: load_vaults
INSERT INTO memsvc.vaults (user_id, vault_id, folder, flavours, write_back, created_at)
SELECT :user_id, r.vault_id, r.folder, r.flavours, r.write_back, r.created_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  vault_id uuid, folder text, flavours text [], write_back text, created_at timestamptz
);

-- name: load_sources
INSERT INTO memsvc.sources (user_id, source_id, kind, identifier, title, metadata, created_at, forget_after, local)
SELECT :user_id, r.source_id, r.kind, r.identifier, r.title, r.metadata, r.created_at, r.forget_after, r.local
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  source_id uuid, kind text, identifier text, title text, metadata jsonb, created_at timestamptz,
  forget_after interval, local text
);

-- name: load_document_versions
INSERT INTO memsvc.document_versions (
  user_id, source_id, version, sha256, bytes, format, title, path, pages, characters, metadata, recorded_from,
  recorded_to, by_agent, chunked
)
SELECT
  :user_id, r.source_id, r.version, r.sha256, r.bytes, r.format, r.title, r.path, r.pages, r.characters, r.metadata,
  r.recorded_from, r.recorded_to, coalesce(r.by_agent, false), coalesce(r.chunked, true)
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  source_id uuid, version integer, sha256 text, bytes bigint, format text, title text, path text, pages integer,
  characters bigint, metadata jsonb, recorded_from timestamptz, recorded_to timestamptz, by_agent boolean,
  chunked boolean
);

-- name: load_passages
-- Words and their statistics, as append_messages makes them.
WITH worded AS MATERIALIZED (
  SELECT w.*, memsvc.word_count(w.tsv) AS length, memsvc.word_count(w.tsv_simple) AS length_simple
  FROM (
    SELECT
      r.*, memsvc.to_words('stemmed', r.language, memsvc.searched_text(r.speaker, r.text, r.caption)) AS tsv,
      memsvc.to_words('simple', r.language, memsvc.searched_text(r.speaker, r.text, r.caption)) AS tsv_simple
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
      passage_id uuid, source_id uuid, kind text, session text, ordinal integer, part smallint, client_id text,
      speaker text, role text, text text, caption text, said_at timestamptz, said_offset smallint, language text,
      metadata jsonb, recorded_at timestamptz, recorded_to timestamptz, archived_at timestamptz,
      restored_at timestamptz
    )
  ) AS w
),
added AS (
  INSERT INTO memsvc.passages (
    user_id, passage_id, source_id, kind, session, ordinal, part, client_id, speaker, role, text, caption, said_at,
    said_offset, language, tsv, tsv_simple, length, length_simple, metadata, recorded_at, recorded_to, archived_at,
    restored_at
  )
  SELECT
    :user_id, w.passage_id, w.source_id, w.kind, w.session, w.ordinal, w.part, w.client_id, w.speaker, w.role, w.text,
    w.caption, w.said_at, w.said_offset, w.language, w.tsv, w.tsv_simple, w.length, w.length_simple, w.metadata,
    w.recorded_at, coalesce(w.recorded_to, 'infinity'), w.archived_at, w.restored_at
  FROM worded AS w
),
counted AS (
  SELECT a.kind, f.form, count(*) AS passages, sum(f.length) AS length
  FROM worded AS a CROSS JOIN LATERAL (VALUES ('stemmed', a.length), ('simple', a.length_simple)) AS f (form, length)
  GROUP BY a.kind, f.form
),
frequencies AS (
  SELECT t.kind, t.form, array_agg(t.term) AS terms, array_agg(t.passages) AS changes
  FROM (
    SELECT a.kind, f.form, f.term, CAST(count(*) AS integer) AS passages
    FROM worded AS a CROSS JOIN LATERAL (
      SELECT 'stemmed' AS form, s.term FROM unnest(tsvector_to_array(a.tsv)) AS s (term)
      UNION ALL
      SELECT 'simple' AS form, s.term FROM unnest(tsvector_to_array(a.tsv_simple)) AS s (term)
    ) AS f
    GROUP BY a.kind, f.form, f.term
  ) AS t
  GROUP BY t.kind, t.form
)
INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes)
SELECT :user_id, c.kind, c.form, c.passages, c.length, coalesce(f.terms, '{}'), coalesce(f.changes, '{}')
FROM counted AS c
LEFT JOIN frequencies AS f ON c.kind = f.kind AND c.form = f.form;

-- name: load_nodes
INSERT INTO memsvc.nodes (user_id, node_id, created_at)
SELECT :user_id, r.node_id, r.created_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (node_id uuid, created_at timestamptz);

-- name: load_node_versions
INSERT INTO memsvc.node_versions (
  user_id, version_id, node_id, type, label, description, data, importance, asserted_by, derived_from, valid_from,
  valid_to, recorded_from, recorded_to
)
SELECT
  :user_id, r.version_id, r.node_id, r.type, r.label, r.description, r.data, r.importance, r.asserted_by,
  r.derived_from, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  version_id uuid, node_id uuid, type text, label text, description text, data jsonb, importance real,
  asserted_by text, derived_from uuid, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz,
  recorded_to timestamptz
);

-- name: load_aliases
INSERT INTO memsvc.aliases (
  user_id, alias_id, node_id, alias, normal_form, confidence, asserted_by, derived_from, valid_from, valid_to,
  recorded_from, recorded_to
)
SELECT
  :user_id, r.alias_id, r.node_id, r.alias, memsvc.normal_form(r.alias), r.confidence, r.asserted_by, r.derived_from,
  r.valid_from, r.valid_to, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  alias_id uuid, node_id uuid, alias text, confidence real, asserted_by text, derived_from uuid,
  valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz, recorded_to timestamptz
);

-- name: load_locations
INSERT INTO memsvc.locations (
  user_id, location_id, node_id, latitude, longitude, radius_m, asserted_by, derived_from, valid_from, valid_to,
  recorded_from, recorded_to
)
SELECT
  :user_id, r.location_id, r.node_id, r.latitude, r.longitude, r.radius_m, r.asserted_by, r.derived_from, r.valid_from,
  r.valid_to, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  location_id uuid, node_id uuid, latitude double precision, longitude double precision, radius_m double precision,
  asserted_by text, derived_from uuid, valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz,
  recorded_to timestamptz
);

-- name: load_edges
INSERT INTO memsvc.edges (user_id, edge_id, from_node, type, to_node, key, created_at)
SELECT :user_id, r.edge_id, r.from_node, r.type, r.to_node, r.key, r.created_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  edge_id uuid, from_node uuid, type text, to_node uuid, key text, created_at timestamptz
);

-- name: load_edge_versions
INSERT INTO memsvc.edge_versions (
  user_id, version_id, edge_id, from_node, type, to_node, functional, fact, data, weight, confidence, asserted_by,
  derived_from, valid_from, valid_to, recorded_from, recorded_to
)
SELECT
  :user_id, r.version_id, r.edge_id, r.from_node, r.type, r.to_node, r.functional, r.fact, r.data, r.weight,
  r.confidence, r.asserted_by, r.derived_from, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  version_id uuid, edge_id uuid, from_node uuid, type text, to_node uuid, functional boolean, fact text, data jsonb,
  weight real, confidence real, asserted_by text, derived_from uuid, valid_from timestamptz, valid_to timestamptz,
  recorded_from timestamptz, recorded_to timestamptz
);

-- name: load_merges
INSERT INTO memsvc."merges" (
  user_id, merge_id, node_id, canonical_id, reason, confidence, asserted_by, recorded_from, recorded_to
)
SELECT
  :user_id, r.merge_id, r.node_id, r.canonical_id, r.reason, r.confidence, r.asserted_by, r.recorded_from,
  r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  merge_id uuid, node_id uuid, canonical_id uuid, reason text, confidence real, asserted_by text,
  recorded_from timestamptz, recorded_to timestamptz
);

-- name: load_source_links
INSERT INTO memsvc.source_links (
  user_id, link_id, passage_id, span_from, span_to, node_id, node_version_id, edge_version_id, alias_id, merge_id,
  location_id, stance, confidence, asserted_by, recorded_from, recorded_to
)
SELECT
  :user_id, r.link_id, r.passage_id, r.span_from, r.span_to, r.node_id, r.node_version_id, r.edge_version_id,
  r.alias_id, r.merge_id, r.location_id, r.stance, r.confidence, r.asserted_by, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  link_id uuid, passage_id uuid, span_from integer, span_to integer, node_id uuid, node_version_id uuid,
  edge_version_id uuid, alias_id uuid, merge_id uuid, location_id uuid, stance text, confidence real, asserted_by text,
  recorded_from timestamptz, recorded_to timestamptz
);

-- name: load_profile_versions
INSERT INTO memsvc.profile_versions (
  user_id, version_id, block_id, version, name, kind, text, tokens, token_limit, node_id, source_id, expires_at,
  asserted_by, recorded_from, recorded_to
)
SELECT
  :user_id, r.version_id, r.block_id, r.version, r.name, r.kind, r.text, r.tokens, r.token_limit, r.node_id,
  r.source_id, r.expires_at, r.asserted_by, r.recorded_from, r.recorded_to
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  version_id uuid, block_id uuid, version integer, name text, kind text, text text, tokens integer,
  token_limit integer, node_id uuid, source_id uuid, expires_at timestamptz, asserted_by text,
  recorded_from timestamptz, recorded_to timestamptz
);

-- name: load_profile_evidence
INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines)
SELECT :user_id, r.version_id, r.passage_id, r.lines
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (version_id uuid, passage_id uuid, lines smallint []);

-- name: load_memory_signals
INSERT INTO memsvc.memory_signals (
  user_id, memory_id, kind, recalls, last_recalled_at, used, irrelevant, importance, sentiment, pinned
)
SELECT
  :user_id, r.memory_id, r.kind, r.recalls, r.last_recalled_at, r.used, r.irrelevant, r.importance, r.sentiment,
  r.pinned
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  memory_id uuid, kind text, recalls integer, last_recalled_at timestamptz, used integer, irrelevant integer,
  importance smallint, sentiment real, pinned boolean
);

-- name: load_duplicate_candidates
INSERT INTO memsvc.duplicate_candidates (
  user_id, node_a, node_b, score, evidence, found_by, found_at, state, decided_at, decided_by
)
SELECT
  :user_id, r.node_a, r.node_b, r.score, r.evidence, r.found_by, r.found_at, r.state, r.decided_at, r.decided_by
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  node_a uuid, node_b uuid, score real, evidence jsonb, found_by text, found_at timestamptz, state text,
  decided_at timestamptz, decided_by text
);

-- name: load_changes
INSERT INTO memsvc.changes (user_id, change_id, recorded_at, asserted_by, operations, undoes)
SELECT :user_id, r.change_id, r.recorded_at, r.asserted_by, r.operations, r.undoes
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  change_id uuid, recorded_at timestamptz, asserted_by text, operations text [], undoes uuid
);

-- name: load_tombstones
INSERT INTO memsvc.tombstones (user_id, digest, recorded_at)
SELECT :user_id, decode(r.digest, 'hex'), r.recorded_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (digest text, recorded_at timestamptz);

-- name: load_schedules
-- A new user has the default schedules; they get the rules of the export.
INSERT INTO memsvc.schedules (user_id, kind, at_local, weekdays, enabled, tasks_off, next_at)
SELECT
  :user_id, r.kind, r.at_local, r.weekdays, r.enabled, coalesce(r.tasks_off, '{}'),
  memsvc.next_run(u.time_zone, r.at_local, r.weekdays, clock_timestamp())
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  kind text, at_local time, weekdays smallint [], enabled boolean, tasks_off text []
)
INNER JOIN memsvc.users AS u ON u.user_id = :user_id
ON CONFLICT (user_id, kind) DO UPDATE
SET
  at_local = excluded.at_local, weekdays = excluded.weekdays, enabled = excluded.enabled,
  tasks_off = excluded.tasks_off, next_at = excluded.next_at;

-- name: load_feeds
-- They are paused, and without passwords: nothing is read again before somebody here says so. A push gets a new secret.
INSERT INTO memsvc.feeds (user_id, kind, identifier, name, settings, salt, rule, state, created_at)
SELECT
  :user_id, r.kind, r.identifier, r.name, r.settings, CASE WHEN r.kind = 'push' THEN uuid_send(gen_random_uuid()) END,
  r.rule, 'paused', r.created_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (
  kind text, identifier text, name text, settings jsonb, rule text, created_at timestamptz
);

-- name: load_jobs
-- Background work processes every source, as after messages.
WITH asked AS (
  INSERT INTO memsvc.jobs (user_id, kind, subject_id)
  SELECT :user_id, 'process', s.source_id FROM memsvc.sources AS s
  WHERE s.user_id = :user_id AND s.kind <> 'graph'
  ORDER BY s.source_id
  RETURNING subject_id
)
INSERT INTO memsvc.outbox (user_id, kind, subject_id)
SELECT :user_id, 'passages.added', a.subject_id FROM asked AS a;

-- name: load_file
-- An older export has no passages of archival blocks: the job that makes vectors files them.
SELECT memsvc.file_later(:user_id);

-- name: load_misfiled
-- A passage of a block that belongs to no archival version of that block, or has other text; a chunk that no version
-- of its document has, or another passage that is filed under a document.
SELECT f.passage_id
FROM (
  SELECT m.passage_id FROM memsvc.misfiled_passages(:user_id) AS m (passage_id)
  UNION ALL
  SELECT p.passage_id
  FROM memsvc.passages AS p
  INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = p.source_id
  WHERE p.user_id = :user_id AND (
    (p.kind IN ('block', 'former') AND s.kind <> 'block') OR (p.kind = 'chunk') <> (s.kind = 'document')
    OR (p.kind = 'turn' AND s.kind <> 'turn')
  )
  UNION ALL
  SELECT p.passage_id
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.kind = 'chunk' AND NOT EXISTS (
    SELECT FROM memsvc.document_versions AS v
    WHERE v.user_id = :user_id AND v.source_id = p.source_id AND p.recorded_at <= v.recorded_from
      AND p.recorded_to > v.recorded_from AND p.recorded_to >= v.recorded_to
  )
) AS f
ORDER BY f.passage_id
LIMIT 1;

-- name: load_torn_messages
-- A part of a message without the previous part, or with other fields.
SELECT p.passage_id
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.part > 0 AND NOT EXISTS (
  SELECT FROM memsvc.passages AS b
  WHERE b.user_id = :user_id AND b.source_id = p.source_id AND b.session = p.session AND b.ordinal = p.ordinal
    AND b.part = p.part - 1 AND b.client_id IS NOT DISTINCT FROM p.client_id AND b.role = p.role
    AND b.speaker = p.speaker AND b.said_at = p.said_at
)
ORDER BY p.passage_id
LIMIT 1;

-- name: load_long_spans
-- Evidence whose span ends after the end of its passage.
SELECT l.link_id
FROM memsvc.source_links AS l
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = l.passage_id
WHERE l.user_id = :user_id AND l.span_to > length(p.text)
ORDER BY l.link_id
LIMIT 1;

-- name: load_merge_circles
-- A node that is merged into itself, directly or by others, at some recorded time. Each round of the recursion goes one
-- merge further, so it finds a cycle before it could follow it endlessly.
WITH RECURSIVE walk AS (
  SELECT m.merge_id, m.node_id AS start, m.canonical_id AS current_id, m.recorded_from, m.recorded_to
  FROM memsvc."merges" AS m
  WHERE m.user_id = :user_id AND m.recorded_from < m.recorded_to
  UNION ALL
  SELECT
    w.merge_id, w.start, m.canonical_id, greatest(w.recorded_from, m.recorded_from),
    least(w.recorded_to, m.recorded_to)
  FROM walk AS w
  INNER JOIN memsvc."merges" AS m
    ON m.user_id = :user_id AND m.node_id = w.current_id
      AND greatest(w.recorded_from, m.recorded_from) < least(w.recorded_to, m.recorded_to)
  WHERE w.start <> w.current_id
)
SELECT w.merge_id FROM walk AS w
WHERE w.start = w.current_id LIMIT 1;
