-- Statements of memsvc.profiles and of other readers of blocks. A row of profile_versions is the text of a block from
-- recorded_from to recorded_to; the open one is the current version, unless it was working memory that has expired.

-- name: profile_blocks
-- Blocks as known at a time (null: now): of a node and all nodes merged with it (node_id), or the user's own blocks and
-- core blocks about nodes. Working memory: of one conversation (source_id), or the newest :most_working of all.
-- Sections come first, in the order of :sections, then other blocks by name; working memory comes newest first.
-- of_kind: number of all blocks of the tier, including those that are left out.
SELECT
  v.block_id, v.name, v.kind, v.text, v.version, v.tokens, v.token_limit, v.node_id, v.source_id, v.expires_at,
  v.asserted_by, v.recorded_from, nullif(v.recorded_to, 'infinity') AS recorded_to, v.of_kind, b.node, b.evidence
FROM (
  SELECT
    k.*, count(*) OVER (PARTITION BY k.kind) AS of_kind,
    row_number() OVER (PARTITION BY k.kind ORDER BY k.recorded_from DESC, k.version_id DESC) AS nth
  FROM (
    SELECT o.* FROM memsvc.profile_versions AS o
    WHERE o.user_id = :user_id AND o.recorded_to = 'infinity'
    UNION ALL
    SELECT c.* FROM memsvc.profile_versions AS c
    WHERE
      CAST(:known_at AS timestamptz) IS NOT NULL AND c.user_id = :user_id AND c.recorded_to < 'infinity'
      AND c.recorded_to > CAST(:known_at AS timestamptz)
  ) AS k
  WHERE
    k.kind = any(CAST(:kinds AS text []))
    AND k.recorded_from <= coalesce(CAST(:known_at AS timestamptz), 'infinity')
    AND (k.expires_at IS NULL OR k.expires_at > coalesce(CAST(:known_at AS timestamptz), clock_timestamp()))
    AND (CAST(:source_id AS uuid) IS NULL OR k.source_id IS NULL OR k.source_id = CAST(:source_id AS uuid))
    AND CASE
      WHEN CAST(:node_id AS uuid) IS NULL THEN k.node_id IS NULL OR k.kind = 'core'
      ELSE k.node_id IN (SELECT s.node_id FROM memsvc.same_nodes(:user_id, ARRAY[CAST(:node_id AS uuid)]) AS s)
    END
) AS v
CROSS JOIN LATERAL memsvc.block_support(:user_id, v.version_id, v.node_id) AS b
WHERE v.kind <> 'working' OR v.nth <= :most_working
ORDER BY
  array_position(CAST(:kinds AS text []), v.kind) ASC, v.node_id ASC NULLS FIRST,
  array_position(CAST(:sections AS text []), v.name) ASC NULLS LAST,
  CASE WHEN v.kind = 'working' THEN v.recorded_from END DESC, v.name ASC;

-- name: profile_hold
-- Until the commit, nobody else erases memories of the user or changes the profile.
SELECT
  memsvc.keep_memories(:user_id),
  pg_advisory_xact_lock(hashtextextended('memsvc profile of ' || CAST(:user_id AS text), 0));

-- name: profile_called
-- The block with a name: its current version, or its last one, unless it moved to another tier. live: it is current.
WITH open_one AS MATERIALIZED (
  SELECT o.*
  FROM memsvc.profile_versions AS o
  WHERE
    o.user_id = :user_id AND o.name = :name AND o.recorded_to = 'infinity'
    AND o.source_id IS NOT DISTINCT FROM CAST(:source_id AS uuid)
    AND CASE
      WHEN CAST(:node_id AS uuid) IS NULL THEN o.node_id IS NULL
      ELSE o.node_id IN (SELECT s.node_id FROM memsvc.same_nodes(:user_id, ARRAY[CAST(:node_id AS uuid)]) AS s)
    END
  ORDER BY (o.node_id = CAST(:node_id AS uuid)) DESC
  LIMIT 1
),
last_one AS (
  SELECT c.*
  FROM memsvc.profile_versions AS c
  WHERE
    NOT EXISTS (SELECT FROM open_one)
    AND c.user_id = :user_id AND c.name = :name AND c.source_id IS NOT DISTINCT FROM CAST(:source_id AS uuid)
    AND CASE
      WHEN CAST(:node_id AS uuid) IS NULL THEN c.node_id IS NULL
      ELSE c.node_id IN (SELECT s.node_id FROM memsvc.same_nodes(:user_id, ARRAY[CAST(:node_id AS uuid)]) AS s)
    END
    AND NOT EXISTS (
      SELECT FROM memsvc.profile_versions AS e
      WHERE e.user_id = :user_id AND e.block_id = c.block_id AND e.recorded_to = 'infinity'
    )
  ORDER BY c.recorded_to DESC
  LIMIT 1
)
SELECT
  v.block_id, v.name, v.kind, v.text, v.version, v.tokens, v.token_limit, v.node_id, v.source_id, v.expires_at,
  v.asserted_by, v.recorded_from, nullif(v.recorded_to, 'infinity') AS recorded_to, b.node, b.evidence,
  v.recorded_to = 'infinity' AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp()) AS live
FROM (
  SELECT * FROM open_one
  UNION ALL
  SELECT * FROM last_one
) AS v
CROSS JOIN LATERAL memsvc.block_support(:user_id, v.version_id, v.node_id) AS b;

-- name: profile_history
-- All versions of a block, newest first.
SELECT
  v.block_id, v.name, v.kind, v.text, v.version, v.tokens, v.token_limit, v.node_id, v.source_id, v.expires_at,
  v.asserted_by, v.recorded_from, nullif(v.recorded_to, 'infinity') AS recorded_to, b.node, b.evidence
FROM memsvc.profile_versions AS v
CROSS JOIN LATERAL memsvc.block_support(:user_id, v.version_id, v.node_id) AS b
WHERE
  v.user_id = :user_id AND v.block_id = :block_id
  AND (CAST(:before AS integer) IS NULL OR v.version < CAST(:before AS integer))
ORDER BY v.version DESC
LIMIT :limit;

-- name: profile_room
-- Number of other blocks in the same tier, and the length of core blocks together.
SELECT
  count(*) FILTER (
    WHERE CASE
      WHEN CAST(:node_id AS uuid) IS NOT NULL THEN v.node_id = CAST(:node_id AS uuid)
      ELSE v.node_id IS NULL AND v.kind = :kind AND v.source_id IS NOT DISTINCT FROM CAST(:source_id AS uuid)
    END
  ) AS blocks,
  coalesce(sum(v.tokens) FILTER (WHERE v.kind = 'core'), 0) AS core_tokens
FROM memsvc.profile_versions AS v
WHERE
  v.user_id = :user_id AND v.recorded_to = 'infinity' AND v.block_id IS DISTINCT FROM CAST(:block_id AS uuid)
  AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp());

-- name: profile_close
-- Closes the current version of a block, and returns when.
UPDATE memsvc.profile_versions AS v
SET recorded_to = greatest(clock_timestamp(), v.recorded_from)
WHERE v.user_id = :user_id AND v.block_id = :block_id AND v.recorded_to = 'infinity'
RETURNING v.recorded_to;

-- name: profile_insert
-- Stores the next version of a block; since: when the previous one was closed.
INSERT INTO memsvc.profile_versions (
  user_id, block_id, version, name, kind, text, tokens, token_limit, node_id, source_id, expires_at, asserted_by,
  recorded_from
)
SELECT
  :user_id, coalesce(CAST(:block_id AS uuid), uuidv7()), coalesce(max(v.version), 0) + 1, :block, :kind, :text,
  :tokens, :token_limit, CAST(:node_id AS uuid), CAST(:source_id AS uuid),
  CASE WHEN :kind = 'working' THEN clock_timestamp() + CAST(:lasts AS interval) END, :asserted_by,
  coalesce(CAST(:since AS timestamptz), greatest(clock_timestamp(), max(v.recorded_to)))
FROM memsvc.profile_versions AS v
WHERE v.user_id = :user_id AND v.block_id = CAST(:block_id AS uuid)
RETURNING version_id;

-- name: profile_rest
-- Stores the evidence of a version's lines; returns how many of the passages exist.
INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines)
SELECT :user_id, :version_id, p.passage_id, r.lines
FROM jsonb_to_recordset(CAST(:evidence AS jsonb)) AS r (passage_id uuid, lines smallint [])
INNER JOIN memsvc.passages AS p
  ON p.user_id = :user_id AND p.passage_id = r.passage_id AND p.version_id IS NULL;

-- name: profile_evict
-- Ends the oldest blocks of a conversation's working memory, so that at most :most are left, and all that have expired;
-- returns the ended blocks.
UPDATE memsvc.profile_versions AS d
SET recorded_to = greatest(clock_timestamp(), d.recorded_from)
WHERE d.user_id = :user_id AND d.recorded_to = 'infinity' AND d.version_id IN (
  SELECT v.version_id
  FROM (
    SELECT
      o.version_id, o.expires_at, row_number() OVER (ORDER BY o.recorded_from DESC, o.version_id DESC) AS nth
    FROM memsvc.profile_versions AS o
    WHERE o.user_id = :user_id AND o.recorded_to = 'infinity' AND o.source_id = :source_id
  ) AS v
  WHERE v.nth > :most OR v.expires_at <= clock_timestamp()
)
RETURNING d.block_id;

-- name: profile_tell
-- Tells live clients about blocks with a new version or without a current one.
INSERT INTO memsvc.outbox (user_id, kind, subject_id)
SELECT :user_id, 'profile.changed', b.block_id FROM unnest(CAST(:blocks AS uuid [])) AS b (block_id);

-- name: profile_unfiled
-- Archival versions of a block without passages, newest first, from a version on.
SELECT u.version, u.text FROM memsvc.unfiled_versions(:user_id, :block_id) AS u
WHERE u.version <= :upto
ORDER BY u.version DESC
LIMIT :limit;

-- name: profile_unfiled_versions
-- Archival versions of blocks without passages; for each block newest first.
SELECT u.block_id, u.version FROM memsvc.unfiled_versions(:user_id, NULL) AS u
ORDER BY u.block_id ASC, u.version DESC;

-- name: profile_file
-- Brings the passages of a block in line with its text; the parts of unfiled versions, by version.
SELECT memsvc.file_block(:user_id, :block_id, CAST(:parts AS jsonb));

-- name: profile_archived
-- The current archival version of a block, or none, whatever was before it.
SELECT v.version, v.text
FROM (
  SELECT o.version, o.text, o.kind, o.recorded_to
  FROM memsvc.profile_versions AS o
  WHERE o.user_id = :user_id AND o.block_id = :block_id
  ORDER BY o.version DESC
  LIMIT 1
) AS v
WHERE v.kind = 'archival' AND v.recorded_to = 'infinity' AND btrim(v.text, E' \n\t') <> '';
