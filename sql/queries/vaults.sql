-- Statements of memsvc.sources.vaults.

-- name: keep_vault
-- A folder of notes, as it is about to be read.
INSERT INTO memsvc.vaults AS v (user_id, folder, flavours)
VALUES (:user_id, :folder, CAST(:flavours AS text []))
ON CONFLICT (user_id, folder) DO UPDATE SET flavours = excluded.flavours
RETURNING v.vault_id;

-- name: vault_read
-- It was read to its end.
UPDATE memsvc.vaults
SET read_at = clock_timestamp(), odd = CAST(:odd AS jsonb)
WHERE user_id = :user_id AND vault_id = :vault_id;

-- name: set_write_back
UPDATE memsvc.vaults SET write_back = :write_back
WHERE user_id = :user_id AND vault_id = :vault_id;

-- name: remove_vault
DELETE FROM memsvc.vaults
WHERE user_id = :user_id AND folder = :folder RETURNING vault_id;

-- name: list_vaults
-- Vaults with what their notes have: gone ones are not counted. folder: this one alone.
SELECT
  v.vault_id, v.folder, v.flavours, v.write_back, v.created_at, v.read_at, v.odd, n.notes, n.links, n.broken, n.tasks
FROM memsvc.vaults AS v
CROSS JOIN LATERAL (
  SELECT
    count(*) AS notes, CAST(coalesce(sum(l.links), 0) AS bigint) AS links,
    CAST(coalesce(sum(l.tasks), 0) AS bigint) AS tasks, CAST(coalesce(sum((
      SELECT count(*) FROM jsonb_array_elements(k.data -> 'links') AS o (link)
      WHERE NOT o.link ?| ARRAY['file', 'within', 'note']
    )), 0) AS bigint) AS broken
  FROM memsvc.sources AS s
  INNER JOIN memsvc.node_versions AS k
    ON k.user_id = :user_id AND k.node_id = s.source_id AND k.recorded_to = 'infinity' AND k.type = 'Document'
  CROSS JOIN LATERAL (
    SELECT
      count(*) FILTER (WHERE e.data ? 'links') AS links, count(*) FILTER (WHERE NOT e.data ? 'links') AS tasks
    FROM memsvc.edge_versions AS e
    WHERE e.user_id = :user_id AND e.from_node = s.source_id AND e.recorded_to = 'infinity' AND e.type = 'LINKS_TO'
  ) AS l
  WHERE s.user_id = :user_id AND s.kind = 'document' AND starts_with(s.identifier, v.folder || '/')
) AS n
WHERE v.user_id = :user_id AND (CAST(:folder AS text) IS NULL OR v.folder = :folder)
ORDER BY v.vault_id;

-- name: vault_notes
-- Documents below a folder, with the digest of each one's current content (null: it is gone), and whether the graph has
-- a node of it.
SELECT
  s.source_id, s.identifier, v.sha256, EXISTS(
    SELECT FROM memsvc.nodes AS n
    WHERE n.user_id = :user_id AND n.node_id = s.source_id
  ) AS is_node
FROM memsvc.sources AS s
LEFT JOIN memsvc.document_versions AS v
  ON v.user_id = :user_id AND v.source_id = s.source_id AND v.recorded_to = 'infinity'
WHERE s.user_id = :user_id AND s.kind = 'document' AND starts_with(s.identifier, :folder)
ORDER BY s.source_id;

-- name: lock_note
-- Whoever changes what the graph knows about a note takes turns here.
SELECT s.source_id FROM memsvc.sources AS s
WHERE s.user_id = :user_id AND s.source_id = :source_id AND s.kind = 'document'
FOR NO KEY UPDATE;

-- name: notes_as_linked
-- What the graph knows about notes by their folder: node, aliases, and links with what they lead to.
SELECT
  n.source_id, v.version_id, v.label, v.data,
  coalesce((
    SELECT jsonb_agg(a.alias ORDER BY a.alias) FROM memsvc.aliases AS a
    WHERE a.user_id = :user_id AND a.node_id = n.source_id AND a.recorded_to = 'infinity' AND a.asserted_by = :actor
  ), '[]') AS aliases,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'to_node', e.to_node, 'edge_id', e.edge_id, 'version_id', e.version_id, 'fact', e.fact, 'data', e.data,
      'task', t.task, 'evidence', (
        SELECT coalesce(jsonb_agg(l.passage_id), '[]') FROM memsvc.source_links AS l
        WHERE l.user_id = :user_id AND l.edge_version_id = e.version_id AND l.recorded_to = 'infinity'
      )
    ))
    FROM memsvc.edge_versions AS e
    LEFT JOIN LATERAL (
      SELECT jsonb_build_object('version_id', k.version_id, 'label', k.label, 'data', k.data) AS task
      FROM memsvc.node_versions AS k
      WHERE
        NOT e.data ? 'links' AND k.user_id = :user_id AND k.node_id = e.to_node AND k.recorded_to = 'infinity'
        AND k.type = 'Task'
      LIMIT 1
    ) AS t ON TRUE
    WHERE
      e.user_id = :user_id AND e.from_node = n.source_id AND e.type = 'LINKS_TO' AND e.recorded_to = 'infinity'
      AND e.asserted_by = :actor
  ), '[]') AS edges
FROM unnest(CAST(:notes AS uuid [])) AS n (source_id)
LEFT JOIN LATERAL (
  SELECT k.version_id, k.label, k.data FROM memsvc.node_versions AS k
  WHERE k.user_id = :user_id AND k.node_id = n.source_id AND k.recorded_to = 'infinity'
  LIMIT 1
) AS v ON TRUE;

-- name: note_chunks
-- Where the chunks of a note begin, in reading order.
SELECT p.passage_id, CAST(p.metadata -> 'origin' ->> 'line' AS integer) AS line
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.kind = 'chunk' AND p.recorded_to = 'infinity'
ORDER BY p.ordinal;

-- name: chunks_erased
-- Which chunks of a note, by their places from 1, were erased on request.
SELECT c.place
FROM jsonb_array_elements(CAST(:chunks AS jsonb)) WITH ORDINALITY AS c (value, place)
WHERE EXISTS (
  SELECT FROM memsvc.tombstones AS t
  WHERE
    t.user_id = :user_id
    AND t.digest = memsvc.chunk_digest(CAST(:source_id AS uuid), c.value ->> 'caption', c.value ->> 'text')
)
ORDER BY c.place;

-- name: things_called
-- Nodes of things in the world that are called so, merges resolved, other than these notes.
SELECT n.name, r.canonical_id AS node_id
FROM unnest(CAST(:names AS text [])) AS n (name)
INNER JOIN memsvc.forms_called(
  :user_id, array(SELECT memsvc.normal_form(a.name) FROM unnest(CAST(:names AS text [])) AS a (name)), NULL, NULL
) AS c ON c.form = memsvc.normal_form(n.name)
CROSS JOIN LATERAL memsvc.resolve_nodes(:user_id, ARRAY[c.node_id]) AS r
WHERE EXISTS (
  SELECT FROM memsvc.node_versions AS v
  INNER JOIN memsvc.node_types AS t
    ON t.user_id IN (memsvc.core_user_id(), :user_id) AND t.name = v.type AND t.category = 'entity'
  WHERE v.user_id = :user_id AND v.node_id = r.canonical_id AND v.recorded_to = 'infinity'
)
GROUP BY n.name, r.canonical_id
ORDER BY n.name, r.canonical_id;

-- name: derived_nodes
-- Of these nodes, those that sleep made: groups, summaries, reflections.
SELECT DISTINCT v.node_id
FROM memsvc.node_versions AS v
INNER JOIN memsvc.node_types AS t
  ON t.user_id IN (memsvc.core_user_id(), :user_id) AND t.name = v.type AND t.category = 'derived'
WHERE v.user_id = :user_id AND v.node_id = any(CAST(:nodes AS uuid [])) AND v.recorded_to = 'infinity';
